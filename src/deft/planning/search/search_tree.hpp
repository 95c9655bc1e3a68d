#pragma once
// What all searches share: a tree of nodes that grows until one of them holds the goal.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "deft/planning/feasibility/deadline.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/planning/feasibility/run_clock.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// The nodes from below the root to `node`, in this order.
std::vector<int> chain_to(const std::vector<Node>& nodes, int node);
/// Where a node stands, in all worlds.
Instant instant_of(const Node& node);

/// How far a search may go.
struct SearchLimits {
  int nodes = 1000;              // roll-outs or steps tried
  double time_limit_s = 60;      // looked at before every step; a search that it ends is not reproducible
  double cost_limit_s = 1e300;   // paths that cost more are not continued (by roll-outs)
  double regrasp_weight = 0;     // [m] per regrasp, in the choice of nodes (of the rollout tree)
  double tries = 1;              // times plan.tries_weight, there too
  int threads = 0;               // 0: one per core
  bool past_goal = false;        // goes on after a node holds the goal
  std::function<bool()> stop{};  // asked before every step, by all threads: whether to end
  std::function<void(int tried, double distance)> on_progress{};  // after each batch: tried, nearest [m]
  RunClock* clock = nullptr;  // of the run, with its journal; none: time begins with the search

  /// Whether `stop` asks to end.
  bool is_stopped() const { return stop && stop(); }
};

/// Why a search ended; impossible: it never began, since there is nothing to find.
enum class SearchEnd { kFound, kNodes, kTime, kStopped, kImpossible };

/// A tree. Batches of nodes are chosen in order and grown in parallel, each with random numbers of its own and steps
/// without memory of others, so that the tree is the same for any number of threads. A batch that a stop or the limit
/// of time finds unfinished is dropped, so that the tree is one that so many tries make.
class SearchTree {
 public:
  virtual ~SearchTree() = default;

  /// Grows until a node holds the goal or a limit is met; may be called again. Stops and limits of time are met within
  /// about a step.
  virtual SearchEnd search(const SearchLimits& limits) = 0;
  /// Steps taken by all threads, exact and smoothed, those behind batches of the journal included.
  long solves() const { return solves_before_ + solves_here(); }

  /// All nodes, parents before children; [0] is the root.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The node that holds the goal, −1 if there is none yet.
  int goal_node() const { return goal_node_; }
  /// Goes on without the goal's node, from which nothing grows any more: what led to it led elsewhere when simulated as
  /// a whole. The next node that holds the goal, if there is one, is the goal's.
  void reject_goal();
  /// Moves the nodes of a rejected plan to where the simulation of the whole found them, `at` per step: their distances
  /// are those of there, and what grows from them starts there. Trees of single steps do nothing.
  virtual void correct(const Plan& /*plan*/, const std::vector<Instant>& /*at*/) {}
  /// The node nearest to the goal, rejected ones aside.
  int best_node() const { return best_node_; }
  /// How often tries ended so, by GrowthEnd; of single steps none is counted.
  const std::array<int, kGrowthEnds>& ends() const { return ends_; }
  /// The first tries that came to nothing, a few of each end; of batches that a journal repeats there are none.
  const std::vector<FailedTry>& failed() const { return failed_; }
  static constexpr int kFailedTries = 3;  // of each end that are kept
  /// Roll-outs or steps tried so far.
  int tried() const { return tried_; }

 protected:
  /// Appends a node. @returns its index.
  int add(Node node);
  /// Appends the root, at a point.
  void add_root(const Instant& at, double distance);
  /// Appends the end of a motion, which is moved from. @param duration_s, price_s  add to the cost of the way.
  /// @returns its index.
  int add_motion(int parent, NodeKind kind, Motion& motion, double distance, double duration_s, double price_s);
  /// Chooses a node among those that may grow: the one of least score with chance `greed`, otherwise any. Without one
  /// the root.
  int choose_node(RandomStream draw, double greed, const std::function<bool(const Node&)>& may_grow,
                  const std::function<double(const Node&)>& score_of) const;
  /// Puts the nodes of a plan's segments to where the simulation of the whole found them; `placed` sets the rest.
  void place_nodes(const Plan& plan, const std::vector<Instant>& at,
                   const std::function<void(Node&, const Segment&)>& placed);
  /// The parts of a batch, each called once per batch or item.
  struct BatchParts {
    std::function<void(int count)> choose;                // what to grow from, one after the other
    std::function<void(int count)> unchoose;              // takes that back: the batch was not grown to its end
    std::function<void(int count)> grow;                  // in parallel; tried() is that before the batch
    std::function<void(int item, double time_s)> append;  // in order
    std::function<void(int item, Packer& out)> pack;      // what was grown, for the journal
    std::function<void(int item, Unpacker& in)> unpack;   // the same instead of growing it. @throws std::runtime_error
  };
  /// The loop of every search: until the goal is held or a limit is met.
  SearchEnd grow_in_batches(const SearchLimits& limits, int batch, const BatchParts& parts);
  /// Notes that a node holds the goal.
  void mark_goal(int node);
  /// @throws InputError if the journal's batch was grown from another node than the one that was chosen now.
  void check_choice(int kept, int chosen) const;
  /// Steps taken by the threads of this tree.
  virtual long solves_here() const = 0;

  std::vector<Node> nodes_;  // parents before children
  /// Finds the goal's node and the nearest one again, rejected ones aside.
  void look_again();

  int goal_node_ = -1, best_node_ = 0;   // −1: none yet; the nearest
  std::array<int, kGrowthEnds> ends_{};  // of finished batches
  std::vector<FailedTry> failed_;        // of finished batches
  int tried_ = 0;                        // growths of finished batches
  Deadline deadline_;                    // of the batch that is grown

 private:
  std::optional<double> grow_batch(int count, const BatchParts& parts, RunClock& clock);
  double repeat_batch(int count, const BatchParts& parts, RunClock& clock);

  long solves_before_ = 0;  // behind batches of the journal
};

/// The tree that `plan.search` names, with its root. @param scene  of planning_scene. @param q, u  the root's
/// configuration and command. @throws InputError for settings that do not fit the goal.
std::unique_ptr<SearchTree> make_search_tree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                                             const Eigen::VectorXd& u, std::uint64_t seed);

}  // namespace deft::planning
