#pragma once

#include <optional>
#include <string>

#include "deft/io/plan_file.hpp"
#include "deft/io/run_folder.hpp"

namespace deft::cli {

/// Writes `path`, the page that shows a run and, of a planner's run, the tree and the plan; opens from disk in any
/// browser.
void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory,
                const std::optional<io::StoredPlan>& plan = {});

}  // namespace deft::cli
