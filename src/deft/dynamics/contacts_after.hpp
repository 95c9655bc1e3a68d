#pragma once
// Contacts where a motion has brought the bodies of a scene, without looking again at what has hardly moved.

#include <Eigen/Core>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// How a body has moved from one configuration to another.
struct BodyWay {
  Eigen::Matrix3d turn;            // R_end R_startᵀ
  Eigen::Vector3d p_start, p_end;  // its origin [m]
  /// Where a point that the body has at `p_W` at the end was at the start.
  Eigen::Vector3d back(const Eigen::Vector3d& p_W) const { return turn.transpose() * (p_W - p_end) + p_start; }
  /// Where a point that the body has at `p_W` at the start is at the end.
  Eigen::Vector3d forth(const Eigen::Vector3d& p_W) const { return turn * (p_W - p_start) + p_end; }
};

/// Finds contacts after a motion. One object per thread; no allocation once it has grown.
class ContactsAfter {
 public:
  /// Bodies whose origins move less [m] and that turn less [rad] stay.
  static constexpr double kStays = 1e-8;
  /// Contacts with a gap below `margin` [m] where `end` is, into end.contacts. Those between bodies that both stay are
  /// the contacts of `start`, carried along with their bodies: normals as they were, gaps n·(p_A − p_B), which is φ up
  /// to the square of the motion.
  /// @param start, end  updated; `start` with its contacts of the same margin.
  void find(const scene::Scene& scene, const scene::SceneState& start, double margin, scene::SceneState& end);
  /// Of each body, from the start to the end of the last `find`.
  const std::vector<BodyWay>& ways() const { return ways_; }

 private:
  std::vector<BodyWay> ways_;
  std::vector<char> stays_;  // per body
};

}  // namespace deft::dynamics
