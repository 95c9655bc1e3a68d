#pragma once
// The settings of everything that is done with a world: values, which no world is built for.

#include <optional>

#include "deft/scene/description/control_settings.hpp"
#include "deft/scene/description/optimize_settings.hpp"
#include "deft/scene/description/plan_settings.hpp"
#include "deft/scene/description/step_settings.hpp"
#include "deft/scene/description/track_settings.hpp"

namespace deft::scene {

/// `step:`, `plan:`, `optimize:`, `track:` and `control:` of a scene file.
struct SceneSettings {
  StepSettings step;                       // which step model, and its numbers
  PlanSettings plan;                       // of the planner
  OptimizeSettings optimize;               // of what improves a plan segment by segment
  TrackSettings track;                     // of following a plan
  std::optional<ControlSettings> control;  // of `sim --controller mixed-integer`
};

}  // namespace deft::scene
