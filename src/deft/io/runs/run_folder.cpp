#include "deft/io/runs/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array kRunFiles{"run.h5",      "run.h5.work", "run.h5.tmp", "run.html",       "summary.json",
                               "config.yaml", "deft.log",    "plan.yaml",  "search.journal", "search.journal.tmp"};

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw InputError({path, 0, 0}, message);
}

/// A file name of `name`: what a shell or a file system might mind becomes "_".
std::string file_name(const std::string& name) {
  std::string safe = name.empty() ? "run" : name;
  for (char& c : safe) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  if (safe[0] == '.') safe[0] = '_';
  return safe;
}

}  // namespace

std::string make_run_folder(const std::string& requested, const std::string& name, bool force) {
  std::error_code error;
  if (requested.empty()) {
    const std::time_t now = std::time(nullptr);
    const std::string base = fmt::format("out/{}-{:%Y%m%d-%H%M%S}", file_name(name), fmt::localtime(now));
    fs::create_directories("out", error);
    // Two runs may begin within one second: the folder belongs to the one that made it.
    std::string folder = base;
    for (int n = 2; !fs::create_directory(folder, error); ++n) {
      if (error) refuse(folder, fmt::format("cannot make the folder: {}", error.message()));
      folder = fmt::format("{}-{}", base, n);
    }
    return folder;
  }
  if (fs::exists(requested, error) && !fs::is_directory(requested, error))
    refuse(requested, "is a file, not a folder for a run");
  fs::create_directories(requested, error);
  if (error) refuse(requested, fmt::format("cannot make the folder: {}", error.message()));
  if (!fs::is_empty(requested, error) && !force)
    refuse(requested, "the folder is not empty; choose another with --out, or replace the run in it with --force");
  if (error) refuse(requested, error.message());
  for (const char* file : kRunFiles) fs::remove(fs::path(requested) / file, error);
  return requested;
}

/// The steps come from the simulation's thread into `pending`; a second thread owns the file: it takes what is pending,
/// writes and publishes, at the latest a period after a step was done, even while the next one takes long.
struct RunWriter::Impl {
  Impl(const std::string& folder, RunHeader run_header, const dynamics::Trajectory& run_start,
       const RunWriterSettings& run_settings)
      : target((fs::path(folder) / "run.h5").string()),
        header(std::move(run_header)),
        settings(run_settings),
        sizes(run_start) {
    sizes.t.clear();
    file = std::make_unique<RunFile>(work(), header, sizes, RunFormat::kWhole);
    copy_rows(run_start, 0, true, pending);
    taken = run_start.num_steps();
    write_pending();
    publish();
    thread = std::thread([this] { run(); });
  }

  std::string work() const { return target + ".work"; }

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      const auto due =
          last_publish + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.period_s));
      wake.wait_until(lock, due, [&] { return stopping; });
      if (stopping || pending.empty()) {
        last_publish = Clock::now();
        continue;
      }
      lock.unlock();
      try {
        last_publish = Clock::now();
        write_pending();
        publish();
      } catch (...) {
        lock.lock();
        failure = std::current_exception();
        return;
      }
      lock.lock();
    }
  }

  void write_pending() {
    {
      const std::lock_guard lock(mutex);
      std::swap(pending, taking);
    }
    file->append(taking);
    taking.clear();
  }

  /// Small files: a copy of the flushed file, renamed. Large ones: the file itself, in single-writer mode.
  void publish() {
    file->flush();
    if (single_writer) return;
    if (fs::file_size(work()) > settings.whole_copy_bytes) {
      start_single_writer();
      return;
    }
    const std::string copy = target + ".tmp";
    fs::copy_file(work(), copy, fs::copy_options::overwrite_existing);
    fs::rename(copy, target);
  }

  void start_single_writer() {
    file.reset();
    RunRows rows;
    copy_rows(read_run_file(work()).trajectory, 0, true, rows);
    const std::string next = target + ".tmp";
    file = std::make_unique<RunFile>(next, header, sizes, RunFormat::kSingleWriter);
    file->append(rows);
    file->flush();
    fs::rename(next, target);
    fs::remove(work());
    single_writer = true;
    log::info(fmt::format(
        "{} is large: it grows in single-writer mode from here on; open it with swmr=True while the run goes on",
        target));
  }

  /// Hands the thread's failure over, once.
  void throw_failure() {
    failed = failed || failure;
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  void append(const dynamics::Trajectory& trajectory) {
    const std::lock_guard lock(mutex);
    throw_failure();
    copy_rows(trajectory, taken, false, pending);
    taken = trajectory.num_steps();
  }

  void close() {
    if (!file) return;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    if (thread.joinable()) thread.join();
    const std::unique_ptr<RunFile> closing = std::move(file);  // whatever happens, there is only one attempt
    if (failed) return;                                        // said by `append`
    throw_failure();
    closing->append(pending);
    closing->flush();
  }

  std::string target;
  RunHeader header;
  RunWriterSettings settings;
  dynamics::Trajectory sizes;     // names only
  std::unique_ptr<RunFile> file;  // used by the thread while it runs
  bool single_writer = false;
  RunRows taking;
  Clock::time_point last_publish = Clock::now();
  std::mutex mutex;  // guards what follows
  std::condition_variable wake;
  RunRows pending;
  int taken = 0;  // steps copied so far
  bool stopping = false;
  bool failed = false;
  std::exception_ptr failure;
  std::thread thread;
};

RunWriter::RunWriter(const std::string& folder, const RunHeader& header, const dynamics::Trajectory& start,
                     const RunWriterSettings& settings)
    : impl_(std::make_unique<Impl>(folder, header, start, settings)) {}

RunWriter::~RunWriter() {
  try {
    close();
  } catch (const std::exception& error) {
    log::error(fmt::format("the end of the run was not written: {}", error.what()));
  }
}

void RunWriter::append(const dynamics::Trajectory& trajectory) { impl_->append(trajectory); }

void RunWriter::close() {
  if (!impl_->file) return;
  impl_->close();
  if (!impl_->failed && !impl_->single_writer) fs::rename(impl_->work(), impl_->target);
}

Run read_run(const std::string& path) {
  std::error_code error;
  const std::string file = fs::is_directory(path, error) ? (fs::path(path) / "run.h5").string() : path;
  if (!fs::exists(file, error)) refuse(path, file == path ? "no such run" : "is not a run folder: it has no run.h5");
  try {
    Run run = read_run_file(file);
    run.complete = fs::exists(fs::path(file).parent_path() / "summary.json", error);
    return run;
  } catch (const std::runtime_error& failure) {
    refuse(file, fmt::format("is not a run: {}", failure.what()));
  }
}

void publish_text(const std::string& path, const std::string& text) { write_text(path, text); }

}  // namespace deft::io
