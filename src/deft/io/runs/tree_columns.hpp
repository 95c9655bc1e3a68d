#pragma once
// /tree, /plan and /reachable of run.h5, row by row. Internal to io; the layout is in README.md.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deft/io/runs/plan_file.hpp"

namespace deft::io {

/// Nodes of a tree, flat: what one append writes.
struct TreeRows {
  std::vector<double> q, u, cost, distance, time, commands;  // [s], [m], [s]; commands of all nodes, row by row
  std::vector<float> X_WB;                                   // [nodes × bodies × 7]
  std::vector<std::int32_t> parent, regrasps;                // −1: the root; count from the root
  std::vector<std::uint8_t> kind;                            // planning::NodeKind
  std::vector<std::int64_t> offset;                          // of the commands, in commands since the start of the file
  bool empty() const { return parent.empty(); }              // whether there is no node
  /// The rows, which are then gone from here; the count of commands goes on.
  TreeRows take();
  /// Appends nodes that follow those added before.
  void add(const PosedNodes& tree);

 private:
  std::int64_t commands_before_ = 0;
};

/// A run.h5 whose /tree and /plan are being written.
class TreeFile {
 public:
  /// Opens the run at `path` and adds the empty groups, their sizes those of the run. @throws std::runtime_error.
  TreeFile(const std::string& path, const PlanHeader& header);
  ~TreeFile();
  TreeFile(const TreeFile&) = delete;
  TreeFile& operator=(const TreeFile&) = delete;
  /// Appends rows to all columns of /tree. @throws std::runtime_error with HDF5's reason, as the next three.
  void append(const TreeRows& rows);
  /// Adds the segments and whether the plan holds; once.
  void add_plan(const planning::Plan& plan);
  /// Adds the reachable sets, if there are any; once.
  void add_reachable(const planning::ReachableSets& sets);
  /// Brings everything to the file: a copy of it is then a whole run.
  void flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::io
