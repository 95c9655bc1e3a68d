#include "deft/core/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace deft::log {
namespace {

/// Colour only for a person who looks at a terminal and did not refuse it (https://no-color.org).
bool wants_colour() {
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDERR_FILENO) == 1 && (refused == nullptr || *refused == '\0');
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// One logger with two outlets, each with a level of its own: standard error, and a file while one is open.
struct Outlets {
  std::shared_ptr<spdlog::sinks::ansicolor_stderr_sink_mt> screen;
  std::shared_ptr<spdlog::sinks::dist_sink_mt> all = std::make_shared<spdlog::sinks::dist_sink_mt>();
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
  spdlog::logger logger{"deft", all};
  std::mutex file_mutex;

  Outlets() {
    const auto mode = wants_colour() ? spdlog::color_mode::always : spdlog::color_mode::never;
    screen = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(mode);
    screen->set_pattern("%^%l:%$ %v");
    screen->set_level(spdlog::level::info);
    all->add_sink(screen);
    logger.set_level(spdlog::level::trace);  // the sinks decide
    logger.flush_on(spdlog::level::info);    // a killed program keeps its lines
  }
};

Outlets& outlets() {
  static Outlets instance;
  return instance;
}

void write(Level level, std::string_view message) {
  outlets().logger.log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace

void set_level(Level level) { outlets().screen->set_level(to_spdlog(level)); }

void start_file(const std::string& path, bool append) {
  stop_file();
  Outlets& out = outlets();
  const std::lock_guard lock(out.file_mutex);
  try {
    out.file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, /*truncate=*/!append);
  } catch (const spdlog::spdlog_ex& failure) {
    throw std::runtime_error(fmt::format("cannot open the log file '{}': {}", path, failure.what()));
  }
  out.file->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v");
  out.file->set_level(spdlog::level::info);
  out.all->add_sink(out.file);
}

void stop_file() {
  Outlets& out = outlets();
  const std::lock_guard lock(out.file_mutex);
  if (!out.file) return;
  out.all->remove_sink(out.file);
  out.file->flush();
  out.file.reset();
}

void debug(std::string_view message) { write(Level::kDebug, message); }
void info(std::string_view message) { write(Level::kInfo, message); }
void warning(std::string_view message) { write(Level::kWarning, message); }
void error(std::string_view message) { write(Level::kError, message); }

}  // namespace deft::log
