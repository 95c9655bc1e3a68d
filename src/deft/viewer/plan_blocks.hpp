#pragma once
// What a controller planned at each frame, for the page. Internal to viewer.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "deft/dynamics/trajectory.hpp"

namespace deft::viewer {

/// Adds "control" and the plan_… blocks of README.md; nothing for runs without a controller. @param frames  that are
/// kept, ascending.
void add_plans(nlohmann::json& document, const dynamics::Trajectory& run, std::span<const std::size_t> frames);

}  // namespace deft::viewer
