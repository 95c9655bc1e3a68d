#pragma once
// Other programs, run as processes: what is loaded into one process shares its libraries, and ends it when it fails.

#include <string>
#include <vector>

#include "deft/core/infinity.hpp"

namespace deft {

/// Runs a program with these arguments; its environment is ours. @param in, out, errors  what its standard streams
/// become; −1: nothing. @returns its id, −1 if it could not be started.
int spawn(const std::vector<std::string>& command, int in, int out, int errors);

/// Waits for the end of a process that `spawn` started; ends it after `patience_s` [s]. @returns its exit status, −1 if
/// a signal ended it.
int wait_for_end(int pid, double patience_s = kInfinity);

/// The end of what a process wrote into a file, at most 2000 characters, as part of a message.
std::string last_words(int file);

/// The Python interpreter whose process this is (deft as its package), or one like it. Not while other threads look for
/// one.
void set_interpreter(std::string path);

/// A Python interpreter that has a package: the one that the environment variable names, and no other if it is set;
/// else the one of `set_interpreter`; else `usual`; else python3. @throws InputError that says what was looked at,
/// `install` after it.
std::string find_python(const std::string& package, const char* variable, const std::string& usual,
                        const std::string& install);

}  // namespace deft
