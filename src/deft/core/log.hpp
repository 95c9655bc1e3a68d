#pragma once
// Log lines for people, on standard error. Results never go through here.

#include <string>
#include <string_view>

namespace deft::log {

/// How much is said, from everything to nothing.
enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// Lines below `level` are not written to standard error (kInfo at first); the file keeps its own level.
void set_level(Level level);
/// Also writes every line from kInfo on, with the time of day, to a file, until `stop_file` or the next `start_file`.
/// @param append  keep what the file holds and write behind it; otherwise it is emptied first.
/// @throws std::runtime_error if it cannot be opened.
void start_file(const std::string& path, bool append = false);
/// Closes that file, with all its lines written; does nothing if there is none.
void stop_file();

/// Writes one line at level kDebug; `message` has no line break. Safe to call from many threads, as the others are.
void debug(std::string_view message);
void info(std::string_view message);     // at level kInfo
void warning(std::string_view message);  // at level kWarning
void error(std::string_view message);    // at level kError

}  // namespace deft::log
