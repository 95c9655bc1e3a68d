#pragma once
// A planner's tree and plan in plain data, as they are drawn; the viewer knows no planner.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deft::viewer {

/// A tree of configurations and the way through it that the run follows.
struct SearchTree {
  /// A node as it is drawn.
  struct Node {
    int parent = -1;        // an earlier node; −1 for the first
    std::uint8_t kind = 0;  // 0 root, 1 transit, 2 roll-out: how it came from its parent
    int regrasps = 0;       // from the root
    double distance_m = 0;  // to the goal, as the goal measures
    double cost_s = 0;      // from the root
    double time_s = 0;      // since the start of the search
  };
  /// A piece of the way.
  struct Segment {
    int first = 0, last = 0;  // steps [first, last) of the run
    bool transit = false;     // fingers move without the objects
    int node = -1;            // at the segment's end, −1 if it is not in the tree
  };

  /// Where the next command brings bodies, to first order, as ellipsoids.
  struct Reachable {
    /// A frame of the run or a node.
    struct Place { int frame = -1, node = -1; };  // one of them is −1
    double radius = 0, kappa = 0;                 // ‖δu‖ ≤ radius [rad, m], of steps smoothed at kappa [1/J]
    std::vector<int> bodies;                      // indices of names_bodies
    std::vector<Place> places;                    // none: there are no sets
    /// [places × bodies × 8 × 3]: centre of mass, where it goes if the command stays [m], semi-axes about there of its
    /// positions [m] and of the body's turns [rad].
    std::vector<float> ellipsoids;
  };

  std::string goal;               // its name in scene_json
  std::optional<bool> success;    // none: the search was cut short
  std::vector<Node> nodes;        // parents before children
  std::vector<float> X_WB;        // poses of all bodies at the nodes, [nodes × bodies × 7], `[qw qx qy qz x y z]`
  std::vector<Segment> segments;  // in order
  Reachable reachable;            // of the next command, at frames and nodes
};

/// Checks a tree beside a run of so many bodies and steps. @throws std::invalid_argument naming what does not fit:
/// sizes, parents, kinds, segments, places of reachable sets.
void check_tree(const SearchTree& tree, std::size_t bodies, std::size_t steps);

/// The tree of at most `count` nodes: those on the plan with their ancestors, then the earliest. Reachable sets go
/// with their nodes.
SearchTree first_nodes(const SearchTree& tree, std::size_t count);

}  // namespace deft::viewer
