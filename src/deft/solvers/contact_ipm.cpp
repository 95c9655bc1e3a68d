#include "deft/solvers/contact_ipm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "deft/solvers/interior_point.hpp"
#include "deft/solvers/screening.hpp"
#include "deft/solvers/semismooth_newton.hpp"
#include "deft/solvers/uniqueness.hpp"
#include "deft/solvers/unpack.hpp"
#include "deft/solvers/warm_memory.hpp"

namespace deft::solvers {
namespace {

constexpr double kPolished = 1e-14;      // aim of the semismooth polish; it stops earlier when refinement stops paying
constexpr double kWarmPolished = 1e-12;  // aim along a sequence, where the last digits are not worth a step
constexpr double kFlatPolished = 1e-16;  // aim of the polish where Q is singular
constexpr double kFlatGood =
    4e-15;  // the same where Q is singular: far below ε (packed_program.cpp), or any point of the flat face passes
constexpr double kGoodEnough = 1e-10;  // polish accepted without going on with the interior point
constexpr IpmLimits kLoose{.complementarity = 1e-7, .residual = 1e-7};  // where the first polish starts
constexpr IpmLimits kTight{
    .complementarity = 1e-15, .residual = 1e-12, .proximal = 1e-13};  // where the interior point alone would end
constexpr int kWarmFactors = 8, kPolishFactors = 6;
constexpr double kRoundingSlack = 10;  // accepted where multipliers of 1e4 and more magnify rounding
constexpr double kWarmMu = 1e-4;       // exact warm starts are lifted to it
constexpr double kLargeStart = 100;    // second start of problems with a thin feasible set
// Sizes of the cold starts that are tried in turn, 0: the usual one (or the warm one).
constexpr double kStarts[] = {0.0, kLargeStart, 1e4, 3.0, 1e3};
constexpr double kElastic = 1e-8;        // R̂ that makes jammed problems solvable
constexpr double kElasticProof = 1e-14;  // R̂ whose multipliers are long enough to be a Farkas ray

}  // namespace

struct ContactIpm::Workspace {
  PackedProgram packed;
  NewtonSystem system;
  InteriorPoint interior;
  SemismoothNewton semismooth;
  KktState state;
  Uniqueness uniqueness;
  WarmMemory* memory = nullptr;
  Screening screening;
  Iterate x, candidate;
  int iterations = 0;

  Status solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory_of_sequence,
               ContactSolution& solution);
  Status solve_kept(const ContactProgram& program, const SolverSettings& settings, bool warm);
  Status solve_exact(const ContactProgram& program, const SolverSettings& settings, bool warm);
  Status solve_smoothed(const ContactProgram& program, const SolverSettings& settings, bool warm);
  bool solve_elastic(int max_iterations, bool proven);
  bool take_better(double& best, const Iterate& from);
  double polish(double& best, int max_factors, bool trust_forces = false);
  void finish(const ContactProgram& program, const std::vector<double>& slack, ContactSolution& solution);
};

// Keeps the better of x and `from`; @returns whether `from` was it.
bool ContactIpm::Workspace::take_better(double& best, const Iterate& from) {
  state.evaluate(packed, system, from);
  const double error = state.exact_error(packed, from);
  if (!(error < best)) return false;
  best = error;
  x.v = from.v;
  x.lambda = from.lambda;
  return true;
}

double ContactIpm::Workspace::polish(double& best, int max_factors, bool trust_forces) {
  candidate.v = x.v;
  candidate.lambda = x.lambda;
  const double aim = packed.has_singular_blocks ? kFlatPolished : trust_forces ? kWarmPolished : kPolished;
  const double error = semismooth.improve(packed, system, aim, max_factors, trust_forces, candidate);
  iterations += semismooth.iterations();
  if (error < best) {
    best = error;
    std::swap(x.v, candidate.v);
    std::swap(x.lambda, candidate.lambda);
  }
  return best;
}

Status ContactIpm::Workspace::solve_exact(const ContactProgram& program, const SolverSettings& settings, bool warm) {
  double best = std::numeric_limits<double>::infinity();
  const double good_enough = packed.has_singular_blocks ? kFlatGood : std::min(kGoodEnough, settings.tolerance);
  // 1. Along a sequence the active set of the last solution is often the next one.
  if (warm && !packed.has_singular_blocks) {
    memory->recall(program, packed, x);
    if (polish(best, kWarmFactors, true) <= good_enough) return Status::kSolved;
    candidate.v = x.v;
    candidate.lambda = x.lambda;
    interior.start_warm(packed, system, candidate, kWarmMu);
  } else {
    interior.start_cold(packed);
  }
  // 2. Interior point to moderate accuracy, polish; if the active set is not clear yet, on to high accuracy. Failing
  // that, once more from a large start.
  best = std::numeric_limits<double>::infinity();
  IpmOutcome outcome = IpmOutcome::kStalled;
  for (const double size : kStarts) {
    if (size > 0) interior.start_cold(packed, size);
    for (IpmLimits limits : {kLoose, kTight}) {
      limits.max_iterations = settings.max_iterations;
      const int before = interior.iterations();
      outcome = interior.run(packed, system, limits);
      iterations += interior.iterations() - before;
      take_better(best, interior.iterate());
      if (outcome == IpmOutcome::kInfeasible) return Status::kInfeasible;
      if (outcome == IpmOutcome::kUnbounded) return Status::kUnbounded;
      if (outcome == IpmOutcome::kTimeLimit) return best <= settings.tolerance ? Status::kSolved : Status::kTimeLimit;
      if (best < 1e-3 && polish(best, kPolishFactors) <= good_enough) return Status::kSolved;
    }
    if (best <= kRoundingSlack * settings.tolerance) return Status::kSolved;
  }
  return outcome == IpmOutcome::kIterationLimit ? Status::kIterationLimit : Status::kNumericalFailure;
}

// A jammed program has no solution without compliance; with a little of it, it has one. Without any (and without the
// proximal term that holds them back) the multipliers grow until they are the proof. @returns whether the program is
// infeasible (`proven` already, or proven here); x is then the elastic motion.
bool ContactIpm::Workspace::solve_elastic(int max_iterations, bool proven) {
  IpmLimits limits{.complementarity = 1e-9, .residual = 1e-9, .max_iterations = 2 * max_iterations};
  packed.set_extra_compliance(kElastic);
  interior.start_cold(packed);
  const bool converged = interior.run(packed, system, limits) == IpmOutcome::kConverged;
  iterations += interior.iterations();
  packed.set_extra_compliance(0.0);
  candidate.v = interior.iterate().v;
  candidate.lambda = interior.iterate().lambda;
  if (!proven) {
    limits.proximal = 0;
    limits.max_short_steps = limits.max_iterations;
    interior.start_cold(packed, kLargeStart);
    proven = interior.run(packed, system, limits) == IpmOutcome::kInfeasible;
    iterations += interior.iterations();
  }
  if (proven && converged) {
    std::swap(x.v, candidate.v);
    std::swap(x.lambda, candidate.lambda);
  }
  return proven;
}

Status ContactIpm::Workspace::solve_smoothed(const ContactProgram& program, const SolverSettings& settings, bool warm) {
  IpmLimits limits{.complementarity = 1e-14, .residual = settings.tolerance, .max_iterations = settings.max_iterations};
  if (warm) {
    memory->recall(program, packed, candidate);
    interior.start_warm(packed, system, candidate, packed.has_hard_rows ? kWarmMu : packed.target);
  } else {
    interior.start_cold(packed);
  }
  IpmOutcome outcome = interior.run(packed, system, limits);
  iterations += interior.iterations();
  if (outcome == IpmOutcome::kStalled || outcome == IpmOutcome::kIterationLimit) {
    interior.start_cold(packed, kLargeStart);
    outcome = interior.run(packed, system, limits);
    iterations += interior.iterations();
  }
  x.v = interior.iterate().v;
  x.lambda = interior.iterate().lambda;
  switch (outcome) {
    case IpmOutcome::kConverged:
      return Status::kSolved;
    case IpmOutcome::kInfeasible:
      return Status::kInfeasible;
    case IpmOutcome::kUnbounded:
      return Status::kUnbounded;
    case IpmOutcome::kTimeLimit:
      return Status::kTimeLimit;
    default:
      break;
  }
  const bool close = interior.centrality() <= 1e-6 &&
                     std::max(interior.stationarity(), interior.infeasibility()) <= settings.tolerance;
  if (close && !packed.has_hard_rows) return Status::kSolved;
  return outcome == IpmOutcome::kIterationLimit ? Status::kIterationLimit : Status::kNumericalFailure;
}

// Solves for the contacts that the screening keeps.
Status ContactIpm::Workspace::solve_kept(const ContactProgram& program, const SolverSettings& settings, bool warm) {
  packed.pack(program, screening.kept());
  if (packed.has_singular_blocks && !screening.keeps_all()) {  // a contact far away may be what holds the motion
    screening.keep_all();
    packed.pack(program, screening.kept());
  }
  x.v.assign(packed.nv, 0.0);
  x.lambda.assign(packed.num_slacks, 0.0);
  Status status = Status::kInfeasible;
  if (!packed.lower_above_upper && !packed.rigid_violation) {
    warm = warm && memory->valid_for(program);
    status = packed.smoothed ? solve_smoothed(program, settings, warm) : solve_exact(program, settings, warm);
    if (status == Status::kSolved && interior.proves_unbounded(packed, system, x)) status = Status::kUnbounded;
    const bool failed = status == Status::kIterationLimit || status == Status::kNumericalFailure;
    const bool fallback = settings.compliance_fallback && screening.keeps_all();
    if (fallback && (failed || status == Status::kInfeasible) && solve_elastic(settings.max_iterations, !failed))
      status = Status::kInfeasible;
  }
  if (status == Status::kSolved) {
    memory->store(program, packed, x);
  } else {
    memory->clear();
  }
  return status;
}

Status ContactIpm::Workspace::solve(const ContactProgram& program, const SolverSettings& settings,
                                    WarmMemory& memory_of_sequence, ContactSolution& solution) {
  memory = &memory_of_sequence;
  iterations = 0;
  interior.start_clock(settings.time_limit_s);
  const bool warm = memory->valid_for(program);
  screening.keep_all();
  if (settings.screening) screening.start(program, warm ? memory->motion() : std::span<const double>());
  Status status = solve_kept(program, settings, warm);
  // What holds for some contacts holds for all when the others stay open; every other verdict needs them all.
  while (!screening.keeps_all() && status != Status::kTimeLimit) {
    if (status != Status::kSolved) {
      screening.keep_all();
    } else if (screening.holds(program, memory->motion())) {
      break;
    }
    status = solve_kept(program, settings, true);
  }
  state.evaluate(packed, system, x);
  solution.motion_unique = solution.forces_unique = true;
  if (status == Status::kSolved && !packed.smoothed) {
    if (packed.has_singular_blocks && !uniqueness.motion_unique(packed, x, state.slack)) {
      solution.motion_unique = false;
      status = Status::kNotUnique;
    }
    solution.forces_unique = uniqueness.forces_unique(packed, x, state.slack);
  }
  const bool use_interior = packed.smoothed && status == Status::kSolved;
  finish(program, use_interior ? interior.slacks() : state.slack, solution);
  return status;
}

void ContactIpm::Workspace::finish(const ContactProgram& program, const std::vector<double>& slack,
                                   ContactSolution& solution) {
  if (!packed.smoothed) {
    // Multipliers a rounding error below zero.
    for (const PackedBlock& block : packed.blocks) {
      double* lambda = x.lambda.data() + block.first_slack;
      if (block.law == Law::kCone && lambda[0] < 0) std::fill_n(lambda, block.slacks, 0.0);
      if (block.law != Law::kRays) continue;
      for (int k = 0; k < block.slacks; ++k) lambda[k] = std::max(0.0, lambda[k]);
    }
  }
  unpack(program, packed, x, slack, solution);
}

ContactIpm::ContactIpm() : work_(std::make_unique<Workspace>()) {}
ContactIpm::~ContactIpm() = default;

SolveInfo ContactIpm::solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory,
                            ContactSolution& solution) {
  SolveInfo info;
  info.status = work_->solve(program, settings, memory, solution);
  info.iterations = work_->iterations;
  return info;
}

}  // namespace deft::solvers
