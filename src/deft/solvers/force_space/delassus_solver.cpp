#include "deft/solvers/force_space/delassus_solver.hpp"

#include <algorithm>

#include "deft/solvers/force_space/associated_law.hpp"
#include "deft/solvers/force_space/coulomb_law.hpp"
#include "deft/solvers/force_space/force_space.hpp"

namespace deft::solvers::force_space {

struct DelassusSolver::Workspace {
  ForceSpace space;
  AssociatedLaw associated;
  CoulombLaw coulomb;
  AssociatedLaw::Budget budget;
  Eigen::VectorXd r;
};

DelassusSolver::DelassusSolver() : work_(std::make_unique<Workspace>()) {}
DelassusSolver::~DelassusSolver() = default;

DelassusInfo DelassusSolver::solve(const DelassusProgram& program, const DelassusSettings& settings,
                                   DelassusSolution& solution) {
  check(program);
  Workspace& work = *work_;
  DelassusInfo info;
  work.budget = {};
  work.budget.time_limit_s = settings.time_limit_s;
  work.budget.limit = settings.max_iterations;
  work.space.scale(program);
  work.r.setZero(work.space.q.size());
  if (program.mu.empty()) {
    info.status = Status::kSolved;
  } else {
    work.associated.start(work.space);
    if (program.law == SlidingLaw::kCoulomb) {
      info.status = work.coulomb.solve(work.space, settings.tolerance, work.budget, work.r);
      info.associated_solves = std::max(1, work.coulomb.associated_solves());
    } else {
      info.status = work.associated.solve(false, settings.tolerance, work.budget);
      work.r = work.associated.r;
    }
  }
  work.space.unpack(program, work.r, solution);
  info.iterations = work.budget.iterations;
  info.solve_us = work.budget.clock.microseconds();
  return info;
}

}  // namespace deft::solvers::force_space
