#pragma once
// Log lines for people, on standard error. Results never go through here.

#include <string>
#include <string_view>

namespace deft::log {

/// How much is said, from everything to nothing.
enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// Lines below `level` are not written to standard error (the file keeps its own level).
void set_level(Level level);
/// Also writes every line (from kInfo) to a file, until `stop_file`. @param append  to what it holds, instead of
/// beginning again.  @throws std::runtime_error if it cannot be opened.
void start_file(const std::string& path, bool append = false);
void stop_file();

/// Writes one line, without a line break in `message`. Safe to call from many threads.
void debug(std::string_view message);
void info(std::string_view message);
void warning(std::string_view message);
void error(std::string_view message);

}  // namespace deft::log
