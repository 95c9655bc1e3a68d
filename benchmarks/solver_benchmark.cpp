// The contact solver on the real problems: accuracy against the references, and the time of one solve, cold and warm
// along the sequence. Prints a table, writes nothing. Times are those of the solve call alone, in µs.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "support/problem_reader.hpp"

namespace {

using namespace deft;
using benchmarks::RealProblem;

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

struct Row {
  int failed = 0;
  double worst_certificate = 0, worst_energy = 0, p50_us = 0, p95_us = 0, mean_iterations = 0;
};

Row measure(const std::vector<RealProblem>& sequence, bool warm, int repeats) {
  Row row;
  solvers::contact::ContactSolver solver;
  solvers::contact::SolverSettings settings;
  settings.warm_start = warm;
  solvers::contact::ContactSolution solution;
  std::vector<double> times;
  int iterations = 0;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    solver.forget();
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const Stopwatch watch;
      const solvers::contact::SolveInfo info = solver.solve(sequence[i].program, settings, solution);
      const double time = watch.microseconds();
      if (repeat == 0) {  // warms the caches, checks the answers
        const solvers::contact::Certificate certificate = certify(sequence[i].program, solution);
        row.failed += info.status != solvers::Status::kSolved;
        row.worst_certificate = std::max(row.worst_certificate, certificate.max_scaled());
        row.worst_energy =
            std::max(row.worst_energy, benchmarks::energy_error(sequence[i], solution.delta, certificate.E0_J));
        continue;
      }
      iterations += info.iterations;
      if (!warm || i > 0) times.push_back(time);
    }
  }
  row.p50_us = quantile(times, 0.5);
  row.p95_us = quantile(times, 0.95);
  row.mean_iterations =
      static_cast<double>(iterations) / static_cast<double>(repeats * static_cast<int>(sequence.size()));
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string data = DEFT_SOURCE_DIR "/benchmarks/data/problems";
  int repeats = 20;
  std::string only, start;  // a part of the name of the sequences to run; "cold" or "warm" alone
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--repeat") == 0) repeats = std::max(1, std::stoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (std::strcmp(argv[i], "--start") == 0) start = argv[i + 1];
  }
  fmt::print("deft contact solver, kernels: {}; {} repeats of 40 steps\n", solvers::kernels::active_isa(), repeats);
  fmt::print("{:24} {:5} {:>6} {:>12} {:>12} {:>9} {:>9} {:>6}\n", "sequence", "start", "failed", "certificate",
             "energy error", "p50 µs", "p95 µs", "its");
  int failed = 0;
  for (const char* folder : {"planar_hand_pyr", "planar_hand_cone", "allegro_pyr", "allegro_cone",
                             "pick_place_grasp_pyr", "pick_place_grasp_cone"}) {
    if (std::string(folder).find(only) == std::string::npos) continue;
    const auto sequence = benchmarks::read_sequence(data, folder);
    for (bool warm : {false, true}) {
      if (!start.empty() && start != (warm ? "warm" : "cold")) continue;
      const Row row = measure(sequence, warm, repeats);
      failed += row.failed;
      fmt::print("{:24} {:5} {:6} {:12.1e} {:12.1e} {:9.1f} {:9.1f} {:6.1f}\n", folder, warm ? "warm" : "cold",
                 row.failed, row.worst_certificate, row.worst_energy, row.p50_us, row.p95_us, row.mean_iterations);
    }
  }
  return failed == 0 ? 0 : 1;
}
