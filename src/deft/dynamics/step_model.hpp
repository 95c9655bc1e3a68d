#pragma once
// The one interface of all step models: (q, v, u) → (q⁺, v⁺) with contacts, forces, status and certificate.

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/dynamics/patch_contact.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/status.hpp"

namespace deft::dynamics {

/// Where a step starts. Models of first order ignore the velocity.
struct State {
  Eigen::VectorXd q;    // configuration, size nq
  Eigen::VectorXd v{};  // velocity, size nv ([ω_W, v_W] of free bodies, joint rates); empty: at rest
  double t = 0;         // [s], on which the external wrenches of the step depend
};

/// One step, at its end.
struct StepResult {
  solvers::Status status = solvers::Status::kNumericalFailure;  // only usable statuses move anything
  Eigen::VectorXd q_next;                                       // q ⊕ δ, size nq; q of a failed step
  Eigen::VectorXd v_next;                      // v⁺, size nv; empty for models of first order; v of a failed step
  Eigen::VectorXd delta;                       // δ [rad, m], size nv; 0 of a failed step
  contact::ContactProblem problem;             // the contacts at the start of the step, with Q and b
  solvers::contact::ContactProgram program;    // what was solved
  solvers::contact::ContactSolution solution;  // forces, linearised gaps, multipliers
  solvers::contact::Certificate certificate;   // residuals that confirmed `status`, recomputed from the raw problem
  /// Coulomb's law: the De Saxcé correction, which is added to the gap of each contact so that sliding does not open
  /// it, μ‖J_tδ‖ (pyramids: μ max_j d_jᵀJ_tδ) [m]; the gaps of `program` contain it, those of `solution` do not. Empty
  /// for the associated law.
  std::vector<double> shift;
  /// Models of exact Coulomb friction: the complementarity problem that was solved; without unknowns for all others.
  solvers::lcp::ComplementarityProgram complementarity;
  /// Whether other motions satisfy the same laws, as far as it was examined (`step.uniqueness: check`).
  solvers::lcp::Uniqueness uniqueness = solvers::lcp::Uniqueness::kUnknown;
  Eigen::VectorXd second_delta;       // another such motion [rad, m], size nv; empty if none is known
  double balance = 0, bound = 0;      // model limit-surface: LimitSurfaceBalance
  std::vector<PatchContact> patches;  // model equivalent-contact-point: its contacts, at the end of the step; `balance`
                                      // is the error of the source's second proposition
  // Models of exact Coulomb friction: what leaves no solution, or several.
  std::vector<int> offending_contacts, offending_limits;  // indices of contacts of `problem`; of limited velocities
  bool forces_least_norm = false;                         // the multipliers are the only ones, or those of least norm
  int iterations = 0;                                     // of the solver, all its solves together
  double energy = 0;                 // ½δᵀQδ + bᵀδ; second order: kinetic + potential at the end [J]
  double solve_us = 0, step_us = 0;  // time of the solver, and of the step without its certificate [µs]
};

/// Empties what only models of exact Coulomb friction fill: the complementarity problem, other motions and offending
/// contacts. For results that pass from one model to another.
void clear_complementarity(StepResult& result);

/// A discrete-time contact model: (q, v, u) → (q⁺, v⁺). Every model obeys the same conditions (no penetration beyond
/// the linearisation, forces in their cones, statuses instead of exceptions).
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// Advances by one step of length h(). Keeps scratch and warm starts: one object per thread. No allocation
  /// once they have grown and the sizes repeat.
  /// @param u  joint targets at the end of the step, size nu.
  /// @throws std::invalid_argument on wrong sizes or NaN. Failures to solve are statuses.
  virtual void step(const State& start, const Eigen::VectorXd& u, StepResult& result) = 0;
  /// The same from rest at time 0.
  void step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result) { step(State{.q = q}, u, result); }
  /// Whether velocities are part of the state.
  virtual bool second_order() const { return false; }
  /// Poses and contacts at the start of the last step, which derivatives may use again; null if the model keeps none.
  virtual scene::SceneState* start_state() { return nullptr; }
  /// Forgets warm starts: the next step does not depend on earlier ones.
  virtual void reset() = 0;
  /// κ, weight of the smoothing barrier [1/J] of the steps to come; at first step.kappa; infinity: exact.
  virtual double kappa() const = 0;
  /// Sets it; warm starts stay. @throws std::invalid_argument unless κ > 0.
  virtual void set_kappa(double kappa) = 0;
  virtual double h() const = 0;                   // length of a step [s], > 0
  virtual const scene::Scene& scene() const = 0;  // must outlive the model
};

/// One step by continuation: solved at each κ of `kappas` [1/J] in turn, each solve warm-started from the one before,
/// the first as the model stands. The result is that of the last κ (infinity: exact), with the iterations and times of
/// all; a κ whose step fails is passed over unless it is the last. The model has its own κ again afterwards.
/// @throws std::invalid_argument for an empty list, values not above 0 or not ascending; otherwise as `step`.
void step_annealed(StepModel& model, const State& start, const Eigen::VectorXd& u, std::span<const double> kappas,
                   StepResult& result);

}  // namespace deft::dynamics
