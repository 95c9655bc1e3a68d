#pragma once
// deft plan --resume: which run it is, whether it is finished, and how to go on with one that was cut short.

#include <optional>
#include <string>

#include "deft/io/runs/journal_file.hpp"
#include "deft/planning/planner.hpp"
#include "options.hpp"

namespace deft::cli {

/// summary.json of the run in `folder`, if all of its searches have ended and it was written down whole.
std::optional<std::string> finished_summary(const std::string& folder, const io::JournalFile& journal);

/// Whether a search that came back has not ended for good: it was interrupted, or its time ended before there was a
/// plan and no other search follows.
bool may_go_on(const planning::PlannerResult& result, const io::JournalHeader& run, bool interrupted);

/// The command line that goes on with the run in `folder`, for a shell; goal and seeds are those of the run.
std::string resume_command(const SceneOptions& scene, const std::optional<int>& nodes, bool first,
                           const std::string& folder);

}  // namespace deft::cli
