#pragma once
// What all convex step models share: contacts of a configuration, the program of an energy over them, its solution and
// its certificate.

#include <memory>
#include <utility>

#include "deft/contact/redundant_contacts.hpp"
#include "deft/dynamics/convex/relinearization.hpp"
#include "deft/dynamics/coulomb_corrections.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/effort_limits.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/sliding_gap.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"

namespace deft::dynamics {

/// Program, solution, certificate. One object per thread: it keeps scratch and the last solution for warm
/// starts.
class ConvexSolve {
 public:
  /// @throws InputError for compliance, which friction_law: coulomb excludes.
  explicit ConvexSolve(const scene::Scene& scene);

  /// Minimises ½δᵀQδ + bᵀδ over contacts and joint limits, with saturating springs under `step.effort_limits`; fills
  /// everything of `result` but q_next, v_next, energy and step_us. A solution that the certificate does not confirm is
  /// none; a failed step moves nothing (δ = 0). With `friction_law: coulomb` the program's gaps are raised by the De
  /// Saxcé corrections, the gaps that its own solution opens by sliding, found as a fixed point (G. De Saxcé, Z.-Q.
  /// Feng, Math. Comput. Modelling 28 (1998)), smoothed by κ as `correction_of` says; the certificate is then that of
  /// Coulomb's law, and IterationLimit means that no solution was found. With `forces: least_norm` the multipliers are
  /// those of least norm.
  /// @param q  where the step starts, size nq.  @param u  joint targets, size nu.  @param is_last  false: a
  /// linearisation before the last, whose forces nobody reads and which are not chosen.  @returns the time that
  /// certifying took [µs], which is no part of a step.
  double solve(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result, bool is_last = true);

  /// Makes a solution that `solve` left with is_last = false, its motion and iterations as they are, the last: chooses
  /// and certifies its forces. @returns as `solve`.
  double make_last(StepResult& result);

  /// StepModel::differentiate of a convex model.
  DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                 const DerivativeOptions& options, StepDerivative& out);

  void forget();                           // warm starts
  double kappa() const { return kappa_; }  // weight of the barrier [1/J], infinity: exact
  /// Weight of the barrier [1/J] from now on. @throws std::invalid_argument unless κ > 0.
  void set_kappa(double kappa);

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
  /// Certificate and motion of what was solved, with chosen forces if they are the last. @returns as `solve`.
  double conclude(StepResult& result, bool is_last);

  const scene::Scene* scene_;
  double kappa_;
  contact::RedundantContacts redundant_;
  std::vector<char> is_redundant_;  // per contact of the step, for solver_settings_
  EffortLimits effort_limits_;
  Eigen::VectorXd q_;  // where the step at hand starts
  CoulombCorrections corrections_;
  solvers::contact::ContactSolver solver_;
  solvers::contact::LeastNorm least_norm_;
  solvers::contact::Certifier certifier_;
  solvers::contact::SolverSettings solver_settings_;
  std::unique_ptr<StepDifferentiator> differentiator_;  // made by the first derivative
};

/// What both convex models are besides their energy. One object per thread: it keeps scratch and the last solution for
/// warm starts.
class ConvexEnergyStep : public EnergyStep {
 public:
  double kappa() const final { return solve_.kappa(); }
  void set_kappa(double kappa) final { solve_.set_kappa(kappa); }
  DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                 const DerivativeOptions& options, StepDerivative& out) final {
    return solve_.differentiate(start, u, result, options, out);
  }

 protected:
  /// @throws InputError as EnergyStep, ConvexSolve and joint_damping, and for `step.relinearize: true`.
  ConvexEnergyStep(const scene::Scene& scene, Order order, EnergyLayout layout);
  double solve(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  void forget() final { solve_.forget(); }
  const Eigen::VectorXd& motion_of_energy(const StepResult& result) const final { return result.solution.delta; }

 private:
  ConvexSolve solve_;
  Relinearization relinearization_;
  Eigen::VectorXd about_;            // the motion about which contacts are linearised again
  std::vector<StepResult> earlier_;  // linearisations of the step at hand
};

}  // namespace deft::dynamics
