#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <optional>

#include "deft/core/log.hpp"
#include "deft/io/runs/background_writer.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/tree_columns.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

constexpr double kPeriod_s = 0.5;

/// A whole run of what was recorded.
void write_run(const std::string& path, const RunHeader& header, const dynamics::Trajectory& motion) {
  RunFile file(path, header, motion, RunFormat::kWhole);
  RunRows rows;
  copy_rows(motion, 0, true, rows);
  file.append(rows);
  file.flush();
}

}  // namespace

/// The writer's thread owns the work file until it is stopped. The first nodes are published at once.
struct SearchWriter::Impl {
  Impl(const std::string& folder, const RunHeader& run_header, const PlanHeader& plan_header,
       const dynamics::Trajectory& start)
      : paths(folder), run(run_header), header(plan_header) {
    write_run(paths.work(), run, start);
    file = std::make_unique<TreeFile>(paths.work(), header);
    writer.emplace(kPeriod_s, Writer::Clock::time_point(), [this](const TreeRows& rows) {
      file->append(rows);
      file->flush();
      paths.publish_copy();
    });
  }

  /// Publishes what is pending, if no plan was.
  void close() {
    writer->stop();
    if (!file) return;
    const std::unique_ptr<TreeFile> closing = std::move(file);  // whatever happens, there is only one attempt
    writer->throw_failure();
    const bool has_nodes = writer->has_written() || !writer->pending().empty();
    closing->append(writer->pending());
    closing->flush();
    if (has_nodes) {
      fs::rename(paths.work(), paths.target);
    } else {
      fs::remove(paths.work());
    }
  }

  void publish(const dynamics::Trajectory& motion, const PosedNodes& tree, const planning::Plan& plan,
               const planning::ReachableSets& reachable) {
    writer->stop();
    file.reset();
    write_run(paths.copy(), run, motion);
    {
      TreeRows rows;
      rows.add(tree);
      TreeFile whole(paths.copy(), header);
      whole.append(rows);
      whole.add_plan(plan);
      whole.add_reachable(reachable);
    }
    fs::rename(paths.copy(), paths.target);
    fs::remove(paths.work());
  }

  using Writer = BackgroundWriter<TreeRows>;

  RunFilePaths paths;
  RunHeader run;
  PlanHeader header;
  std::unique_ptr<TreeFile> file;  // of the work file; used by the thread while it runs
  std::optional<Writer> writer;    // last: its thread uses all of the above
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
  impl_->writer->append([&](TreeRows& pending) { pending.add(tree); });
}

void SearchWriter::publish(const dynamics::Trajectory& motion, const PosedNodes& tree, const planning::Plan& plan,
                           const planning::ReachableSets& reachable) {
  impl_->publish(motion, tree, plan, reachable);
}

}  // namespace deft::io
