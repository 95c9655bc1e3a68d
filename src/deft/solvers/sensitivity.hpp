#pragma once
// How the solution of a contact program moves when its data do: the linear map at a solution, forward and transposed.

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/QR>
#include <vector>

#include "deft/solvers/program.hpp"

namespace deft::solvers {

/// Changes of a program's data at fixed δ and f, one column per direction; all rows of contacts stacked.
struct ProgramChange {
  Eigen::MatrixXd gradient;      // of Qδ + b − Σ Jᵀf, nv × k [N, N·m]
  Eigen::MatrixXd rows;          // of φe₁ + Jδ + (0, o), Σ rows × k [m, rad]
  Eigen::MatrixXd lower, upper;  // of the bounds, nv × k, or empty: they stand still
};

/// Changes of the solution, in the order of ProgramChange.
struct SolutionChange {
  Eigen::MatrixXd delta;  // nv × k
  Eigen::MatrixXd force;  // Σ rows × k: (f_n, f_t1, f_t2, f_spin) along the raw rows
};

/// The derivative of the solution of a ContactProgram with respect to its data (README.md). Exact programs: by the
/// active rows and the curvature of sliding cones, valid under strict complementarity, which is tested. Smoothed
/// programs: always.
class Sensitivity {
 public:
  /// Factors at a solution. `solution` must be converged: an error ε in it is an error of about ε/λ_min in the
  /// derivative.
  /// @param energy_J  natural energy of the program (Certificate::E0_J), against which weak activity is judged.
  /// @throws std::invalid_argument if the sizes do not belong together.
  void factor(const ContactProgram& program, const ContactSolution& solution, double energy_J);

  /// Some row is neither clearly active nor clearly open, or redundant rows part: only one-sided derivatives exist.
  bool is_kink() const { return kink_; }
  /// The motion has a derivative; false where directions are free (they get the least motion).
  bool is_unique() const { return unique_; }

  /// Σ of contact rows; contact i owns rows first_row(i) … first_row(i) + rows.
  int num_rows() const { return num_rows_; }
  int first_row(int contact) const { return terms_[contact].first_row; }

  /// The derivative of the solution along `change`. Sets is_kink when redundant active rows do not move together.
  void solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result);
  /// Its transpose: weights on δ (nv × k) and on forces (Σ rows × k, or empty) to weights on the data.
  void solve_transposed(const ContactProgram& program, const Eigen::MatrixXd& delta, const Eigen::MatrixXd& force,
                        ProgramChange& result) const;

 private:
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 4, 4>;
  /// f = −C s + Eᵀλ for small changes of a contact; E is an orthonormal basis of the rows that are held.
  struct Term {
    int first_row = 0, first_held = 0;
    Small C, E;
  };
  /// Bounds of one velocity: stiffnesses, or held.
  struct Bound {
    int index = 0, held = -1;  // row of G
    bool holds_upper = false;
    double lower_stiffness = 0, upper_stiffness = 0;
  };
  /// A row of zero slack and zero multiplier that held rows imply: no kink while it moves with them.
  struct Implied {
    Eigen::VectorXd row;
    int contact = 0;
    Eigen::Vector4d e = Eigen::Vector4d::Zero();
  };
  enum class Activity { kOpen, kHeld, kWeak };
  class Builder;

  void factor_system(const ContactProgram& program);
  /// Solves [H −Gᵀ; −G 0] [x; y] = [p; r]. @returns whether redundant rows agree.
  bool solve_system(const Eigen::MatrixXd& p, const Eigen::MatrixXd& r, Eigen::MatrixXd& x, Eigen::MatrixXd& y) const;

  int nv_ = 0, num_rows_ = 0;
  bool kink_ = false, unique_ = true;
  std::vector<Term> terms_;
  std::vector<Bound> bounds_;
  std::vector<Implied> implied_;
  Eigen::VectorXd metric_;                       // diagonal of Q̃
  Eigen::MatrixXd H_, G_, W_;                    // stiffness, held rows, D H⁻¹ D Gᵀ
  Eigen::VectorXd scale_, row_scale_, penalty_;  // D; of S; on held rows where H is singular
  Eigen::LDLT<Eigen::MatrixXd> H_factor_;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> S_factor_;
};

}  // namespace deft::solvers
