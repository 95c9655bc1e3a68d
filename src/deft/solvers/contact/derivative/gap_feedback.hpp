#pragma once
// Programs whose gaps depend on their own solution, φ_i + x_i(s_i), s_i the rows J_iδ + o of the same contact: the
// derivative of their solution from that of the program with the gaps fixed. Coulomb's law is the convex law with such
// gaps, x_i = μ‖s_t‖ (G. De Saxcé, Z.-Q. Feng, Math. Comput. Modelling 28 (1998)).

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "deft/solvers/contact/derivative/sensitivity.hpp"
#include "deft/solvers/linear/dense_lu.hpp"

namespace deft::solvers::contact {

/// With S the sensitivity of the solution to the gaps and g_i = ∂x_i/∂s_i,
///
///   dx_i = g_iᵀ (J_i dδ + ds_i),  dδ = dδ₀ + S dx  ⇒  (1 − M) dx = g_iᵀ (J_i dδ₀ + ds_i),  M_ij = g_iᵀ J_i S_j,
///
/// dδ₀ the change with x fixed. Keeps scratch: no allocation once it has grown and the sizes repeat. One object per
/// thread.
class GapFeedback {
 public:
  /// Takes M at a solution, after sensitivity.factor with the same program. Gaps of contacts without force move nothing
  /// unless the program has a barrier.
  /// @param rates  g_i per contact over the rows (n, t₁, t₂, spin) [-, -, -, m]; zero where the gap is constant.
  /// @returns false if 1 − M is singular, so that several x are as good (the shares of four corners that slide); the
  /// others then take the least of them, and allocate.
  /// @throws std::invalid_argument unless there is one rate per contact.
  bool factor(const ContactProgram& program, const ContactSolution& solution, std::span<const Eigen::Vector4d> rates,
              Sensitivity& sensitivity);

  /// Adds dx to the changes of the gaps, those of contacts without force among them, so that Sensitivity::solve along
  /// `change` gives the derivative with the gaps following the solution.
  void feed(const ContactProgram& program, Sensitivity& sensitivity, ProgramChange& change);
  /// The transpose: weights on the solution become weights on the data, as Sensitivity::solve_transposed.
  void solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                        Sensitivity& sensitivity, ProgramChange& result);
  /// Newton's step for x = F(x): the dx with x + dx = F(x + dx) to first order, the least of several. Allocates if
  /// there are several.
  /// @param error  F(x) − x per contact [m].  @param dx  resized.
  void newton_step(const ContactProgram& program, const Eigen::VectorXd& error, Eigen::VectorXd& dx);

 private:
  double rate_along(const ContactProgram& program, int contact, const Directions& moved, Eigen::Index column) const;
  double rate_of(const ContactProgram& program, int contact, const Sensitivity& sensitivity,
                 const ProgramChange& change, Eigen::Index column);
  void solve_coupling(linear::DenseLu& lu, bool transposed, Eigen::Index columns);
  void feed_others(const ContactProgram& program, const Sensitivity& sensitivity, ProgramChange& change);

  SolutionChange& moved_along(Eigen::Index columns) { return moved_[columns == 1 ? 0 : 1]; }

  std::vector<Eigen::Vector4d> rates_;
  std::vector<int> contacts_;  // those whose gap moves something
  Eigen::MatrixXd coupling_;   // 1 − M of these
  linear::DenseLu lu_, lu_transposed_;
  bool is_regular_ = true, has_transposed_ = false;
  ProgramChange units_, back_;
  SolutionChange responses_;
  std::array<SolutionChange, 2> moved_;  // dδ along one direction, along several: callers take turns
  Directions weights_, no_force_;
  std::vector<char> no_contacts_;
  std::vector<double> x_;  // a row per contact of `contacts_`, padded
};

}  // namespace deft::solvers::contact
