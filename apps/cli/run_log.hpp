#pragma once
// deft.log of a run folder.

#include <span>
#include <string>

#include "deft/core/diagnostics.hpp"
#include "options.hpp"

namespace deft::cli {

/// While it lives log lines go to a file too, from kInfo. The first lines say what runs on what, and repeat the
/// warnings of the scene; the screen, which has both already, is spared them.
class RunLog {
 public:
  /// @param continues  the file goes on where it is instead of beginning again.  @throws std::runtime_error if it
  /// cannot be opened.
  RunLog(const std::string& path, const std::string& what, std::span<const Diagnostic> warnings,
         const OutputOptions& output, bool continues = false);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
};

}  // namespace deft::cli
