#pragma once
// Of runs that follow a plan, where they should have been; and a second run beside the first. Internal to viewer.

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "deft/dynamics/trajectory.hpp"
#include "deft/viewer/html_export.hpp"

namespace deft::viewer {

/// "track" and its blocks: reference poses at the frames, and the records of the steps that end there. Nothing for runs
/// that follow no plan.
void add_tracks(nlohmann::json& document, const dynamics::Trajectory& run, std::span<const std::size_t> frames);

/// "beside" and its blocks. @param kept  frames that are kept of `run`; of the second run as large a part is.
void add_beside(nlohmann::json& document, const dynamics::Trajectory& run, const Beside& beside, std::size_t kept);

}  // namespace deft::viewer
