#include "deft/viewer/search_tree.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace deft::viewer {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("make_page: " + what); }

}  // namespace

void check_tree(const SearchTree& tree, std::size_t bodies, std::size_t steps) {
  const auto count = static_cast<int>(tree.nodes.size());
  if (count == 0) fail("the tree has no nodes");
  if (tree.X_WB.size() != tree.nodes.size() * bodies * 7) {
    fail(fmt::format("tree.X_WB has {} entries, expected {} nodes × {} bodies × 7", tree.X_WB.size(), count, bodies));
  }
  for (int i = 0; i < count; ++i) {
    const SearchTree::Node& node = tree.nodes[static_cast<std::size_t>(i)];
    if (i == 0 ? node.parent != -1 : node.parent < 0 || node.parent >= i)
      fail(fmt::format("tree.nodes[{}].parent is {}, not an earlier node", i, node.parent));
    if (node.kind > 2) fail(fmt::format("tree.nodes[{}].kind is {}, not 0, 1 or 2", i, node.kind));
  }
  int last = 0;
  for (std::size_t i = 0; i < tree.segments.size(); ++i) {
    const SearchTree::Segment& segment = tree.segments[i];
    if (segment.first < last || segment.last <= segment.first || segment.last > static_cast<int>(steps))
      fail(fmt::format("tree.segments[{}] holds steps {} to {} of {}", i, segment.first, segment.last, steps));
    if (segment.node < -1 || segment.node >= count)
      fail(fmt::format("tree.segments[{}] ends at node {} of {}", i, segment.node, count));
    last = segment.last;
  }
}

SearchTree first_nodes(const SearchTree& tree, std::size_t count) {
  if (count >= tree.nodes.size()) return tree;
  std::vector<char> kept(tree.nodes.size(), 0);
  std::size_t chosen = 0;
  const auto keep = [&](int node) {
    for (; node >= 0 && kept[static_cast<std::size_t>(node)] == 0; ++chosen) {
      kept[static_cast<std::size_t>(node)] = 1;
      node = tree.nodes[static_cast<std::size_t>(node)].parent;
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
    if (parent >= 0) parent = place[static_cast<std::size_t>(parent)];
    part.X_WB.insert(part.X_WB.end(), tree.X_WB.begin() + static_cast<std::ptrdiff_t>(i * row),
                     tree.X_WB.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
  }
  for (SearchTree::Segment& segment : part.segments) {
    if (segment.node >= 0) segment.node = place[static_cast<std::size_t>(segment.node)];
  }
  return part;
}

}  // namespace deft::viewer
