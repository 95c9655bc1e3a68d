#pragma once
// Goals of a scene: how far configurations are from them.

#include <nanobind/nanobind.h>

#include <string>

#include "deft/scene/scene.hpp"

namespace deft::python {

/// The goal of a name, the first one without. @throws InputError naming the argument and what there is.
const scene::GoalSpec& goal_of(const scene::Scene& scene, const std::string& name);

/// deft._core.Goal.
void bind_goals(nanobind::module_& module);

}  // namespace deft::python
