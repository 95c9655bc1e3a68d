#pragma once
// Threads that wait for work: batches of a search are too short to start threads for each.

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace deft {

/// The thread that calls `run` and workers − 1 threads that live as long as the pool, which share the items of each
/// run. `run` may be called from one thread at a time.
class ThreadPool {
 public:
  /// @param workers  ≥ 1, the caller among them. @param work  called as work(worker, item), at once for different
  /// workers.
  ThreadPool(int workers, std::function<void(int worker, int item)> work);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Does the items 0 … count − 1, in any order, and returns when all are done.
  /// @throws what an item threw first; the worker that threw takes no more items of this run, the others go on.
  void run(int count);

 private:
  void take(int worker);
  void help(int worker);

  std::function<void(int, int)> work_;
  std::atomic<int> round_ = 0, next_ = 0, busy_ = 0;
  std::atomic<bool> leave_ = false;
  int count_ = 0;  // written before round_ is raised, read after
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::jthread> helpers_;
};

}  // namespace deft
