// Programs without stiffness somewhere (singular Q) or without a solution: proximal points, the shortest of the optimal
// motions, and proofs for those that have none.
//
// R. T. Rockafellar, SIAM J. Control Optim. 14 (1976), the proximal point method; it ends after finitely many steps on
// polyhedral programs. Least violation: the residual of a projection on a cone is in its dual (Moreau), so that it is
// a Farkas ray.

#include <cmath>
#include <limits>

#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/interior/contact_ipm_work.hpp"
#include "deft/solvers/contact/interior/optimal_face.hpp"
#include "deft/solvers/contact/interior/proofs.hpp"

namespace deft::solvers::contact {
namespace {

constexpr int kRounds = 30;                  // proximal points
constexpr double kBest = 1e-16;              // error at which nothing is left to gain
constexpr double kCentred = 1e-13;           // error that is enough when it no longer falls
constexpr double kSlow = 0.1, kStuck = 0.5;  // share of the last error
constexpr double kSofter = 1e-2;             // factor on ε where it holds the motion back
constexpr int kMostSofter = 3;               // times
constexpr double kGood = 1e-10;              // a polish that ends above it is followed by a new solve
constexpr double kElastic = 1e-8;            // R̂ that makes jammed problems solvable
constexpr double kMargin = 1e-6;             // slack that rows with a barrier must have

}  // namespace

// Each program has a stiffness ε towards the solution of the one before; where that does not move any more it solves
// the program itself. ε shrinks when it holds the motion back. Given a `solution`, a recession direction is
// searched where a program does not come nearer: Unbounded is proved. Smoothed programs are central at once and only
// recentre.
Status ContactIpm::Workspace::solve_proximal(const ContactProgram& program, const SolverSettings& settings, bool warm,
                                             ContactSolution* solution) {
  Status status = packed.smoothed ? solve_smoothed(program, settings, warm) : solve_exact(program, settings, warm);
  double last = std::numeric_limits<double>::infinity();
  int softened = 0;
  for (int round = 0; status == Status::kSolved; ++round) {
    packed.recentre(x.v);
    state.evaluate(packed, system, x);
    double error = packed.smoothed ? state.stationarity : state.exact_error(packed, x);
    if (!std::isfinite(error)) return Status::kNumericalFailure;
    if (error <= kBest || (error <= kCentred && error > kStuck * last)) break;
    const bool stuck = error > kStuck * last;
    if (stuck && softened == 0 && solution && prove_unbounded(program, *solution)) return Status::kUnbounded;
    if (interior.out_of_time()) return Status::kTimeLimit;
    if (round == kRounds || (stuck && softened == kMostSofter))
      return error <= kRoundingSlack * settings.tolerance ? status : Status::kIterationLimit;
    if (error > kSlow * last && softened < kMostSofter) {
      packed.scale_proximal(kSofter);
      packed.recentre(x.v);
      ++softened;
    }
    last = error;
    if (packed.smoothed) {
      status = run_smoothed(settings);
    } else if (polish(error, kPolishFactors) > kGood) {
      status = solve_exact(program, settings, false);
    }
  }
  return status;
}

Status ContactIpm::Workspace::choose_motion(ContactSolution& solution) {
  const OptimalSet set = take_shortest(packed, x.lambda, state.slack, x.v, interior.time_left_s(), inner);
  state.evaluate(packed, system, x);
  solution.motion_unique = set == OptimalSet::kPoint;
  if (set == OptimalSet::kUnknown) return interior.out_of_time() ? Status::kTimeLimit : Status::kNumericalFailure;
  return set == OptimalSet::kLarger ? Status::kNotUnique : Status::kSolved;
}

void ContactIpm::Workspace::solve_elastic(int max_iterations) {
  const IpmLimits limits{.complementarity = 1e-9, .residual = 1e-9, .max_iterations = 2 * max_iterations};
  packed.set_extra_compliance(kElastic);
  interior.start_cold(packed);
  const bool converged = interior.run(packed, system, limits) == IpmOutcome::kConverged;
  iterations += interior.iterations();
  packed.set_extra_compliance(0.0);
  if (!converged) return;
  x.v = interior.iterate().v;
  x.lambda = interior.iterate().lambda;
}

// Solves the program of least violation, whose multipliers no motion can balance. Leaves `packed` and x as they were.
bool ContactIpm::Workspace::prove_infeasible(const ContactProgram& program, ContactSolution& solution) {
  if (find_rigid_contradiction(program, packed, solution.proof)) return true;
  const Iterate kept = x;
  std::vector<char> rigid;
  for (const ContactLaw& law : program.contacts) rigid.push_back(law.compliance == 0);
  const double margin = packed.smoothed ? kMargin : 0.0;
  packed.pack(program, rigid);
  packed.to_least_violation(margin);
  const auto answer = [&] {
    const bool solved = solve_proximal(program, {}, false, nullptr) == Status::kSolved;
    state.evaluate(packed, system, x);
    finish(program, state.slack, solution);
    solution.proof = farkas_ray(program, solution);
    return solved && certify(program, solution).infeasible <= kCertified;
  };
  bool proved = answer();
  if (!proved) {
    // The violation that remains may be small against that of the first motion: once more in its own scale.
    packed.rescale_violation(x.lambda, state.slack);
    proved = answer();
  }
  packed.pack(program, {});
  x = kept;
  state.evaluate(packed, system, x);
  finish(program, state.slack, solution);
  return proved;
}

bool ContactIpm::Workspace::prove_unbounded(const ContactProgram& program, ContactSolution& solution) {
  std::vector<double> direction;
  if (!packed.has_singular_blocks || !find_recession(packed, direction, interior.time_left_s(), inner)) return false;
  solution.proof.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) solution.proof[i] = direction[packed.column_of[i]];
  finish(program, state.slack, solution);
  return certify(program, solution).unbounded <= kCertified;
}

Status ContactIpm::Workspace::diagnose(const ContactProgram& program, Status failure, ContactSolution& solution) {
  if (failure == Status::kUnbounded && !packed.smoothed) return failure;  // proved, at a motion that satisfies the rows
  state.evaluate(packed, system, x);
  if (prove_infeasible(program, solution)) return Status::kInfeasible;
  if (prove_unbounded(program, solution)) return Status::kUnbounded;
  if (interior.out_of_time()) failure = Status::kTimeLimit;
  solution.proof.resize(0);
  return failure == Status::kInfeasible ? Status::kNumericalFailure : failure;
}

}  // namespace deft::solvers::contact
