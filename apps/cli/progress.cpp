#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace deft::cli {
namespace {

constexpr double kPeriod_s = 0.1;

bool can_rewrite() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress(bool wanted) : shown_(wanted && can_rewrite()) {}

Progress::~Progress() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
}

bool Progress::due() const { return shown_ && (!dirty_ || since_.seconds() >= kPeriod_s); }

void Progress::show(const std::string& line) {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
  dirty_ = true;
  since_.restart();
}

}  // namespace deft::cli
