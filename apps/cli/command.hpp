#pragma once
// A command of the program: parse, call, print.

#include <functional>

namespace CLI {
class App;
}

namespace deft::cli {

/// What the program ends with (conventions of the command line).
enum ExitCode { kDone = 0, kNotReached = 1, kBadInput = 2, kNumericalFailure = 3, kInterrupted = 130 };

/// A subcommand of `deft`: how it is parsed, and what it does.
struct Command {
  CLI::App* app = nullptr;   // its part of the command line
  std::function<int()> run;  // after parsing; returns the exit code. InputError is bad input.
};

Command add_demo(CLI::App& app);       // `deft demo`: the main job on bundled scenes
Command add_info(CLI::App& app);       // `deft info`: what a scene holds
Command add_check(CLI::App& app);      // `deft check`: everything wrong or suspicious in scenes and model files
Command add_sim(CLI::App& app);        // `deft sim`: the commands of a scene simulated into a run folder
Command add_plan(CLI::App& app);       // `deft plan`: a plan to a goal of a scene
Command add_optimize(CLI::App& app);   // `deft optimize`: a plan improved until it holds in other worlds too
Command add_track(CLI::App& app);      // `deft track`: a plan followed on a plant
Command add_replay(CLI::App& app);     // `deft replay`: the commands of a run repeated on a plant
Command add_linearize(CLI::App& app);  // `deft linearize`: one step and its derivatives
Command add_solve(CLI::App& app);      // `deft solve`: problem files solved and certified
Command add_view(CLI::App& app);       // `deft view`: the page of a run folder
Command add_new(CLI::App& app);        // `deft new`: a scene from a robot, objects and a goal
Command add_export(CLI::App& app);     // `deft export`: a scene as models of other programs
Command add_model(CLI::App& app);      // `deft model`: convex parts of a concave mesh
Command add_doctor(CLI::App& app);     // `deft doctor`: what is installed and loaded

}  // namespace deft::cli
