#pragma once
// What all convex step models share: contacts of a configuration, the program of an energy over them, its solution and
// its certificate.

#include <memory>

#include "deft/contact/assemble.hpp"
#include "deft/contact/redundant_contacts.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/effort_limits.hpp"
#include "deft/dynamics/sliding_gap.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"

namespace deft::dynamics {

/// @returns step.h. @throws InputError if the scene has none.
double required_step_length(const scene::Scene& scene);

/// Checks the start of a step. @throws std::invalid_argument on wrong sizes or entries that are not finite.
void check_start(const scene::Scene& scene, const State& start, const Eigen::VectorXd& u);

/// One value of `step.joint_damping` per command [N s/m, N·m·s/rad]: a number for all, a list over the joints of all
/// robots, or a map by "joint" or "robot/joint". @throws InputError for wrong lengths and names.
Eigen::VectorXd joint_damping(const scene::Scene& scene);

/// Contacts, program, solution, certificate. One object per thread: it keeps scratch and the last solution for warm
/// starts.
class ConvexSolve {
 public:
  /// @throws InputError for settings that friction_law: coulomb excludes: finite kappa, compliance.
  explicit ConvexSolve(const scene::Scene& scene);

  /// Kinematics and contacts at q, kept from the last step if that began there too; fills result.problem but for Q and
  /// b.
  void find_contacts(const Eigen::VectorXd& q, StepResult& result);
  /// Minimises ½δᵀQδ + bᵀδ over contacts and joint limits, with saturating springs under `step.effort_limits`; fills
  /// everything of `result` but q_next, v_next, energy and step_us. A solution that the certificate does not confirm is
  /// none; a failed step moves nothing (δ = 0). With `friction_law: coulomb` the program's gaps are raised by the De
  /// Saxcé corrections, the gaps that its own solution opens by sliding, found as a fixed point (G. De Saxcé, Z.-Q.
  /// Feng, Math. Comput. Modelling 28 (1998)); the certificate is then that of Coulomb's law, and IterationLimit means
  /// that no solution was found. With `forces: least_norm` the multipliers are those of least norm.
  /// @param u  joint targets, size nu.  @returns the time that certifying took [µs], which is no part of a step.
  double solve(const Eigen::VectorXd& u, StepResult& result);

  /// StepModel::differentiate of a convex model.
  DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                 const DerivativeOptions& options, StepDerivative& out);

  void forget();                           // warm starts, kinematics and contacts
  double kappa() const { return kappa_; }  // weight of the barrier [1/J], infinity: exact
  /// Weight of the barrier [1/J] from now on. @throws std::invalid_argument unless κ > 0, infinite for Coulomb's law.
  void set_kappa(double kappa);
  scene::SceneState& state() { return state_; }  // kinematics and contacts where the step starts
  /// The same for callers that may change it: the next step computes it again.
  scene::SceneState& lend_state() {
    has_contacts_ = false;
    return state_;
  }

 private:
  void find_redundant(const StepResult& result);
  void make_program(StepResult& result) const;
  bool coulomb() const { return scene_->settings().step.friction_law == scene::FrictionLaw::kCoulomb; }
  void solve_program(StepResult& result);
  void solve_once(const Eigen::VectorXd& u, StepResult& result);
  bool solve_coulomb(const Eigen::VectorXd& u, StepResult& result);
  void set_corrections(const Eigen::VectorXd& corrections, StepResult& result) const;
  void solve_with_effort_limits(const Eigen::VectorXd& u, StepResult& result);
  /// The forces of least norm, under `forces: least_norm`.
  void choose_forces(StepResult& result);
  void certify(StepResult& result);

  const scene::Scene* scene_;
  double kappa_;
  contact::Assembler assembler_;
  contact::RedundantContacts redundant_;
  std::vector<char> is_redundant_;  // per contact of the step, for solver_settings_
  EffortLimits effort_limits_;
  scene::SceneState state_;
  bool has_contacts_ = false;  // state_ holds the kinematics and contacts of its q
  AndersonIteration iteration_;
  solvers::contact::ContactSolver solver_;
  solvers::contact::LeastNorm least_norm_;
  solvers::contact::Certifier certifier_;
  solvers::contact::SolverSettings solver_settings_;
  std::unique_ptr<StepDifferentiator> differentiator_;  // made by the first derivative
};

/// ½δᵀQδ + bᵀδ [J].
double quadratic_energy(const solvers::contact::ContactProgram& program, const Eigen::VectorXd& delta);

}  // namespace deft::dynamics
