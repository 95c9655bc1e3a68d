#pragma once
// deft: the command line. Each command parses, calls the library and prints; results on standard output, everything
// else on standard error.

namespace deft::cli {

/// Runs a command as a program of these arguments. @returns its exit code.
int run(int argc, char** argv);

}  // namespace deft::cli
