#pragma once
// Steps as planners take them: exact for the state, smoothed for the gradient.

#include <Eigen/Core>
#include <memory>

#include "deft/dynamics/step_derivative.hpp"
#include "deft/dynamics/step_model.hpp"

namespace deft::planning {

/// The scene with what planners change: exact steps, any forces.
scene::Scene planning_scene(const scene::Scene& scene);

/// Steps and linearisations of one thread. The exact step is the one of the judge: the same model, the same settings.
class PlanningSteps {
 public:
  /// @param scene  of planning_scene; must outlive this object. @throws InputError as make_step_model, and for what
  /// planning cannot use: models of second order, whose state has a velocity; Coulomb's law, which has no gradient;
  /// wrenches that come and go, because a node of a search has no time.
  explicit PlanningSteps(const scene::Scene& scene);

  const scene::Scene& scene() const { return *scene_; }
  double h() const { return exact_->h(); }
  /// q⁺ of the exact step. @returns false if the step failed; q_next is then q.
  bool step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, Eigen::VectorXd& q_next);
  /// The last exact step.
  const dynamics::StepResult& result() const { return result_; }
  /// The smoothed step at κ [1/J]: q⁺ and B = ∂q⁺/∂u, nv × nu. @returns false if it failed.
  bool linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next,
                 Eigen::MatrixXd& B);
  /// The smoothed step alone. @returns false if it failed; q_next is then q.
  bool smoothed_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, double kappa, Eigen::VectorXd& q_next);
  /// Forgets warm starts, so that what follows does not depend on what was before.
  void reset();
  /// Steps taken so far, exact and smoothed.
  long solves() const { return solves_; }

 private:
  const scene::Scene* scene_;
  std::unique_ptr<dynamics::StepModel> exact_, smooth_;
  dynamics::StepDifferentiator differentiator_;
  dynamics::StepResult result_, smoothed_;
  dynamics::StepDerivative derivative_;
  long solves_ = 0;
};

}  // namespace deft::planning
