#pragma once
// Records what supports resist and how their objects move, step by step of the limit-surface model.

#include <vector>

#include "deft/dynamics/complementarity/support_friction.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// Records the supports of a scene. One instance per thread: it keeps scratch.
class SupportRecorder {
 public:
  /// Records nothing unless the scene's model is limit-surface. @throws InputError as SupportFriction.
  explicit SupportRecorder(const scene::Scene& scene);
  /// Bodies that slide on supports; frozen objects do not.
  const std::vector<int>& bodies() const { return bodies_; }
  /// Appends one record per body. The load comes from the contacts' forces, the twist from the motion, independently. A
  /// body counts as jammed if robots are commanded to move their loaded contacts with it by more than 1000 times what
  /// any of its loaded contacts moves with it. A step that failed leaves records at rest.
  /// @param start  the state where the step starts, updated.  @param u  commands, size nu.  @param h  step [s].
  void record(const scene::SceneState& start, const Eigen::VectorXd& u, double h, const StepResult& result,
              std::vector<SupportRecord>& records);

 private:
  void sum_forces(const StepResult& result);
  bool is_jammed(const SupportFriction& support, const StepResult& result) const;

  const scene::Scene* scene_;
  std::vector<SupportFriction> supports_;
  std::vector<int> bodies_;
  std::vector<char> robot_v_;      // per velocity: whether a command drives it
  Eigen::VectorXd F_, commanded_;  // generalised contact forces; commanded motion
  double loaded_ = 0;              // smallest force that counts as one
};

}  // namespace deft::dynamics
