#include "deft/core/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/core/stopwatch.hpp"

extern char** environ;

namespace deft {
namespace {

constexpr off_t kLastWords = 2000;  // characters

std::string& interpreter() {
  static std::string path;
  return path;
}

bool has_package(const std::string& python, const std::string& package) {
  const int pid =
      spawn({python, "-c",
             fmt::format("import importlib.util, sys; sys.exit(importlib.util.find_spec('{}') is None)", package)},
            -1, -1, -1);
  return pid > 0 && wait_for_end(pid) == 0;
}

}  // namespace

int spawn(const std::vector<std::string>& command, int in, int out, int errors) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [stream, target] : {std::pair{in, 0}, {out, 1}, {errors, 2}}) {
    if (stream >= 0)
      posix_spawn_file_actions_adddup2(&actions, stream, target);
    else
      posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0);
  }
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

int wait_for_end(int pid, double patience_s) {
  const Stopwatch watch;
  const bool for_ever = patience_s == kInfinity;
  for (int status = 0;;) {
    const pid_t ended = waitpid(pid, &status, for_ever ? 0 : WNOHANG);
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (ended < 0 && errno != EINTR) return -1;  // no child of ours
    if (watch.seconds() > patience_s) kill(pid, SIGKILL);
    if (!for_ever) usleep(2000);
  }
}

std::string last_words(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return "it wrote nothing";
  std::string words(static_cast<std::size_t>(std::min<off_t>(size, kLastWords)), ' ');
  const ssize_t got = pread(file, words.data(), words.size(), size - static_cast<off_t>(words.size()));
  words.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return "it last wrote: " + words;
}

void set_interpreter(std::string path) { interpreter() = std::move(path); }

std::string find_python(const std::string& package, const char* variable, const std::string& usual,
                        const std::string& install) {
  const char* const named = std::getenv(variable);
  if (named != nullptr && *named != '\0') {
    if (has_package(named, package)) return named;
    throw InputError({}, fmt::format("{} is '{}', which has no package {}; {}", variable, named, package, install));
  }
  std::error_code error;
  std::vector<std::string> looked;
  for (const std::string& python : {interpreter(), usual, std::string("python3")}) {
    if (python.empty() || (python != "python3" && !std::filesystem::exists(python, error))) continue;
    looked.push_back(python);
    if (has_package(python, package)) return python;
  }
  throw InputError({}, fmt::format("the Python package {} is not there (looked in {}); {}", package,
                                   fmt::join(looked, " and "), install));
}

}  // namespace deft
