#pragma once
// Long work that Ctrl-C ends.

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "errors.hpp"

namespace deft::python {

/// Runs `work` on a thread of its own and looks for Ctrl-C here meanwhile; `stop` asks it to end early.
template <typename Work>
void interruptibly(std::atomic<bool>& stop, Work&& work) {
  std::mutex mutex;
  std::condition_variable ended;
  bool is_over = false;
  std::exception_ptr failure;
  std::exception_ptr interrupt;
  const nb::gil_scoped_release unlocked;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    is_over = true;
    ended.notify_one();
  });
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return is_over; })) {
    lock.unlock();
    try {
      raise_interrupts();
    } catch (...) {
      interrupt = std::current_exception();
      stop = true;
    }
    lock.lock();
  }
  lock.unlock();
  worker.join();
  if (interrupt) std::rethrow_exception(interrupt);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace deft::python
