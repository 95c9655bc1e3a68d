// Random contact problems in bulk: every one must be solved and certified. Usage: robustness [--count N] [--jammed N]
// [--kappa K]
// [--seed S]. Prints the seed, statuses, histograms of residual and time, and the seed index of each failure.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/certificate.hpp"
#include "deft/solvers/contact_solver.hpp"
#include "support/random_problems.hpp"

namespace {

using namespace deft;

struct Options {
  int count = 10000, jammed = 1000;
  double kappa = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--count") options.count = std::stoi(argv[i + 1]);
    if (key == "--jammed") options.jammed = std::stoi(argv[i + 1]);
    if (key == "--kappa") options.kappa = std::stod(argv[i + 1]);
    if (key == "--seed") options.seed = std::stoull(argv[i + 1]);
  }
  return options;
}

struct Tally {
  std::array<int, solvers::kNumStatuses> statuses{};
  std::array<int, 20> residuals{};  // by power of ten, 10⁰ … 10⁻¹⁹
  int failed = 0, not_finite = 0;
  double worst = 0;
  long iterations = 0;
  std::vector<double> times_us;

  void add(std::uint64_t seed, const solvers::ContactProgram& program, const solvers::SolveInfo& info,
           const solvers::ContactSolution& solution) {
    const double residual = certify(program, solution).max_scaled();
    statuses[static_cast<std::size_t>(info.status)] += 1;
    not_finite += !solution.delta.allFinite();
    const bool ok = info.status == solvers::Status::kSolved && residual <= 1e-8;
    if (!ok && ++failed <= 20) {
      fmt::print("  seed {}: {} residual {:.1e}, {} velocities, {} contacts, {} iterations\n", seed,
                 solvers::to_string(info.status), residual, program.nv, program.contacts.size(), info.iterations);
    }
    worst = std::max(worst, residual);
    const int power = residual > 0 ? static_cast<int>(std::ceil(-std::log10(residual))) : 19;
    residuals[static_cast<std::size_t>(std::clamp(power, 0, 19))] += 1;
    iterations += info.iterations;
    times_us.push_back(info.solve_us);
  }

  void print() {
    std::sort(times_us.begin(), times_us.end());
    const auto at = [&](double q) {
      return times_us[static_cast<std::size_t>(q * static_cast<double>(times_us.size() - 1))];
    };
    for (int k = 0; k < solvers::kNumStatuses; ++k) {
      if (statuses[static_cast<std::size_t>(k)])
        fmt::print("  {}: {}\n", solvers::to_string(static_cast<solvers::Status>(k)),
                   statuses[static_cast<std::size_t>(k)]);
    }
    fmt::print("  failures {}, not finite {}, worst residual {:.2e}, mean iterations {:.1f}\n  residuals:", failed,
               not_finite, worst, static_cast<double>(iterations) / static_cast<double>(times_us.size()));
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      if (residuals[k]) fmt::print(" 1e-{}: {}", k, residuals[k]);
    }
    fmt::print("\n  solve µs: p50 {:.0f}  p90 {:.0f}  p99 {:.0f}  max {:.0f}\n", at(0.5), at(0.9), at(0.99), at(1.0));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  solvers::ContactSolver solver;
  solvers::ContactSolution solution;
  solvers::SolverSettings settings;
  settings.warm_start = false;
  fmt::print("{} random problems, seeds {} …, kappa {}\n", options.count, options.seed, options.kappa);
  Tally tally;
  for (int i = 0; i < options.count; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    solvers::ContactProgram program = deft::testing::RandomProblems(seed).next();
    program.kappa = options.kappa;
    const solvers::SolveInfo info = solver.solve(program, settings, solution);
    tally.add(seed, program, info, solution);
  }
  tally.print();
  bool ok = tally.failed == 0 && tally.not_finite == 0;
  if (options.jammed > 0) {
    fmt::print("{} jammed problems\n", options.jammed);
    std::array<int, solvers::kNumStatuses> statuses{};
    double slowest = 0;
    for (int i = 0; i < options.jammed; ++i) {
      const solvers::ContactProgram program =
          deft::testing::RandomProblems(options.seed + static_cast<std::uint64_t>(i)).next_jammed();
      const solvers::SolveInfo info = solver.solve(program, settings, solution);
      statuses[static_cast<std::size_t>(info.status)] += 1;
      slowest = std::max(slowest, info.solve_us);
      ok = ok && solution.delta.allFinite() && info.status != solvers::Status::kSolved;
    }
    for (int k = 0; k < solvers::kNumStatuses; ++k) {
      if (statuses[static_cast<std::size_t>(k)])
        fmt::print("  {}: {}\n", solvers::to_string(static_cast<solvers::Status>(k)),
                   statuses[static_cast<std::size_t>(k)]);
    }
    fmt::print("  slowest {:.0f} µs\n", slowest);
  }
  return ok ? 0 : 1;
}
