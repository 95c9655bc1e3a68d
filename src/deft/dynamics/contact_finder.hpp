#pragma once
// Contacts where a step starts, and where a motion has brought bodies, without looking again at what has hardly moved.

#include <Eigen/Core>
#include <utility>
#include <vector>

#include "deft/contact/assemble.hpp"
#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// Kinematics and contact candidates of a configuration, kept until another is asked for. One object per thread: it
/// keeps scratch; no allocation once it has grown.
class ContactFinder {
 public:
  /// @param scene  must outlive this object.
  explicit ContactFinder(const scene::Scene& scene);
  /// Kinematics and contacts nearer than step.contact_margin at q (size nq), kept from the last call if that was there
  /// too; fills `problem` but for Q and b.
  void find(const Eigen::VectorXd& q, contact::ContactProblem& problem);
  /// Takes the kinematics of `at`, which gets the old ones, for the next `find`, if that is at the same q.
  void place(scene::SceneState& at) {
    std::swap(state_.q, at.q);
    std::swap(state_.kinematics, at.kinematics);
    has_kinematics_ = true;
    has_contacts_ = false;
  }
  /// Kinematics of the configuration of the last `find`.
  scene::SceneState& state() { return state_; }
  /// The same, read only.
  const scene::SceneState& state() const { return state_; }
  /// The same for callers that may change it: the next `find` computes it again.
  scene::SceneState& lend() {
    forget();
    return state_;
  }
  /// The next `find` computes everything again.
  void forget() { has_kinematics_ = has_contacts_ = false; }

 private:
  const scene::Scene* scene_;
  contact::Assembler assembler_;
  scene::SceneState state_;
  bool has_kinematics_ = false, has_contacts_ = false;  // of its q, in state_
};

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
