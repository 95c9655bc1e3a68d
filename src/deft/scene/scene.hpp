#pragma once
// The built world, immutable: what contact and dynamics may ask of it in plain types. Neither Pinocchio nor Coal shows.

#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "deft/collision/patches/contact_pair.hpp"
#include "deft/collision/planar_world.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/math/formula.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

class ControlTable;

/// An actuated model: impedance-controlled joints, or joints driven by forces.
struct Robot {
  std::string name;
  int model = -1;
  Drive drive = Drive::kPosition;  // force: commands are joint forces [N, N·m], and there are no springs
  int first_q = 0, first_v = 0, first_u = 0, nu = 0;  // its joints are consecutive in q, v and u
  Eigen::VectorXd stiffness;     // [N/m, N·m/rad], size nu; 0: none (driven by forces, or none stated in model
                                 // limit-surface)
  Eigen::VectorXd admittance;    // B [m/s/N, rad/s/(N·m)], size nu; empty: none stated
  Eigen::VectorXd effort_limit;  // [N, N·m] ≥ 0, infinity: none; size nu
};
/// A movable model that no robot actuates.
struct Object {
  std::string name;
  int model = -1;
  int first_q = 0, nq = 0, first_v = 0, nv = 0;
  double mass = 0;
  bool frozen = false;
  std::optional<LimitSurfaceSpec> limit_surface{};  // friction of its support
  std::optional<double> damping{};                  // γ [1/s] of the force −γ M v, if step.object_damping states it
};

/// Friction of one pair of geometries.
struct PairFriction {
  double mu = 0;
  bool frictionless = false;                 // one row
  bool patch = false;                        // friction ellipsoid, with torsion in space
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]
};

/// Where a body is and how it moves: its origin, in the world.
struct BodyState {
  Eigen::Vector3d p_WB;          // [m]
  Eigen::Vector4d quat_wxyz;     // unit, w ≥ 0
  Eigen::Vector3d omega_W, v_W;  // [rad/s, m/s]
};

/// An external force and torque on a body [N, N·m], or an impulse [N·s, N·m·s].
struct Wrench {
  int body = -1;
  Eigen::Vector3d force_W, torque_W;  // torque about the body's origin
  double from = 0, to = 0;            // [s]
  bool impulse = false;             // acts in the step that starts at or before `from`; with `when`, from that step on
  std::optional<Condition> when{};  // of t and the body's state at the start of a step (kBodyVariables)
  /// The share of [t, t + h] in which its times let it act, as a factor for the mean over the step; for an impulse 1/h
  /// or 0.
  double share(double t, double h) const;
  /// The same where there is a condition: 0 unless it is true. No allocation.  @param at  its body at t.
  double share(double t, double h, const BodyState& at) const;
};

/// Everything that moves with q; one per thread.
struct SceneState {
  Eigen::VectorXd q;
  multibody::Kinematics kinematics;
  collision::CollisionWorkspace collision;
  std::vector<collision::ContactPair> contacts;
  collision::PlanarWorkspace planar;
  std::span<const RigidTransform> X_WB() const { return kinematics.X_WB; }
};

/// A world with settings: a value, immutable and cheap to copy. Copies share the world (models, geometries, friction),
/// and so do scenes with other settings or another start. Shared by threads, each with a SceneState.
class Scene {
 public:
  /// Builds and checks. Every problem goes to `diagnostics`. @throws InputError with all of them if there is any error.
  static Scene build(SceneSpec spec, Diagnostics& diagnostics);

  /// The same world with other settings; what building it warned of is not said again.
  /// @throws InputError for what the world and the settings do not allow each other, as `build` does.
  Scene with(SceneSettings settings) const;
  /// The same with some of the settings changed: `change` is called with a copy of them.
  template <typename Change>
    requires std::invocable<Change&, SceneSettings&>
  Scene with(Change&& change) const {
    SceneSettings changed = settings();
    change(changed);
    return with(std::move(changed));
  }
  /// The same world and settings with another initial configuration and velocity: what `start` leaves out is as in the
  /// configurations of the file. @throws InputError for names and numbers that do not fit the world.
  Scene starting_at(const ConfigurationSpec& start) const;

  const WorldSpec& spec() const;
  const SceneSettings& settings() const;
  /// What Scene::build takes: the world as it was stated, with the settings of this scene.
  SceneSpec description() const;
  const multibody::Model& model() const;
  const collision::CollisionWorld& collision_world() const;
  int nq() const;
  int nv() const;
  int nu() const;
  std::span<const Robot> robots() const;
  std::span<const Object> objects() const;
  std::span<const int> actuated() const;             // velocity index of each command, size nu
  std::span<const int> command_coordinates() const;  // index in q of each command, size nu
  std::vector<std::string> names_q() const;
  std::vector<std::string> names_v() const;
  std::vector<std::string> names_u() const;
  std::vector<std::string> names_bodies() const;
  Plane plane() const;
  PairFriction friction(int geometry_a, int geometry_b) const;
  std::span<const Wrench> wrenches() const;

  /// The configuration of that name, with what it leaves out from the defaults. @throws InputError for an unknown name.
  Eigen::VectorXd configuration(const std::string& name) const;
  Eigen::VectorXd initial_configuration() const;
  /// Velocity that the initial configuration states, size nv; 0 where it states none.
  Eigen::VectorXd initial_velocity() const;
  /// The initial configuration with what the goal names at its target.
  Eigen::VectorXd goal_configuration(const GoalSpec& goal) const;
  /// Joint targets u for the step [t, t + h]: `linear` at its end, `hold` at its start (scene_file conventions). No
  /// allocation. Where a servo gives the commands they are those of the initial configuration.
  void command(double t, double h, Eigen::VectorXd& u) const;
  /// The same in a state, which servos look at; `state` must be updated.
  void command(double t, double h, const SceneState& state, Eigen::VectorXd& u) const;
  /// Weights, bounds and reference of `control:`; null without it.
  const ControlTable* control() const;
  /// Whether commands are velocities of the joints, not targets.
  bool velocity_commands() const;
  /// How long the commands last [s]: the last knot, the last phase of a servo, or what they say; 0 without commands.
  double last_knot_time() const;

  SceneState make_state() const;
  /// Poses and joint Jacobians at q. No allocation.
  void update(const Eigen::VectorXd& q, SceneState& state) const;
  /// Contact candidates nearer than `margin` at the state's q, into state.contacts.
  void find_contacts(double margin, SceneState& state) const;
  /// The same between the outlines of the geometries in the plane of motion (collision::PlanarWorld), vertex by vertex.
  /// @pre the scene's model is limit-surface.
  void find_planar_contacts(double margin, SceneState& state) const;

 private:
  struct World;
  struct Impl;
  explicit Scene(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  Scene resolved(SceneSettings settings, const Eigen::VectorXd& q, const Eigen::VectorXd& v) const;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace deft::scene
