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
  struct Node {
    int parent = -1;        // an earlier node; −1 for the first
    std::uint8_t kind = 0;  // 0 root, 1 transfer, 2 roll-out: how it came from its parent
    int regrasps = 0;       // from the root
    double distance_m = 0;  // to the goal, as the goal measures
    double cost_s = 0;      // from the root
    double time_s = 0;      // since the start of the search
  };
  struct Segment {
    int first = 0, last = 0;  // steps [first, last) of the run
    bool transfer = false;
    int node = -1;  // at the segment's end, −1 if it is not in the tree
  };

  std::string goal;             // its name in scene_json
  std::optional<bool> success;  // none: the search was cut short
  std::vector<Node> nodes;
  std::vector<float> X_WB;  // poses of all bodies at the nodes, [nodes × bodies × 7], `[qw qx qy qz x y z]`
  std::vector<Segment> segments;
};

/// @throws std::invalid_argument naming what does not fit: sizes, parents, kinds, segments.
void check_tree(const SearchTree& tree, std::size_t bodies, std::size_t steps);

/// The tree of at most `count` nodes: those on the plan with their ancestors, then the earliest.
SearchTree first_nodes(const SearchTree& tree, std::size_t count);

}  // namespace deft::viewer
