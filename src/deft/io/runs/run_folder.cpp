#include "deft/io/runs/run_folder.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "deft/io/runs/background_writer.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/text/json_text.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

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

/// The writer's thread owns the file until it is stopped.
struct RunWriter::Impl {
  Impl(const std::string& folder, RunHeader run_header, const dynamics::Trajectory& start,
       const RunWriterSettings& run_settings)
      : paths(folder), header(std::move(run_header)), settings(run_settings), sizes(start) {
    sizes.t.clear();
    file = std::make_unique<RunFile>(paths.work(), header, sizes, RunFormat::kWhole);
    RunRows rows;
    copy_rows(start, 0, true, rows);
    taken = start.num_steps();
    write(rows);
    writer.emplace(settings.period_s, Writer::Clock::now(), [this](const RunRows& more) { write(more); });
  }

  void write(const RunRows& rows) {
    file->append(rows);
    publish();
  }

  /// Small files: a copy of the flushed file, renamed. Large ones: the file itself, in single-writer mode.
  void publish() {
    file->flush();
    if (single_writer) return;
    if (fs::file_size(paths.work()) > settings.whole_copy_bytes) {
      start_single_writer();
      return;
    }
    paths.publish_copy();
  }

  void start_single_writer() {
    file.reset();
    RunRows rows;
    copy_rows(read_run_file(paths.work()).trajectory, 0, true, rows);
    file = std::make_unique<RunFile>(paths.copy(), header, sizes, RunFormat::kSingleWriter);
    file->append(rows);
    file->flush();
    fs::rename(paths.copy(), paths.target);
    fs::remove(paths.work());
    single_writer = true;
    log::info(fmt::format(
        "{} is large: it grows in single-writer mode from here on; open it with swmr=True while the run goes on",
        paths.target));
  }

  void append(const dynamics::Trajectory& trajectory) {
    writer->append([&](RunRows& pending) { copy_rows(trajectory, taken, false, pending); });
    taken = trajectory.num_steps();
  }

  void close() {
    closed = true;
    writer->stop();
    const std::unique_ptr<RunFile> closing = std::move(file);  // whatever happens, there is only one attempt
    if (writer->failure_seen()) return;                        // `append` has thrown it
    writer->throw_failure();
    closing->append(writer->pending());
    closing->flush();
    complete = true;
  }

  using Writer = BackgroundWriter<RunRows>;

  RunFilePaths paths;
  RunHeader header;
  RunWriterSettings settings;
  dynamics::Trajectory sizes;     // names only
  std::unique_ptr<RunFile> file;  // used by the thread while it runs
  bool single_writer = false;     // as `file`
  int taken = 0;                  // steps handed over so far
  bool closed = false;            // `close` was called; until it stops the thread, `file` may be replaced
  bool complete = false;          // all is in the file, which is closed
  std::optional<Writer> writer;   // last: its thread uses all of the above
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
  if (impl_->closed) return;
  impl_->close();
  if (impl_->complete && !impl_->single_writer) fs::rename(impl_->paths.work(), impl_->paths.target);
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
