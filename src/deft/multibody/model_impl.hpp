#pragma once
// Inside of Model and Kinematics: the only header of deft that shows Pinocchio. Private to model*.cpp.

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <vector>

#include "deft/multibody/kinematic_tree.hpp"
#include "deft/multibody/model.hpp"

namespace deft::multibody {

/// Where a tree joint stands in deft's vectors and in Pinocchio's.
struct JointPlace {
  JointKind kind = JointKind::kAxes;             // kAxes, kBall or kFree
  int q = 0, v = 0, nq = 0, nv = 0;              // deft's: first entries of q and v, and how many
  std::vector<pinocchio::JointIndex> pinocchio;  // one per axis; one for a ball or a free base
};

/// One Pinocchio joint seen from deft: the block of q and v it stands for.
struct PinocchioJoint {
  JointKind kind = JointKind::kAxes;     // kAxes: one axis
  int q = 0, v = 0, nv = 0;              // deft's first entries of q and v, and how many of v
  int pinocchio_q = 0, pinocchio_v = 0;  // Pinocchio's first entries
  Eigen::Matrix<double, 6, 1> axis = Eigen::Matrix<double, 6, 1>::Zero();  // of one axis: [v; ω] per unit, joint frame
};

/// The constants of a built model.
struct ModelTables {
  std::vector<BodyInfo> bodies;                  // [0] is the world
  std::vector<RigidTransform> X_JB;              // body in the frame of its group's last Pinocchio joint
  std::vector<pinocchio::JointIndex> carrier;    // of each body
  std::vector<ModelInfo> models;                 // as declared
  std::vector<CoordinateInfo> coordinates;       // of q
  std::vector<VelocityInfo> velocities;          // of v
  std::vector<JointPlace> joints;                // deft's order
  std::vector<Coupling> couplings;               // ascending by follower
  std::vector<PinocchioJoint> pinocchio_joints;  // Pinocchio's order; [0] is the universe, unused
  std::vector<std::vector<int>> columns;         // per group: velocity indices its pose depends on, ascending
  std::vector<std::vector<int>> movers;          // per velocity: the indices that carry its column along, ascending
  std::vector<int> column_joint;                 // per velocity: its Pinocchio joint
  std::vector<VelocityRange> inertia_ranges;     // consecutive velocities that inertia or a coupling joins, ascending
  std::vector<int> range_of_velocity;            // index into them
  std::unordered_map<std::string, Model::FrameOnBody> places;  // KinematicTree::places
  Eigen::VectorXd default_q;                                   // size nq
  pinocchio::Model pinocchio;                                  // without gravity
};

/// Inside of Model.
struct Model::Impl : ModelTables {};

/// Mass, first moment and moment of inertia about the world origin, world frame: I [ω; v] = [I_O ω + mc × v; m v − mc ×
/// ω].
struct SpatialInertia {
  double m = 0;                                   // [kg]
  Eigen::Vector3d mc = Eigen::Vector3d::Zero();   // mass × centre of mass [kg m]
  Eigen::Matrix3d I_O = Eigen::Matrix3d::Zero();  // about the world origin, world axes [kg m²]
};

/// Pinocchio's data with the fields that kinematics, Newton–Euler and our mass matrix use. Pinocchio's own constructor
/// also allots second derivatives, nv³ numbers each, which no pile of hundreds of bodies has memory for.
pinocchio::Data make_data(const pinocchio::Model& model);

/// Inside of Kinematics: Pinocchio's data and what is derived from it at q.
struct Kinematics::Impl {
  /// With memory for this model.
  explicit Impl(const pinocchio::Model& model) : data(make_data(model)), q(model.nq), v(model.nv), a(model.nv) {}
  pinocchio::Data data;                        // with what make_data allots, no more
  Eigen::VectorXd q;                           // Pinocchio's, quaternions normalised
  Eigen::VectorXd v, a;                        // Pinocchio's, scratch of bias_force
  BlockDiagonal M;                             // scratch of the dense mass_matrix
  Eigen::Matrix<double, 6, Eigen::Dynamic> J;  // deft's columns [ω_W; velocity of the point at the world origin]
  std::vector<double> mass;                    // outboard of each Pinocchio joint, its own group included
  std::vector<Eigen::Vector3d> moment_W;  // mass × centre of mass of the same, about the joint (gravity_force) or the
                                          // world origin
  std::vector<SpatialInertia> inertia;    // of everything outboard of each Pinocchio joint
  Eigen::Matrix<double, 6, Eigen::Dynamic> turned;  // per velocity index i: S_i × the part of A that i leaves in place
  Eigen::Matrix<double, 6, Eigen::Dynamic> bias_X, bias_W, bias_E, bias_G;  // scratch of bias_derivative, per velocity;
                                                                            // X, W, E, G there
  Eigen::Matrix<double, 6, Eigen::Dynamic> bias_a, bias_V, bias_F;  // likewise, per Pinocchio joint; a, V, F there
  std::vector<Eigen::Matrix<double, 6, 6>> bias_N;                  // likewise; N there
  Eigen::Matrix<double, 6, Eigen::Dynamic> A, P;  // per Pinocchio joint: Σ S_c y_c of what carries it, Σ I A of what it
                                                  // carries
};

/// Coordinates, Pinocchio's model and the maps between the two. Errors: couplings of coordinates that are not there, of
/// one coordinate twice, in a circle.
ModelTables build_tables(const KinematicTree& tree, const MultibodySpec& spec, Diagnostics& diagnostics);

/// The couplings of all models between the coordinates of `tables`, chains resolved.
std::vector<Coupling> resolve_couplings(const MultibodySpec& spec, const ModelTables& tables, Diagnostics& diagnostics);

}  // namespace deft::multibody
