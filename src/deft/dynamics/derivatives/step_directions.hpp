#pragma once
// How the program of a step changes along configuration, velocity and command. Private to step_derivative*.cpp.

#include <vector>

#include "deft/contact/problem_derivative.hpp"
#include "deft/dynamics/derivatives/energy_derivatives.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"

namespace deft::dynamics {

/// Where contacts are linearised, if not where the step starts (`step.relinearize`): about a motion δ₀.
struct LinearizedAbout {
  scene::SceneState state;          // at q₁ = q ⊕ δ₀, with its contacts
  contact::ContactProblem problem;  // the contacts of the step, points and frames at q₁
  Eigen::VectorXd q, motion;        // q₁; δ₀, size nv
  Eigen::MatrixXd rates;            // ∂δ₀ by q, v (second order) and u: a column each
};

/// Changes of the program's data at fixed δ and forces,  d(Qδ + b − Σ Jᵀf),  d(φe₁ + Jδ)  and of the bounds, along
/// world tangents dq, along dv (second order) and du; and the transpose. Keeps scratch: no allocation once it has grown
/// and the sizes repeat. One object per thread.
class StepDirections {
 public:
  explicit StepDirections(const scene::Scene& scene);  // must outlive this object

  /// Takes the derivatives at a solution of the step. @param configuration  false: only along u, which needs no
  /// geometry; `at` may then be anywhere.
  /// @param about  of a linearisation that is not the first, of which `along_units` alone may be asked then, and whose
  /// derivatives are taken with `configuration`; it must stay until the last call. Null: of the first.
  /// @pre program has both bounds or neither, as set_joint_limits leaves them.
  void update(const EnergyPoint& at, const solvers::contact::ContactProgram& program,
              const solvers::contact::ContactSolution& solution, bool configuration,
              contact::DerivativeParts parts = contact::DerivativeParts::kAll, const LinearizedAbout* about = nullptr);

  /// Sets a change of zero with `columns` columns.
  void clear(Eigen::Index columns, solvers::contact::ProgramChange& change) const;
  /// One column per entry of q (if asked for), then v (second order), then u.
  void along_units(solvers::contact::ProgramChange& change);
  /// One column, along dq (size nv, if q was asked for) and du (size nu). Empty vectors count as 0.
  void along(const Eigen::VectorXd& dq, const Eigen::VectorXd& du, solvers::contact::ProgramChange& change) const;
  /// The transpose of `along`: adds to q_bar (if q was asked for) the weights on dq, and sets u_bar to the weights on
  /// du, that `weights` on the change amount to.
  void transposed(const solvers::contact::ProgramChange& weights, Eigen::VectorXd& q_bar, Eigen::VectorXd& u_bar) const;

  bool has_q() const { return has_q_; }  // the last update took derivatives by q
  bool has_v() const { return has_v_; }  // and by v
  /// Derivatives of rows and forces by q, of the last update that took them.
  const contact::ContactProblemDerivative& contacts() const { return contacts_; }
  /// ∂q₁ along world tangents, by q, v and u, of the last update about a motion.
  const Eigen::MatrixXd& linearization_rates() const { return q_rates_; }
  int first_row(int contact) const { return first_row_[contact]; }  // of a contact among the stacked rows
  /// A joint whose spring may saturate.
  struct Saturation {
    int velocity = 0;  // index of δ_a
    int variable = 0;  // index of y = δ_a + p, at which the elastic part of the spring ends (effort_limits.hpp)
    int command = 0;   // index of u
  };
  const std::vector<Saturation>& saturations() const { return saturations_; }  // of the program of the last update

 private:
  void update_about(const EnergyPoint& at, const solvers::contact::ContactProgram& program,
                    const solvers::contact::ContactSolution& solution, contact::DerivativeParts parts);
  void add_contacts(solvers::contact::ProgramChange& change) const;
  void add_contacts_about(solvers::contact::ProgramChange& change);
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
  const LinearizedAbout* about_ = nullptr;
  std::vector<int> rotations_;  // first velocity index of each
  Eigen::MatrixXd q_rates_;     // ∂q₁
  Eigen::MatrixXd y_rates_;     // Γ⁻¹ ∂y of y = Γ(δ₀)(δ − δ₀), the motion past q₁, by the columns of along_units
  Eigen::MatrixXd tau_rates_;   // ∂Γᵀ Jᵀf likewise
  RowBlocks J_;                 // of the program
  Eigen::MatrixXd tau_;         // ∂(J(q₁)ᵀf) likewise
  Eigen::VectorXd past_;        // y
  Eigen::VectorXd pushed_;      // Jᵀf
};

}  // namespace deft::dynamics
