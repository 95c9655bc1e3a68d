#pragma once
// Drake in a process of its own: found, started, asked. Internal to the module.

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "deft/plant/plant.hpp"

namespace deft::plant {

/// What Drake says that it could not do in a step; the process lives on.
class DrakeStepError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The process of drake_server.py and the frames that go to and fro (that file says which). It ends with this object.
class DrakeProcess {
 public:
  /// Starts the server with the interpreter. @throws InputError if it cannot be started.
  explicit DrakeProcess(const std::string& python);
  ~DrakeProcess();
  DrakeProcess(const DrakeProcess&) = delete;
  DrakeProcess& operator=(const DrakeProcess&) = delete;

  /// Sends a frame and waits for the answer, which stays valid until the next call. @throws DrakeStepError if Drake's
  /// step failed; InputError, with what the process last wrote, if it cannot do what it is asked, or is gone.
  std::span<const char> ask(char letter, std::span<const char> payload);

 private:
  [[noreturn]] void gone(const std::string& what) const;
  void send_all(const char* data, std::size_t size) const;
  void receive_all(char* data, std::size_t size) const;

  int pid_ = -1, socket_ = -1, errors_ = -1;  // of the child; our end; what it writes to its standard error
  std::string python_;
  std::vector<char> out_, in_;
};

}  // namespace deft::plant
