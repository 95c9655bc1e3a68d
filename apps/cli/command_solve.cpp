// deft solve FILE…: reads problem files, solves them, judges the solutions by the certificate.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/math/percentile.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"
#include "deft/solvers/force_space/delassus_solver.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "solve_lcs.hpp"
#include "solve_patch.hpp"

namespace deft::cli {
namespace {

using solvers::Status;

constexpr double kUsablePrimal = 1e-6;       // an incumbent is usable when it satisfies its constraints to this, scaled
constexpr double kDelassusCertified = 1e-6;  // scaled residual above which a solution in force space is none

struct SolveOptions {
  OutputOptions output;
  std::vector<std::string> files;
  std::string solver = "auto";
  std::string uniqueness = "off";
  std::string forces = "any";
  std::string export_path;
  std::optional<double> tolerance, time_limit_s;
  int repeat = 1;
  int threads = 1;
};

/// What is common to the solutions of all kinds.
struct Answer {
  Status status = Status::kNumericalFailure;
  double time_s = 0;
  int iterations = 0;
  double residual = 0, primal = 0;  // scaled
};

struct Solved : Answer {
  solvers::contact::SolveMethod method = solvers::contact::SolveMethod::kInteriorPoint;
  solvers::contact::Certificate certificate;
  solvers::contact::ContactSolution solution;
};

struct DelassusSolved : Answer {
  solvers::force_space::DelassusCertificate certificate;
  solvers::force_space::DelassusSolution solution;
};

struct ControlSolved : Answer { io::LcsAnswer found; };

struct PatchSolved : Answer { dynamics::PatchAnswer found; };

struct ComplementaritySolved : Answer {
  int modes = 0;
  const char* method = "lemke";
  solvers::lcp::ComplementarityCertificate certificate;
  solvers::lcp::ComplementaritySolution solution;
};

/// Word of the command line for a method.
std::string_view name_of(solvers::contact::SolveMethod method) {
  return method == solvers::contact::SolveMethod::kActiveSet ? "active-set" : "ipm";
}

/// Solves `repeat` times from scratch; the time is the median.
Solved solve(const solvers::contact::ContactProgram& program, const SolveOptions& options,
             solvers::contact::ContactSolver& solver) {
  solvers::contact::SolverSettings settings;
  settings.warm_start = false;
  if (options.solver == "ipm") settings.method = solvers::contact::SolveMethod::kInteriorPoint;
  if (options.solver == "active-set") settings.method = solvers::contact::SolveMethod::kActiveSet;
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  Solved solved{};
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    const solvers::contact::SolveInfo info = solver.solve(program, settings, solved.solution);
    solved.status = info.status;
    solved.iterations = info.iterations;
    solved.method = info.method;
    times_s.push_back(1e-6 * info.solve_us);
  }
  solved.time_s = percentile(times_s, 0.5);
  const bool choose =
      options.forces == "least_norm" && !solved.solution.forces_unique && solvers::usable(solved.status);
  if (choose && !solvers::contact::select_least_norm(program, solved.solution))
    log::warning("no multipliers of least norm were found to the accuracy of the certificate; these are the solver's");
  solved.certificate = certify(program, solved.solution);
  solved.status = solvers::contact::confirmed(solved.status, solved.certificate, settings.tolerance);
  solved.residual = solved.certificate.max_scaled();
  solved.primal = solved.certificate.primal;
  return solved;
}

DelassusSolved solve(const solvers::force_space::DelassusProgram& program, const SolveOptions& options,
                     solvers::force_space::DelassusSolver& solver) {
  solvers::force_space::DelassusSettings settings;
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  DelassusSolved solved;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    const solvers::force_space::DelassusInfo info = solver.solve(program, settings, solved.solution);
    solved.status = info.status;
    solved.iterations = info.iterations;
    times_s.push_back(1e-6 * info.solve_us);
  }
  solved.time_s = percentile(times_s, 0.5);
  solved.certificate = certify(program, solved.solution);
  solved.residual = solved.certificate.max_scaled();
  solved.primal = solved.certificate.primal;
  if (solved.status == Status::kSolved && !(solved.residual <= kDelassusCertified))
    solved.status = Status::kNumericalFailure;
  return solved;
}

ComplementaritySolved solve(const solvers::lcp::ComplementarityProgram& program, const SolveOptions& options,
                            solvers::lcp::ComplementaritySolver& solver) {
  using Method = solvers::lcp::ComplementaritySettings::Method;
  solvers::lcp::ComplementaritySettings& settings = solver.settings();
  settings = {};
  if (options.solver == "lemke") settings.method = Method::kLemke;
  if (options.solver == "newton") settings.method = Method::kNewton;
  settings.check_uniqueness = options.uniqueness == "check";
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  ComplementaritySolved solved;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    solver.forget();
    const Stopwatch watch;
    const solvers::lcp::ComplementarityResult& result = solver.solve(program);
    times_s.push_back(watch.seconds());
    if (i > 0) continue;  // they are all the same
    solved.status = result.status;
    solved.iterations = result.iterations;
    solved.modes = result.modes;
    solved.method = result.method;
    solved.solution = result.solution;
  }
  solved.time_s = percentile(times_s, 0.5);
  solved.certificate = certify(program, solved.solution);
  solved.residual = solved.certificate.max_scaled();
  solved.primal = std::max(solved.certificate.stationarity, solved.certificate.primal);
  if (solvers::usable(solved.status) && !(solved.residual <= settings.tolerance))
    solved.status = Status::kNumericalFailure;
  return solved;
}

ControlSolved solve(const io::LcsProblemFile& file, const SolveOptions& options) {
  ControlSolved solved;
  solved.found = solve_lcs(file, {options.tolerance, options.time_limit_s, options.threads, options.repeat,
                                  !options.output.quiet && options.files.size() == 1});
  const io::LcsAnswer& found = solved.found;
  solved.status = found.status;
  solved.time_s = found.time_s;
  solved.iterations = static_cast<int>(std::min<std::int64_t>(found.iterations, std::numeric_limits<int>::max()));
  constexpr double kNoPoint = std::numeric_limits<double>::infinity();
  solved.residual = found.has_incumbent ? found.certificate.max() / found.scale() : kNoPoint;
  solved.primal = found.has_incumbent ? found.certificate.primal / found.scale() : kNoPoint;
  return solved;
}

PatchSolved solve(const io::PatchProblemFile& file, const SolveOptions& options) {
  PatchSolved solved;
  solved.found = solve_patch(file, {options.tolerance, options.time_limit_s, options.repeat}, solved.time_s);
  solved.status = solved.found.status;
  solved.iterations = solved.found.iterations;
  const bool usable = solvers::usable(solved.status);
  constexpr double kNoPoint = std::numeric_limits<double>::infinity();
  solved.residual = usable ? solved.found.certificate.max_scaled() : kNoPoint;
  solved.primal = usable ? solved.found.certificate.primal : kNoPoint;
  return solved;
}

int exit_code(const Answer& solved) {
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

void print_one(const io::ContactProblemFile& file, const Solved& solved) {
  const auto& program = file.program;
  const solvers::contact::Certificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status), solvers::sentence(solved.status));
  fmt::print("  problem     nv {}, {} contacts, {}\n", program.nv, program.contacts.size(),
             program.model == solvers::contact::FrictionModel::kCone ? "cone"
                                                                     : fmt::format("pyramid of {} rays", program.rays));
  fmt::print("  solver      {}, {} iterations, {:.1f} µs\n", name_of(solved.method), solved.iterations,
             1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             c.primal, c.complementarity);
  fmt::print("              {:.2e} N  {:.2e} m  {:.2e} J\n", c.stationarity_N, c.primal_m, c.complementarity_J);
  fmt::print("  unique      motion {}, forces {}\n", solved.solution.motion_unique ? "yes" : "no",
             solved.solution.forces_unique ? "yes" : "no");
  fmt::print("  loaded contacts (gap [m], force [N])\n");
  for (std::size_t i = 0; i < solved.solution.force.size(); ++i) {
    const auto& f = solved.solution.force[i];
    if (f[0] > 0)
      fmt::print("    {:>4}  {:12.4e}  {:12.5g} {:12.5g} {:12.5g} {:12.5g}\n", i, solved.solution.gap[i], f[0], f[1],
                 f[2], f[3]);
  }
}

void print_one(const io::DelassusProblemFile& file, const DelassusSolved& solved) {
  const solvers::force_space::DelassusCertificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status), solvers::sentence(solved.status));
  fmt::print("  problem     {} contacts in {}, {} nonzeros of W, {} law\n", file.program.mu.size(),
             file.program.dim == 2 ? "the plane" : "space", file.program.W.nonZeros(),
             file.program.law == solvers::force_space::SlidingLaw::kCoulomb ? "Coulomb's" : "the associated");
  fmt::print("  solver      ipm, {} iterations, {:.1f} µs\n", solved.iterations, 1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             std::max(c.primal, c.dual), c.complementarity);
}

void print_one(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved) {
  const solvers::lcp::ComplementarityCertificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status),
             solvers::lcp::sentence(solved.status, solved.solution.uniqueness));
  fmt::print("  problem     {} of size {}, {} free\n", file.kind, file.program.q.size(), file.program.free.size());
  fmt::print("  solver      {}, {} iterations, {} modes, {:.1f} µs\n", solved.method, solved.iterations, solved.modes,
             1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             c.primal, c.complementarity);
  fmt::print("  unique      {}\n", solvers::lcp::to_string(solved.solution.uniqueness));
  if (solved.status == Status::kInfeasible) {
    fmt::print("  proof       {} parts, error {:.1e}\n", solved.solution.proof.size(), c.infeasible);
    return;
  }
  const bool second = solved.solution.second_z.size() > 0;
  fmt::print("  entries that are not zero (z, w{})\n", second ? ", z of the second solution" : "");
  for (Eigen::Index i = 0; i < solved.solution.z.size(); ++i) {
    const double other = second ? solved.solution.second_z[i] : 0;
    if (solved.solution.z[i] == 0 && other == 0) continue;
    fmt::print("    {:>4}  {:14.6g} {:14.6g}", i, solved.solution.z[i], solved.solution.w[i]);
    if (second) fmt::print(" {:14.6g}", other);
    fmt::print("\n");
  }
}

void print_one(const io::LcsProblemFile& file, const ControlSolved& solved) { print_lcs(file, solved.found); }
void print_one(const io::PatchProblemFile& file, const PatchSolved& solved) {
  print_patch(file, solved.found, solved.time_s);
}

std::string result_json(const io::LcsProblemFile& file, const ControlSolved& solved) {
  return io::lcs_result_json(file, solved.found);
}
std::string result_json(const io::PatchProblemFile& file, const PatchSolved& solved) {
  return io::patch_result_json(file, solved.found, solved.time_s);
}
std::string result_json(const io::ContactProblemFile& file, const Solved& solved) {
  return io::contact_result_json(file, solved.status, solved.time_s, solved.iterations, solved.certificate,
                                 solved.solution, name_of(solved.method));
}
std::string result_json(const io::DelassusProblemFile& file, const DelassusSolved& solved) {
  return io::delassus_result_json(file, solved.status, solved.time_s, solved.iterations, solved.certificate,
                                  solved.solution);
}
std::string result_json(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved) {
  return io::complementarity_result_json(file, solved.status, solved.time_s, solved.iterations, solved.modes,
                                         solved.certificate, solved.solution, solved.method);
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

/// One solver of each kind.
struct Solvers {
  solvers::contact::ContactSolver contact;
  solvers::force_space::DelassusSolver delassus;
  solvers::lcp::ComplementaritySolver complementarity;

  Solved solve(const io::ContactProblemFile& file, const SolveOptions& options) {
    return cli::solve(file.program, options, contact);
  }
  DelassusSolved solve(const io::DelassusProblemFile& file, const SolveOptions& options) {
    return cli::solve(file.program, options, delassus);
  }
  ComplementaritySolved solve(const io::ComplementarityProblemFile& file, const SolveOptions& options) {
    return cli::solve(file.program, options, complementarity);
  }
  ControlSolved solve(const io::LcsProblemFile& file, const SolveOptions& options) { return cli::solve(file, options); }
  PatchSolved solve(const io::PatchProblemFile& file, const SolveOptions& options) { return cli::solve(file, options); }
};

/// What several files add up to.
struct Total {
  int solved = 0, failed = 0, worst = kDone;
  std::vector<double> times_s;

  void add(const Answer& one) {
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
  Solvers all;
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
          print_one(file, solved);
        }
        return exit_code(solved);
      },
      problem);
}

/// One line each. With --json the whole is one object that has one line per file.
int run_many(const SolveOptions& options) {
  Total total;
  Solvers all;
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
  CLI::App* command = app.add_subcommand("solve", "Solve problem files and judge the solutions");
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
