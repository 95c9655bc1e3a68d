// PIQP: proximal interior point, dense.

#include <piqp/piqp.hpp>

#include <Eigen/Core>
#include <optional>

#include "rivals/rival.hpp"

namespace deft::benchmarks {
namespace {

using Matrix = Eigen::Map<const Eigen::MatrixXd>;
using Vector = Eigen::Map<const Eigen::VectorXd>;

class Piqp : public Rival {
 public:
  explicit Piqp(bool keeps) : keeps_(keeps) {}
  std::string name() const override { return keeps_ ? "PIQP kept workspace" : "PIQP cold"; }

  bool solve(const DenseProgram& p, double* x) override {
    const Matrix Q(p.Q.data(), p.n, p.n), A(p.A_col.data(), p.m, p.n);
    const Vector b(p.b.data(), p.n), low(p.low.data(), p.m);
    if (!keeps_ || !solver_ || n_ != p.n || m_ != p.m) {
      solver_.emplace();
      n_ = p.n;
      m_ = p.m;
      solver_->settings().eps_abs = solver_->settings().eps_duality_gap_abs = 1e-10;
      solver_->settings().eps_rel = solver_->settings().eps_duality_gap_rel = 1e-12;
      solver_->settings().preconditioner_reuse_on_update = true;
      solver_->setup(Q, b, piqp::nullopt, piqp::nullopt, A, low);
    } else {
      solver_->update(Q, b, piqp::nullopt, piqp::nullopt, A, low);
    }
    const piqp::Status status = solver_->solve();
    Eigen::Map<Eigen::VectorXd>(x, p.n) = solver_->result().x;
    return status == piqp::PIQP_SOLVED;
  }

 private:
  bool keeps_;
  int n_ = 0, m_ = 0;
  std::optional<piqp::DenseSolver<double>> solver_;
};

}  // namespace

Rivals make_piqp() { return list(std::make_unique<Piqp>(false), std::make_unique<Piqp>(true)); }

}  // namespace deft::benchmarks
