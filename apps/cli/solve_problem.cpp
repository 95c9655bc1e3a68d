#include "solve_problem.hpp"

#include <algorithm>
#include <cstdint>

#include "deft/core/log.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/math/percentile.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"
#include "interrupt.hpp"
#include "solve_lcs.hpp"
#include "solve_patch.hpp"

namespace deft::cli {
namespace {

using solvers::Status;

constexpr double kDelassusCertified = 1e-6;  // scaled residual above which a solution in force space is none
constexpr double kNoPoint = std::numeric_limits<double>::infinity();  // residual where there is no solution

}  // namespace

ContactSolved ProblemSolvers::solve(const io::ContactProblemFile& file, const SolveOptions& options) {
  const solvers::contact::ContactProgram& program = file.program;
  solvers::contact::SolverSettings settings;
  settings.warm_start = false;
  if (options.solver == "ipm") settings.method = solvers::contact::SolveMethod::kInteriorPoint;
  if (options.solver == "active-set") settings.method = solvers::contact::SolveMethod::kActiveSet;
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  ContactSolved solved{};
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    const solvers::contact::SolveInfo info = contact_.solve(program, settings, solved.solution);
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

DelassusSolved ProblemSolvers::solve(const io::DelassusProblemFile& file, const SolveOptions& options) {
  const solvers::force_space::DelassusProgram& program = file.program;
  solvers::force_space::DelassusSettings settings;
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  DelassusSolved solved;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    const solvers::force_space::DelassusInfo info = delassus_.solve(program, settings, solved.solution);
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

ComplementaritySolved ProblemSolvers::solve(const io::ComplementarityProblemFile& file, const SolveOptions& options) {
  const solvers::lcp::ComplementarityProgram& program = file.program;
  using Method = solvers::lcp::ComplementaritySettings::Method;
  solvers::lcp::ComplementaritySettings& settings = complementarity_.settings();
  settings = {};
  if (options.solver == "lemke") settings.method = Method::kLemke;
  if (options.solver == "newton") settings.method = Method::kNewton;
  settings.check_uniqueness = options.uniqueness == "check";
  if (options.tolerance) settings.tolerance = *options.tolerance;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  ComplementaritySolved solved;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    complementarity_.forget();
    const Stopwatch watch;
    const solvers::lcp::ComplementarityResult& result = complementarity_.solve(program);
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

ControlSolved ProblemSolvers::solve(const io::LcsProblemFile& file, const SolveOptions& options) {
  ControlSolved solved;
  solved.found = solve_lcs(file, {options.tolerance, options.time_limit_s, options.threads, options.repeat,
                                  !options.output.quiet && options.files.size() == 1});
  const io::LcsAnswer& found = solved.found;
  solved.status = found.status;
  solved.time_s = found.time_s;
  solved.iterations = static_cast<int>(std::min<std::int64_t>(found.iterations, std::numeric_limits<int>::max()));
  solved.residual = found.has_incumbent ? found.certificate.max() / found.scale() : kNoPoint;
  solved.primal = found.has_incumbent ? found.certificate.primal / found.scale() : kNoPoint;
  return solved;
}

PatchSolved ProblemSolvers::solve(const io::PatchProblemFile& file, const SolveOptions& options) {
  PatchSolved solved;
  solved.found = solve_patch(file, {options.tolerance, options.time_limit_s, options.repeat}, solved.time_s);
  solved.status = solved.found.status;
  solved.iterations = solved.found.iterations;
  const bool usable = solvers::usable(solved.status);
  solved.residual = usable ? solved.found.certificate.max_scaled() : kNoPoint;
  solved.primal = usable ? solved.found.certificate.primal : kNoPoint;
  return solved;
}

}  // namespace deft::cli
