// The families of problems in force space: how many are solved, and how fast.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "deft/solvers/force_space/delassus_solver.hpp"
#include "robustness.hpp"
#include "support/force_space_problems.hpp"

namespace deft::bench {

bool check_force_space(int count, int only, std::uint64_t first_seed, double time_limit_s) {
  using deft::testing::ForceSpaceProblems;
  bool ok = true;
  fmt::print("{} problems in force space per family and law, seeds {} …\n", count, first_seed);
  fmt::print("  {:<10} {:<10} {:>7} {:>9} {:>9} {:>9} {:>10} {:>10}\n", "family", "law", "solved", "honest", "false",
             "worst", "p50 ms", "max ms");
  for (int family = 0; family < static_cast<int>(ForceSpaceProblems::kFamilies.size()); ++family) {
    if (only >= 0 && family != only) continue;
    for (const auto law : {solvers::force_space::SlidingLaw::kAssociated, solvers::force_space::SlidingLaw::kCoulomb}) {
      const bool coulomb = law == solvers::force_space::SlidingLaw::kCoulomb;
      int solved = 0, honest = 0, wrong = 0;
      double worst = 0;
      std::vector<double> times_ms;
      std::string unsolved;
      for (int i = 0; i < count; ++i) {
        const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
        std::mt19937_64 rng(seed);
        const double size = std::pow(700.0, std::uniform_real_distribution<double>(0, 1)(rng));
        solvers::force_space::DelassusProgram program = ForceSpaceProblems(seed).next(family, static_cast<int>(size));
        program.law = law;
        solvers::force_space::DelassusSolution solution;
        const solvers::force_space::DelassusInfo info =
            solvers::force_space::DelassusSolver().solve(program, {.time_limit_s = time_limit_s}, solution);
        const double residual = certify(program, solution).max_scaled();
        times_ms.push_back(1e-3 * info.solve_us);
        if (info.status == solvers::Status::kSolved) {
          ++(residual <= 1e-6 ? solved : wrong);
          worst = std::max(worst, residual);
        } else {
          ++honest;
        }
        if (info.status != solvers::Status::kSolved || residual > 1e-6)
          unsolved += fmt::format("    seed {}: {} residual {:.1e}, {} contacts, {} factorisations, {:.0f} ms\n", seed,
                                  solvers::to_string(info.status), residual, program.mu.size(), info.iterations,
                                  1e-3 * info.solve_us);
      }
      std::sort(times_ms.begin(), times_ms.end());
      fmt::print("  {:<10} {:<10} {:>7} {:>9} {:>9} {:>9.1e} {:>10.2f} {:>10.1f}\n{}",
                 ForceSpaceProblems::kFamilies[family], coulomb ? "coulomb" : "associated", solved, honest, wrong,
                 worst, times_ms[times_ms.size() / 2], times_ms.back(), unsolved);
      std::fflush(stdout);
      ok &= wrong == 0 && (coulomb || honest == 0);
    }
  }
  return ok;
}

}  // namespace deft::bench
