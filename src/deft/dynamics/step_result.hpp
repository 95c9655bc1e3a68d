#pragma once
// What a step returns: a core that all models share, and a detail of the kind of model.

#include <Eigen/Core>
#include <string_view>
#include <variant>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/dynamics/patch_contact.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/status.hpp"

namespace deft::dynamics {

/// Models of exact Coulomb friction.
struct ComplementarityDetail {
  solvers::lcp::ComplementarityProgram program;  // what was solved; without unknowns where nothing touches
  /// What was found out about other motions that satisfy the same laws (`step.uniqueness: check`).
  solvers::lcp::Uniqueness uniqueness = solvers::lcp::Uniqueness::kUnknown;
  Eigen::VectorXd alternative_delta;  // another motion [rad, m], size nv; empty if none is known
  double balance = 0, bound = 0;      // model limit-surface: LimitSurfaceBalance; else 0
};

/// Model equivalent-contact-point.
struct PatchDetail {
  std::vector<PatchContact> contacts;  // at the end of the step; none if it failed
  double balance = 0;                  // error of the source's second proposition
};

/// One step, at its end.
struct StepResult {
  solvers::Status status = solvers::Status::kNumericalFailure;  // only usable statuses move anything
  Eigen::VectorXd q_next;                                       // q ⊕ δ, size nq; q of a failed step
  Eigen::VectorXd v_next;  // v⁺, size nv; empty for models of first order; v of a failed step
  Eigen::VectorXd delta;   // δ [rad, m], size nv; 0 of a failed step
  // Contact points: all models but equivalent-contact-point, whose contacts are in the detail.
  contact::ContactProblem problem;             // the contacts at the start of the step, with Q and b
  solvers::contact::ContactProgram program;    // what was solved
  solvers::contact::ContactSolution solution;  // forces, linearised gaps, multipliers
  solvers::contact::Certificate certificate;   // residuals that confirmed `status`, recomputed from the raw problem
  /// Coulomb's law: the De Saxcé correction, which is added to the gap of each contact so that sliding does not open
  /// it, μ‖J_tδ‖ (pyramids: μ max_j d_jᵀJ_tδ) [m]; the gaps of `program` contain it, those of `solution` do not. Empty
  /// for the associated law.
  std::vector<double> de_saxce;
  // Models of exact Coulomb friction: what leaves no solution, or several.
  std::vector<int> offending_contacts, offending_limits;  // indices of contacts of `problem`; of limited velocities
  /// With `step.relinearize` the linearisations before this one, first to last: what each solved and found. The motion
  /// of each is that about which contacts are linearised in the next. Points and gaps of `problem` are those at the
  /// start of the step, gaps and slips (Contact::offset) as the linearisation continues them there; frames are where it
  /// is made.
  std::vector<StepResult> linearizations;
  /// What acted in this step that its derivatives leave out, in words; empty: nothing.
  std::string_view without_derivative;
  bool forces_least_norm = false;    // the multipliers are the only ones, or those of least norm
  int iterations = 0;                // of the solver, all its solves together
  double energy = 0;                 // ½δᵀQδ + bᵀδ; second order: kinetic + potential at the end [J]
  double solve_us = 0, step_us = 0;  // time of the solver, and of the step without its certificate [µs]
  /// What only this kind of model knows; monostate: convex models.
  std::variant<std::monostate, ComplementarityDetail, PatchDetail> detail;

  /// The detail of that kind, null for models of another.
  const ComplementarityDetail* complementarity() const { return std::get_if<ComplementarityDetail>(&detail); }
  const PatchDetail* patch() const { return std::get_if<PatchDetail>(&detail); }  // likewise
  /// The detail to fill in, with what it holds of the step before, so that its memory serves again.
  template <typename Detail>
  Detail& detail_of() {
    Detail* held = std::get_if<Detail>(&detail);
    return held != nullptr ? *held : detail.template emplace<Detail>();
  }
};

}  // namespace deft::dynamics
