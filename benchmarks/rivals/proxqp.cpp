// ProxQP: primal-dual augmented Lagrangian, dense.

#include <Eigen/Core>
#include <optional>
#include <proxsuite/proxqp/dense/dense.hpp>

#include "rivals/rival.hpp"

namespace deft::benchmarks {
namespace {

namespace proxqp = proxsuite::proxqp;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class ProxQp : public Rival {
 public:
  std::string name() const override { return "ProxQP warm"; }

  bool solve(const DenseProgram& p, double* x) override {
    const Eigen::Map<const RowMajor> Q(p.Q.data(), p.n, p.n), A(p.A.data(), p.m, p.n);
    const Eigen::Map<const Eigen::VectorXd> b(p.b.data(), p.n), low(p.low.data(), p.m);
    if (!qp_ || n_ != p.n || m_ != p.m) {
      n_ = p.n;
      m_ = p.m;
      qp_.emplace(p.n, 0, p.m);
      qp_->settings.eps_abs = 1e-9;
      qp_->settings.eps_rel = 0;
      qp_->settings.initial_guess = proxqp::InitialGuessStatus::WARM_START_WITH_PREVIOUS_RESULT;
      upper_.setConstant(p.m, 1e20);
      qp_->init(Q, b, proxsuite::nullopt, proxsuite::nullopt, A, low, upper_);
    } else {
      qp_->update(Q, b, proxsuite::nullopt, proxsuite::nullopt, A, low, upper_);
    }
    qp_->solve();
    Eigen::Map<Eigen::VectorXd>(x, p.n) = qp_->results.x;
    return qp_->results.info.status == proxqp::QPSolverOutput::PROXQP_SOLVED;
  }

 private:
  int n_ = 0, m_ = 0;
  Eigen::VectorXd upper_;
  std::optional<proxqp::dense::QP<double>> qp_;
};

}  // namespace

Rivals make_proxqp() { return list(std::make_unique<ProxQp>()); }

}  // namespace deft::benchmarks
