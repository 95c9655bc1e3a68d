#pragma once
// The one interface of all step models: (q, v, u) → (q⁺, v⁺) with contacts, forces, status and certificate.

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "deft/dynamics/step_derivative.hpp"
#include "deft/dynamics/step_result.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {

struct PatchProblem;

/// Where a step starts. Models of first order ignore the velocity.
struct State {
  Eigen::VectorXd q;    // configuration, size nq
  Eigen::VectorXd v{};  // velocity, size nv ([ω_W, v_W] of free bodies, joint rates); empty: at rest
  double t = 0;         // [s], on which the external wrenches of the step depend
};

/// What is known of a derivative where it is not one.
struct DerivativeReport {
  bool is_nonsmooth = false;                  // it is one-sided, smoothed or undetermined
  std::vector<std::string> nonsmooth_points;  // why, one line each
};

/// Receives the problem that a step has solved, whichever kind its model solves.
class ProblemVisitor {
 public:
  virtual ~ProblemVisitor() = default;
  /// Convex models: the program over contact points.
  virtual void contact(const solvers::contact::ContactProgram& program) = 0;
  /// Models of exact Coulomb friction: the complementarity problem, where anything touches.
  virtual void complementarity(const solvers::lcp::ComplementarityProgram& program) = 0;
  /// Model equivalent-contact-point: bodies, shapes and impulses of the step.
  virtual void patch(const PatchProblem& problem) = 0;
};

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

  /// Jacobians of `result`, the step from `start` under u, which must be usable. Along world tangents (bodies: [θ, v]).
  /// Allocates, and finds the contacts again: in loops use a StepDifferentiator.
  /// @throws InputError for models and settings that have no derivative; std::invalid_argument for a failed step.
  virtual DerivativeReport differentiate(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                                         const DerivativeOptions& options, StepDerivative& out);
  /// Appends the contacts of `result`, the last step of a model of this kind, at its end, as a run keeps them. No
  /// allocation once `out` has grown. @param X_start, X_end  poses of the bodies where the step starts and ends.
  virtual void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                               std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out) const;
  /// Shows the problem of `result`, the last step, to `visitor`.
  virtual void visit_problem(const StepResult& result, ProblemVisitor& visitor) const;
};

/// What is said where a model has no derivatives.
[[noreturn]] void refuse_derivatives(const scene::Scene& scene);

/// One step by continuation: solved at each κ of `kappas` [1/J] in turn, each solve warm-started from the one before,
/// the first as the model stands. The result is that of the last κ (infinity: exact), with the iterations and times of
/// all; a κ whose step fails is passed over unless it is the last. The model has its own κ again afterwards.
/// @throws std::invalid_argument for an empty list, values not above 0 or not ascending; otherwise as `step`.
void step_annealed(StepModel& model, const State& start, const Eigen::VectorXd& u, std::span<const double> kappas,
                   StepResult& result);

}  // namespace deft::dynamics
