#pragma once

#include <string>

#include "deft/core/stopwatch.hpp"

namespace deft::cli {

/// One line on standard error that is written again ten times a second; nothing unless that is a terminal.
class Progress {
 public:
  explicit Progress(bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Whether a new line would be shown now; asking costs nothing, so the text is only made when it is.
  bool due() const;
  void show(const std::string& line);
  double seconds() const { return total_.seconds(); }

 private:
  bool shown_;
  bool dirty_ = false;
  Stopwatch total_, since_;
};

}  // namespace deft::cli
