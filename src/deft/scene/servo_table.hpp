#pragma once
// Commanded velocities that depend on the state: u = gain · K (q_des − q), phase after phase.

#include <Eigen/Core>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {
struct Robot;

/// The servo of `commands.servo`. In the phase of t (the first whose `until` is not before t) each robot it names is
/// driven towards
///   q_des = X_base · (x, y, θ)   in the plane of motion: p_des = p_base + R(θ_base)(x, y), θ_des = θ_base + θ,
/// for robots with one body on a joint {planar: …} (three numbers) or {translation: …} of two axes (two numbers), or,
/// in phases without a base, towards values of its joints. x, y stand for the two axes of the plane (x, z in xz, y, z
/// in yz), θ turns about the third. Angles are not wrapped: those of base and robot follow their coordinates.
class ServoTable {
 public:
  ServoTable() = default;  // without phases
  /// Resolves names and joint frames; every problem goes to `diagnostics`. @param kinematics  updated at `q`, where the
  /// joint frames are read.  @param plane  of motion; space: only phases without
  /// a base.
  ServoTable(const ServoSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
             const Eigen::VectorXd& q, const multibody::Kinematics& kinematics, Plane plane, Diagnostics& diagnostics);
  bool empty() const { return phases_.empty(); }  // whether there is no servo
  /// End of the last phase that has one [s]; 0 without.
  double last_time() const;
  /// Velocities at time t, size nu; robots that the phase does not name get 0. No allocation.
  void evaluate(double t, const Eigen::VectorXd& q, std::span<const RigidTransform> X_WB, Eigen::VectorXd& u) const;

 private:
  /// How a model's coordinates say where its body is in the plane.
  struct Frame {
    int body = -1;
    int first_q = 0, size = 0;                           // x, y(, θ) in q
    double turn = 0;                                     // angle of the body at θ = 0
    Eigen::Matrix2d axes = Eigen::Matrix2d::Identity();  // rates of x, y → velocity in the plane
  };
  struct Target {
    Frame frame;  // size 0: joint values
    int first_q = 0, first_u = 0, nu = 0;
    Eigen::VectorXd place, gain;
  };
  struct Phase {
    double until = kInfinity;
    Frame base;  // body −1: `pose`
    Eigen::Vector3d pose = Eigen::Vector3d::Zero();
    bool joints = false;
    std::vector<Target> targets;
  };
  std::optional<Frame> find_frame(const multibody::Model& model, int index, const Eigen::VectorXd& q,
                                  const multibody::Kinematics& kinematics) const;
  bool read_phase(const ServoPhase& spec, const multibody::Model& model, std::span<const Robot> robots,
                  const Eigen::VectorXd& q, const multibody::Kinematics& kinematics, Diagnostics& diagnostics);
  Eigen::Vector3d pose_of(const Frame& frame, const Eigen::VectorXd& q, std::span<const RigidTransform> X_WB) const;

  int nu_ = 0;
  double gain_ = 1;
  std::array<int, 3> axes_{0, 1, 2};  // of the plane, and its normal
  double hand_ = 1;                   // −1: a turn about the normal takes the second axis to the first (plane xz)
  bool in_plane_ = false;
  std::vector<Phase> phases_;
};

}  // namespace deft::scene
