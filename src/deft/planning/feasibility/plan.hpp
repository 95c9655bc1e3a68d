#pragma once
// What a planner finds, in plain data: the tree it grew and the plan it chose.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

namespace deft::planning {

/// How far a configuration is from a goal: the largest over the bodies and joints that the goal names.
struct GoalError {
  double position_m = 0, rotation_rad = 0;  // of a body: distance, angle
  double joint = 0;                         // [rad or m]
};

/// How a node came from its parent.
enum class NodeKind : std::uint8_t { kRoot = 0, kTransit = 1, kRollout = 2 };

/// A node of the tree: a configuration and the commands that lead to it from its parent, step by step.
struct Node {
  int parent = -1;                        // index of an earlier node; −1: the root has none
  NodeKind kind = NodeKind::kRoot;        // how it came from its parent
  Eigen::VectorXd q, u;                   // configuration, size nq, and the last command, size nu
  std::vector<Eigen::VectorXd> q_worlds;  // configurations in the other worlds in which the commands are tried
  std::vector<Eigen::VectorXd> v_worlds;  // velocities there, size nv; empty in worlds of first order
  std::vector<Eigen::VectorXd> commands;  // from the parent, one per step
  double distance = 0;                    // to the goal, as it measures [m]
  double cost_s = 0;                      // from the root: duration, and settings.regrasp_cost_s per regrasp
  int regrasps = 0;                       // from the root
  double released = -1;                   // least distance seen once fingers had let go here; negative: none has [m]
  int tries = 0;                          // roll-outs begun here
  int goes_on = -1;         // which of them goes on with what is held here instead of regrasping; negative: none
  bool holds_goal = false;  // for settings.hold_steps
  bool rejected = false;    // simulated as a whole, the way here ended elsewhere
  double time_s = 0;        // wall time since the start of the search; not part of the result's identity
};

/// A piece of a plan under one set of contacts, or the transit between two.
struct Segment {
  int first = 0, last = 0;  // steps [first, last)
  bool transit = false;     // fingers move without the objects
  int node = -1;            // of the tree, at the segment's end; −1: not in the tree
};

/// What became of a try of a search.
enum class GrowthEnd : std::uint8_t {
  kGrew,         // a new node
  kNotReleased,  // fingers could not let go: a step failed
  kNoGrasp,      // no joints touch the objects without collision
  kBlocked,      // no way to the grasp is free of collision
  kDrifted,      // the objects moved too far on the way to it
  kNotPressed,   // nothing was there to press on, or a step failed
  kStalled       // no command brought the objects nearer to their target
};
inline constexpr int kGrowthEnds = 7;  // how many there are

/// A try that came to nothing, as it is drawn.
struct FailedTry {
  GrowthEnd end = GrowthEnd::kNoGrasp;  // what became of it
  Eigen::VectorXd q;                    // where it ended, or the grasp that it did not come to; size nq
};

/// Why a search has no plan, or none that holds: one cause.
struct Reason {
  std::string reason;   // "no grasp", "blocked", "drift", "stall", "judge", "time", "nodes", …
  int count = 0;        // how often it was met
  double weight = 0;    // share of all tries, 0 to 1
  std::string detail;   // where and by how much
  std::string setting;  // what would change it
};

/// The step-halving check: a plan under steps of h / substeps, its commands going linearly from one to the next.
struct StepHalvingCheck {
  int substeps = 1;                // n of settings.refine
  std::vector<Eigen::VectorXd> q;  // at the ends of the plan's steps, commands.size() + 1
  GoalError error;                 // at the end
  bool success = false;            // the goal is met at the end and for settings.hold_steps before it
};

/// What a judge says of a plan: whether it leads to the goal in that world too.
struct Verdict {
  std::string judge;     // "h/2", "second-order", "worlds", …
  bool success = false;  // the goal is met and held
  GoalError error;       // at the end; of several worlds the median one's; NaN if none of them was played to the end
  double share = -1;     // of several worlds, in which it is met; negative: there is one
  double time_s = 0;     // that it took [s]; not part of the result's identity
  bool judged = true;    // false: the time was over before it had decided
};

/// Commands from the start, checked by exact simulation.
struct Plan {
  std::vector<Eigen::VectorXd> commands;  // one per step of length h, size nu [rad, m]
  std::vector<Eigen::VectorXd> q;         // the simulation's configurations, commands.size() + 1 unless a step failed
  std::vector<Segment> segments;          // all its steps in order
  GoalError error;                        // at the end of the simulation
  bool success = false;                   // the goal is met at the end and for settings.hold_steps before it
  std::vector<StepHalvingCheck> step_halving;  // one per number of settings.refine
  std::vector<Verdict> verdicts;               // of the judges but h, if they were asked
  Eigen::VectorXd u_start;                     // joint targets before the first command, size nu
  int regrasps = 0;                            // transits
  double cost_s = 0;                           // duration, and settings.regrasp_cost_s per regrasp
  double h = 0;                                // [s], the step that it was checked with
  double effort_share = 0;                     // of effort limits, the largest that a joint uses; 0: none is stated
  double velocity_share = 0;                   // the same of velocity limits, by the simulation's joints

  /// Whether it succeeds at h and before all judges that were asked.
  bool holds() const {
    bool all = success;
    for (const StepHalvingCheck& check : step_halving) all = all && check.success;
    for (const Verdict& verdict : verdicts) all = all && verdict.success;
    return all;
  }
};

/// Where the next command brings bodies, to first order, at frames of a plan and at nodes of a tree: ellipsoids
/// (reachable_set.hpp).
struct ReachableSets {
  /// Of what a row is: a frame of the plan (0: its start, k: the end of its k-th step) or a node.
  struct Place { int frame = -1, node = -1; };  // one of them is −1
  static constexpr std::size_t kNumbers = 24;   // of a body at a place
  double radius = 0;                            // ε, how long the command's change may be [rad, m]
  double kappa = 0;                             // of the smoothed step [1/J]
  std::vector<int> bodies;                      // of the scene
  std::vector<Place> places;                    // none: there are no sets
  /// [places × bodies × 8 × 3], world axes: the centre of mass [m], where it goes if the command stays [m], which is
  /// the centre of the ellipsoid of its positions, three semi-axes of that [m], longest first, and three of the
  /// ellipsoid of rotation vectors [rad].
  std::vector<float> ellipsoids;
};

}  // namespace deft::planning
