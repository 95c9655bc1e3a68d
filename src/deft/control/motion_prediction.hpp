#pragma once
// The motion that a tracking controller expects under its commands, step by step: exact for the state, smoothed for the
// derivatives.

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/scene/description/track_settings.hpp"
#include "deft/scene/scene.hpp"

namespace deft::control {

/// Contacts of a step whose forces are watched: those with the largest.
inline constexpr Eigen::Index kWatchedContacts = 8;

/// One step of length h from (q, v) under u, linearised: its end moves by A x + B w for a start that is off by x and a
/// command that is off by w. x = δq, or (δq, δv) where the prediction has momentum; nx = nv or 2 nv.
struct PredictedStep {
  Eigen::MatrixXd A, B;              // nx × nx, nx × nu
  Eigen::VectorXd q_next, v_next;    // exact; v_next: empty without momentum
  Eigen::VectorXd drift;             // of the end beside the nominal configuration that follows it, size nx
  Eigen::VectorXd force;             // smoothed normal forces of the watched contacts [N]; 0 where there are fewer
  Eigen::MatrixXd force_x, force_u;  // their derivatives, kWatchedContacts × nx, × nu
  int contacts = 0;                  // of the step, all of them
};

/// The steps by which a controller predicts: those of the scene's quasidynamic model or, with
/// settings.prediction: second-order, the convex steps of second order of the same length, whose joints and objects
/// are damped as those of plants are (plant/README.md).
class MotionPrediction {
 public:
  /// @param scene  is copied. @param steps  that are kept apart, so that each starts from its own solution of the
  /// period before, which is closer than that of its neighbour.
  /// @throws InputError as StepDifferentiator and make_step_model.
  MotionPrediction(const scene::Scene& scene, const scene::TrackSettings& settings, int steps);

  /// nx.
  Eigen::Index state_size() const { return (has_momentum_ ? 2 : 1) * scene_.nv(); }
  bool has_momentum() const { return has_momentum_; }
  /// Step number k from (q, v) under u, v ignored without momentum. Warm calls allocate nothing.
  /// @returns false if a step or a derivative failed.
  bool linearize(int k, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& u,
                 PredictedStep& step);
  /// An exact step beside them. @returns false if it failed; q_next is then q.
  bool advance(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& u, Eigen::VectorXd& q_next);

 private:
  struct Models { std::unique_ptr<dynamics::StepModel> exact, smooth; };
  bool advance(dynamics::StepModel& exact, const Eigen::VectorXd& u, Eigen::VectorXd& q_next, Eigen::VectorXd* v_next);
  void begin_at(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  void find_largest_forces();
  void keep(PredictedStep& step) const;

  bool has_momentum_;
  scene::Scene scene_;
  std::vector<Models> models_;
  std::unique_ptr<dynamics::StepModel> beside_;
  dynamics::StepDifferentiator differentiator_;
  dynamics::StepResult exact_, smoothed_;
  dynamics::StepDerivative derivative_;
  dynamics::State start_;
  std::vector<int> watched_;  // contacts of the smoothed step
};

}  // namespace deft::control
