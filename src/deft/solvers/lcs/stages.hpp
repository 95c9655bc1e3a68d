#pragma once
// Minimises the cost of an LcsMpcProgram plus multiples of its rows, subject to the dynamics alone: a
// linear–quadratic regulator whose inputs are all of z_k = (u_k, γ_{k+1}, e_{k+1}). Its Riccati recursion depends on
// the system, the weights and N only, so it is made once; every minimisation afterwards costs one sweep backward and
// one forward, linear in N. Internal to solvers.
//
//   min  cost(x, u) + Σ price·e + ½ Σ ε_i (z_i − c_i)² + Σ_r λ_r (row_r(x, z) − constant_r)     [proximal weight ε,
//   centre c]
//
// ε_i > 0 on γ, e, and on inputs without weight, because the cost alone does not determine them.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "deft/solvers/lcs/rows.hpp"

namespace deft::solvers::lcs {

/// A minimiser, flat, stage after stage.
struct LcsStagePoint {
  std::vector<double> x;  // (N+1)·nx
  std::vector<double> z;  // N·nz
  std::vector<double> y;  // N·per_stage: the rows, constants included
  double cost = 0;        // cost(x, u) + Σ price·e, without proximal term
  double proximal = 0;    // ½ Σ ε_i (z_i − c_i)²
};

/// The factored regulator. Safe to use from many threads, each with its own scratch.
class LcsStages {
 public:
  /// Scratch of one thread.
  struct Scratch {
    std::vector<double> state_gradient;     // (N+1)·nx: linear terms of the states
    std::vector<double> variable_gradient;  // N·nz: linear terms of z
    std::vector<double> offset;             // N·nz: z_k at x_k = 0
    std::vector<double> p, pv;              // nx: linear term p of the cost to go; p + P F
  };

  /// Chooses ε, factors the regulator and takes the program's data. @pre check(program) passed. @param weight  of the
  /// proximal term, times its usual one.
  explicit LcsStages(const LcsMpcProgram& program, double weight = 1);

  const LcsRows& rows() const { return rows_; }            // of each stage
  int N() const { return N_; }                             // stages
  int num_rows() const { return N_ * rows_.per_stage(); }  // of all stages
  int num_variables() const { return N_ * rows_.nz(); }    // entries of all z_k
  /// ε of z_k entry i, the same at all stages.
  double epsilon(int i) const { return epsilon_[i]; }

  /// Whether `program` differs from the factored one in x0, x_goal, F, alpha and values of bounds only.
  bool fits(const LcsMpcProgram& program) const;
  /// Takes x0, x_goal, F, alpha from it. @pre fits(program).
  void set_data(const LcsMpcProgram& program);

  /// The minimiser for multipliers `lambda` (num_rows()) and the centre (num_variables(), or null: zero).
  void minimise(const double* lambda, const double* centre, LcsStagePoint& point, Scratch& scratch) const;
  /// −∂y/∂λ_row: the response of all rows to a multiplier of one, num_rows() values, ≥ 0 at `row`. Kept after
  /// the first call, valid as long as this object.
  const double* column(int row, Scratch& scratch) const;
  /// λᵀWλ for the matrix W of all columns, as a sum of squares: without the rounding of W's entries.
  double energy(const double* lambda, Scratch& scratch) const;
  /// column(row)[row].
  double diagonal(int row) const { return diagonal_[row]; }
  /// Of pair i of stage k: the response of s_i to a multiplier of γ_i.
  double cross(int k, int i) const { return cross_[k * rows_.pairs() + i]; }

 private:
  struct Stage {             // row-major
    Eigen::MatrixXd K, MG;   // nz × nx: feedback, M⁻¹Gᵀ
    Eigen::MatrixXd Minv;    // nz × nz
    Eigen::MatrixXd Acl, P;  // nx × nx: A + GK, cost to go of x_{k+1}
  };

  void choose_epsilon(const LcsMpcProgram& program, double weight);
  void factor(const LcsMpcProgram& program);
  void find_diagonal();
  void backward(int from, Scratch& scratch, bool affine) const;
  void forward(Scratch& scratch, bool affine, const double* x0, double* x, double* z, int stages) const;
  void read_rows(const double* x, const double* z, bool affine, double* y) const;
  void add_multiplier(int row, double lambda, Scratch& scratch) const;
  void clear(Scratch& scratch) const;

  LcsRows rows_;
  int N_;
  LinearComplementaritySystem system_;
  Eigen::MatrixXd G_;  // [B C 0]
  Eigen::MatrixXd Q_, R_, Qf_;
  Eigen::VectorXd x_price_;
  std::vector<double> epsilon_, price_;  // per entry of z_k
  std::vector<Stage> stages_;
  Eigen::VectorXd x0_;
  Eigen::MatrixXd x_goal_;
  std::vector<double> diagonal_, cross_;
  mutable std::mutex columns_mutex_;
  mutable std::vector<std::atomic<const double*>> columns_;
  mutable std::vector<std::unique_ptr<double[]>> column_memory_;
};

}  // namespace deft::solvers::lcs
