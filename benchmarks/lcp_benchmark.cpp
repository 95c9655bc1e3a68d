// Times of linear complementarity problems by size, cold and warm: Stewart and Trinkle's step in the plane (four
// unknowns per contact). Usage: lcp_benchmark [--count N]. Rivals: Newton's method of the same library, and the whole
// solve without a warm start.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "support/complementarity_problems.hpp"

namespace {

using namespace deft;
using Method = solvers::lcp::ComplementaritySettings::Method;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The next problem of a sequence: the same contacts, each a little less pressed. (What is pressed more, or asked to
// slide both ways, need not have a solution.)
void move_on(solvers::lcp::ComplementarityProgram& program, deft::testing::ComplementarityProblems& random) {
  for (Eigen::Index i = 0; i < program.q.size(); i += 4)
    program.q[i] += 1e-2 * std::abs(program.q[i] * random.normal());
}

}  // namespace

int main(int argc, char** argv) {
  int count = 60;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--count") == 0) count = std::stoi(argv[i + 1]);
  }
  fmt::print("linear complementarity problems, {} per size, kernels {}; median µs, certificate included\n", count,
             solvers::kernels::active_isa());
  fmt::print("{:>5} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10}\n", "n", "pivots", "cold", "cold max", "warm",
             "warm hits", "newton", "Newton ok");
  for (const int n : {8, 12, 16, 36, 60, 96, 120}) {
    std::vector<double> cold, warm, newton, pivots;
    int hits = 0, solved = 0;
    for (int k = 0; k < count; ++k) {
      deft::testing::ComplementarityProblems random(static_cast<std::uint64_t>(7000 + k));
      solvers::lcp::ComplementarityProgram program = random.planar_stewart_trinkle(n / 4);
      solvers::lcp::ComplementaritySolver lemke({.method = Method::kLemke}),
          fallback({.method = Method::kNewton, .max_modes = 0});
      std::vector<double> own, other;
      for (int repeat = 0; repeat < 10; ++repeat) {
        lemke.forget();
        Stopwatch watch;
        const auto& result = lemke.solve(program);
        own.push_back(watch.microseconds());
        if (repeat == 0) pivots.push_back(result.iterations);
        if (repeat > 0) continue;  // the rival may be slow
        watch.restart();
        const solvers::Status status = fallback.solve(program).status;
        other.push_back(watch.microseconds());
        solved += status == solvers::Status::kSolved && repeat == 0;
      }
      cold.push_back(median(own));
      newton.push_back(median(other));
      own.clear();
      for (int step = 0; step < 10; ++step) {
        move_on(program, random);
        const Stopwatch watch;
        hits += lemke.solve(program).warm;
        own.push_back(watch.microseconds());
      }
      warm.push_back(median(own));
    }
    fmt::print("{:>5} {:>8.0f} {:>10.1f} {:>10.1f} {:>10.1f} {:>9}% {:>12.1f} {:>5}/{}\n", n, median(pivots),
               median(cold), *std::max_element(cold.begin(), cold.end()), median(warm), 10 * hits / count,
               median(newton), solved, count);
  }
  return 0;
}
