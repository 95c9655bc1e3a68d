#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "deft/core/log.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/tree_columns.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPeriod{500};

void write_run(const std::string& path, const RunHeader& header, const dynamics::Trajectory& motion) {
  RunFile file(path, header, motion, RunFormat::kWhole);
  RunRows rows;
  copy_rows(motion, 0, true, rows);
  file.append(rows);
  file.flush();
}

}  // namespace

/// Nodes come from the search's thread into `pending`; a second thread owns the work file.
struct SearchWriter::Impl {
  Impl(const std::string& folder, const RunHeader& run_header, const PlanHeader& plan_header,
       const dynamics::Trajectory& start)
      : target((fs::path(folder) / "run.h5").string()), run(run_header), header(plan_header) {
    write_run(work(), run, start);
    file = std::make_unique<TreeFile>(work(), header);
    thread = std::thread([this] { write(); });
  }

  std::string work() const { return target + ".work"; }
  std::string copy() const { return target + ".tmp"; }

  void publish_copy() {
    file->flush();
    fs::copy_file(work(), copy(), fs::copy_options::overwrite_existing);
    fs::rename(copy(), target);
  }

  /// The first nodes are published at once, later ones at most a period after they came.
  void write() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stopping || !pending.empty(); });
      if (published) wake.wait_for(lock, kPeriod, [&] { return stopping; });
      if (stopping) return;
      published = true;
      const TreeRows taken = pending.take();
      lock.unlock();
      try {
        file->append(taken);
        publish_copy();
      } catch (...) {
        lock.lock();
        failure = std::current_exception();
        return;
      }
      lock.lock();
    }
  }

  /// Ends the thread; the work file is then ours.
  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    if (thread.joinable()) thread.join();
  }

  /// Publishes what is pending, if no plan was.
  void close() {
    stop();
    if (!file) return;
    const std::unique_ptr<TreeFile> closing = std::move(file);  // whatever happens, there is only one attempt
    if (failure) std::rethrow_exception(failure);
    published = published || !pending.empty();
    closing->append(pending.take());
    closing->flush();
    if (published) {
      fs::rename(work(), target);
    } else {
      fs::remove(work());
    }
  }

  void publish(const dynamics::Trajectory& motion, const PosedNodes& tree, const planning::Plan& plan,
               const planning::ReachableSets& reachable) {
    stop();
    file.reset();
    write_run(copy(), run, motion);
    {
      TreeRows rows;
      rows.add(tree);
      TreeFile whole(copy(), header);
      whole.append(rows);
      whole.add_plan(plan);
      whole.add_reachable(reachable);
    }
    fs::rename(copy(), target);
    fs::remove(work());
  }

  std::string target;
  RunHeader run;
  PlanHeader header;
  std::unique_ptr<TreeFile> file;  // of the work file; used by the thread while it runs
  std::mutex mutex;                // guards what follows
  std::condition_variable wake;
  TreeRows pending;
  bool published = false;  // there are nodes
  bool stopping = false;
  std::exception_ptr failure;
  std::thread thread;
};

SearchWriter::SearchWriter(const std::string& folder, const RunHeader& run, const PlanHeader& header,
                           const dynamics::Trajectory& start)
    : impl_(std::make_unique<Impl>(folder, run, header, start)) {}

SearchWriter::~SearchWriter() {
  try {
    impl_->close();
  } catch (const std::exception& error) {
    log::error(fmt::format("the end of the tree was not written: {}", error.what()));
  }
}

void SearchWriter::append(const PosedNodes& tree) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->failure) std::rethrow_exception(impl_->failure);
    impl_->pending.add(tree);
  }
  impl_->wake.notify_all();
}

void SearchWriter::publish(const dynamics::Trajectory& motion, const PosedNodes& tree, const planning::Plan& plan,
                           const planning::ReachableSets& reachable) {
  impl_->publish(motion, tree, plan, reachable);
}

}  // namespace deft::io
