#pragma once
// From the settings of a scene to the step model that they name.

#include <memory>

#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// The step model that `step.model` of the scene names. @param scene  must outlive the model.
/// @throws InputError when step.h is missing or the scene has what the model does not have.
std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene);

}  // namespace deft::dynamics
