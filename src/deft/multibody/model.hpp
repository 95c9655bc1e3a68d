#pragma once
// The kinematics and inertia of a world of models: the only interface to Pinocchio.
//
// Configuration q: models in declaration order, a model's free base first, then its joints in file order; free body
// [qw qx qy qz x y z], ball joint [qw qx qy qz]. Velocity and displacement δ: free body [ω_W, v_W] (v of the body
// origin); ball joint: ω relative to the parent, in the joint's parent-side frame; one entry per axis otherwise.
// Update: p⁺ = p + δ_v, R⁺ = Exp(δ_ω) R.

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/math/block_diagonal.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::multibody {

/// A body of the built model, for look-ups and reports.
struct BodyInfo {
  std::string name;    // "hand/link_3", inline body "ball", "world"
  std::string link;    // link name in its model
  int model = -1;      // index of the model, −1 = world
  int parent = -1;     // body that a joint or weld hangs it on; −1 for the world and for free bodies
  int weld_group = 0;  // bodies with equal group never move against each other; 0 = welded to the world
  double mass = 0;     // [kg]
};

/// One entry of q.
struct CoordinateInfo {
  std::string name;                              // "ball/qw", "hand/joint_1", "tip/x"
  std::string unit;                              // "rad", "m", "1"
  double lower = -kInfinity, upper = kInfinity;  // joint limits, in that unit
};

/// One entry of a velocity or displacement.
struct VelocityInfo {
  std::string name;                              // "ball/wx" … "ball/vz", "hand/joint_1", "tip/x"
  std::string unit;                              // of a displacement: "rad" or "m"
  double lower = -kInfinity, upper = kInfinity;  // joint limits of 1-dof coordinates
  int q_index = -1;                              // the coordinate it displaces, −1 for rotations
  double effort_limit = kInfinity;               // [N·m or N], of the joint's actuator
  double velocity_limit = kInfinity;             // [rad/s or m/s], likewise
  double damping = 0;                            // as the file states it [N·m s/rad or N s/m]
  double armature = 0;                           // part of the mass matrix [kg m² or kg]
  double stiffness = 0;                          // of the file's position drive [N·m/rad or N/m]; 0: none
  double spring_stiffness = 0;                   // of a passive spring of the joint [N·m/rad or N/m]; 0: none
  double spring_reference = 0;                   // where it is at rest [rad or m]
};

/// A coordinate that another one leads:  q[q] = ratio · q[leader_q] + offset. Chains are resolved: no leader follows.
struct Coupling {
  int q = -1, v = -1;                // of the follower, in q and in velocities
  int leader_q = -1, leader_v = -1;  // of the leader; −1: there is none, the follower stays at `offset`
  double ratio = 0, offset = 0;      // [units of the follower per unit of the leader], [rad or m]
  /// Where the follower is to be in a configuration of size nq.
  double at(const Eigen::VectorXd& all_q) const { return offset + (leader_q < 0 ? 0.0 : ratio * all_q(leader_q)); }
};

/// Consecutive velocity indices.
struct VelocityRange {
  int start = 0, size = 0;  // start … start + size − 1
};

/// A model of the world: where its entries are in q and in velocities.
struct ModelInfo {
  std::string name;                              // as declared
  int first_q = 0, nq = 0, first_v = 0, nv = 0;  // its entries are first_q … first_q + nq − 1 of q, likewise of v
  std::vector<int> bodies;                       // indices into Model::bodies, links in file order
  std::vector<std::string> joint_names;  // of its movable joints, as in the file, file order (without the free base)
  std::vector<int> free_bases;  // bodies that nothing holds: the k-th has its pose from first_q + 7k, first_v + 6k
  bool inline_body = false;     // ModelSpec::inline_body
  double mass = 0;              // of all its links [kg]
  /// Whether a base of it moves freely.
  bool floating_base() const { return !free_bases.empty(); }
};

/// Quantities that move with q; one per thread. Filled by Model::update.
class Kinematics {
 public:
  Kinematics();  // of no model: make_kinematics makes one that update accepts
  ~Kinematics();
  Kinematics(Kinematics&&) noexcept;
  Kinematics& operator=(Kinematics&&) noexcept;
  std::vector<RigidTransform> X_WB;  // poses of the bodies in the world, per body; X_WB[0] = identity

 private:
  friend class Model;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The built world of models; immutable, shared by threads, each with Kinematics of its own.
class Model {
 public:
  /// Builds the world. Every problem (unknown or cyclic weld, duplicate name, non-positive mass with free motion, bad
  /// inertia, …) goes to `diagnostics`. @throws InputError if there is any error.
  static Model build(const MultibodySpec& spec, Diagnostics& diagnostics);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  int nq() const;                                       // entries of q
  int nv() const;                                       // entries of velocities and displacements
  std::span<const BodyInfo> bodies() const;             // [0] is the world
  std::span<const ModelInfo> models() const;            // as declared
  std::span<const CoordinateInfo> coordinates() const;  // size nq
  std::span<const VelocityInfo> velocities() const;     // size nv
  /// Coordinates that follow others, ascending by follower; kinematics and inertia leave them free, whoever moves q
  /// keeps them.
  std::span<const Coupling> couplings() const;
  /// Index of a body by "model/link", "model::link", an inline body's name or "world"; −1 if there is none.
  int find_body(const std::string& name) const;
  /// Body and fixed offset of a link or frame by scoped name ("model::frame", a world frame, "world").
  struct FrameOnBody {
    int body = -1;                                     // index of the body
    RigidTransform X_BF = RigidTransform::Identity();  // pose of the frame in it; identity for a link
  };
  /// Nothing if there is no such link or frame.
  std::optional<FrameOnBody> find_frame(const std::string& scoped_name) const;

  /// Zero for axes, what their coupling says for followers, the identity for ball joints, the file's default pose for
  /// free bodies; size nq.
  Eigen::VectorXd default_configuration() const;
  /// q_next = q ⊕ δ; quaternions come out with unit norm. No allocation when `q_next` has the right size.
  void integrate(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& q_next) const;
  /// δ with q0 ⊕ δ = q1, rotations by Log. @throws std::invalid_argument for a wrong size (as integrate and update do).
  Eigen::VectorXd difference(const Eigen::VectorXd& q0, const Eigen::VectorXd& q1) const;

  /// The memory that `update` fills, for one thread; its values are meaningless before.
  Kinematics make_kinematics() const;
  /// Body poses and joint Jacobians at q. No allocation. Quaternions are normalised first.
  /// @throws std::invalid_argument for a q of the wrong size, a quaternion without direction, a Kinematics of another
  /// model.
  void update(const Eigen::VectorXd& q, Kinematics& kinematics) const;
  /// Velocity indices on which the pose of `body` depends, ascending.
  std::span<const int> columns(int body) const;
  /// Rows [angular; linear] (6 × columns(body).size()): ω_W and the velocity of the body-fixed point at p_W per unit of
  /// each column. Writes into `J` (row-major, leading dimension `ld`). No allocation.
  void point_jacobian(const Kinematics& kinematics, int body, const Eigen::Vector3d& p_W, double* J, int ld) const;

  /// The velocities that inertia or a coupling joins, as ranges: one per kinematic tree, trees whose indices interleave
  /// together.
  std::span<const VelocityRange> inertia_ranges() const;
  /// At the q of the last update. Joint-space mass matrix in deft's velocity coordinates as blocks on `inertia_ranges`
  /// [kg, kg m, kg m²]. No allocation once grown.
  void mass_matrix(Kinematics& kinematics, BlockDiagonal& M) const;
  /// The same as one matrix, nv × nv. No allocation when `M` has the right size.
  void mass_matrix(Kinematics& kinematics, Eigen::MatrixXd& M) const;
  /// At the q of the last update. Generalized force of gravity, size nv [N, N·m]. No allocation when `tau` has the
  /// right size.
  void gravity_force(Kinematics& kinematics, const Eigen::Vector3d& gravity_W, Eigen::VectorXd& tau) const;
  /// At the q of the last update. Velocity-dependent forces C(q, v)v of  M v̇ + C v = τ  (Coriolis, centrifugal,
  /// gyroscopic) in deft's velocity coordinates, size nv [N, N·m]. @param v  size nv. @throws std::invalid_argument for
  /// a wrong size. No allocation when `bias` has the right size.
  void bias_force(Kinematics& kinematics, const Eigen::VectorXd& v, Eigen::VectorXd& bias) const;
  /// At the q of the last update. Energy −Σ m gᵀc [J] of what the joints and free bodies with these velocities carry
  /// directly (their own links). No allocation.
  double gravity_energy(const Kinematics& kinematics, const Eigen::Vector3d& gravity_W, VelocityRange range) const;

  // Derivatives along world tangents: column i is d/dε at q ⊕ ε e_i. README.md derives them. All at the q of the last
  // update.

  /// The velocity columns S_c = [ω_W; v_O] of all coordinates, v_O the velocity of the point that passes the world
  /// origin, 6 × nv.
  const Eigen::Matrix<double, 6, Eigen::Dynamic>& spatial_columns(const Kinematics& kinematics) const;
  /// Indices i, ascending, whose displacement carries column c along:  ∂S_c/∂q_i = S_i × S_c for these and 0 for all
  /// others.
  std::span<const int> movers(int column) const;
  /// ∂(M(q) y)/∂q for a fixed y of size nv, in the units of M y per rad or m, nv × nv. No allocation when `out` has the
  /// right size.
  void inertia_derivative(Kinematics& kinematics, const Eigen::VectorXd& y, Eigen::MatrixXd& out) const;
  /// ∂/∂q and ∂/∂v of bias_force at velocity v (size nv), nv × nv each. No allocation when both have the right size.
  void bias_derivative(Kinematics& kinematics, const Eigen::VectorXd& v, Eigen::MatrixXd& by_q,
                       Eigen::MatrixXd& by_v) const;
  /// ∂/∂q of gravity_force, nv × nv. No allocation when `out` has the right size.
  void gravity_derivative(Kinematics& kinematics, const Eigen::Vector3d& gravity_W, Eigen::MatrixXd& out) const;

 private:
  Model();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::multibody
