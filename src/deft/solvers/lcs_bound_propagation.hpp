#pragma once
// Propagation of intervals through the steps of a control problem. Internal to lcs_bounds.

#include <vector>

#include "deft/solvers/lcs_bounds.hpp"

namespace deft::solvers {

/// Keeps the intervals of all entries of x, u, γ and s, and makes them smaller.
class LcsBoundPropagation {
 public:
  LcsBoundPropagation(const LcsMpcProgram& program, bool lower_idle);

  /// Repeats passes forwards and backwards until nothing moves by 1e-3 of its interval, at most `rounds` times.
  void run(int rounds);
  /// One pass over the rows of step k (x_k → x_{k+1}). @returns whether something moved noticeably.
  bool pass(int k);

  /// Places of entries in the list of intervals.
  int x(int k, int i) const { return k * nx_ + i; }
  int u(int k, int i) const { return u0_ + k * nu_ + i; }
  int gamma(int k, int i) const { return gamma0_ + k * ng_ + i; }
  int slack(int k, int i) const { return slack0_ + k * ng_ + i; }

  double lower(int place) const { return lower_[static_cast<std::size_t>(place)]; }
  double upper(int place) const { return upper_[static_cast<std::size_t>(place)]; }
  /// A bound that was computed: it is rounded outwards by 1e-9 of itself and by `error`. @returns whether it moved noticeably.
  bool raise_lower(int place, double bound, double error);
  bool reduce_upper(int place, double bound, double error);

  bool empty() const { return empty_; }
  LcsBounds bounds() const;

 private:
  enum Kind { kX, kU, kGamma, kNext, kSlack };
  struct Term {
    Kind kind;
    int index;
    double factor;
  };
  /// Σ factor · entry = rhs in every step.
  struct Row {
    std::vector<Term> terms;
    double rhs = 0;
  };
  /// s = rest + factor γ of one pair, in every step.
  struct OwnSlack {
    int pair;
    double factor;
    Row rest;  // rhs is −constant
  };
  /// For an idle multiplier: γ ≤ max over these rows of −(s − factor γ)/factor.
  struct Holder {
    int pair, row;
    double factor;
    Row rest, rest_substituted;  // of s − factor γ, by x_{k+1} and with the dynamics for it; rhs is −constant
  };

  bool set_lower(int place, double bound);
  bool set_upper(int place, double bound);
  int place(int k, const Term& term) const;
  void append(Row& row, Kind kind, const Eigen::Ref<const Eigen::RowVectorXd>& factors) const;
  void add_rows(const LinearComplementaritySystem& s);
  void add_rows_without_forces(const LinearComplementaritySystem& s);
  void add_own_slacks();
  void add_holders(const LinearComplementaritySystem& s);
  bool propagate(int k, const Row& row);
  double extreme(int k, const Row& row, double sign) const;
  bool complement(int k);
  bool lower_idle(int k);
  bool bound_by_energy(int k);
  double least_eigenvalue(const std::vector<int>& pairs);

  int nx_, nu_, ng_, N_, u0_, gamma0_, slack0_;
  std::vector<double> lower_, upper_;
  std::vector<Row> rows_;
  std::vector<bool> idle_;
  std::vector<OwnSlack> own_;
  Eigen::MatrixXd M_;              // D C + E
  std::vector<int> judged_;        // the pairs whose least eigenvalue was asked for last, and it
  double judged_eigenvalue_ = 0;
  std::vector<Holder> holders_;
  bool empty_ = false;
};

}  // namespace deft::solvers
