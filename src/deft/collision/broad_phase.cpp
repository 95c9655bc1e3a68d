#include "deft/collision/broad_phase.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::collision {
namespace {

constexpr int kListPairsPerGeometry = 16;
constexpr double kLooseTree = 1.5;  // growth of the boxes' summed sizes that calls for a rebuild

double size_of(const Eigen::Array3d& low, const Eigen::Array3d& high) { return (high - low).sum(); }

}  // namespace

PairFilter::PairFilter(std::span<const Shape> shapes, std::vector<unsigned char> allowed)
    : count_(static_cast<int>(shapes.size())), allowed_(std::move(allowed)) {
  std::vector<IndexPair> all, planes;
  for (int i = 0; i < count_; ++i) {
    const bool is_plane = shapes[i].kind == Kind::kHalfSpace;
    if (!is_plane) bounded_.push_back(i);
    for (int j = i + 1; j < count_; ++j) {
      const bool other_is_plane = shapes[j].kind == Kind::kHalfSpace;
      if (!allows(i, j) || (is_plane && other_is_plane)) continue;
      all.emplace_back(i, j);
      if (is_plane || other_is_plane) planes.emplace_back(i, j);
    }
  }
  is_list_ = all.size() <= to_size(kListPairsPerGeometry) * shapes.size();
  listed_ = is_list_ ? std::move(all) : std::move(planes);
}

BoxTree::Node BoxTree::leaf(const PosedShape& s, int index, double margin) {
  const Eigen::Array3d centre = s.p_WG + s.R_WG * s.shape->box_centre;
  const Eigen::Array3d half = (s.R_WG.cwiseAbs() * s.shape->box_half).array() + 0.5 * margin;
  return {.low = centre - half, .high = centre + half, .left = -1 - index};
}

int BoxTree::build(std::span<int> items) {
  if (items.size() == 1) {
    nodes_.push_back(leaves_[items[0]]);
    return static_cast<int>(nodes_.size()) - 1;
  }
  // Split at the median along the axis on which the centres spread most.
  const auto centre = [&](int i, int axis) { return leaves_[i].low[axis] + leaves_[i].high[axis]; };
  Eigen::Array3d low = Eigen::Array3d::Constant(INFINITY), high = -low;
  for (const int i : items) {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], centre(i, axis));
      high[axis] = std::max(high[axis], centre(i, axis));
    }
  }
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const std::size_t half = items.size() / 2;
  std::nth_element(items.begin(), items.begin() + half, items.end(), [&](int i, int j) {
    const double ci = centre(i, axis), cj = centre(j, axis);
    return ci != cj ? ci < cj : i < j;
  });
  const int left = build(items.first(half)), right = build(items.subspan(half));
  nodes_.push_back({.left = left, .right = right});
  return static_cast<int>(nodes_.size()) - 1;
}

double BoxTree::refit() {
  double size = 0;
  for (auto& node : nodes_) {
    if (node.left < 0) {
      node = leaves_[-1 - node.left];
      continue;
    }
    node.low = nodes_[node.left].low.min(nodes_[node.right].low);
    node.high = nodes_[node.left].high.max(nodes_[node.right].high);
    size += size_of(node.low, node.high);
  }
  return size;
}

void BoxTree::find_pairs(const PairFilter& filter, std::span<const PosedShape> posed, double margin,
                         std::vector<IndexPair>& pairs) {
  const auto bounded = filter.bounded();
  if (bounded.size() < 2) return;
  if (!std::isfinite(margin)) {  // everything is near everything
    for (std::size_t i = 0; i < bounded.size(); ++i) {
      for (std::size_t j = i + 1; j < bounded.size(); ++j) {
        if (filter.allows(bounded[i], bounded[j])) pairs.emplace_back(bounded[i], bounded[j]);
      }
    }
    return;
  }
  leaves_.resize(filter.count());
  for (const int i : bounded) leaves_[i] = leaf(posed[i], i, margin);
  if (nodes_.empty() || refit() > kLooseTree * built_size_) {
    items_.assign(bounded.begin(), bounded.end());
    nodes_.clear();
    nodes_.reserve(2 * bounded.size());
    build(items_);
    built_size_ = refit();
  }
  // Each entry is a pair of subtrees to compare; (i, i) means a subtree with itself.
  const int root = static_cast<int>(nodes_.size()) - 1;
  stack_.clear();
  stack_.emplace_back(root, root);
  while (!stack_.empty()) {
    const auto [i, j] = stack_.back();
    stack_.pop_back();
    const Node &p = nodes_[i], &q = nodes_[j];
    if (i == j) {
      if (is_leaf(i)) continue;
      stack_.emplace_back(p.left, p.left);
      stack_.emplace_back(p.right, p.right);
      stack_.emplace_back(p.left, p.right);
      continue;
    }
    if ((p.low > q.high).any() || (q.low > p.high).any()) continue;
    if (is_leaf(i) && is_leaf(j)) {
      const int a = -1 - p.left, b = -1 - q.left;
      if (filter.allows(a, b)) pairs.emplace_back(std::min(a, b), std::max(a, b));
    } else if (is_leaf(j) || (!is_leaf(i) && size_of(p.low, p.high) > size_of(q.low, q.high))) {
      stack_.emplace_back(p.left, j);
      stack_.emplace_back(p.right, j);
    } else {
      stack_.emplace_back(i, q.left);
      stack_.emplace_back(i, q.right);
    }
  }
}

}  // namespace deft::collision
