#include "deft/dynamics/step_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "deft/dynamics/contact_records.hpp"

namespace deft::dynamics {

DerivativeReport StepModel::differentiate(const State&, const Eigen::VectorXd&, const StepResult&,
                                          const DerivativeOptions&, StepDerivative&) {
  refuse_derivatives(scene());
}

void StepModel::record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                                std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out) const {
  dynamics::record_contacts(result, X_start, X_end, out);
}

void StepModel::visit_problem(const StepResult& result, ProblemVisitor& visitor) const {
  const ComplementarityDetail* detail = result.complementarity();
  if (detail != nullptr && detail->program.q.size() > 0)
    visitor.complementarity(detail->program);
  else
    visitor.contact(result.program);
}

void refuse_derivatives(const scene::Scene& scene) {
  throw InputError({scene.spec().file, 0, 0},
                   fmt::format("not available yet: derivatives of step.model: {}; available: convex, "
                               "convex-second-order",
                               to_string(scene.settings().step.model)));
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
