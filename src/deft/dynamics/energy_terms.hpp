#pragma once
// The energy ½δᵀQδ + bᵀδ [J] of a step as a sum of terms, one function each. A step model lays out the blocks of Q and
// adds the terms it consists of.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

/// The data of all terms: the start of a step, updated kinematics, the mass matrix there.
struct StepStart {
  const scene::Scene& scene;  // of the step
  scene::SceneState& state;   // at q
  const Eigen::VectorXd& v;   // size nv; empty for models of first order
  const Eigen::VectorXd& u;   // joint targets, size nu
  double t = 0, h = 0;        // time at the start and length of the step [s]
  const BlockDiagonal& M;     // mass matrix at q by kinematic trees [kg, kg m, kg m²]
  /// Configuration at the start, size nq.
  const Eigen::VectorXd& q() const { return state.q; }
};

/// The blocks of Q: consecutive ranges of velocities, ascending, and where each velocity is in them.
class EnergyLayout {
 public:
  /// Velocities [start, start + size).
  struct Range {
    int start = 0, size = 0;  // first velocity; how many
  };
  EnergyLayout() = default;  // without velocities
  /// @param blocks  ascending, disjoint ranges of [0, nv).
  EnergyLayout(std::vector<Range> blocks, int nv);
  /// Q = 0 in these blocks, b = 0, no masses. No allocation once grown.
  void clear(contact::ContactProblem& problem) const;
  int num_blocks() const { return static_cast<int>(blocks_.size()); }  // blocks of Q
  const Range& block(int k) const { return blocks_[k]; }               // velocities of block k
  int block_of(int velocity) const { return block_of_[velocity]; }     // index of its block, −1: in none
  /// Adds to one entry. @pre a block holds both velocities.
  void add(contact::ContactProblem& problem, int row, int column, double value) const;
  /// Adds to one diagonal entry. @pre a block holds `velocity`.
  void add_diagonal(contact::ContactProblem& problem, int velocity, double value) const {
    add(problem, velocity, velocity, value);
  }

 private:
  std::vector<Range> blocks_;
  std::vector<int> block_of_;  // −1: in no block
};

/// One block per robot joint (their inertia does not count), joints that follow each other and those between them
/// together, and one per object (`with_objects`; frozen ones always).
EnergyLayout first_order_layout(const scene::Scene& scene, bool with_objects);
/// One block per group of velocities that inertia or a coupling joins: those of one kinematic tree.
EnergyLayout second_order_layout(const scene::Scene& scene);

/// Drives of the robots: springs ½(u − q_a − δ_a)ᵀK_a(u − q_a − δ_a):  Q += K_a,  b −= K_a(u − q_a);  forces −uᵀδ_a:  b
/// −= u.
void add_springs(const StepStart& start, const EnergyLayout& layout, contact::ContactProblem& problem);

/// Calls action(row, column, value) for the entries of k c cᵀ, the stiffness of a spring (add_joint_springs).
template <typename Action>
void visit_stiffness(const scene::JointSpring& spring, Action action) {
  const double pull = spring.ratio * spring.stiffness;
  action(spring.v, spring.v, spring.stiffness);
  if (spring.leader_v < 0) return;
  action(spring.leader_v, spring.leader_v, spring.ratio * pull);
  action(spring.v, spring.leader_v, -pull);
  action(spring.leader_v, spring.v, -pull);
}

/// Springs of joints and of couplings, ½k(ratio·q⁺_leader + offset − q⁺)²: with c = ratio·e_leader − e and r what the
/// start is off,  Q += k c cᵀ,  b += k r c.
void add_joint_springs(const StepStart& start, const EnergyLayout& layout, contact::ContactProblem& problem);

/// Damping D_a of the robots' joints over the step, ½δ_aᵀ(D_a/h)δ_a:  Q += D_a/h.  @param damping  per command [N s/m,
/// N·m·s/rad].
void add_joint_damping(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                       contact::ContactProblem& problem);

/// Weight of the objects and, if asked, of the robots:  b −= τ_gravity. Frozen objects have none.
void add_gravity(const StepStart& start, bool on_robots, Eigen::VectorXd& scratch, contact::ContactProblem& problem);

/// External wrenches, their mean over the step at each body's origin:  b −= J_ωᵀ torque + J_vᵀ force.
void add_wrenches(const StepStart& start, std::vector<double>& scratch, contact::ContactProblem& problem);

/// Objects that start from rest, ½δᵀ(M_u/h²)δ: `factors` (one per object) scale M_u. Quasistatic: kept as `masses`,
/// unless frozen.
void add_object_inertia(const StepStart& start, std::span<const double> factors, bool quasistatic,
                        const EnergyLayout& layout, contact::ContactProblem& problem);

/// Inertia of everything in motion, ½h²‖δ/h − v‖²_M/h² and the velocity-dependent forces:  Q += M/h²,  b −= M v/h −
/// C(q, v)v.
void add_momentum(const StepStart& start, Eigen::VectorXd& scratch, const EnergyLayout& layout,
                  contact::ContactProblem& problem);

/// Damping of the objects by their surroundings, ½δᵀ(γM_u/h)δ:  Q += γ M_u/h  of those whose γ (`Object::damping`) is
/// above 0, frozen ones apart: the force −γ M_u v⁺ at the end of the step. @pre the layout is that of the mass matrix.
void add_object_damping(const StepStart& start, contact::ContactProblem& problem);

/// Scratch of the sums of terms below.
struct TermScratch {
  Eigen::VectorXd forces;                 // generalised forces, size nv
  std::vector<double> jacobian, factors;  // of a wrench's body, 6 rows; of the objects' masses
};

/// What a quasistatic model consists of: springs and damping of the robots, gravity and wrenches; the objects have no
/// stiffness and no inertia (M_u/h² is kept as `masses`, the measure of the certificate).
/// @param damping  per command, as in add_joint_damping.
void add_quasistatic_terms(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                           TermScratch& scratch, contact::ContactProblem& problem);

/// What a model of second order consists of: the same springs, damping, gravity and wrenches, momentum, and the damping
/// of objects.
void add_second_order_terms(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                            TermScratch& scratch, contact::ContactProblem& problem);

/// Kinetic energy, gravity's and the springs' at the end of a step [J].
/// @param end  updated at q.  @param M  scratch.
double mechanical_energy(const scene::Scene& scene, scene::SceneState& end, const Eigen::VectorXd& v,
                         const Eigen::VectorXd& u, BlockDiagonal& M);

}  // namespace deft::dynamics
