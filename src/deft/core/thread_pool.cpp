#include "deft/core/thread_pool.hpp"

#include <utility>

namespace deft {

ThreadPool::ThreadPool(int workers, std::function<void(int worker, int item)> work) : work_(std::move(work)) {
  for (int w = 1; w < workers; ++w) helpers_.emplace_back([this, w] { help(w); });
}

ThreadPool::~ThreadPool() {
  leave_ = true;
  ++round_;
  round_.notify_all();
}

void ThreadPool::run(int count) {
  count_ = count;
  next_ = 0;
  busy_ = static_cast<int>(helpers_.size());
  ++round_;
  round_.notify_all();
  take(0);
  for (int busy = busy_; busy > 0; busy = busy_) busy_.wait(busy);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::take(int worker) {
  try {
    for (int item = next_++; item < count_; item = next_++) work_(worker, item);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::help(int worker) {
  for (int seen = 0;;) {
    round_.wait(seen);
    seen = round_;
    if (leave_) return;
    take(worker);
    if (--busy_ == 0) busy_.notify_one();
  }
}

}  // namespace deft
