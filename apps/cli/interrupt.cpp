#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace deft::cli {
namespace {

std::atomic<bool> flag = false;  // read by all threads
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write no other");

using Handler = void (*)(int);
Handler before[2] = {SIG_DFL, SIG_DFL};  // of SIGINT and SIGTERM
bool is_caught = false;

void on_signal(int signal) {
  flag = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  if (is_caught) return;
  before[0] = std::signal(SIGINT, on_signal);
  before[1] = std::signal(SIGTERM, on_signal);
  is_caught = true;
}

void forget_interrupts() {
  if (!is_caught) return;
  std::signal(SIGINT, before[0]);
  std::signal(SIGTERM, before[1]);
  is_caught = false;
  flag = false;
}

bool interrupted() { return flag; }

}  // namespace deft::cli
