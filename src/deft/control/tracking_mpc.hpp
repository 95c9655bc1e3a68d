#pragma once
// Model predictive control along a plan (README.md): the smoothed step, linearised about a motion of N steps, and a
// quadratic program over them, once per period.

#include <Eigen/Core>
#include <memory>

#include "deft/control/reference_path.hpp"
#include "deft/scene/description/track_settings.hpp"
#include "deft/scene/scene.hpp"

namespace deft::control {

/// How a period ended. Whatever it was, the command is within its limits.
enum class TrackingStatus {
  kSolved,       // the command is the program's
  kModelFailed,  // a step of the prediction or its derivative failed: the command is held
  kSolverFailed  // the program was not solved: the command is held
};

/// What one period found.
struct TrackingResult {
  TrackingStatus status = TrackingStatus::kModelFailed;  // how it ended
  Eigen::VectorXd u;           // joint targets one step of the plan ahead: due at `knot` + 1; size nu
  int program_iterations = 0;  // of the program's solver; 0 if it did not run
  int contacts = 0;            // of the smoothed step that is the first of the horizon
};

/// Whether the controller can predict with the scene's steps. @throws InputError naming what is missing: commands that
/// are joint targets, or the convex model of first order with friction that can be smoothed; or settings that
/// contradict each other.
void check_trackable(const scene::Scene& scene, const scene::TrackSettings& settings);

/// One controller per thread; the periods of a run in their order.
class TrackingMpc {
 public:
  /// @param scene  is copied, with exact steps. With settings.prediction: plant they are quasidynamic.
  /// @throws InputError as check_trackable, StepDifferentiator and make_step_model.
  TrackingMpc(const scene::Scene& scene, const scene::TrackSettings& settings);
  ~TrackingMpc();

  /// Follows `path` from now on, which must stay where it is; forgets what was before.
  void follow(const ReferencePath& path);
  /// One period:
  ///   min Σ_{k≤N} ‖q^d_k ⊖ q_k‖²_Q + Σ_{k<N} ‖v_k‖²_S + ‖v_k − v_{k−1}‖²_R,   v_k = u_k − u^d_k,
  ///   s.t.  the linearised steps, limits of commands, of their change, of efforts and contact forces,
  /// q^d_k at knot + k, u^d_k at knot + k + 1. At the end of the path u^d follows the command in force, and the model's
  /// commands get an offset that is estimated from where joints are (README.md): both are kept from period to period.
  /// @param q, velocity  estimates of the configuration, size nq, and of the velocity, size nv, empty: at rest, which
  /// only predictions of second order look at. @param u_now  the command in force, size nu. @param time_to_next
  /// [s] > 0, how long until knot + 1: what joint targets may change in it is twice speed × time. @returns what was
  /// found, valid until the next call. No allocation once sizes repeat. @throws std::invalid_argument for wrong sizes
  /// or NaN, and without a path.
  const TrackingResult& control(const Eigen::VectorXd& q, double knot, const Eigen::VectorXd& u_now,
                                double time_to_next, const Eigen::VectorXd& velocity = {});
  /// To be called where periods are left out: what was learned from the last ones is forgotten.
  void pause();
  /// N, the steps of the horizon, each of the plan's length.
  int horizon() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::control
