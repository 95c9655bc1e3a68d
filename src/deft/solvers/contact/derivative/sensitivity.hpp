#pragma once
// How the solution of a contact program moves when its data do: the linear map at a solution, forward and transposed.

#include <Eigen/Core>
#include <memory>
#include <span>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// One column per direction; a row's entries stand together.
using Directions = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Changes of a program's data at fixed δ and f, one column per direction; all rows of contacts stacked.
struct ProgramChange {
  Directions gradient;      // of Qδ + b − Σ Jᵀf, nv × k [N, N·m]
  Directions rows;          // of φe₁ + Jδ + (0, o), Σ rows × k [m, rad]
  Directions lower, upper;  // of the bounds, nv × k, or empty: they stand still
};

/// Changes of the solution, in the order of ProgramChange.
struct SolutionChange {
  Directions delta;  // nv × k
  Directions force;  // Σ rows × k: (f_n, f_t1, f_t2, f_spin) along the raw rows
};

/// The derivative of the solution of a ContactProgram with respect to its data (README.md). Exact programs: by the
/// active rows and the curvature of sliding cones, valid under strict complementarity, which is tested. Smoothed
/// programs: always. One dense factor per island of velocities that forces or inertia couple; scratch is kept: no
/// allocation once it has grown and the sizes repeat. One object per thread.
class Sensitivity {
 public:
  Sensitivity();
  ~Sensitivity();
  Sensitivity(Sensitivity&&) noexcept;
  Sensitivity& operator=(Sensitivity&&) noexcept;

  /// Factors at a solution. `solution` must be converged: an error ε in it is an error of about ε/λ_min in the
  /// derivative.
  /// @param energy_J  natural energy of the program (Certificate::E0_J), against which weak activity is judged.
  /// @param residual  scaled, of the solution (Certificate::max_scaled): slacks and multipliers below 3√residual are
  /// not told from zero.
  /// @throws std::invalid_argument if the sizes do not belong together.
  void factor(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual = 0);

  /// Some row is neither clearly active nor clearly open, or redundant rows part: only one-sided derivatives exist.
  bool is_nonsmooth() const;
  /// The motion has a derivative; false where directions are free (they get the least motion).
  bool is_unique() const;

  /// Σ of contact rows; contact i owns rows first_row(i) … first_row(i) + rows.
  int num_rows() const;
  int first_row(int contact) const;

  /// The derivative of the solution along `change`. Sets is_nonsmooth when redundant active rows do not move together.
  /// @param wanted  per contact 1 where the change of its forces is asked for (others may get 0), or empty: all.
  void solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
             std::span<const char> wanted = {});
  /// Its transpose: weights on δ (nv × k) and on forces (Σ rows × k, or empty) to weights on the data.
  void solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                        ProgramChange& result);

 private:
  class Islands;
  std::unique_ptr<Islands> islands_;
};

}  // namespace deft::solvers::contact
