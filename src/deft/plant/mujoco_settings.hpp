#pragma once
// The settings with which contacts in MuJoCo come close to rigid ones. Needs nothing of MuJoCo.

#include <algorithm>

namespace deft::plant {

inline constexpr double kFrictionRatio = 1e5;      // impratio: creep goes with its inverse
inline constexpr double kSolverTolerance = 1e-12;  // of MuJoCo's solver, scaled by the mean inertia
inline constexpr double kFrictionless = 1e-5;      // MuJoCo's least coefficient: below it a contact has none

/// MuJoCo's settings of contacts. What slides at v is lifted there with μ 2v/τ_f, τ_f the time constant of friction,
/// and hops unless its load yields more than that: (1 − d)/d of the acceleration which the load alone would give, d the
/// impedance. So light loads meet a soft contact and heavy ones a hard one, and friction has time.
struct MujocoContact {
  double reference_s, friction_reference_s;  // time constants of solref and solreffriction, damping ratio 1
  double impedance[5];                       // solimp: least and largest, width [m], midpoint, power
};
/// Those of inner steps of length `step` [s]: MuJoCo takes no time constants below two steps.
constexpr MujocoContact mujoco_contact(double step) {
  return {std::max(1e-3, 2 * step), std::max(1e-2, 5 * step), {0.1, 0.9999, 0.0001, 0.5, 2}};
}
/// Joint limits: time constant of solref_limit over the inner step.
inline constexpr double kLimitReference = 2;
/// solimp of joint limits: least and largest impedance, width [rad, m], midpoint, power.
inline constexpr double kLimitImpedance[] = {0.99, 0.9999, 0.001, 0.5, 2};

}  // namespace deft::plant
