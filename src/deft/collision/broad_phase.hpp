#pragma once
// Which pairs can be near each other: a list when few pairs may touch, otherwise a tree of axis-aligned boxes.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "deft/collision/shapes/shape.hpp"
#include "deft/core/index.hpp"

namespace deft::collision {

using IndexPair = std::pair<int, int>;  // of geometries, first < second

/// What may touch what; constant.
class PairFilter {
 public:
  PairFilter() = default;  // of no geometries
  /// @param allowed  allowed[i * n + j] != 0 when geometries i and j of n may touch. Two half-spaces never do.
  PairFilter(std::span<const Shape> shapes, std::vector<unsigned char> allowed);
  bool allows(int i, int j) const { return allowed_[to_size(i) * count_ + j] != 0; }  // as stated
  int count() const { return count_; }                                                // number of geometries
  /// All allowed pairs, if they are so few that testing each is cheapest.
  bool is_list() const { return is_list_; }
  /// All allowed pairs if is_list(), otherwise those with a half-space, which no box contains.
  std::span<const IndexPair> listed() const { return listed_; }
  std::span<const int> bounded() const { return bounded_; }  // geometries in the tree

 private:
  int count_ = 0;
  bool is_list_ = true;
  std::vector<unsigned char> allowed_;
  std::vector<IndexPair> listed_;
  std::vector<int> bounded_;
};

/// Axis-aligned boxes in a binary tree, refitted on every query and rebuilt when it has become loose. The pairs found
/// do not depend on its shape.
class BoxTree {
 public:
  /// Appends the allowed pairs whose boxes, each grown by margin/2, overlap. No allocation once grown.
  void find_pairs(const PairFilter& filter, std::span<const PosedShape> posed, double margin,
                  std::vector<IndexPair>& pairs);

 private:
  struct Node {
    Eigen::Array3d low = Eigen::Array3d::Zero(), high = Eigen::Array3d::Zero();
    int left = -1, right = -1;  // children; leaf: right = −1 and left = −1 − geometry
  };
  bool is_leaf(int node) const { return nodes_[node].left < 0; }
  int build(std::span<int> items);
  double refit();
  static Node leaf(const PosedShape& posed, int index, double margin);

  std::vector<Node> nodes_;   // children before parents; the root is last
  std::vector<Node> leaves_;  // by geometry
  std::vector<int> items_;
  std::vector<IndexPair> stack_;
  double built_size_ = 0;
};

}  // namespace deft::collision
