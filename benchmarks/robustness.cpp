// Random contact problems in bulk: every one must get a status that its certificate confirms. Usage: robustness
// [--count N] [--jammed N] [--quasistatic N] [--delassus N [--family F]
// [--time-limit S]] [--cross-check N] [--lcp N] [--lcs N] [--kappa K] [--seed S]. Solvable problems with Q ≻ 0 must be
// Solved, jammed ones Infeasible with a Farkas ray, quasistatic ones Solved, NotUnique or Unbounded with a direction.
// Prints the seed, statuses, histograms of residual and time, and the seed index of each failure.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "robustness.hpp"
#include "support/random_problems.hpp"

namespace {

using namespace deft;

struct Options {
  int count = 10000, jammed = 1000, quasistatic = 1000, delassus = 0, cross_check = 0, lcp = 0, lcs = 0;
  int family = -1;           // of ForceSpaceProblems; −1: all
  double time_limit_s = 10;  // of a problem in force space
  double kappa = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--lcp") == 0 || std::strcmp(argv[i], "--lcs") == 0)
      options.count = options.jammed = options.quasistatic = 0;  // unless asked for
  }
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--count") options.count = std::stoi(argv[i + 1]);
    if (key == "--jammed") options.jammed = std::stoi(argv[i + 1]);
    if (key == "--quasistatic") options.quasistatic = std::stoi(argv[i + 1]);
    if (key == "--delassus") options.delassus = std::stoi(argv[i + 1]);
    if (key == "--lcp") options.lcp = std::stoi(argv[i + 1]);
    if (key == "--lcs") options.lcs = std::stoi(argv[i + 1]);
    if (key == "--cross-check") options.cross_check = std::stoi(argv[i + 1]);
    if (key == "--time-limit") options.time_limit_s = std::stod(argv[i + 1]);
    if (key == "--family") options.family = std::stoi(argv[i + 1]);
    if (key == "--kappa") options.kappa = std::stod(argv[i + 1]);
    if (key == "--seed") options.seed = std::stoull(argv[i + 1]);
  }
  return options;
}

using Statuses = std::vector<solvers::Status>;

struct Tally {
  Statuses expected;
  std::array<int, solvers::kNumStatuses> statuses{};
  std::array<int, 20> residuals{};  // by power of ten, 10⁰ … 10⁻¹⁹; of solutions
  int failed = 0, not_finite = 0;
  double worst = 0;
  long iterations = 0;
  std::vector<double> times_us;

  void add(std::uint64_t seed, const solvers::contact::ContactProgram& program, const solvers::contact::SolveInfo& info,
           const solvers::contact::ContactSolution& solution) {
    const solvers::contact::Certificate certificate = certify(program, solution);
    const solvers::Status status = confirmed(info.status, certificate);
    statuses[to_size(status)] += 1;
    not_finite += !solution.delta.allFinite();
    iterations += info.iterations;
    times_us.push_back(info.solve_us);
    const double residual = certificate.max_scaled();
    if (std::find(expected.begin(), expected.end(), status) == expected.end() && ++failed <= 20) {
      fmt::print("  seed {}: {} (claimed {}) residual {:.1e}, {} velocities, {} contacts, {} iterations\n", seed,
                 solvers::to_string(status), solvers::to_string(info.status), residual, program.nv,
                 program.contacts.size(), info.iterations);
    }
    if (!usable(status)) return;
    worst = std::max(worst, residual);
    const int power = residual > 0 ? static_cast<int>(std::ceil(-std::log10(residual))) : 19;
    residuals[std::clamp(power, 0, 19)] += 1;
  }

  void print() {
    std::sort(times_us.begin(), times_us.end());
    const auto at = [&](double q) { return times_us[q * static_cast<double>(times_us.size() - 1)]; };
    for (int k = 0; k < solvers::kNumStatuses; ++k) {
      if (statuses[k]) fmt::print("  {}: {}\n", solvers::to_string(static_cast<solvers::Status>(k)), statuses[k]);
    }
    fmt::print("  failures {}, not finite {}, worst residual {:.2e}, mean iterations {:.1f}\n  residuals:", failed,
               not_finite, worst, static_cast<double>(iterations) / static_cast<double>(times_us.size()));
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      if (residuals[k]) fmt::print(" 1e-{}: {}", k, residuals[k]);
    }
    fmt::print("\n  solve µs: p50 {:.0f}  p90 {:.0f}  p99 {:.0f}  max {:.0f}\n", at(0.5), at(0.9), at(0.99), at(1.0));
  }
};

// One class of problems; @returns whether every status was an expected one.
template <class RandomStream>
bool run(const char* name, int count, std::uint64_t first_seed, Statuses expected, RandomStream draw) {
  if (count <= 0) return true;
  fmt::print("{} {} problems, seeds {} …\n", count, name, first_seed);
  solvers::contact::ContactSolver solver;
  solvers::contact::ContactSolution solution;
  Tally tally;
  tally.expected = std::move(expected);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    deft::testing::RandomProblems problems(seed);
    const solvers::contact::ContactProgram program = draw(problems);
    tally.add(seed, program, solver.solve(program, {.warm_start = false}, solution), solution);
  }
  tally.print();
  return tally.failed == 0 && tally.not_finite == 0;
}

}  // namespace

int main(int argc, char** argv) {
  using deft::testing::RandomProblems;
  using solvers::Status;
  const Options options = parse(argc, argv);
  const std::uint64_t seed = options.seed;
  const auto smooth = [&](solvers::contact::ContactProgram program) {
    program.kappa = options.kappa;
    return program;
  };
  fmt::print("kappa {}\n", options.kappa);
  bool ok = run("solvable", options.count, seed, {Status::kSolved},
                [&](RandomProblems& random) { return smooth(random.next()); });
  ok &= run("jammed", options.jammed, seed, {Status::kInfeasible},
            [&](RandomProblems& random) { return smooth(random.next_jammed()); });
  ok &= run("quasistatic", options.quasistatic, seed, {Status::kSolved, Status::kNotUnique, Status::kUnbounded},
            [&](RandomProblems& random) { return smooth(random.next_quasistatic()); });
  if (options.delassus > 0)
    ok &= bench::check_force_space(options.delassus, options.family, seed, options.time_limit_s);
  if (options.lcp > 0) ok &= bench::check_complementarity(options.lcp, seed);
  if (options.lcs > 0) ok &= bench::check_control(options.lcs, seed);
  if (options.cross_check > 0) ok &= bench::cross_check(options.cross_check, seed);
  return ok ? 0 : 1;
}
