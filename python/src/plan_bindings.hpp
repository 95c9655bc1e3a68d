#pragma once
// deft.plan and deft.optimize.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>

#include "deft/planning/planner.hpp"
#include "deft/scene/scene.hpp"

namespace deft::python {

/// A plan, and of what.
struct Plan {
  scene::Scene scene;
  std::string goal;        // its name
  std::uint64_t seed = 0;  // of the search
  planning::PlannerResult result;
  std::optional<double> cost_before, cost_after;  // of one that was optimised: planning::PlanOptimizerResult
};

void bind_plans(nanobind::module_& module);

}  // namespace deft::python
