#pragma once
// Contacts where a step starts.

#include <Eigen/Core>

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
  /// Kinematics of the configuration of the last `find`.
  scene::SceneState& state() { return state_; }
  /// The same, read only.
  const scene::SceneState& state() const { return state_; }
  /// The same for callers that may change it: the next `find` computes it again.
  scene::SceneState& lend() {
    has_contacts_ = false;
    return state_;
  }
  void forget() { has_contacts_ = false; }  // the next `find` computes everything again

 private:
  const scene::Scene* scene_;
  contact::Assembler assembler_;
  scene::SceneState state_;
  bool has_contacts_ = false;  // state_ holds the kinematics and contacts of its q
};

}  // namespace deft::dynamics
