#pragma once
// The rows of the convex relaxation of an LcsMpcProgram: what can be bounded at one stage, as sparse rows of (x_k,
// x_{k+1}, z_k), where z_k = (u_k, γ_{k+1}, e_{k+1}) and e_i ≥ 0 is the violation of the soft bounds of one state.
// Internal to solvers.

#include <span>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"

namespace deft::solvers::lcs {

/// What a term of a row multiplies.
enum class LcsQuantity : char { kState, kNext, kVariable };

/// a·(x_k)_index, a·(x_{k+1})_index or a·(z_k)_index.
struct LcsTerm {
  LcsQuantity of = LcsQuantity::kState;  // x_k, x_{k+1} or z_k
  int index = 0;                         // entry of it
  double a = 0;                          // factor
};

/// The same rows at every stage: γ_i, s_i, u_j, (x_{k+1})_i, and per soft state x − e, x + e and e. Row r of stage k
/// has the number k·per_stage + r.
class LcsRows {
 public:
  /// Takes D₀, D, H, E, α and which bounds of states are soft. @pre check(program) passed.
  explicit LcsRows(const LcsMpcProgram& program);

  int nx() const { return nx_; }                                         // states
  int nu() const { return nu_; }                                         // inputs
  int pairs() const { return ng_; }                                      // nγ
  int nz() const { return nu_ + ng_ + static_cast<int>(soft_.size()); }  // entries of z_k
  int per_stage() const { return static_cast<int>(first_.size()) - 1; }  // rows of a stage
  /// States with soft bounds; the i-th of them owns z_k entry nu + nγ + i.
  const std::vector<int>& soft() const { return soft_; }

  int gamma(int i) const { return i; }                                  // row of γ_i
  int slack(int i) const { return ng_ + i; }                            // row of s_i
  int input(int j) const { return 2 * ng_ + j; }                        // row of u_j
  int state(int i) const { return 2 * ng_ + nu_ + i; }                  // row of (x_{k+1})_i
  int below_upper(int i) const { return 2 * ng_ + nu_ + nx_ + 3 * i; }  // x − e of the i-th soft state
  int above_lower(int i) const { return below_upper(i) + 1; }           // x + e
  int excess(int i) const { return below_upper(i) + 2; }                // e

  /// The sparse factors of a row of a stage; valid as long as this object.
  std::span<const LcsTerm> terms(int row) const {
    return {terms_.data() + first_[row], terms_.data() + first_[to_size(row) + 1]};
  }
  /// Constant part: α_i of slacks, otherwise zero.
  double constant(int row) const { return constant_[row]; }

 private:
  void close_row(double constant = 0);
  int nx_, nu_, ng_;
  std::vector<int> soft_;
  std::vector<LcsTerm> terms_;
  std::vector<int> first_{0};
  std::vector<double> constant_;
};

}  // namespace deft::solvers::lcs
