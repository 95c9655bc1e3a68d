#pragma once
// Redundant contacts: points of a flat patch whose constraint follows from that of its corners.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "deft/contact/contact_problem.hpp"

namespace deft::contact {

/// Finds contacts whose constraint follows from those of others. Contacts of two bodies with the same frame (n, t₁, t₂)
/// and the same friction have rows and a gap that are affine in their point, J(p) and φ(p), where the points of both
/// bodies lie in planes. With p = Σ w_i p_i a point in the hull of the corners, w ≥ 0 and Σ w_i = 1,
///
///   (φ, 0) + Jδ = Σ w_i ((φ_i, 0) + J_i δ) ∈ K   for every δ that the corners allow, because friction cones K are
///
/// convex; and a force f at p is as well carried by forces w_i f at the corners. A plate of twenty spheres on the floor
/// is four contacts, or two on its edge. True of rigid contacts without a barrier (κ = ∞). One object per thread.
class RedundantContacts {
 public:
  /// @param redundant  resized; per contact 1 if its constraint follows from those of corners, which are not
  /// redundant themselves.
  /// No allocation once grown.
  void find(std::span<const Contact> contacts, std::vector<char>& redundant);

 private:
  /// A point of a patch: along its length and across it, the heights of both bodies there.
  struct Point {
    double along, across, height, gap;
    int contact;
  };
  void mark_inner(std::span<const Contact> contacts, std::vector<char>& redundant);
  bool is_flat(const Point& first, const Point& last) const;
  void mark_corners();

  std::vector<std::pair<std::uint64_t, int>> by_bodies_;  // bodies of a contact, its index
  std::vector<int> rest_, patch_;                         // indices of contacts
  std::vector<Point> points_;
  std::vector<int> hull_;
  std::vector<char> is_corner_;  // per point
};

}  // namespace deft::contact
