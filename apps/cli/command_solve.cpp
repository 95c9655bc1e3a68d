// deft solve FILE…: reads problem files, solves them, certifies the solutions.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/math/percentile.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "solve_lcs.hpp"
#include "solve_problem.hpp"
#include "solve_report.hpp"

namespace deft::cli {
namespace {

using solvers::Status;

constexpr double kUsablePrimal = 1e-6;  // an incumbent is usable when it satisfies its constraints to this, scaled

/// The exit code of one problem.
int exit_code(const SolvedProblem& solved) {
  switch (solved.status) {
    case Status::kSolved:
    case Status::kNotUnique:
      return kDone;
    case Status::kInfeasible:
    case Status::kUnbounded:
      return kNotReached;
    case Status::kIterationLimit:
    case Status::kTimeLimit:
      return solved.primal <= kUsablePrimal ? kNotReached : kNumericalFailure;
    case Status::kRayTermination:
    case Status::kNumericalFailure:
      return kNumericalFailure;
  }
  return kNumericalFailure;
}

/// Which names of --solver mean something for a kind.
void check_solver_fits(const std::string& path, const std::string& kind, const std::string& solver,
                       const std::set<std::string>& valid) {
  if (valid.count(solver) == 0)
    throw InputError({path, 0, 0},
                     fmt::format("--solver {} is not for kind '{}'; valid: {}", solver, kind, fmt::join(valid, ", ")));
}
void check_solver_fits(const std::string& path, const io::ContactProblemFile&, const SolveOptions& options) {
  check_solver_fits(path, "contact", options.solver, {"auto", "ipm", "active-set"});
}
void check_solver_fits(const std::string& path, const io::DelassusProblemFile&, const SolveOptions& options) {
  check_solver_fits(path, "delassus", options.solver, {"auto", "ipm", "active-set"});
}
void check_solver_fits(const std::string& path, const io::ComplementarityProblemFile& file,
                       const SolveOptions& options) {
  check_solver_fits(path, file.kind, options.solver, {"auto", "lemke", "newton"});
}

void check_solver_fits(const std::string& path, const io::LcsProblemFile&, const SolveOptions& options) {
  check_solver_fits(path, "lcs_mpc", options.solver, {"auto", "bnb"});
}

void check_solver_fits(const std::string& path, const io::PatchProblemFile&, const SolveOptions& options) {
  check_solver_fits(path, "ecp", options.solver, {"auto", "newton"});
}

/// A relative gap may be larger than a residual.
void check_tolerance(const std::string& path, const io::ProblemFile& problem, const SolveOptions& options) {
  constexpr double kLargest = 1e-3;
  if (options.tolerance > kLargest && !std::holds_alternative<io::LcsProblemFile>(problem))
    throw InputError({path, 0, 0}, fmt::format("--tolerance {:g} is for kind 'lcs_mpc' only; residuals: 1e-14 to {:g}",
                                               *options.tolerance, kLargest));
}

}  // namespace

std::string solve_json(const std::string& path, const io::ProblemFile& problem, const SolveOptions& options) {
  check_tolerance(path, problem, options);
  ProblemSolvers all;
  return std::visit(
      [&](const auto& file) {
        check_solver_fits(path, file, options);
        return result_json(file, all.solve(file, options));
      },
      problem);
}

namespace {

/// What several files add up to.
struct Total {
  int solved = 0, failed = 0, worst = kDone;
  std::vector<double> times_s;

  void add(const SolvedProblem& one) {
    const int code = exit_code(one);
    ++(code == kDone ? solved : failed);
    worst = std::max(worst, code);
    times_s.push_back(one.time_s);
  }
  Json summary() const {
    return {{"solved", solved},
            {"failed", failed},
            {"time_s", {{"median", number(percentile(times_s, 0.5))}, {"p95", number(percentile(times_s, 0.95))}}}};
  }
};

/// Writes the problem for other solvers instead of solving it.
int run_export(const io::ProblemFile& problem, const SolveOptions& options) {
  const auto* file = std::get_if<io::LcsProblemFile>(&problem);
  if (file == nullptr) throw InputError({options.files[0], 0, 0}, "--export is for kind 'lcs_mpc' only");
  return export_lcs(*file, options.export_path, options.output.json);
}

int run_one(const SolveOptions& options) {
  const io::ProblemFile problem = io::read_problem(options.files[0]);
  check_tolerance(options.files[0], problem, options);
  if (!options.export_path.empty()) return run_export(problem, options);
  ProblemSolvers all;
  return std::visit(
      [&](const auto& file) {
        check_solver_fits(options.files[0], file, options);
        const auto solved = all.solve(file, options);
        if (!options.output.quiet) {
          for (const std::string& note : file.notes) fmt::print(stderr, "{}: warning: {}\n", options.files[0], note);
        }
        if (options.output.json) {
          fmt::print("{}\n", result_json(file, solved));
        } else {
          print_solved(file, solved);
        }
        return exit_code(solved);
      },
      problem);
}

/// One line each. With --json the whole is one object that has one line per file.
int run_many(const SolveOptions& options) {
  Total total;
  ProblemSolvers all;
  Progress progress(!options.output.quiet && options.output.json);
  if (options.output.json) fmt::print("{{\"results\":[");
  const char* separator = "\n";
  for (const std::string& path : options.files) {
    if (interrupted()) break;
    std::string line;
    try {
      const io::ProblemFile problem = io::read_problem(path);
      check_tolerance(path, problem, options);
      line = std::visit(
          [&](const auto& file) {
            check_solver_fits(path, file, options);
            const auto solved = all.solve(file, options);
            total.add(solved);
            if (options.output.json) return result_json(file, solved);
            return fmt::format("{:<40} {:<16} {:>4} iterations {:>10.1f} µs  residual {:.1e}", file.name,
                               deft::solvers::to_string(solved.status), solved.iterations, 1e6 * solved.time_s,
                               solved.residual);
          },
          problem);
    } catch (const InputError& error) {
      fmt::print(stderr, "{}\n", error.what());
      ++total.failed;
      total.worst = std::max<int>(total.worst, kBadInput);
      line = options.output.json ? text_of({{"name", path}, {"error", error.what()}})
                                 : fmt::format("{:<40} bad input", path);
    }
    if (options.output.json)
      fmt::print("{}{}", std::exchange(separator, ",\n"), line);
    else
      fmt::print("{}\n", line);
    if (progress.due())
      progress.show(fmt::format("solve {}/{} files  {} failed  {:.1f} s", total.solved + total.failed,
                                options.files.size(), total.failed, progress.seconds()));
  }
  if (options.output.json) {
    fmt::print("\n],\"summary\":{}}}\n", text_of(total.summary()));
  } else {
    fmt::print("{} solved, {} failed  median {:.1f} µs  p95 {:.1f} µs\n", total.solved, total.failed,
               1e6 * percentile(total.times_s, 0.5), 1e6 * percentile(total.times_s, 0.95));
  }
  return interrupted() ? static_cast<int>(kInterrupted) : total.worst;
}

int run(const SolveOptions& options) {
  apply(options.output);
  catch_interrupts();
  if (!options.export_path.empty() && options.files.size() > 1)
    throw InputError({options.files[1], 0, 0}, "--export writes one problem; several files are given");
  return options.files.size() == 1 ? run_one(options) : run_many(options);
}

std::string check_solver(const std::string& name) {
  const std::set<std::string> valid{"auto", "ipm", "active-set", "lemke", "newton", "bnb"};
  if (valid.count(name) > 0) return "";
  return fmt::format("unknown solver '{}'; valid: {}", name, fmt::join(valid, ", "));
}

}  // namespace

Command add_solve(CLI::App& app) {
  CLI::App* command = app.add_subcommand("solve", "Solve problem files and check the solutions");
  const auto options = std::make_shared<SolveOptions>();
  command->add_option("FILE", options->files, "Problem files, .json or .json.gz")->required();
  command
      ->add_option("--solver", options->solver,
                   "auto; of contact: ipm (interior point), active-set (interior point where it does not apply); of "
                   "lcp and mcp: lemke, newton; "
                   "of lcs_mpc: bnb (branch and bound); of ecp: newton")
      ->type_name("NAME")
      ->check(CLI::Validator(check_solver, ""));
  command
      ->add_option("--uniqueness", options->uniqueness,
                   "off or check: whether lcp and mcp have a second solution; the others always say")
      ->type_name("HOW")
      ->check(CLI::IsMember({"off", "check"}));
  command->add_option("--forces", options->forces, "any, or least_norm: which of several possible forces are printed")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"any", "least_norm"}));
  command
      ->add_option("--tolerance", options->tolerance,
                   "Scaled residuals at which an exact solve stops (default 1e-9; lcp, mcp, ecp 1e-10; at most 1e-3); "
                   "of lcs_mpc the relative gap (1e-7)")
      ->type_name("T")
      ->check(CLI::Range(1e-14, 1.0));
  command->add_option("--time-limit", options->time_limit_s, "Seconds per problem")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e12));
  command->add_option("--repeat", options->repeat, "Solve each so often and print the median time")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--threads", options->threads, "Threads of branch and bound (lcs_mpc)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--export", options->export_path,
                   "Do not solve: write an lcs_mpc as a mixed-integer program for other solvers, .lp or .mps")
      ->type_name("FILE");
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
