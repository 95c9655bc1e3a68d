#pragma once
// How the solution of a contact program moves when its data do: the linear map at a solution, forward and transposed.

#include <Eigen/Core>
#include <memory>
#include <span>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// One column per direction; the entries of a row are contiguous.
using Directions = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Changes of a program's data at fixed δ and f, along k directions. The rows of all contacts are stacked in the order
/// of the contacts, Sensitivity::num_rows of them.
struct ProgramChange {
  Directions gradient;      // of Qδ + b − Σ Jᵀf, nv × k [N, N·m]
  Directions rows;          // of φe₁ + Jδ + (0, o), num_rows × k [m, rad]
  Directions lower, upper;  // of the bounds, nv × k [m, rad], or empty: they do not change
};

/// Changes of the solution along the same directions.
struct SolutionChange {
  Directions delta;  // of δ, nv × k [m, rad]
  Directions force;  // num_rows × k: of (f_n, f_t1, f_t2, f_spin) along the raw rows [N, N·m]
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

  /// Factors the linear map at a solution of a checked `program`. `solution` must be converged: an error ε in it is an
  /// error of about ε/λ_min in the derivative.
  /// @param energy_J  natural energy of the program (Certificate::E0_J) > 0, the scale of slacks and multipliers.
  /// @param residual  scaled, of the solution (Certificate::max_scaled): scaled slacks and multipliers below
  /// max(1e-7, 3√residual) are not distinguished from zero.
  /// @throws std::invalid_argument if δ or the forces have not the sizes of the program, or energy_J is not positive.
  void factor(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual = 0);

  /// Whether the solution is a nonsmooth point, where only one-sided derivatives exist: some row is neither clearly
  /// active nor clearly inactive, or redundant rows do not move together. Set by `factor`, and by `solve` if the
  /// direction shows it.
  bool is_nonsmooth() const;
  /// Whether the motion has a derivative; false where directions are free (they get the least motion).
  bool is_unique() const;

  /// Number of rows of all contacts.
  int num_rows() const;
  /// The first row of contact i; it has as many as its block of ContactProgram::J.
  int first_row(int contact) const;

  /// The derivative of the solution along `change`, after `factor` with the same program.
  /// @param wanted  1 per contact where the change of its forces is asked for (that of others may be zero), or empty:
  /// all.
  /// @throws std::invalid_argument if `wanted` is neither empty nor as long as the contacts.
  void solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
             std::span<const char> wanted = {});
  /// The same without a look at whether redundant rows move together: `is_nonsmooth` stays as it is. For directions
  /// that are parts of the one that is asked for.
  void probe(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
             std::span<const char> wanted = {});
  /// The transpose of `solve`: weights on δ (nv × k) and on forces (num_rows × k, or empty) become weights on the data,
  /// ⟨delta, dδ⟩ + ⟨force, df⟩ = ⟨result, change⟩.
  void solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                        ProgramChange& result);

 private:
  class Islands;
  std::unique_ptr<Islands> islands_;
};

}  // namespace deft::solvers::contact
