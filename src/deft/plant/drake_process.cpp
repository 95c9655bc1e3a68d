#include "deft/plant/drake_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "deft/core/process.hpp"
#include "deft/core/resources.hpp"
#include "deft/plant/drake_plant.hpp"

namespace deft::plant {
namespace {

constexpr const char* kInstallDrake =
    "install it with 'python3 -m pip install drake==1.51.*' or set DEFT_DRAKE_PYTHON to a Python interpreter that has "
    "it";
constexpr const char* kServer = "src/deft/plant/drake_server.py";
constexpr double kPatience = 2;  // [s] until a child that should end is ended
constexpr std::size_t kLongestFrame = std::size_t{1} << 30;

[[noreturn]] void refuse(const std::string& what) { throw InputError({}, fmt::format("plant drake: {}", what)); }

}  // namespace

std::string find_drake_python() {
  return find_python("pydrake", "DEFT_DRAKE_PYTHON", resource(".venv-bench/bin/python"),
                     std::string("plant drake: ") + kInstallDrake);
}

DrakeInstallation find_drake() {
  DrakeInstallation found{.python = find_drake_python(), .version = {}};
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) refuse("no pipe could be opened");
  const int pid = spawn({found.python, resource(kServer), "--version"}, -1, pipe_ends[1], -1);
  close(pipe_ends[1]);
  char c = 0;
  while (read(pipe_ends[0], &c, 1) == 1)
    if (c != '\n') found.version += c;
  close(pipe_ends[0]);
  if (pid < 0 || wait_for_end(pid) != 0)
    refuse(fmt::format("'{}' has pydrake but cannot load it; {}", found.python, kInstallDrake));
  return found;
}

DrakeProcess::DrakeProcess(const std::string& python) : python_(python) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) refuse("no socket could be opened");
  socket_ = ends[0];
  errors_ = memfd_create("drake", MFD_CLOEXEC);
  pid_ = spawn({python, resource(kServer)}, ends[1], ends[1], errors_);
  close(ends[1]);
  if (pid_ > 0) return;
  close(socket_);
  close(errors_);
  refuse(fmt::format("'{}' could not be started", python));
}

DrakeProcess::~DrakeProcess() {
  close(socket_);
  wait_for_end(pid_, kPatience);
  close(errors_);
}

void DrakeProcess::gone(const std::string& what) const {
  refuse(fmt::format("the process of '{}' {}; {}", python_, what, last_words(errors_)));
}

void DrakeProcess::send_all(const char* data, std::size_t size) const {
  while (size > 0) {
    const ssize_t sent = send(socket_, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) gone("has ended");
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

void DrakeProcess::receive_all(char* data, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = recv(socket_, data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) gone("has ended");
    data += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::span<const char> DrakeProcess::ask(char letter, std::span<const char> payload) {
  const auto length = static_cast<std::uint32_t>(payload.size() + 1);
  out_.resize(sizeof length + length);
  std::memcpy(out_.data(), &length, sizeof length);
  out_[sizeof length] = letter;
  if (!payload.empty()) std::memcpy(out_.data() + sizeof length + 1, payload.data(), payload.size());
  send_all(out_.data(), out_.size());
  std::uint32_t answer = 0;
  receive_all(reinterpret_cast<char*>(&answer), sizeof answer);
  if (answer == 0 || answer > kLongestFrame) gone(fmt::format("answered with a frame of {} bytes", answer));
  in_.resize(answer);
  receive_all(in_.data(), answer);
  const std::span<const char> rest(in_.data() + 1, answer - 1);
  if (in_[0] == 'K') return rest;
  const std::string text(rest.begin(), rest.end());
  if (in_[0] == 'F') throw DrakeStepError(text);
  if (in_[0] == 'E') refuse(text);
  gone(fmt::format("answered with a frame '{}'", in_[0]));
}

}  // namespace deft::plant
