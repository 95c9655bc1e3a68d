#include "solve_lcs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/io/problems/lcs_export.hpp"
#include "deft/math/percentile.hpp"
#include "deft/solvers/lcs/bounds.hpp"
#include "deft/solvers/lcs/mpc_solver.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "progress.hpp"

namespace deft::cli {
namespace {

using solvers::Status;

constexpr double kCertified = 1e-6;  // residual over the trajectory's size above which it is none
constexpr double kZero = 1e-9;       // of the trajectory's size: shown as zero

/// One sign per pair: + its force is positive, . its slack is, 0 both are zero.
std::string modes(const solvers::lcs::LinearComplementaritySystem& s, const solvers::lcs::LcsTrajectory& t,
                  Eigen::Index k, double scale) {
  const Eigen::VectorXd slack =
      s.D0 * t.x.col(k) + s.D * t.x.col(k + 1) + s.E * t.gamma.col(k) + s.H * t.u.col(k) + s.alpha;
  std::string out;
  for (Eigen::Index i = 0; i < slack.size(); ++i)
    out += t.gamma(i, k) > kZero * scale ? '+' : slack[i] > kZero * scale ? '.' : '0';
  return out;
}

}  // namespace

io::LcsAnswer solve_lcs(const io::LcsProblemFile& file, const LcsOptions& options) {
  solvers::lcs::BranchAndBoundSettings settings;
  if (options.gap) settings.gap = *options.gap;
  if (options.time_limit_s) settings.time_limit_s = *options.time_limit_s;
  settings.threads = options.threads;
  Progress progress(options.progress);
  settings.watch = [&](const solvers::lcs::LcsMpcResult& known) {
    if (progress.due())
      progress.show(fmt::format("{}: {:.0f} s, {} nodes, cost {:.8g}, bound {:.8g}, gap {:.2g}", file.name,
                                progress.seconds(), known.nodes, known.cost, known.bound, known.gap));
    return !interrupted();
  };
  io::LcsAnswer answer;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    solvers::lcs::LcsMpcSolver solver(settings);
    const Stopwatch watch;
    const solvers::lcs::LcsMpcResult& result = solver.solve(file.program);
    times_s.push_back(watch.seconds());
    if (i > 0) continue;
    answer = {.status = result.status,
              .has_incumbent = result.has_incumbent,
              .point = result.incumbent,
              .certificate = result.certificate,
              .cost = result.cost,
              .bound = result.bound,
              .gap = result.gap,
              .nodes = result.nodes,
              .iterations = result.iterations};
  }
  answer.time_s = percentile(times_s, 0.5);
  if (!answer.has_incumbent) return answer;
  answer.certificate = certify(file.program, answer.point);
  if (!(answer.certificate.max() <= kCertified * answer.scale())) answer.status = Status::kNumericalFailure;
  return answer;
}

void print_lcs(const io::LcsProblemFile& file, const io::LcsAnswer& answer) {
  const auto& program = file.program;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(answer.status), io::lcs_sentence(answer));
  fmt::print("  problem     {} states, {} inputs, {} pairs, N {}\n", program.system.nx(), program.system.nu(),
             program.system.pairs(), program.N);
  fmt::print("  cost        {:.12g}, bound {:.12g}, gap {:.2g}\n", answer.cost, answer.bound, answer.gap);
  fmt::print("  solver      bnb, {} nodes, {} iterations, {:.3f} ms\n", answer.nodes, answer.iterations,
             1e3 * answer.time_s);
  if (!answer.has_incumbent) return;
  const solvers::lcs::LcsCertificate& c = answer.certificate;
  fmt::print("  residuals   dynamics {:.2e}  primal {:.2e}  complementarity {:.2e} (absolute)\n", c.dynamics, c.primal,
             c.complementarity);
  fmt::print("  steps       of each pair + γ > 0, . slack > 0, 0 both zero; then u\n");
  for (Eigen::Index k = 0; k < program.N; ++k) {
    fmt::print("    {:>4}  {} ", k + 1, modes(program.system, answer.point, k, answer.scale()));
    for (const double u : answer.point.u.col(k)) fmt::print(" {:12.6g}", u);
    fmt::print("\n");
  }
}

int export_lcs(const io::LcsProblemFile& file, const std::string& path, bool json) {
  const solvers::lcs::LcsBounds bounds = solvers::lcs::find_lcs_bounds(file.program);
  io::LcsPairBounds sides{bounds.gamma_upper, bounds.slack_upper};
  if (bounds.infeasible) {  // its bounds mean nothing then
    if (!path.ends_with(".lp") && !path.ends_with(".lp.gz"))
      throw InputError(
          {path, 0, 0},
          "the bounds prove that the problem is infeasible, so there are no big-M values; export it as .lp");
    sides.gamma.setConstant(INFINITY);
    sides.slack.setConstant(INFINITY);
  }
  const io::LcsExport done = io::export_lcs_problem(path, file.name, file.program, sides);
  if (json) {
    print_json({{"name", file.name},
                {"kind", "lcs_mpc"},
                {"export", path},
                {"columns", done.columns},
                {"rows", done.rows},
                {"binaries", done.binaries},
                {"indicators", done.indicators},
                {"largest_m", number(done.largest_m)},
                {"infeasible", bounds.infeasible}});
    return kDone;
  }
  fmt::print(
      "{}: {} columns, {} of them binary (of {} pairs), {} rows, largest big-M {:.6g}, {} indicator constraints\n",
      path, done.columns, done.binaries, file.program.N * file.program.system.pairs(), done.rows, done.largest_m,
      done.indicators);
  if (bounds.infeasible) fmt::print("  its bounds prove already that it is infeasible\n");
  return kDone;
}

}  // namespace deft::cli
