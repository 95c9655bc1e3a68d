#include "deft/solvers/contact/contact_solver.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/contact/active_set/contact_active_set.hpp"
#include "deft/solvers/contact/derivative/refinement.hpp"
#include "deft/solvers/contact/interior/contact_ipm.hpp"
#include "deft/solvers/contact/interior/packed_program.hpp"
#include "deft/solvers/contact/interior/warm_memory.hpp"

namespace deft::solvers::contact {

namespace {

constexpr double kPolish = 1e-11;  // tolerances below it ask for the last digits

}  // namespace

struct ContactSolver::Workspace {
  ContactActiveSet active_set;
  std::unique_ptr<ContactSolver> inner;  // of programs on optimal faces, which are strictly convex; made when one is
                                         // met
  ContactIpm interior{[this](const ContactProgram& program, const SolverSettings& settings, ContactSolution& solution) {
    if (inner == nullptr) inner = std::make_unique<ContactSolver>();
    return inner->solve(program, settings, solution).status;
  }};
  WarmMemory memory;
  ContactSolution polished;
  Refinement refinement;
};

ContactSolver::ContactSolver() : work_(std::make_unique<Workspace>()) {}
ContactSolver::~ContactSolver() = default;
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;

SolveInfo ContactSolver::solve(const ContactProgram& program, const SolverSettings& settings,
                               ContactSolution& solution) {
  const Stopwatch watch;
  SolveInfo info;
  check(program);
  if (!settings.redundant.empty() && settings.redundant.size() != program.contacts.size())
    throw std::invalid_argument(fmt::format("SolverSettings::redundant has {} entries, the program has {} contacts",
                                            settings.redundant.size(), program.contacts.size()));
  if (!settings.warm_start) work_->memory.clear();
  solution.proof.resize(0);
  ActiveSetOutcome outcome = ActiveSetOutcome::kNotApplicable;
  if (settings.method != SolveMethod::kInteriorPoint) {
    const Effort effort = settings.method == SolveMethod::kAuto ? Effort::kCheap : Effort::kUsual;
    outcome = work_->active_set.solve(program, work_->memory, solution, effort);
  }
  if (outcome == ActiveSetOutcome::kSolved) {
    info.status = Status::kSolved;
    info.method = SolveMethod::kActiveSet;
  } else {
    info = work_->interior.solve(program, settings, work_->memory, solution);
  }
  if (outcome != ActiveSetOutcome::kNotApplicable) info.iterations += work_->active_set.iterations();
  const bool in_time = watch.seconds() < settings.time_limit_s;
  if (info.status == Status::kNumericalFailure && settings.method != SolveMethod::kInteriorPoint && in_time) {
    // Multipliers too large for the interior point, as nearly jammed bodies have: the active set, however long it
    // takes.
    outcome = work_->active_set.solve(program, work_->memory, solution, Effort::kThorough);
    if (outcome != ActiveSetOutcome::kNotApplicable) info.iterations += work_->active_set.iterations();
    if (outcome == ActiveSetOutcome::kSolved) {
      info.status = Status::kSolved;
      info.method = SolveMethod::kActiveSet;
    }
  }
  const bool to_the_end = settings.polish && settings.tolerance < kPolish;
  if (info.status == Status::kSolved && info.method == SolveMethod::kInteriorPoint && to_the_end) {
    // An error of complementarity ε leaves one of √ε in the motion where the active set is in doubt.
    ContactSolution& polished = work_->polished;
    outcome = work_->active_set.solve(program, work_->memory, polished);
    if (outcome == ActiveSetOutcome::kSolved) std::swap(solution, polished);
    if (outcome != ActiveSetOutcome::kNotApplicable) info.iterations += work_->active_set.iterations();
  }
  if (info.status == Status::kSolved && to_the_end) work_->refinement.refine(program, solution);
  // Data beyond the range of double precision may overflow on the way: never call that solved.
  const bool claimed = info.status == Status::kSolved || info.status == Status::kNotUnique;
  if (claimed && !solution.delta.allFinite()) info.status = Status::kNumericalFailure;
  info.solve_us = watch.microseconds();
  return info;
}

void ContactSolver::forget() { work_->memory.clear(); }

}  // namespace deft::solvers::contact
