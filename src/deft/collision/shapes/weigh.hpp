#pragma once
// The inertias of links that model files leave to their geometries.

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::collision {

/// Gives every link without an inertial that of its solids (the sum of what each weighs; massless without any), then
/// follows the model's inertia rules, and takes the solids away. A mesh that cannot be read or has no volume is an
/// error.
void weigh(multibody::ModelSpec& model, Diagnostics& diagnostics);

}  // namespace deft::collision
