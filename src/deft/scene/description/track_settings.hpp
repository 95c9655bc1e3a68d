#pragma once
// `track:` of a scene file: how plans are followed, and by what a plant differs from the plan's world.

#include <limits>
#include <optional>
#include <string_view>

namespace deft::scene {

/// About what the tracking controller linearises its horizon: the motion that it predicts from the measured state, or
/// the plan.
enum class TrackLinearization { kMeasured, kReference };
/// By what the controller predicts: the scene's quasidynamic steps; convex steps of second order, whose state has a
/// velocity; the second where the plant has velocities, else the first; or the first, corrected by what objects did
/// beside them lately.
enum class TrackPrediction { kQuasidynamic, kSecondOrder, kPlant, kCorrected };
/// Which point of the plan is due: that of the clock, or the one nearest to the measured state.
enum class TrackReference { kTimed, kNearest };
/// The words of scene files.
std::string_view to_string(TrackLinearization linearization);
std::string_view to_string(TrackPrediction prediction);  // likewise
std::string_view to_string(TrackReference reference);    // likewise

/// Settings of `deft track` and `deft replay` (control/README.md, plant/README.md). Read by io, listed by `deft info
/// --settings`.
struct TrackSettings {
  // The controller.
  double period = 0.005;                                             // [s] > 0, of the control loop
  int horizon = 3;                                                   // N ≥ 1, in steps of the plan
  TrackLinearization linearization = TrackLinearization::kMeasured;  // about what the horizon is linearised
  TrackPrediction prediction = TrackPrediction::kPlant;              // by what steps it predicts
  TrackReference reference = TrackReference::kTimed;                 // which point of the plan is due
  double kappa = 1e4;                                                // [1/J] > 0, of the smoothed steps
  double position_weight = 100, rotation_weight = 10;  // ≥ 0, of objects' errors [1/m², 1/rad²]; joints of objects
                                                       // count as positions or turns
  double terminal_factor = 1;                          // ≥ 0, of both at the end of the horizon
  double joint_weight = 0.01;                          // ≥ 0, of the robots' joints beside the plan's [1/rad², 1/m²]
  double command_weight = 10;                          // > 0, of commands beside the plan's [1/rad², 1/m²]
  double change_weight = 0;     // ≥ 0, of the change of commands beside the plan's [1/rad², 1/m²]
  double command_offset = 0.3;  // > 0, most that a command may differ from the plan's [rad, m]
  /// > 0, most of joint targets: knots of the plan are moved apart until it holds [rad/s, m/s]; none: the limits that
  /// plans keep to, so that these take as long as they say.
  std::optional<double> speed;
  double normal_force = std::numeric_limits<double>::infinity();  // > 0 [N], most of every contact, as predicted
  double kept_force = 0;  // from 0 to 1: least of every contact, as a share of what the plan's command would press with
  bool delay_compensation = true;  // predicts the state at the time when the command acts
  double filter_time = 0.03;  // [s] ≥ 0, of the estimate of objects' poses: measurements older than this hardly count
  double settle = 1;          // [s] ≥ 0, how long the last command is held
  double tolerance_position = 0.01, tolerance_rotation = 0.1;  // > 0 [m, rad]: at the end, of objects beside the plan's
                                                               // end
  // New plans.
  bool replan = true;  // one is made when the objects are too far from the plan, or from its end once that is over
  double replan_position = 0.05, replan_rotation = 0.3;             // > 0 [m, rad], off the plan
  int replans = 150;                                                // ≥ 0, searches at most
  double replan_step_norm = 0.05, replan_max_target_offset = 0.05;  // > 0 [rad, m], of new plans, if plan.step_norm and
                                                                    // plan.max_target_offset are more
  double replan_time = 0.2;       // [s] ≥ 0, from the state expected after it a new plan is made, meanwhile the old one
                                  // is followed
  double replan_budget = 20'000;  // > 0 [1/s], step solves of a search per second of the plant's time
  // Plants of second order.
  double plant_step = 0.001;     // [s] > 0
  double mujoco_step = 0.00025;  // [s] > 0, of MuJoCo, if plant_step is more
  double damping_ratio = 1;      // ζ ≥ 0 of the inner loop: D = max(2ζ √(K M_ii), K · joint_lag), M_ii at the start
  double joint_lag = 0.01;       // [s] ≥ 0
  std::optional<double> object_damping;  // [1/s] ≥ 0, γ of the force −γ M v on objects; none: what the plan's steps
                                         // amount to, 1/h, on objects that gravity does not act on, else 0
};

}  // namespace deft::scene
