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
  Eigen::VectorXd drift;             // of the end beside the nominal point that follows, size nx; the controller's
  Eigen::VectorXd force;             // smoothed normal forces of the watched contacts [N]; 0 where there are fewer
  Eigen::Index num_forces = 0;       // how many of these there are, the others are 0
  Eigen::MatrixXd force_x, force_u;  // their derivatives, kWatchedContacts × nx, × nu
  int contacts = 0;                  // of the step, all of them
};

/// The steps by which a controller predicts: with settings.prediction: second-order the convex steps of second order of
/// the scene's length, whose joints and objects are damped as those of plants are (plant/README.md), otherwise those of
/// the scene's quasidynamic model.
class MotionPrediction {
 public:
  /// @param scene  is copied. @param steps  that are kept apart, so that each starts from its own solution of the
  /// period before, which is closer than that of its neighbour.
  /// @throws InputError as StepDifferentiator and make_step_model.
  MotionPrediction(const scene::Scene& scene, const scene::TrackSettings& settings, int steps);

  MotionPrediction(const MotionPrediction&) = delete;  // models point to its scenes
  MotionPrediction& operator=(const MotionPrediction&) = delete;

  /// Length of a step [s].
  double h() const { return beside_->h(); }
  /// nx.
  Eigen::Index state_size() const { return (has_momentum_ ? 2 : 1) * scene_.nv(); }
  /// Whether steps are of second order.
  bool has_momentum() const { return has_momentum_; }
  /// Step number k from (q, v) under u; v is ignored without momentum, and empty at rest. Sets all of `step` but its
  /// drift to what was found, that to 0. Warm calls allocate nothing.
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
  scene::Scene scene_;         // of the exact steps
  scene::Scene smooth_scene_;  // of the smoothed ones, which are differentiated
  std::vector<Models> models_;
  std::unique_ptr<dynamics::StepModel> beside_;
  dynamics::StepDifferentiator differentiator_;
  dynamics::StepResult exact_, smoothed_;
  dynamics::StepDerivative derivative_;
  dynamics::State start_;
  std::vector<int> watched_;  // contacts of the smoothed step
};

}  // namespace deft::control
