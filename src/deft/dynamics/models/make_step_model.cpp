#include "deft/dynamics/models/make_step_model.hpp"

#include <stdexcept>

#include "deft/dynamics/complementarity/impedance_lcp.hpp"
#include "deft/dynamics/complementarity/perfect_tracking_lcp.hpp"
#include "deft/dynamics/complementarity/planar_limit_surface.hpp"
#include "deft/dynamics/complementarity/stewart_trinkle.hpp"
#include "deft/dynamics/convex/convex_second_order_step.hpp"
#include "deft/dynamics/convex/convex_step.hpp"
#include "deft/dynamics/patch/equivalent_contact_point.hpp"

namespace deft::dynamics {

std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene) {
  switch (scene.settings().step.model) {
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
