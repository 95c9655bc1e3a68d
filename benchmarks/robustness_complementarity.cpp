// Linear complementarity problems in bulk: those that Lemke's method must solve, and small ones against all their
// modes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "robustness.hpp"
#include "support/brute_force_modes.hpp"
#include "support/complementarity_problems.hpp"

namespace deft::bench {
namespace {

using deft::testing::ComplementarityProblems;
using solvers::Status;
using solvers::lcp::Uniqueness;

constexpr double kResidual = 1e-10;
constexpr double kSpread = 1e-6;  // of motions that count as several
constexpr int kSmall = 12;        // pairs of problems that are enumerated

struct Times {
  std::vector<double> us;
  double at(double p) {
    if (us.empty()) return 0;
    std::sort(us.begin(), us.end());
    return us[p * static_cast<double>(us.size() - 1)];
  }
};

bool check_solvable(int count, std::uint64_t first_seed) {
  fmt::print("{} frictional contact problems (Stewart–Trinkle, limit surface), n = 4 … 120, seeds {} …\n", count,
             first_seed);
  solvers::lcp::ComplementaritySolver solver;
  std::array<int, 20> residuals{};
  std::array<int, 3> methods{};
  Times times;
  int failed = 0;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    ComplementarityProblems random(seed);
    const solvers::lcp::ComplementarityProgram program =
        seed % 2 == 0 ? random.stewart_trinkle({}) : random.limit_surface({});
    solver.forget();
    const Stopwatch watch;
    const solvers::lcp::ComplementarityResult& result = solver.solve(program);
    times.us.push_back(watch.microseconds());
    const double residual = certify(program, result.solution).max_scaled();
    if (result.status != Status::kSolved || !(residual <= kResidual)) {
      if (++failed <= 20)
        fmt::print("  seed {}: {} residual {:.1e}, n {}, {} iterations\n", seed, solvers::to_string(result.status),
                   residual, program.q.size(), result.iterations);
      continue;
    }
    worst = std::max(worst, residual);
    const std::string_view method = result.method;
    methods[method == "lemke" ? 0 : method == "newton" ? 1 : 2] += 1;
    const int power = residual > 0 ? static_cast<int>(std::ceil(-std::log10(residual))) : 19;
    residuals[std::clamp(power, 0, 19)] += 1;
  }
  fmt::print("  failures {}, worst residual {:.1e}; by Lemke's method {}, Newton's {}, modes {}\n  residuals:", failed,
             worst, methods[0], methods[1], methods[2]);
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    if (residuals[k]) fmt::print(" 1e-{}: {}", k, residuals[k]);
  }
  fmt::print("\n  solve µs: p50 {:.1f}  p95 {:.1f}  p99 {:.0f}  max {:.0f}\n", times.at(0.5), times.at(0.95),
             times.at(0.99), times.at(1));
  return failed == 0;
}

bool check_statuses(int count, std::uint64_t first_seed) {
  constexpr std::array<const char*, 5> kKinds{"dense", "small integers", "one rigid body", "integers, mixed",
                                              "quasistatic, mixed"};
  fmt::print("{} problems of at most {} pairs without, with one and with several solutions, against all modes\n", count,
             kSmall);
  bool good = true;
  for (int kind = 0; kind < static_cast<int>(kKinds.size()); ++kind) {
    int infeasible = 0, several = 0, one = 0, wrong = 0, modes = 0;
    Times times;
    for (int i = kind; i < count; i += static_cast<int>(kKinds.size())) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
      ComplementarityProblems random(seed);
      const solvers::lcp::ComplementarityProgram program = random.small(kind, kSmall);
      const deft::testing::ModesTruth truth = deft::testing::enumerate_modes(program);
      const bool many = truth.feasible && truth.spread > kSpread;
      (!truth.feasible ? infeasible : many ? several : one) += 1;

      solvers::lcp::ComplementaritySolver solver({.check_uniqueness = true});
      const Stopwatch watch;
      const solvers::lcp::ComplementarityResult& result = solver.solve(program);
      times.us.push_back(watch.microseconds());
      modes = std::max(modes, result.modes);
      const solvers::lcp::ComplementarityCertificate certificate = certify(program, result.solution);
      const bool right = !truth.feasible ? result.status == Status::kInfeasible && certificate.infeasible <= 1e-8
                         : many ? result.status == Status::kNotUnique && certificate.max_scaled() <= kResidual
                                : result.status == Status::kSolved && result.solution.uniqueness == Uniqueness::kUnique;
      if (!right && ++wrong <= 5)
        fmt::print("  seed {}: {} {}, n {}; truth: feasible {}, spread {:.1e}\n", seed,
                   solvers::to_string(result.status), to_string(result.solution.uniqueness), program.q.size(),
                   truth.feasible, truth.spread);
    }
    good = good && wrong == 0;
    fmt::print(
        "  {:<19} {:>4} infeasible, {:>4} with several, {:>4} with one solution: {} wrong; at most {} nodes; p50 "
        "{:.1f} µs, max {:.0f} µs\n",
        kKinds[kind], infeasible, several, one, wrong, modes, times.at(0.5), times.at(1));
  }
  return good;
}

}  // namespace

bool check_complementarity(int count, std::uint64_t seed) {
  const bool solvable = check_solvable(count, seed);
  return check_statuses(std::min(count, 1000), seed) && solvable;
}

}  // namespace deft::bench
