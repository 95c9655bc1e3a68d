#pragma once
// Free rigid bodies in point, line and surface contact, one equivalent contact point per pair, found with the motion.
// Source: J. Xie, N. Chakraborty, Rigid body dynamic simulation with line and surface contact (equations 18 and 19;
// README.md).

#include "deft/dynamics/patch/patch_derivative.hpp"
#include "deft/dynamics/patch/patch_problem_solver.hpp"
#include "deft/dynamics/patch/patch_scene.hpp"
#include "deft/dynamics/patch/patch_step.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// The step model of this file's head, of second order: state (q, v). One object per thread.
class EquivalentContactPoint final : public StepModel {
 public:
  /// @throws InputError as make_patch_world.
  explicit EquivalentContactPoint(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  bool second_order() const override { return true; }
  void reset() override { stepper_.forget(); }
  double kappa() const override;
  void set_kappa(double kappa) override;
  double h() const override { return stepper_.world().h; }
  const scene::Scene& scene() const override { return *scene_; }
  /// Jacobians of `result`, the last step: A, A_v, dv_dq, dv_dv (world tangents at the bodies' origins) and, as rows n,
  /// t, o, spin of each of PatchDetail::contacts, dforce_dq and dforce_dv [N, N m]; without commands B and its like
  /// have no columns. The wrenches of the scene act on as they did. What is not determined is NaN.
  DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                 const DerivativeOptions& options, StepDerivative& out) override;
  void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                       std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out) const override;
  void visit_problem(const StepResult& result, ProblemVisitor& visitor) const override;
  /// Bodies, shapes and pairs that the scene was made into.
  const PatchWorld& world() const { return stepper_.world(); }
  /// The stepper of the bodies, with the problem and solution of the last step.
  PatchStepper& stepper() { return stepper_; }

 private:
  const scene::Scene* scene_;
  PatchStepper stepper_;
  scene::SceneState end_;
  BlockDiagonal M_;
  std::vector<PatchState> states_;
  std::vector<PatchImpulse> impulses_;
  PatchResult step_;
};

/// What the bodies share at a loaded contact: the face of A and the face of B that the normal belongs to meet in a
/// point, a line or a surface.
ContactKind contact_kind(const PatchWorld& world, std::span<const PatchState> end, const PatchContact& contact);

/// Open without load; slides if its bodies slide or turn on each other by more than 1e-7 m over the step (turns are
/// multiplied by PatchWorld::length), sticks otherwise.
ContactState contact_state(const PatchWorld& world, const PatchContact& contact);

}  // namespace deft::dynamics
