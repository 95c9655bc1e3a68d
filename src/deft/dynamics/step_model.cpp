#include "deft/dynamics/step_model.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "deft/dynamics/convex_second_order_step.hpp"
#include "deft/dynamics/convex_step.hpp"
#include "deft/dynamics/equivalent_contact_point.hpp"
#include "deft/dynamics/impedance_lcp.hpp"
#include "deft/dynamics/perfect_tracking_lcp.hpp"
#include "deft/dynamics/planar_limit_surface.hpp"
#include "deft/dynamics/stewart_trinkle.hpp"

namespace deft::dynamics {

void clear_complementarity(StepResult& result) {
  result.complementarity.M.resize(0, 0);
  result.complementarity.q.resize(0);
  result.complementarity.free.clear();
  result.complementarity.motion.resize(0, 0);
  result.uniqueness = solvers::Uniqueness::kUnknown;
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

std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene) {
  switch (scene.spec().step.model) {
    case scene::ModelKind::kConvex:
      return std::make_unique<ConvexStep>(scene);
    case scene::ModelKind::kConvexSecondOrder:
      return std::make_unique<ConvexSecondOrderStep>(scene);
    case scene::ModelKind::kPerfectTracking:
      return std::make_unique<PerfectTrackingLcp>(scene);
    case scene::ModelKind::kImpedance:
      return std::make_unique<ImpedanceLcp>(scene);
    case scene::ModelKind::kLimitSurface:
      return std::make_unique<PlanarLimitSurface>(scene);
    case scene::ModelKind::kStewartTrinkle:
      return std::make_unique<StewartTrinkle>(scene);
    case scene::ModelKind::kEquivalentContactPoint:
      return std::make_unique<EquivalentContactPoint>(scene);
  }
  throw std::logic_error("make_step_model: unknown model");
}

}  // namespace deft::dynamics
