#include "deft/dynamics/step_model.hpp"

#include "deft/dynamics/convex_step.hpp"

namespace deft::dynamics {

std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene) {
  if (scene.spec().step.model != scene::ModelKind::kConvex) {
    throw InputError({scene.spec().file, 0, 0}, "step.model: only 'convex' is available yet");
  }
  return std::make_unique<ConvexStep>(scene);
}

}  // namespace deft::dynamics
