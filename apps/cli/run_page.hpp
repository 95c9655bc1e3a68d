#pragma once

#include <string>

#include "deft/io/run_folder.hpp"

namespace deft::cli {

/// Writes `path`, the page that shows a run; opens from disk in any browser.
void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory);

}  // namespace deft::cli
