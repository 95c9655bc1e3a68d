#include "run_log.hpp"

#include <fmt/format.h>

#include "deft/core/log.hpp"
#include "deft/core/version.hpp"

namespace deft::cli {

RunLog::RunLog(const std::string& path, const std::string& what, std::span<const Diagnostic> warnings,
               const OutputOptions& output, bool continues) {
  log::start_file(path, continues);
  log::set_level(log::Level::kOff);
  log::info(fmt::format("deft {} {}", version(), what));
  for (const Diagnostic& warning : warnings) log::warning(to_string(warning));
  apply(output);
}

RunLog::~RunLog() { log::stop_file(); }

}  // namespace deft::cli
