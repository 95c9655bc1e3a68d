#pragma once
// The inequalities of a horizon program as one list  G z ≤ d  (+ e for soft rows), stage after stage:
// u ≤ upper, −u ≤ −lower, u − p ≤ change, p − u ≤ change, X x + P p + U u ≤ d; of the last stage the general ones only.

#include <vector>

#include "deft/solvers/horizon_riccati.hpp"

namespace deft::solvers {

/// Products with G, whose entries are mostly ones that need no storage.
class HorizonRows {
 public:
  /// The rows of `qp`, which must outlive their use.
  void assign(const HorizonQp& qp);

  Eigen::Index size() const { return first_.back(); }
  /// Right-hand sides, infinite where there is no bound; and the price of violation, infinite for hard rows.
  const Eigen::ArrayXd& d() const { return d_; }
  const Eigen::ArrayXd& rho() const { return rho_; }
  /// First row of a stage; of T + 1: the number of rows.
  Eigen::Index first(std::size_t stage) const { return first_[stage]; }

  /// G z.
  void apply(const std::vector<StageVector>& z, Eigen::ArrayXd& y) const;
  /// g += Gᵀ y.
  void add_transposed(const Eigen::ArrayXd& y, std::vector<StageVector>& g) const;
  /// H += Gᵀ diag(w) G.
  void add_form(const Eigen::ArrayXd& w, std::vector<StageForm>& H) const;

 private:
  const HorizonQp* qp_ = nullptr;
  std::vector<Eigen::Index> first_;
  Eigen::ArrayXd d_, rho_;
};

}  // namespace deft::solvers
