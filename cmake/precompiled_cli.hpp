// precompiled.hpp and what every command of the program includes.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "precompiled.hpp"
