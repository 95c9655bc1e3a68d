#pragma once
// A command of the program: parse, call, print.

#include <functional>

namespace CLI {
class App;
}

namespace deft::cli {

/// What the program ends with (conventions of the command line).
enum ExitCode { kDone = 0, kNotReached = 1, kBadInput = 2, kNumericalFailure = 3, kInterrupted = 130 };

struct Command {
  CLI::App* app = nullptr;   // its part of the command line
  std::function<int()> run;  // after parsing; returns the exit code. InputError is bad input.
};

Command add_info(CLI::App& app);
Command add_check(CLI::App& app);
Command add_sim(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_track(CLI::App& app);
Command add_replay(CLI::App& app);
Command add_linearize(CLI::App& app);
Command add_solve(CLI::App& app);
Command add_view(CLI::App& app);
Command add_doctor(CLI::App& app);

}  // namespace deft::cli
