// Control problems in bulk: random small ones against all their modes, everything proved again.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/lcs/mpc_solver.hpp"
#include "robustness.hpp"
#include "support/lcs_problems.hpp"

namespace deft::bench {
namespace {

using deft::testing::AllModes;
using solvers::Status;
using solvers::lcs::LcsMpcProgram;
using solvers::lcs::LcsMpcResult;

constexpr double kResidual = 1e-8;  // of trajectories, over their largest entry (at least 1)
constexpr double kCost = 2e-7;      // over 1 + cost, by which two optima may differ
constexpr double kTimeLimit_s = 10;

double residual(const LcsMpcProgram& program, const solvers::lcs::LcsTrajectory& t) {
  const double largest =
      std::max({1.0, t.x.cwiseAbs().maxCoeff(), t.u.cwiseAbs().maxCoeff(), t.gamma.cwiseAbs().maxCoeff()});
  return certify(program, t).max() / largest;
}

/// What is wrong with a result; empty: nothing. `missed`: an answer that proves nothing, but is not wrong.
std::string wrong(const LcsMpcProgram& program, const LcsMpcResult& result, const AllModes& truth, bool& missed) {
  missed = false;
  const double scale = 1 + std::abs(truth.cost);
  const bool feasible = std::isfinite(truth.cost);
  if (result.has_incumbent) {
    const double error = residual(program, result.incumbent);
    if (!(error <= kResidual)) return fmt::format("residual {:.1e}", error);
    if (!feasible) return "a trajectory where no modes have one";
    if (!(result.certificate.cost >= truth.cost - kCost * scale))
      return fmt::format("cost {:.12g}, below that of all modes", result.cost);
  }
  if (feasible && !(result.bound <= truth.cost + kCost * scale))
    return fmt::format("bound {:.12g}, above the optimum", result.bound);
  if (result.status == Status::kInfeasible) return feasible ? "infeasible, and is not" : "";
  if (result.status == Status::kSolved)
    return result.cost <= truth.cost + kCost * scale ? "" : fmt::format("cost {:.12g} is not the optimum", result.cost);
  missed = true;
  return std::string(solvers::to_string(result.status));
}

}  // namespace

bool check_control(int count, std::uint64_t first_seed) {
  fmt::print("{} random control problems of at most {} pairs against all their modes, seeds {} …\n", count,
             kControlPairs, first_seed);
  solvers::lcs::BranchAndBoundSettings settings;
  settings.time_limit_s = kTimeLimit_s;
  std::array<int, solvers::kNumStatuses> statuses{};
  std::vector<double> times_us, nodes;
  int failed = 0, unproven = 0, unchecked = 0, infeasible = 0, shown = 0;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const LcsMpcProgram program = deft::testing::random_lcs_program(seed, kControlPairs);
    const AllModes truth = deft::testing::try_all_modes(program);
    settings.threads = 1 + static_cast<int>(seed % 2);
    solvers::lcs::LcsMpcSolver solver(settings);
    const LcsMpcResult& result = solver.solve(program);
    statuses[to_size(result.status)] += 1;
    times_us.push_back(1e6 * result.time_s);
    nodes.push_back(static_cast<double>(result.nodes));
    if (result.has_incumbent) worst = std::max(worst, residual(program, result.incumbent));
    // The oracle itself has no answer for some modes, or one that is no trajectory: nothing to hold against.
    if (truth.failures > 0 ||
        (truth.best.size() > 0 && residual(program, deft::testing::unroll(program, truth.best)) > kResidual)) {
      ++unchecked;
      continue;
    }
    infeasible += !std::isfinite(truth.cost);
    bool missed = false;
    const std::string what = wrong(program, result, truth, missed);
    if (what.empty()) continue;
    (missed ? unproven : failed) += 1;
    if (++shown <= 20)
      fmt::print("  seed {}: {}; optimum {:.12g}, N {}, {} pairs a step\n", seed, what, truth.cost, program.N,
                 program.system.pairs());
  }
  for (int k = 0; k < solvers::kNumStatuses; ++k) {
    if (statuses[k]) fmt::print("  {}: {}\n", solvers::to_string(static_cast<Status>(k)), statuses[k]);
  }
  const auto at = [](std::vector<double>& values, double p) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0.0 : values[p * static_cast<double>(values.size() - 1)];
  };
  fmt::print(
      "  wrong {}, without a proof {}; {} infeasible by all modes, {} undecided by all modes; worst residual "
      "{:.1e}\n",
      failed, unproven, infeasible, unchecked, worst);
  fmt::print("  nodes: p50 {:.0f}  p95 {:.0f}  max {:.0f};  solve µs: p50 {:.0f}  p95 {:.0f}  max {:.0f}\n",
             at(nodes, 0.5), at(nodes, 0.95), at(nodes, 1), at(times_us, 0.5), at(times_us, 0.95), at(times_us, 1));
  return failed == 0 && unproven == 0;
}

}  // namespace deft::bench
