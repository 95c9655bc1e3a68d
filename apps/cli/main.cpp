// The program deft.

#include "program.hpp"

int main(int argc, char** argv) { return deft::cli::run(argc, argv); }
