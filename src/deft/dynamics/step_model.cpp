#include "deft/dynamics/step_model.hpp"

#include <fmt/core.h>

#include "deft/dynamics/convex_second_order_step.hpp"
#include "deft/dynamics/convex_step.hpp"

namespace deft::dynamics {

std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene) {
  switch (scene.spec().step.model) {
    case scene::ModelKind::kConvex:
      return std::make_unique<ConvexStep>(scene);
    case scene::ModelKind::kConvexSecondOrder:
      return std::make_unique<ConvexSecondOrderStep>(scene);
    default:
      break;
  }
  throw InputError({scene.spec().file, 0, 0},
                   fmt::format("not available yet: step.model: {}; available: convex, convex-second-order",
                               to_string(scene.spec().step.model)));
}

}  // namespace deft::dynamics
