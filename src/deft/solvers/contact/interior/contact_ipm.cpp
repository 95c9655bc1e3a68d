#include "deft/solvers/contact/interior/contact_ipm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "deft/solvers/contact/interior/contact_ipm_work.hpp"
#include "deft/solvers/contact/interior/optimal_face.hpp"
#include "deft/solvers/contact/interior/unpack.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kPolished = 1e-14;      // aim of the semismooth polish; it stops earlier when refinement stops paying
constexpr double kWarmPolished = 1e-12;  // aim along a sequence, where the last digits are not worth a step
constexpr double kFlatPolished = 1e-16;  // aim where Q is singular and each proximal point starts from the last
constexpr double kGoodEnough = 1e-10;    // polish accepted without going on with the interior point
constexpr IpmLimits kLoose{.complementarity = 1e-7, .residual = 1e-7};  // where the first polish starts
constexpr IpmLimits kTight{.complementarity = 1e-15, .residual = 1e-12, .proximal = 1e-13};  // where the interior point
                                                                                             // alone would end
constexpr int kWarmFactors = 8;         // factorisations of a warm start
constexpr double kNearlyAtRest = 1e-6;  // error of a warm start below which one correction may do
constexpr int kLargeColumns = 150;      // from which a factorisation is worth avoiding
constexpr double kWarmMu = 1e-4;        // exact warm starts are lifted to it
constexpr double kLargeStart = 100;     // second start of problems with a thin feasible set
constexpr int kUsualIterations = 20;    // most solves take less, cold
constexpr int kUsualWarm = 34;          // after a warm start that led nowhere
constexpr double kHidden = 1e-12;       // 1/(κE) below which slacks on the central path may drown in rounding
// Sizes of the cold starts that are tried in turn, 0: the usual one (or the warm one).
constexpr double kStarts[] = {0.0, kLargeStart, 1e4, 3.0, 1e3, 1e5};

}  // namespace

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

// Multipliers below their slacks are what an interior point leaves of zero; the next warm start must not take those
// rows for closed.
void ContactIpm::Workspace::drop_small_forces(double accepted) {
  state.evaluate(packed, system, x);
  candidate.v = x.v;
  candidate.lambda = x.lambda;
  for (const PackedBlock& block : packed.blocks) {
    if (block.law != Law::kRays) continue;
    for (int k = block.first_slack; k < block.first_slack + block.slacks; ++k) {
      if (candidate.lambda[k] < state.slack[k]) candidate.lambda[k] = 0.0;
    }
  }
  double best = accepted;
  take_better(best, candidate);
}

// Many bodies at rest: the last solution is the next one, or nearly.
bool ContactIpm::Workspace::solves_again(double& best, double good_enough) {
  if (packed.nv < kLargeColumns) return false;
  state.evaluate(packed, system, x);
  best = state.exact_error(packed, x);
  if (best > good_enough && best < kNearlyAtRest) {
    candidate.v = x.v;
    candidate.lambda = x.lambda;
    best = semismooth.correct(packed, system, good_enough, candidate);
    iterations += semismooth.iterations();
    std::swap(x.v, candidate.v);
    std::swap(x.lambda, candidate.lambda);
  }
  return best <= good_enough;
}

Status ContactIpm::Workspace::solve_exact(const ContactProgram& program, const SolverSettings& settings, bool warm) {
  double best = std::numeric_limits<double>::infinity();
  const double good_enough = std::min(kGoodEnough, settings.tolerance);
  // 1. Along a sequence the active set of the last solution is often the next one.
  if (warm && !packed.has_singular_blocks) {
    memory->recall(program, packed, x);
    if (solves_again(best, good_enough)) return Status::kSolved;
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
  const bool large = std::any_of(packed.islands.begin(), packed.islands.end(),
                                 [](const Island& island) { return island.size >= kLargeColumns; });
  for (const double size : kStarts) {
    if (size > 0) interior.start_cold(packed, size);
    for (IpmLimits limits : {kLoose, kTight}) {
      limits.max_iterations = settings.max_iterations;
      if (impatient) limits.max_iterations = std::min(limits.max_iterations, warm ? kUsualWarm : kUsualIterations);
      const int before = interior.iterations();
      outcome = interior.run(packed, system, limits);
      iterations += interior.iterations() - before;
      take_better(best, interior.iterate());
      if (outcome == IpmOutcome::kInfeasible) return Status::kInfeasible;
      if (outcome == IpmOutcome::kTimeLimit) return best <= settings.tolerance ? Status::kSolved : Status::kTimeLimit;
      // The active set of a large island is not clear before the end: a polish halfway is in vain, and one at the end
      // none.
      if (large && best <= kWarmPolished) return Status::kSolved;
      if (large && limits.residual == kLoose.residual) continue;
      if (best < 1e-3 && polish(best, kPolishFactors) <= good_enough) return Status::kSolved;
    }
    if (best <= kRoundingSlack * (settings.polish ? std::max(kGoodEnough, settings.tolerance) : settings.tolerance))
      return Status::kSolved;
    if (impatient) break;
  }
  return outcome == IpmOutcome::kIterationLimit ? Status::kIterationLimit : Status::kNumericalFailure;
}

Status ContactIpm::Workspace::solve_smoothed(const ContactProgram& program, const SolverSettings& settings, bool warm) {
  if (warm) {
    memory->recall(program, packed, candidate);
    interior.start_warm(packed, system, candidate, packed.has_hard_rows ? kWarmMu : packed.target);
  } else {
    interior.start_cold(packed);
  }
  return run_smoothed(settings);
}

Status ContactIpm::Workspace::run_smoothed(const SolverSettings& settings) {
  IpmLimits limits{.complementarity = 1e-14, .residual = settings.tolerance, .max_iterations = settings.max_iterations};
  const int before = interior.iterations();
  limits.max_iterations += before;
  IpmOutcome outcome = interior.run(packed, system, limits);
  iterations += interior.iterations() - before;
  if (outcome == IpmOutcome::kStalled || outcome == IpmOutcome::kIterationLimit) {
    limits.max_iterations = settings.max_iterations;
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
    case IpmOutcome::kTimeLimit:
      return Status::kTimeLimit;
    default:
      break;
  }
  const double accepted = settings.polish ? std::max(kGoodEnough, settings.tolerance) : settings.tolerance;
  const bool close =
      interior.centrality() <= 1e-6 && std::max(interior.stationarity(), interior.infeasibility()) <= accepted;
  if (close && !packed.has_hard_rows) return Status::kSolved;
  return outcome == IpmOutcome::kIterationLimit ? Status::kIterationLimit : Status::kNumericalFailure;
}

Status ContactIpm::Workspace::solve_packed(const ContactProgram& program, const SolverSettings& settings, bool warm,
                                           ContactSolution& solution) {
  if (packed.lower_above_upper || packed.rigid_violation) return Status::kInfeasible;
  std::vector<double> direction;
  const bool singular = packed.has_singular_blocks;
  if (singular && packed.smoothed && settings.diagnosis &&
      find_recession(packed, direction, interior.time_left_s(), inner))
    return Status::kUnbounded;
  ContactSolution* const proof = settings.diagnosis ? &solution : nullptr;
  Status status = singular          ? solve_proximal(program, settings, warm && packed.smoothed, proof)
                  : packed.smoothed ? solve_smoothed(program, settings, warm)
                                    : solve_exact(program, settings, warm);
  // A barrier that rounding hides is none: the exact solution is within √(1/κE) of the smoothed one.
  const bool failed = status == Status::kNumericalFailure || status == Status::kIterationLimit;
  if (failed && packed.smoothed && packed.target < kHidden) {
    packed.target = 0.0;
    packed.smoothed = packed.has_hard_rows = false;
    status = singular ? solve_proximal(program, settings, false, proof) : solve_exact(program, settings, false);
  }
  return status;
}

Status ContactIpm::Workspace::solve_kept(const ContactProgram& program, const SolverSettings& settings, bool warm,
                                         ContactSolution& solution) {
  packed.pack(program, screening.kept());
  if (packed.has_singular_blocks && !screening.keeps_all()) {  // a contact far away may be what holds the motion
    screening.keep_all();
    packed.pack(program, screening.kept());
  }
  impatient = impatient && !packed.has_singular_blocks;
  x.v.assign(packed.nv, 0.0);
  x.lambda.assign(packed.num_slacks, 0.0);
  Status status = solve_packed(program, settings, warm && memory->valid_for(program), solution);
  if (status == Status::kSolved) {
    if (!packed.smoothed) drop_small_forces(std::min(kGoodEnough, settings.tolerance));
    memory->store(program, packed, x);
    return status;
  }
  memory->clear();
  if (status == Status::kTimeLimit || !settings.diagnosis || !screening.keeps_all() || impatient) return status;
  status = diagnose(program, status, solution);
  if (status == Status::kInfeasible) move_elastically(settings);
  return status;
}

bool ContactIpm::Workspace::has_no_solution(const ContactProgram& program, const SolverSettings& settings,
                                            ContactSolution& solution) {
  screening.keep_all();
  packed.pack(program, {});
  x.v.assign(packed.nv, 0.0);
  x.lambda.assign(packed.num_slacks, 0.0);
  state.evaluate(packed, system, x);
  if (!prove_infeasible(program, solution)) {
    solution.proof.resize(0);
    return false;
  }
  move_elastically(settings);
  return true;
}

void ContactIpm::Workspace::move_elastically(const SolverSettings& settings) {
  if (settings.compliance_fallback && !packed.lower_above_upper && !packed.rigid_violation)
    solve_elastic(settings.max_iterations);
}

Status ContactIpm::Workspace::solve(const ContactProgram& program, const SolverSettings& settings,
                                    WarmMemory& memory_of_sequence, ContactSolution& solution) {
  memory = &memory_of_sequence;
  iterations = 0;
  interior.start_clock(settings.time_limit_s);
  const bool warm = memory->valid_for(program);
  screening.keep_all();
  if (settings.screening)
    screening.start(program, warm ? memory->motion() : std::span<const double>(), settings.redundant);
  impatient = settings.diagnosis && !std::isfinite(program.kappa) && program.nv < kLargeColumns;
  Status status = solve_kept(program, settings, warm, solution);
  if (impatient && status != Status::kSolved && status != Status::kTimeLimit) {
    impatient = false;
    status = has_no_solution(program, settings, solution) ? Status::kInfeasible
                                                          : solve_kept(program, settings, false, solution);
  }
  impatient = false;
  // What holds for some contacts holds for all when the others stay open; every other status needs them all.
  while (!screening.keeps_all() && status != Status::kTimeLimit) {
    if (status != Status::kSolved) {
      screening.keep_all();
    } else if (screening.holds(program, memory->motion())) {
      break;
    }
    status = solve_kept(program, settings, true, solution);
  }
  state.evaluate(packed, system, x);
  solution.motion_unique = solution.forces_unique = true;
  if (status == Status::kSolved && !packed.smoothed) {
    if (packed.has_singular_blocks && settings.diagnosis) status = choose_motion(solution);
    solution.forces_unique = !screening.leaves_redundant() && rank_test.forces_unique(packed, x, state.slack);
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

ContactIpm::ContactIpm(InnerSolver inner) : work_(std::make_unique<Workspace>()) { work_->inner = std::move(inner); }
ContactIpm::~ContactIpm() = default;

SolveInfo ContactIpm::solve(const ContactProgram& program, const SolverSettings& settings, WarmMemory& memory,
                            ContactSolution& solution) {
  SolveInfo info;
  info.status = work_->solve(program, settings, memory, solution);
  info.iterations = work_->iterations;
  return info;
}

}  // namespace deft::solvers::contact
