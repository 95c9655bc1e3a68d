#include "solve_lcs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "command.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/io/lcs_export.hpp"
#include "deft/solvers/lcs_bounds.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "statistics.hpp"

namespace deft::cli {
namespace {

constexpr double kZero = 1e-9;       // of the trajectory's size: shown as zero

/// One sign per pair: + its force is positive, . its slack is, 0 both are zero.
std::string modes(const solvers::LinearComplementaritySystem& s, const solvers::LcsTrajectory& t, Eigen::Index k, double scale) {
  const Eigen::VectorXd slack = s.D0 * t.x.col(k) + s.D * t.x.col(k + 1) + s.E * t.gamma.col(k) + s.H * t.u.col(k) + s.alpha;
  std::string out;
  for (Eigen::Index i = 0; i < slack.size(); ++i) out += t.gamma(i, k) > kZero * scale ? '+' : slack[i] > kZero * scale ? '.' : '0';
  return out;
}

}  // namespace

LcsSolved solve_lcs(const io::LcsProblemFile& file, const LcsOptions& options) {
  (void)options;
  throw InputError({file.name, 0, 0}, "kind 'lcs_mpc' can be exported (--export), but is not solved yet");
}

void print_lcs(const io::LcsProblemFile& file, const LcsSolved& solved) {
  const auto& program = file.program;
  const solvers::LcsMpcResult& result = solved.result;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(result.status), io::lcs_sentence(result));
  fmt::print("  problem     {} states, {} inputs, {} pairs, N {}\n", program.system.nx(), program.system.nu(), program.system.pairs(), program.N);
  fmt::print("  cost        {:.9g}, bound {:.9g}, gap {:.2g}\n", result.has_incumbent ? result.cost : INFINITY, result.bound, result.gap);
  fmt::print("  solver      bnb, {} nodes, {} iterations, {:.3f} ms\n", result.nodes, result.iterations, 1e3 * solved.time_s);
  if (!result.has_incumbent) return;
  const solvers::LcsCertificate& c = result.certificate;
  fmt::print("  residuals   dynamics {:.2e}  primal {:.2e}  complementarity {:.2e} (absolute)\n", c.dynamics, c.primal, c.complementarity);
  fmt::print("  modes       of the pairs in each step: + γ > 0, . slack > 0, 0 both zero; then u\n");
  for (Eigen::Index k = 0; k < program.N; ++k) {
    fmt::print("    {:>4}  {} ", k + 1, modes(program.system, result.incumbent, k, solved.scale));
    for (const double u : result.incumbent.u.col(k)) fmt::print(" {:12.6g}", u);
    fmt::print("\n");
  }
}

int export_lcs(const io::LcsProblemFile& file, const std::string& path, bool json) {
  const solvers::LcsBounds bounds = solvers::find_lcs_bounds(file.program);
  const io::LcsExport done = io::export_lcs_problem(path, file.name, file.program, bounds);
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
  fmt::print("{}: {} columns, {} of them binary (of {} pairs), {} rows, largest big-M {:.6g}, {} indicator constraints\n", path, done.columns, done.binaries,
             file.program.N * file.program.system.pairs(), done.rows, done.largest_m, done.indicators);
  if (bounds.infeasible) fmt::print("  its bounds prove already that it is infeasible\n");
  return kDone;
}

}  // namespace deft::cli
