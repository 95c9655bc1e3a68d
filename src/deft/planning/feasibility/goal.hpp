#pragma once
// What a goal of a scene asks for, measured in metres and radians on the tangent space.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "deft/planning/feasibility/plan.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// A goal with all its tolerances times a factor.
scene::GoalSpec scaled_tolerances(scene::GoalSpec spec, double factor);

/// A goal of a scene as an error vector:  e = W (q_goal ⊖ q), one entry per named velocity of an object, all in metres:
/// W is 1 for positions, (position tolerance)/(rotation tolerance) for rotations [m/rad], and likewise for joints.
///
/// A free base, and axes that lie between the same two parts of an object if two or more of them translate, move a body
/// with a position and a rotation; all other axes (a door's hinge, each drawer of a cabinet) are joints with an error
/// and a tolerance of their own. Axes that move the same geometries lie between the same parts. What the goal does not
/// name is free.
class Goal {
 public:
  /// @param wrap_angles  planar angles of bodies count modulo 2π.
  /// @throws InputError if the goal names nothing, something that no object has or an object that cannot move, or has
  /// the tolerance of a joint that it does not name.
  Goal(const scene::Scene& scene, const scene::GoalSpec& spec, bool wrap_angles);

  /// A configuration at the goal, size nq (what is free: as at the start of the scene).
  const Eigen::VectorXd& q() const { return q_; }
  /// The same goal, with the same tolerances, W⁻¹ `e` further on, size size() [m]: e = 0 leaves it where it is.
  Goal moved_by(const Eigen::VectorXd& e) const;
  /// The same goal with the positions, too, that it leaves free in objects that it names (tolerance_m(), where q() has
  /// them); nothing if there are none. For motions that prepare others: a book is pushed to the wall that it is to lean
  /// on.
  std::optional<Goal> with_positions(const scene::Scene& scene) const;
  /// Number of entries of e.
  int size() const { return static_cast<int>(rows_.size()); }
  /// Velocity index of each entry of e.
  const std::vector<int>& rows() const { return rows_; }
  /// The diagonal of W, size size() [1, m/rad, or m per unit of a joint].
  const Eigen::VectorXd& weights() const { return weights_; }
  /// The rotation of a free body: its first entry in e, and where its quaternion begins in q.
  struct FreeRotation { int entry = 0, quaternion = 0; };  // indices in e and in q
  /// One per free body whose rotation the goal names.
  const std::vector<FreeRotation>& free_rotations() const { return free_rotations_; }
  /// Entries of e that are planar angles modulo 2π.
  const std::vector<int>& wrapped() const { return wrapped_; }
  /// e = W (q_target ⊖ q) into `e`, size size() [m].
  void residual(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target, Eigen::VectorXd& e) const;
  /// Takes full turns out of a displacement, size nv, where angles count modulo 2π.
  void shorten_way(Eigen::VectorXd& delta) const;
  /// ‖e‖ from `q` to the goal [m].
  double distance(const Eigen::VectorXd& q) const;
  /// ‖e‖ from `q` to the pose of `q_target` [m].
  double distance(const Eigen::VectorXd& q, const Eigen::VectorXd& q_target) const;
  /// ‖e‖ of a part that is just within its tolerance [m]: the position tolerance, to which the weights scale the
  /// others.
  double tolerance_m() const { return unit_m_; }
  /// The largest errors of q over the bodies and joints that the goal names, without weights.
  GoalError error(const Eigen::VectorXd& q) const;
  /// Whether the error of every part of q is within its tolerance.
  bool reached(const Eigen::VectorXd& q) const;

 private:
  enum class Kind { kPosition, kRotation, kJoint };
  struct Part {
    Kind kind;
    int first = 0, size = 0;  // in e
    double tolerance = 0;     // [m or rad]
  };
  void add(Kind kind, const std::vector<int>& velocities, double tolerance);
  void add_object(const scene::Scene& scene, const scene::Object& object, const std::vector<char>& named,
                  const scene::GoalSpec& spec);
  void require_joints(const scene::GoalSpec& spec) const;
  /// Of a part of e, in metres or radians.
  double norm(const Part& part, const Eigen::VectorXd& e) const;

  const multibody::Model* model_;
  double unit_m_;  // the position tolerance: what the weights of other parts refer to
  Eigen::VectorXd q_;
  std::vector<int> rows_;
  Eigen::VectorXd weights_;
  std::vector<Part> parts_;
  std::vector<FreeRotation> free_rotations_;
  std::vector<int> wrapped_;
};

}  // namespace deft::planning
