#pragma once
// What a planner adds to a run folder: the tree and the plan in run.h5, and the plan's commands as an overlay.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deft/io/runs/run_folder.hpp"
#include "deft/planning/feasibility/plan.hpp"

namespace deft::io {

/// How a plan was made: attributes of /plan.
struct PlanHeader {
  std::string goal, model, scene_hash;  // names of goal and step model; hash_text of the merged scene
  std::uint64_t seed = 0;               // of the search
  double kappa = 0;                     // [1/J], of the gradients; the states are exact
};

/// Nodes of a tree with the poses of all bodies at them, [nodes × bodies × 7] (`[qw qx qy qz x y z]`), so that a tree
/// is drawn without the models of its scene.
struct PosedNodes {
  std::span<const planning::Node> nodes;  // parents first
  std::span<const float> X_WB;            // node by node
};

/// Writes a search into DIR/run.h5, which is always a whole run: while the search goes on the start and the tree so
/// far, at most half a second old, so that a killed search keeps its nodes; then the plan. Besides the run (README.md):
///   /tree/{q [N, nq], u [N, nu], X_WB [N, bodies, 7] (single precision), parent [N], kind [N] (0 root, 1 transit, 2
///   roll-out), cost [N] (s), distance [N] (m), regrasps [N], time [N] (s)},  /tree/commands [Σ, nu] with
///   /tree/commands_offset [N + 1], /plan/segments [S, 4] (first step, last step + 1, 1 = transit, node at its end or
///   −1), and attributes of /plan,  /reachable/{bodies [O], places [R, 2], ellipsoids [R, O, 8, 3]} as
///   planning::ReachableSets says, if the plan came with them.
class SearchWriter {
 public:
  /// @param start  trajectory of the start alone. @throws std::runtime_error if the file cannot be written.
  SearchWriter(const std::string& folder, const RunHeader& run, const PlanHeader& header,
               const dynamics::Trajectory& start);
  ~SearchWriter();
  SearchWriter(const SearchWriter&) = delete;
  SearchWriter& operator=(const SearchWriter&) = delete;
  /// Takes nodes that follow those taken before; a thread of the writer appends them to DIR/run.h5.work and publishes
  /// copies of it by renaming. @throws std::runtime_error with the reason of an earlier failure to write (disk full).
  void append(const PosedNodes& tree);
  /// Publishes the plan with its simulation and the whole tree, and what can be reached from there if that is known;
  /// again for a better plan. Nothing is appended after it. @throws std::runtime_error with the reason.
  void publish(const dynamics::Trajectory& motion, const PosedNodes& tree, const planning::Plan& plan,
               const planning::ReachableSets& reachable = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A search as it was read back; of one that was cut short, without segments, h and success.
struct StoredPlan {
  PlanHeader header;                        // as it was written
  std::vector<planning::Node> nodes;        // at least the root
  std::vector<float> X_WB;                  // [nodes × bodies × 7]
  std::vector<planning::Segment> segments;  // transits and roll-outs of the plan
  planning::ReachableSets reachable;        // none in runs that were cut short, or written before there were any
  double h = 0;                             // [s]; 0: no plan
  std::optional<bool> success;              // whether the plan reaches the goal; none: the search was cut short
};
/// The tree and the plan in DIR/run.h5 (or the file itself); none if it is not the run of a planner.
/// @throws InputError if there is no run or a part is missing.
std::optional<StoredPlan> read_plan(const std::string& path);
/// Its header alone, without the tree; likewise.
std::optional<PlanHeader> read_plan_header(const std::string& path);

/// The plan's commands as a scene overlay, with the step length and the exact contact it was checked with: `deft sim
/// SCENE --with plan.yaml` simulates it. @param names_u "robot/joint".
std::string plan_overlay(const planning::Plan& plan, const std::vector<std::string>& names_u);

}  // namespace deft::io
