#pragma once
// A thread that writes what another one hands over, and how a run folder is published. Internal to io.

#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace deft::io {

/// Rows come from the caller's thread; a second thread, which alone touches the file until it is stopped, writes and
/// publishes them at most a period after they came, and at most once per period. The caller never waits for the disk.
/// `Rows` has `bool empty() const` and `Rows take()`, which leaves it empty.
template <typename Rows>
class BackgroundWriter {
 public:
  using Clock = std::chrono::steady_clock;         // of the period
  using Write = std::function<void(const Rows&)>;  // writes and publishes rows; may throw

  /// @param period_s  [s] > 0.  @param last_write  when something was last published: the first rows are written a
  /// period after it.  @param write  called by the thread only.
  BackgroundWriter(double period_s, Clock::time_point last_write, Write write)
      : period_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_s))),
        last_write_(last_write),
        write_(std::move(write)),
        thread_([this] { run(); }) {}
  ~BackgroundWriter() { stop(); }
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Hands rows over: `add(Rows&)` appends them to what is pending. @throws the failure of an earlier write.
  template <typename Add>
  void append(Add add) {
    const std::lock_guard lock(mutex_);
    throw_failure();
    const bool asleep = pending_.empty();
    add(pending_);
    if (asleep) wake_.notify_all();
  }

  /// Ends the thread, after the write that it is at. The file and `pending` are the caller's from then on.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Rows& pending() { return pending_; }           // rows that were not written; after `stop` only
  bool has_written() const { return written_; }  // whether any were, or failed to be; after `stop` only
  bool failure_seen() const { return seen_; }    // whether a caller has got the failure
  /// Throws the failure of a write, if there was one; after `stop`, or by `append`.
  void throw_failure() {
    if (!failure_) return;
    seen_ = true;
    std::rethrow_exception(failure_);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || !pending_.empty(); });
      wake_.wait_until(lock, last_write_ + period_, [&] { return stopping_; });
      if (stopping_) return;
      written_ = true;
      const Rows rows = pending_.take();
      lock.unlock();
      try {
        write_(rows);
      } catch (...) {
        lock.lock();
        failure_ = std::current_exception();
        return;
      }
      lock.lock();
      last_write_ = Clock::now();  // what takes longer than the period still leaves a pause
    }
  }

  Clock::duration period_;
  Clock::time_point last_write_;
  Write write_;
  std::mutex mutex_;  // guards what follows while the thread runs
  std::condition_variable wake_;
  Rows pending_;
  bool stopping_ = false, written_ = false, seen_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses all of the above
};

/// Where a run folder's data file stands while it grows.
struct RunFilePaths {
  /// @param folder  DIR.
  explicit RunFilePaths(const std::string& folder) : target((std::filesystem::path(folder) / "run.h5").string()) {}

  std::string target;                                    // DIR/run.h5, always whole
  std::string work() const { return target + ".work"; }  // the file that grows
  std::string copy() const { return target + ".tmp"; }   // a file that is about to be renamed

  /// Publishes a copy of the work file, which must be flushed, by renaming. @throws std::filesystem::filesystem_error.
  void publish_copy() const {
    std::filesystem::copy_file(work(), copy(), std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(copy(), target);
  }
};

}  // namespace deft::io
