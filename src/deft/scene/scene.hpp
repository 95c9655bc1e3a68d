#pragma once
// The built world, immutable: what contact and dynamics may ask of it in plain types. Neither Pinocchio nor Coal shows.

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <functional>
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

/// An actuated model: impedance-controlled joints, or joints driven by forces. Bodies of the model that nothing holds
/// are objects: its own base, if it floats, and others that its file brings.
struct Robot {
  std::string name;                      // of the model
  int model = -1;                        // index in multibody::Model::models()
  Drive drive = Drive::kPosition;        // force: commands are joint forces [N, N·m], and there are no springs
  int first_q = 0, first_v = 0, nv = 0;  // its joints are consecutive in q and in v; without a base that floats
  int first_u = 0, nu = 0;               // its commands are consecutive in u, in the order of the joints
  std::vector<int> joints;               // of each command, 0 … nv − 1; joints that follow others have none
  Eigen::VectorXd stiffness;             // [N/m, N·m/rad], size nu; 0: none (driven by forces, or none stated in model
                                         // limit-surface)
  Eigen::VectorXd admittance;            // B [m/s/N, rad/s/(N·m)], size nu; empty: none stated
  Eigen::VectorXd effort_limit;          // [N, N·m] ≥ 0, infinity: none; size nu
  Eigen::VectorXd velocity_limit;        // [m/s, rad/s] ≥ 0, infinity: none; size nu
  /// Index in q of the joint of command i = 0 … nu − 1.
  int q(int i) const { return first_q + joints[static_cast<std::size_t>(i)]; }
  /// The same in velocities.
  int v(int i) const { return first_v + joints[static_cast<std::size_t>(i)]; }
  /// The command 0 … nu − 1 of a velocity; −1: it has none, or is another model's.
  int command_of(int velocity) const {
    const auto found = std::find(joints.begin(), joints.end(), velocity - first_v);
    return found == joints.end() ? -1 : static_cast<int>(found - joints.begin());
  }
};
/// A spring on a joint, ½ stiffness (ratio · q_leader + offset − q)²: one that hardly yields and keeps a coordinate
/// where it follows, or one that the model file states, without a leader.
struct JointSpring : multibody::Coupling {
  double stiffness = 0;  // [N·m/rad or N/m] > 0
  bool couples = false;  // stands for Model::couplings, exact in other simulators
};
/// What moves a velocity of a robot: its own command, or that of the joint that it follows.
struct CommandShare {
  int command = -1;  // 0 … nu − 1; −1: of an object, or a joint that is held
  double ratio = 0;  // of the joint's displacement to that of the command's joint
};
/// A movable model that is no robot; or of a robot's model what moves freely: its base, or a body beside it.
struct Object {
  std::string name;                                 // of the model, or as the free body's coordinates say: "hand/die"
  int model = -1;                                   // index in multibody::Model::models()
  int first_q = 0, nq = 0, first_v = 0, nv = 0;     // its coordinates are consecutive in q, and its velocities in v
  double mass = 0;                                  // [kg], of these `bodies`
  bool frozen = false;                              // does not move: δ_u = 0
  bool floating = false;                            // its first coordinates are the pose of a free body
  bool is_base = false;                             // of a robot, whose joints it carries
  std::vector<int> bodies{};                        // of the model; with a base all that it carries of it
  std::optional<LimitSurfaceSpec> limit_surface{};  // friction of its support
  std::optional<double> damping{};                  // γ [1/s] of the force −γ M v, if step.object_damping states it
};

/// Friction of one pair of geometries.
struct PairFriction {
  double mu = 0;                             // [-] ≥ 0
  bool frictionless = false;                 // the contact has its normal row alone
  bool patch = false;                        // friction ellipsoid, with torsion in space
  bool patch_of_file = false;                // it is one because the model file says so, the scene states none
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]: scales of the rows t₁, t₂ and spin
  double rolling = 0;                        // μ_r [m] ≥ 0 where one of the geometries is round: resistance to rolling
};

/// Where a body is and how it moves: its origin, in the world.
struct BodyState {
  Eigen::Vector3d p_WB;          // [m]
  Eigen::Vector4d quat_wxyz;     // unit, w ≥ 0
  Eigen::Vector3d omega_W, v_W;  // [rad/s, m/s]
};

/// An external force and torque on a body [N, N·m], or an impulse [N·s, N·m·s].
struct Wrench {
  int body = -1;                      // index in multibody::Model::bodies()
  Eigen::Vector3d force_W, torque_W;  // in the world; torque about the body's origin
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
  Eigen::VectorXd q;                             // size nq, of the last Scene::update
  multibody::Kinematics kinematics;              // poses and joint Jacobians at q
  collision::CollisionWorkspace collision;       // scratch of Scene::find_contacts
  std::vector<collision::ContactPair> contacts;  // found last
  collision::PlanarWorkspace planar;             // scratch of Scene::find_planar_contacts
  /// Poses of the bodies in the world, by body index.
  std::span<const RigidTransform> X_WB() const { return kinematics.X_WB; }
};

/// A world with settings: a value, immutable and cheap to copy. Copies share the world (models, geometries, friction),
/// and so do scenes with other settings or another start. Shared by threads, each with a SceneState.
class Scene {
 public:
  /// Builds and checks. Every problem goes to `diagnostics`. @throws InputError with all of them if there is any error.
  static Scene build(SceneSpec spec, Diagnostics& diagnostics);

  /// The same world with other settings. Warnings are dropped: most repeat what was said when the world was built.
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

  const WorldSpec& spec() const;          // the world as it was stated
  const SceneSettings& settings() const;  // of what is done with it
  /// What the scene starts from: a configuration of the file, or what starting_at was given; null: the defaults.
  const ConfigurationSpec* start() const;
  /// What Scene::build takes: the world as it was stated, with the settings and the start of this scene.
  SceneSpec description() const;
  const multibody::Model& model() const;                     // kinematics and inertia of all bodies
  const collision::CollisionWorld& collision_world() const;  // all collision geometries
  int nq() const;                                            // size of a configuration q
  int nv() const;                                            // size of a velocity v or a displacement δ
  int nu() const;                                            // size of a command u: the robots' joints
  std::span<const Robot> robots() const;                     // in the order in which their models are declared
  std::span<const Object> objects() const;                   // likewise
  const Object* object_of(int body) const;                   // the one that a body belongs to; null: none
  bool stays(int body) const;                                // never moves: fixed to the world, or frozen
  std::span<const JointSpring> springs() const;              // of couplings, and passive ones of joints that can move
  std::span<const int> actuated() const;                     // velocity index of each command, size nu
  std::span<const int> command_coordinates() const;          // index in q of each command, size nu
  std::span<const CommandShare> command_shares() const;      // of each velocity, size nv
  std::vector<std::string> names_q() const;                  // "model/coordinate", size nq
  std::vector<std::string> names_v() const;                  // "model/velocity", size nv
  std::vector<std::string> names_u() const;                  // of the actuated velocities, size nu
  std::vector<std::string> names_bodies() const;             // by body index; the first is the world
  Plane plane() const;                                       // of motion; kSpace: none
  /// Friction between two geometries of collision_world(), whatever their order. No allocation.
  PairFriction friction(int geometry_a, int geometry_b) const;
  std::span<const Wrench> wrenches() const;  // in the order of the file

  /// The configuration of that name, with what it leaves out from the defaults. @throws InputError for an unknown name.
  Eigen::VectorXd configuration(const std::string& name) const;
  /// The scene's `initial` configuration, or the defaults, size nq; quaternions have unit norm.
  Eigen::VectorXd initial_configuration() const;
  /// Velocity that the initial configuration states, size nv; 0 where it states none.
  Eigen::VectorXd initial_velocity() const;
  /// The initial configuration with what the goal names at its target. @throws InputError for unknown names.
  Eigen::VectorXd goal_configuration(const GoalSpec& goal) const;
  /// Commands u of size nu for the step [t, t + h] [s]: joint targets [rad, m], forces [N·m, N] or velocities [rad/s,
  /// m/s]; `linear` takes them at the end of the step, `hold` at its start (README.md). No allocation. A servo answers
  /// as in the initial configuration.
  void command(double t, double h, Eigen::VectorXd& u) const;
  /// The same where a servo depends on the state, which must be updated.
  void command(double t, double h, const SceneState& state, Eigen::VectorXd& u) const;
  /// Weights, bounds and reference of `control:`; null without it.
  const ControlTable* control() const;
  /// Whether commands are velocities of the joints, not targets.
  bool velocity_commands() const;
  /// How long the commands last [s]: the last knot, the last phase of a servo, or what they say; 0 without commands.
  double last_knot_time() const;

  /// Storage for one thread, with q the initial configuration; kinematics and contacts are not computed yet.
  SceneState make_state() const;
  /// Copies q, of size nq, and computes poses and joint Jacobians there. No allocation.
  void update(const Eigen::VectorXd& q, SceneState& state) const;
  /// Contact candidates with a gap below `margin` [m] at the state's q, into state.contacts. Allocates only to grow.
  void find_contacts(double margin, SceneState& state) const;
  /// Of these the contacts of pairs of bodies that `concerns` (body_a, body_b); of the others no distance is computed.
  void find_contacts(double margin, const std::function<bool(int, int)>& concerns, SceneState& state) const;
  /// Whether geometries of some pair of bodies that `concerns` (body_a, body_b) are nearer than `gap` [m] > 0 there;
  /// state.contacts stays.
  bool any_nearer(double gap, const std::function<bool(int, int)>& concerns, SceneState& state) const;
  /// Contacts after a motion in which bodies have hardly moved: pairs of bodies that both `stay` (per body) keep their
  /// contacts of `before`, which are those of the same margin, ordered as they were found.
  void find_contacts_again(double margin, std::span<const collision::ContactPair> before, std::span<const char> stay,
                           SceneState& state) const;
  /// The same between the outlines of the geometries in the plane of motion (collision::PlanarWorld), vertex by vertex.
  /// @pre the scene's model is limit-surface.
  void find_planar_contacts(double margin, SceneState& state) const;

 private:
  struct World;
  struct Impl;
  explicit Scene(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  Scene resolved(SceneSettings settings, const std::optional<ConfigurationSpec>& start, const Eigen::VectorXd& q,
                 const Eigen::VectorXd& v) const;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace deft::scene
