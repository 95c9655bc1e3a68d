#pragma once
// The one interface of all step models: (q, u) → q⁺ with contacts, forces, status and certificate.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"
#include "deft/solvers/certificate.hpp"
#include "deft/solvers/program.hpp"
#include "deft/solvers/status.hpp"

namespace deft::dynamics {

/// One step, at its end.
struct StepResult {
  solvers::Status status = solvers::Status::kNumericalFailure;
  Eigen::VectorXd q_next;                        // q ⊕ δ
  Eigen::VectorXd delta;                         // [rad, m], size nv
  contact::ContactProblem problem;               // the contacts at the start of the step, with Q and b
  solvers::ContactProgram program;               // what was solved
  solvers::ContactSolution solution;             // forces, linearised gaps, multipliers
  solvers::Certificate certificate;
  int iterations = 0;
  double energy = 0;                             // ½δᵀQδ + bᵀδ [J]
  double solve_us = 0, step_us = 0;
};

/// A discrete-time contact model: (q, u) → q⁺. Every model obeys the same conditions (no penetration beyond the
/// linearisation, forces in their cones, statuses instead of exceptions).
class StepModel {
 public:
  virtual ~StepModel() = default;
  /// Advances by one step of length h(). Keeps scratch and warm starts: one object per thread. The certificate allocates.
  /// @param q  configuration, size nq.  @param u  joint targets at the end of the step, size nu.
  /// @throws std::invalid_argument on wrong sizes or NaN. Failures to solve are statuses.
  virtual void step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result) = 0;
  /// Forgets warm starts.
  virtual void reset() = 0;
  virtual double h() const = 0;
  virtual const scene::Scene& scene() const = 0;
};

/// The step model named by the scene's settings. @throws InputError when h is missing or the model is not available yet.
std::unique_ptr<StepModel> make_step_model(const scene::Scene& scene);

}  // namespace deft::dynamics
