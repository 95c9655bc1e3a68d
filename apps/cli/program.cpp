#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/version.hpp"

namespace deft::cli {
namespace {

constexpr const char* kLaterCommands[] = {"batch", "bench"};

/// Usage errors with a hint: the near command, or where the help is.
int usage_error(const CLI::App& app, const std::vector<Command>& commands, const CLI::ParseError& error, int argc,
                char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const CLI::App* chosen = nullptr;
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.app->get_name());
    if (command.app->parsed()) chosen = command.app;
  }
  std::string message = error.what();
  if (chosen == nullptr && !first.empty() && first[0] != '-') {
    message = fmt::format("unknown command '{}'{}", first, did_you_mean(first, names));
    for (const char* later : kLaterCommands) {
      if (first == later) message = fmt::format("the command '{}' is not available yet", first);
    }
  }
  fmt::print(stderr, "error: {}\nTry '{}{} --help'.\n", message, app.get_name(),
             chosen ? " " + chosen->get_name() : "");
  return kBadInput;
}

int run_command(int argc, char** argv) {
  CLI::App app("Simulation, planning and control of robots that work through contact", "deft");
  app.set_version_flag("--version", std::string("deft ") + version(), "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 not reached, infeasible or unbounded; 2 usage or bad input; 3 numerical failure; 130 "
      "interrupted.");
  const std::vector<Command> commands{add_demo(app),      add_info(app),     add_check(app), add_sim(app),
                                      add_plan(app),      add_optimize(app), add_track(app), add_replay(app),
                                      add_linearize(app), add_solve(app),    add_view(app),  add_new(app),
                                      add_model(app),     add_export(app),   add_doctor(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help and version
    return usage_error(app, commands, error, argc, argv);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kBadInput;
}

}  // namespace

int run(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return kNumericalFailure;
  }
}

}  // namespace deft::cli
