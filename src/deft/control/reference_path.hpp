#pragma once
// A plan as a path: knots k = 0 … T in the order of its steps, and when each is due.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::control {

/// What is followed: configurations q_0 … q_T and the commands u_0 … u_{T−1} between them, one per step of length h.
struct TrackedPlan {
  double h = 0;                       // [s] > 0, the step that the plan was made with; part of its physics
  std::vector<Eigen::VectorXd> q, u;  // T + 1 of size nq; T of size nu [rad, m]
  Eigen::VectorXd u_start;            // joint targets before the first command, size nu
  Eigen::VectorXd v_start{};          // velocity at the start, size nv; empty: at rest. Plants of second order only
};

/// Spreads along the plan what is missing at its end, so that its objects end where they do in q_end:
///   q_k ← q_k ⊕ (k/T)(q_end ⊖ q_T), objects alone; with `plan.wrap_angles` whole turns are nothing.
/// @param q_end  size nq; near the plan's end, for commands stay as they are. @param counted  as of object_error.
void lead_objects_to(const scene::Scene& scene, const Eigen::VectorXd& q_end, TrackedPlan& plan,
                     std::span<const int> counted = {});

/// Most speed of joint targets, size nu [rad/s, m/s]: `track.speed`, or without it the joints' limits
/// (JointSpeeds::free).
Eigen::VectorXd tracking_speeds(const scene::Scene& scene);

/// A plan re-timed. Quasidynamic plans know no speed, so that steps take as long as joint targets need:
///   t_{k+1} − t_k = max(h, max_i |u_k − u_{k−1}|_i / speed_i).
/// Between knots positions and commands go linearly, rotations along Log.
class ReferencePath {
 public:
  /// @param scene  must outlive this object.  @param speed  > 0, size nu [rad/s, m/s]; infinity: every step takes h.
  /// @throws std::invalid_argument for an empty plan, wrong sizes, values that are not finite, h or speed not above 0.
  ReferencePath(const scene::Scene& scene, TrackedPlan plan, const Eigen::VectorXd& speed);
  /// With one speed for all. @pre speed > 0; otherwise as above.
  ReferencePath(const scene::Scene& scene, TrackedPlan plan, double speed);
  /// With the speeds that the scene's `track.speed` states, or else the limits that plans keep to.
  ReferencePath(const scene::Scene& scene, TrackedPlan plan);

  /// The plan as it was given.
  const TrackedPlan& plan() const { return plan_; }
  /// T, the number of steps.
  int knots() const { return static_cast<int>(plan_.u.size()); }
  /// When the last knot is due [s], the first being due at 0.
  double duration() const { return time_.back(); }
  /// The time at which a knot is due [s]; knots outside [0, T] count as the ends.
  double time_at(double knot) const;
  /// The knot that is due at a time [s], in [0, T].
  double knot_at(double time) const;
  /// The configuration at a knot into q, size nq; beyond the ends that of the end. No allocation once sized.
  void configuration(double knot, Eigen::VectorXd& q) const;
  /// The command in force at a knot into u, size nu, on the same terms.
  void command(double knot, Eigen::VectorXd& u) const;
  /// The knot in [from, to] whose configuration is nearest to q: least Σ ‖δp‖² + (0.1 m/rad · δθ)² over the objects,
  /// joints of robots counting a tenth. Segment by segment, each by its chord.
  double nearest(const Eigen::VectorXd& q, double from, double to) const;

 private:
  const scene::Scene* scene_;
  TrackedPlan plan_;
  std::vector<double> time_;            // T + 1
  Eigen::VectorXd weight_;              // per velocity
  std::vector<Eigen::VectorXd> chord_;  // q_{k+1} ⊖ q_k
  mutable Eigen::VectorXd delta_;
};

/// How far objects are from where they should be, the largest over the objects: of each the norm of the positional
/// velocities' part of q_reference ⊖ q, and that of the rotational part.
struct ObjectError { double position_m = 0, rotation_rad = 0; };  // ≥ 0
/// The error of the objects of q beside those of q_reference, sizes nq; with `plan.wrap_angles` planar angles count
/// modulo 2π.
/// @param counted  velocity indices that count; empty: all of the objects.
ObjectError object_error(const scene::Scene& scene, const Eigen::VectorXd& q, const Eigen::VectorXd& q_reference,
                         std::span<const int> counted = {});

/// What a velocity belongs to: a robot, or the position or the rotation of an object.
enum class VelocityRole : unsigned char { kRobot, kPosition, kRotation };
/// The role of every velocity, size nv: of objects by its unit, m or rad.
std::vector<VelocityRole> velocity_roles(const scene::Scene& scene);

}  // namespace deft::control
