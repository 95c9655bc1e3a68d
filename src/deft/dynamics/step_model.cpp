#include "deft/dynamics/step_model.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace deft::dynamics {

void clear_complementarity(StepResult& result) {
  result.complementarity.M.resize(0, 0);
  result.complementarity.q.resize(0);
  result.complementarity.free.clear();
  result.complementarity.motion.resize(0, 0);
  result.uniqueness = solvers::lcp::Uniqueness::kUnknown;
  result.second_delta.resize(0);
  result.offending_contacts.clear();
  result.offending_limits.clear();
}

void step_annealed(StepModel& model, const State& start, const Eigen::VectorXd& u, std::span<const double> kappas,
                   StepResult& result) {
  if (kappas.empty() || !(kappas.front() > 0) ||
      std::adjacent_find(kappas.begin(), kappas.end(), std::greater_equal()) != kappas.end())
    throw std::invalid_argument("step_annealed: kappas must be positive and ascending, and at least one");
  // The model gets its own κ back whatever happens.
  struct Restore {
    StepModel& model;
    double kappa = model.kappa();
    ~Restore() { model.set_kappa(kappa); }
  } const restore{model};
  int iterations = 0;
  double solve_us = 0, step_us = 0;
  for (const double kappa : kappas) {
    model.set_kappa(kappa);
    model.step(start, u, result);
    iterations += result.iterations;
    solve_us += result.solve_us;
    step_us += result.step_us;
  }
  result.iterations = iterations;
  result.solve_us = solve_us;
  result.step_us = step_us;
}

}  // namespace deft::dynamics
