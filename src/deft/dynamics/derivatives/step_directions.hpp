#pragma once
// How the program of a step changes along configuration, velocity and command. Private to step_derivative*.cpp.

#include <vector>

#include "deft/contact/problem_derivative.hpp"
#include "deft/dynamics/derivatives/energy_derivatives.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"

namespace deft::dynamics {

/// Changes of the program's data at fixed δ and forces,  d(Qδ + b − Σ Jᵀf),  d(φe₁ + Jδ)  and of the bounds, along
/// world tangents dq, along dv (second order) and du; and the transpose. Keeps scratch: no allocation once it has grown
/// and the sizes repeat. One object per thread.
class StepDirections {
 public:
  explicit StepDirections(const scene::Scene& scene);

  /// Takes the derivatives at a solution of the step. @param configuration  false: only along u, which needs no
  /// geometry; `at` may then be anywhere.
  void update(const EnergyPoint& at, const solvers::contact::ContactProgram& program,
              const solvers::contact::ContactSolution& solution, bool configuration,
              contact::DerivativeParts parts = contact::DerivativeParts::kAll);

  /// A change of nothing, `columns` wide.
  void clear(Eigen::Index columns, solvers::contact::ProgramChange& change) const;
  /// One column per entry of q (if asked for), then v (second order), then u.
  void along_units(solvers::contact::ProgramChange& change) const;
  /// One column. Empty vectors stand still.
  void along(const Eigen::VectorXd& dq, const Eigen::VectorXd& du, solvers::contact::ProgramChange& change) const;
  /// Adds to q_bar (if q was asked for) and sets u_bar to what weights on a change are worth on dq and du.
  void transposed(const solvers::contact::ProgramChange& weights, Eigen::VectorXd& q_bar, Eigen::VectorXd& u_bar) const;

  bool has_q() const { return has_q_; }
  bool has_v() const { return has_v_; }
  const contact::ContactProblemDerivative& contacts() const { return contacts_; }
  int first_row(int contact) const { return first_row_[contact]; }
  /// A joint whose spring may saturate: the variable to which it is stretched (effort_limits.hpp).
  struct Saturation { int velocity = 0, variable = 0, command = 0; };
  const std::vector<Saturation>& saturations() const { return saturations_; }

 private:
  void list_saturations(const solvers::contact::ContactProgram& program);

  const scene::Scene* scene_;
  contact::RowDifferentiator rows_;
  EnergyDifferentiator energy_;
  Eigen::VectorXd stiffness_;  // per command
  bool has_q_ = false, has_v_ = false, has_bounds_ = false;
  int nv_ = 0, num_rows_ = 0;  // of the program
  std::vector<int> first_row_;
  contact::ContactProblemDerivative contacts_;
  Eigen::MatrixXd energy_q_, energy_v_;  // ∂(Qδ + b)/∂q, /∂v
  std::vector<Saturation> saturations_;
};

}  // namespace deft::dynamics
