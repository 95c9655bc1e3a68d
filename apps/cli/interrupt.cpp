#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace deft::cli {
namespace {

std::atomic<bool> flag = false;  // read by all threads
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write no other");

void on_signal(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() { return flag; }

}  // namespace deft::cli
