// The interior point against the active set, problem by problem.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "robustness.hpp"
#include "support/random_problems.hpp"

namespace deft::bench {
namespace {

using deft::testing::RandomProblems;
using solvers::Status;
using solvers::contact::SolveMethod;

constexpr double kAgree = 1e-9;      // energy norm of the difference
constexpr double kAlone = 1e-11;     // tolerance to which each method works alone
constexpr double kPolished = 1e-13;  // tolerance that asks for the last digits, by both

struct RandomStream {
  solvers::contact::ContactProgram program;
  bool jammed = false;
};

// Mostly small problems, so that many can be solved.
RandomStream draw(std::uint64_t seed) {
  RandomProblems random(seed);
  RandomProblems::Limits limits{.mass_high = 1e3, .max_mu = seed % 3 == 0 ? 10.0 : 1.2};
  RandomStream out;
  if (seed % 20 == 7) {
    out.program = random.next_jammed();
    out.jammed = true;
  } else if (seed % 1000 == 999) {
    limits.max_bodies = 150;
    limits.max_contacts = 2250;  // a third of them may come twice
    out.program = random.next(limits);
  } else {
    limits.max_bodies = seed % 50 == 49 ? 25 : 6;
    limits.max_contacts = seed % 50 == 49 ? 300 : 40;
    out.program = random.next(limits);
  }
  out.program.model = solvers::contact::FrictionModel::kPyramid;
  return out;
}

double energy_norm(const solvers::contact::ContactProgram& program, const Eigen::VectorXd& d) {
  double total = 0;
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const auto part = d.segment(program.Q.start(k), program.Q.size(k));
    total += part.dot(program.Q.block(k) * part);
  }
  return std::sqrt(total);
}

struct Side {
  solvers::contact::ContactSolver solver;
  solvers::contact::ContactSolution solution;
  int failed = 0;

  void polish(const RandomStream& drawn) {
    solver.solve(drawn.program, {.method = SolveMethod::kInteriorPoint, .tolerance = kPolished, .warm_start = false},
                 solution);
  }

  Status solve(const RandomStream& drawn, SolveMethod method, std::uint64_t seed, const char* name, bool& own) {
    const solvers::contact::SolveInfo info =
        solver.solve(drawn.program, {.method = method, .tolerance = kAlone, .warm_start = false}, solution);
    own = info.method == method;
    const Status status = confirmed(info.status, certify(drawn.program, solution));
    if (status != (drawn.jammed ? Status::kInfeasible : Status::kSolved) && ++failed <= 20)
      fmt::print("  {} seed {}: {} (claimed {}), {} velocities, {} contacts\n", name, seed, to_string(status),
                 to_string(info.status), drawn.program.nv, drawn.program.contacts.size());
    return status;
  }
};

}  // namespace

bool cross_check(int count, std::uint64_t first_seed) {
  fmt::print("cross-check of {} problems, seeds {} …\n", count, first_seed);
  Side interior, active;
  std::array<int, 20> differences{};
  int compared = 0, given_up = 0, polished = 0, apart = 0, jammed = 0;
  std::size_t most = 0;
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
    const RandomStream drawn = draw(seed);
    most = std::max(most, drawn.program.contacts.size());
    jammed += drawn.jammed;
    bool own = false;
    const Status a = interior.solve(drawn, SolveMethod::kInteriorPoint, seed, "interior point", own);
    const Status b = active.solve(drawn, SolveMethod::kActiveSet, seed, "active set", own);
    if (drawn.jammed || a != Status::kSolved || b != Status::kSolved) continue;
    given_up += !own;
    ++compared;
    const double E0 = solvers::contact::row_scales(drawn.program).E0_J;
    const auto apart_by = [&] {
      return energy_norm(drawn.program, interior.solution.delta - active.solution.delta) / std::sqrt(E0);
    };
    double difference = apart_by();
    if (difference > kAgree) {
      interior.polish(drawn);
      difference = apart_by();
      ++polished;
    }
    worst = std::max(worst, difference);
    if (difference > kAgree && ++apart <= 20)
      fmt::print("  seed {}: motions differ by {:.1e}, {} velocities, {} contacts\n", seed, difference,
                 drawn.program.nv, drawn.program.contacts.size());
    const int power = difference > 0 ? static_cast<int>(std::ceil(-std::log10(difference))) : 19;
    differences[std::clamp(power, 0, 19)] += 1;
  }
  fmt::print("  up to {} contacts, {} jammed; failures: interior point {}, active set {}\n", most, jammed,
             interior.failed, active.failed);
  fmt::print(
      "  {} compared ({} by the interior point alone, {} after polish), worst difference {:.1e}, above {:.0e}: {}\n  "
      "differences:",
      compared, given_up, polished, worst, kAgree, apart);
  for (std::size_t k = 0; k < differences.size(); ++k) {
    if (differences[k]) fmt::print(" 1e-{}: {}", k, differences[k]);
  }
  fmt::print("\n");
  return interior.failed == 0 && active.failed == 0 && apart == 0;
}

}  // namespace deft::bench
