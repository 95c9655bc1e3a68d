#include "deft/viewer/search_tree.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace deft::viewer {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument("make_page: " + what); }

constexpr std::size_t kNumbers = 24;  // of a body: two points, an ellipsoid of positions and one of turns

void check_reachable(const SearchTree& tree, std::size_t bodies, std::size_t steps) {
  const SearchTree::Reachable& sets = tree.reachable;
  const auto count = static_cast<int>(tree.nodes.size()), frames = static_cast<int>(steps) + 1;
  for (const int body : sets.bodies) {
    if (body < 0 || body >= static_cast<int>(bodies))
      refuse(fmt::format("tree.reachable names body {}, but there are {} bodies", body, bodies));
  }
  if (sets.ellipsoids.size() != sets.places.size() * sets.bodies.size() * kNumbers)
    refuse(fmt::format("tree.reachable.ellipsoids has {} entries, expected {} places × {} bodies × {}",
                       sets.ellipsoids.size(), sets.places.size(), sets.bodies.size(), kNumbers));
  for (const auto& [frame, node] : sets.places) {
    if ((frame < 0) == (node < 0) || frame >= frames || node >= count)
      refuse(fmt::format("tree.reachable is of frame {} and node {} of {} frames and {} nodes", frame, node, frames,
                         count));
  }
}

/// The sets at nodes that have a new place, and at frames.
SearchTree::Reachable sets_of(const SearchTree::Reachable& sets, const std::vector<int>& place) {
  SearchTree::Reachable part{.radius = sets.radius, .kappa = sets.kappa, .bodies = sets.bodies};
  const auto row = static_cast<std::ptrdiff_t>(sets.bodies.size() * kNumbers);
  for (std::size_t i = 0; i < sets.places.size(); ++i) {
    auto [frame, node] = sets.places[i];
    if (node >= 0) node = place[node];
    if (frame < 0 && node < 0) continue;
    part.places.push_back({frame, node});
    const auto first = sets.ellipsoids.begin() + static_cast<std::ptrdiff_t>(i) * row;
    part.ellipsoids.insert(part.ellipsoids.end(), first, first + row);
  }
  return part;
}

}  // namespace

void check_tree(const SearchTree& tree, std::size_t bodies, std::size_t steps) {
  const auto count = static_cast<int>(tree.nodes.size());
  if (count == 0) refuse("the tree has no nodes");
  if (tree.X_WB.size() != tree.nodes.size() * bodies * 7) {
    refuse(fmt::format("tree.X_WB has {} entries, expected {} nodes × {} bodies × 7", tree.X_WB.size(), count, bodies));
  }
  for (int i = 0; i < count; ++i) {
    const SearchTree::Node& node = tree.nodes[i];
    if (i == 0 ? node.parent != -1 : node.parent < 0 || node.parent >= i)
      refuse(fmt::format("tree.nodes[{}].parent is {}, not an earlier node", i, node.parent));
    if (node.kind > 2) refuse(fmt::format("tree.nodes[{}].kind is {}, not 0, 1 or 2", i, node.kind));
  }
  int last = 0;
  for (std::size_t i = 0; i < tree.segments.size(); ++i) {
    const SearchTree::Segment& segment = tree.segments[i];
    if (segment.first < last || segment.last <= segment.first || segment.last > static_cast<int>(steps))
      refuse(fmt::format("tree.segments[{}] holds steps {} to {} of {}", i, segment.first, segment.last, steps));
    if (segment.node < -1 || segment.node >= count)
      refuse(fmt::format("tree.segments[{}] ends at node {} of {}", i, segment.node, count));
    last = segment.last;
  }
  check_reachable(tree, bodies, steps);
}

SearchTree first_nodes(const SearchTree& tree, std::size_t count) {
  if (count >= tree.nodes.size()) return tree;
  std::vector<char> kept(tree.nodes.size(), 0);
  std::size_t chosen = 0;
  const auto keep = [&](int node) {
    for (; node >= 0 && kept[node] == 0; ++chosen) {
      kept[node] = 1;
      node = tree.nodes[node].parent;
    }
  };
  keep(0);
  for (const SearchTree::Segment& segment : tree.segments) keep(segment.node);
  for (std::size_t i = 0; i < kept.size() && chosen < count; ++i) keep(static_cast<int>(i));

  // Parents come before their children, so their new places are known.
  SearchTree part{.goal = tree.goal, .success = tree.success, .segments = tree.segments};
  const std::size_t row = tree.X_WB.size() / tree.nodes.size();
  std::vector<int> place(kept.size(), -1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    place[i] = static_cast<int>(part.nodes.size());
    part.nodes.push_back(tree.nodes[i]);
    int& parent = part.nodes.back().parent;
    if (parent >= 0) parent = place[parent];
    part.X_WB.insert(part.X_WB.end(), tree.X_WB.begin() + static_cast<std::ptrdiff_t>(i * row),
                     tree.X_WB.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
  }
  for (SearchTree::Segment& segment : part.segments) {
    if (segment.node >= 0) segment.node = place[segment.node];
  }
  part.reachable = sets_of(tree.reachable, place);
  return part;
}

}  // namespace deft::viewer
