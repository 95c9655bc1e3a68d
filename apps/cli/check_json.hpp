#pragma once
// What deft check finds in a scene, for callers in the same process.

#include <string>
#include <vector>

namespace deft::cli {

/// Errors, then warnings of one scene: a list of the entries of deft check --json.
std::string check_json(const std::string& scene, const std::vector<std::string>& package_paths);

}  // namespace deft::cli
