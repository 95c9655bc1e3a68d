#pragma once

#include <string>

#include "deft/core/stopwatch.hpp"

namespace deft::cli {

/// One line on standard error that is written again ten times a second; nothing unless that is a terminal.
class Progress {
 public:
  /// @param wanted  false: nothing is ever shown. Standard error must also be a terminal that can rewrite a line.
  explicit Progress(bool wanted);
  /// Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Whether a new line is due: at most one every 0.1 s. Callers make the text only then.
  bool due() const;
  /// Replaces the line, whether due or not.
  void show(const std::string& line);
  /// Wall time since the construction [s].
  double seconds() const { return total_.seconds(); }

 private:
  bool shown_;
  bool dirty_ = false;
  Stopwatch total_, since_;
};

}  // namespace deft::cli
