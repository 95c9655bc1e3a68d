#pragma once

#include <optional>
#include <string>

#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/viewer/html_export.hpp"

namespace deft::cli {

/// The page that shows a run and, of a planner's run, the tree and the plan; opens from disk in any browser.
/// @param folder  of the run, for its explain.json; empty: none. @param beside  a second run of the same bodies, drawn
/// on the clock of the first.
std::string page_of(const std::string& folder, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                    const std::optional<io::StoredPlan>& plan = {}, const std::optional<viewer::Beside>& beside = {});

/// Writes `path`, the page that shows a run and, of a planner's run, the tree and the plan; opens from disk in any
/// browser.
/// @param beside  a second run of the same bodies, drawn on the clock of the first.
void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                const std::optional<io::StoredPlan>& plan = {}, const std::optional<viewer::Beside>& beside = {});

}  // namespace deft::cli
