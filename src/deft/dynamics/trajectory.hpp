#pragma once
// A simulated (or planned, or tracked) motion in plain data: what the run folder stores and the viewer draws.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deft::dynamics {

/// What a contact does in a step: no force; force, and material points that stay together within 1e-7 m; force, and
/// points that slide.
enum class ContactState : unsigned char { kOpen = 0, kStick = 1, kSlide = 2 };

/// What the bodies of a contact share at the end of a step, as the model of the equivalent contact point finds it;
/// kUnknown in other models.
enum class ContactKind : unsigned char { kUnknown = 0, kPoint = 1, kLine = 2, kSurface = 3 };

/// One contact of one step, at the end of the step. Force on body a in the world frame; −force on b.
struct ContactRecord {
  int a = 0, b = 0;                  // body indices (Trajectory::names_bodies), 0 = world
  std::array<double, 3> point_W{};   // midpoint of the witness points [m]
  std::array<double, 3> normal_W{};  // unit, from b to a
  double gap = 0;                    // φ + J_n δ, the gap of the linearised geometry at the end of the step [m]
  double boundary_gap = 0;  // part of the gap that sliding opens in the convex model: μ|E s|, or μ max d_jᵀs [m]; 0
                            // with Coulomb's law
  double gap_start = 0;     // true gap φ at the start of the step [m]; model equivalent-contact-point: at its end, as
                            // `gap`
  std::array<double, 3> force_W{};           // [N], on a
  std::array<double, 3> torque_W{};          // [N·m], on a, about point_W: torsional friction, and friction off it
  double mu = 0;                             // friction coefficient
  ContactState state = ContactState::kOpen;  // open, sticking or sliding
  // Model equivalent-contact-point only; point_W is that point there.
  ContactKind kind = ContactKind::kUnknown;  // point, line or surface
  std::array<double, 3> tangent_W{};         // t, unit: the friction ellipsoid's axes are t, o = n × t, n
  std::array<double, 3> slip{};              // v_t, v_o [m/s], v_r [rad/s] at the end of the step, of a against b
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]
};

/// Statistics and certificate of one step.
struct StepRecord {
  int status = 0;       // index into Trajectory::status_words
  double residual = 0;  // max of the scaled residuals of the certificate
  double residual_stationarity = 0, residual_primal = 0, residual_complementarity = 0;  // each of them, scaled
  int iterations = 0;                                                                   // of the solver
  double solve_us = 0, step_us = 0;  // time of the solver, and of the step without its certificate [µs]
  double energy = 0;                 // ½δᵀQδ + bᵀδ; second order: kinetic + potential [J]
  double gap_min_linearised = 0;     // min over contacts of φ + J_n δ [m]
  double gap_min = 0;  // min true gap at the end of the step over pairs within step.contact_margin; infinity: none [m]
  bool motion_unique = true, forces_unique = true;  // false: not unique, or not known to be
  bool forces_least_norm = true;                    // the recorded forces are the only ones, or those of least norm
  double balance = 0, bound = 0;  // model limit-surface: error of its energy identity; share of the bound on forces
  int uniqueness = 0;             // models of exact Coulomb friction: 0 unknown, 1 unique, 2 not unique
};

/// What an object on a support does in a step: rests; moves; rests although robots that press on it are commanded to
/// move.
enum class SupportState : unsigned char { kRests = 0, kMoves = 1, kJammed = 2 };

/// Model limit-surface: an object's support in one step, in the body's axes (scene/support_axes.hpp) about its origin.
struct SupportRecord {
  std::array<double, 3> load{};  // what the support resists: the contacts' wrench, scaled to the limit surface [N, N,
                                 // N·m]; 0 at rest
  double factor = 0;  // contacts' wrench over `load`; forces of this model have a free factor, and so has this
  std::array<double, 3> twist{};  // mean over the step [m/s, m/s, rad/s]; along the limit surface's normal at `load`
  std::array<double, 6> form{};   // A by rows, upper triangle: FᵀAF = 1 is the limit surface, or an ellipsoid that
                                  // touches it at `load`
  SupportState state = SupportState::kRests;  // rests, moves or is jammed
};

/// What one complementarity pair of a controlled system stands for. Units: multiplier / slack.
struct HorizonPair {
  /// The law of the pair.
  enum class Kind : int {
    kNormal,    // normal impulse [N s] / gap [m]
    kFriction,  // impulse along ray `index` [N s] / slip against it [m/s]
    kSlip,      // slip [m/s] / distance of the friction impulse from its limit, μc_n − Σβ [N s]
    kLimit      // impulse of a joint limit [N s, N m s] / distance to it [m, rad]
  };
  Kind kind = Kind::kNormal;  // the law of the pair
  int a = 0, b = 0;           // body indices, on a; limits: velocity index, −1
  int index = 0;              // of the ray; limits: +1 lower, −1 upper
};

/// What a controller found at the start of one step (control/mixed_integer_mpc.hpp). Without an incumbent x, u, gamma
/// and slack are NaN.
struct HorizonRecord {
  std::vector<double> x;             // (N+1)·nx, stage after stage: the predicted states, in the coordinates `names_x`
  std::vector<double> u;             // N·nu
  std::vector<double> X_WB;          // (N+1)·bodies·7: the predicted poses, quat_wxyz, p
  std::vector<HorizonPair> pairs;    // the complementarity pairs of one stage
  std::vector<double> gamma, slack;  // pairs · N, pair after pair: multipliers γ_{k+1} and slacks s_{k+1}
  double cost = 0, bound = 0, gap = 0;  // of the incumbent; no point costs less than `bound`
  std::int64_t nodes = 0;               // of the branch-and-bound tree that were solved
  double time_s = 0;                    // wall time of the period: system, program, solution
  int status = 0;                       // index into Trajectory::status_words
  bool fallback = false;                // no usable plan: the command is the safe one
};

/// What a tracking controller did at the start of one control period, and the objects' tracking errors then.
struct TrackRecord {
  double knot = 0;  // position of the reference on the plan, fractional [steps of the plan]
  double position_error_m = 0, rotation_error_rad = 0;  // largest over the objects, true state against the reference
  int status = 0;                                       // index into Trajectory::track_words: what the controller did
  double period_us = 0;                                 // time it took
  int plan = 0;                                         // 0: the plan that was given; k: the k-th new one
};

/// T steps: T+1 times, configurations and poses; T commands, step records and contact ranges.
struct Trajectory {
  std::vector<std::string> names_q, names_u, names_v, names_bodies;  // names_bodies[0] = "world"
  std::vector<std::string> status_words;  // names of statuses, which records refer to by index
  std::vector<double> t;                  // [T+1] s
  std::vector<std::vector<double>> q;     // [T+1][nq]
  std::vector<std::vector<double>> v;     // [T+1][nv]; empty for models of first order
  std::vector<std::vector<double>> u;     // [T][nu]: joint targets
  std::vector<int> u_index_q;  // [nu]: index in q of the coordinate that each command is a target of, −1: a force
  std::vector<std::vector<std::array<double, 7>>> X_WB;  // [T+1][bodies]: quat_wxyz, p
  std::vector<std::size_t> contact_offset{0};            // [T+1]: contacts of step k are [offset[k], offset[k+1])
  std::vector<ContactRecord> contacts;                   // of all steps, step after step
  std::vector<StepRecord> steps;                         // [T]
  bool has_contact_kinds = false;  // model equivalent-contact-point: contacts have a kind, tangent_W, slip, ellipsoid
  bool searches_alternatives = false;             // whether second_delta and second_X_WB are recorded
  std::vector<std::vector<double>> second_delta;  // [T][nv]: another motion of the same step, NaN where none is known
  std::vector<std::vector<std::array<double, 7>>> second_X_WB;  // [T][bodies], or empty: poses after it; no bodies
                                                                // where none is known
  std::vector<int> support_bodies;                              // model limit-surface: bodies that slide on supports
  std::vector<SupportRecord> supports;                          // [T · support_bodies], step by step
  std::vector<std::string> names_x;                             // of a controller's states; empty: no controller
  int horizon = 0;                                              // N of the controller
  std::vector<HorizonRecord> horizons;                          // [T] with a controller, else empty
  std::vector<std::string> track_words;                         // of a run that follows a plan; empty: it follows none
  std::vector<TrackRecord> tracks;                              // [T] if it does
  std::vector<std::vector<double>> reference_q;                 // [T+1][nq]: configurations of the reference
  std::vector<std::vector<std::array<double, 7>>> reference_X_WB;  // [T+1][bodies]: poses of the reference
  std::vector<std::vector<double>> measured_q;  // [T][nq]: configuration measured for the controller; NaN: none
  int num_steps() const { return static_cast<int>(steps.size()); }  // T
};

}  // namespace deft::dynamics
