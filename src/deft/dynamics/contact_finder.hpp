#pragma once
// Contacts where a step starts.

#include <Eigen/Core>
#include <utility>

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

}  // namespace deft::dynamics
