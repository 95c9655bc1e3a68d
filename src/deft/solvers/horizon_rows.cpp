#include "deft/solvers/horizon_rows.hpp"

#include <limits>

namespace deft::solvers {

void HorizonRows::assign(const HorizonQp& qp) {
  qp_ = &qp;
  first_.assign(1, 0);
  const std::size_t T = qp.stages.size() - 1;
  const Eigen::Index nu = qp.u_before.size();
  for (std::size_t t = 0; t <= T; ++t) first_.push_back(first_.back() + (t < T ? 4 * nu : 0) + qp.stages[t].d.size());
  d_.resize(size());
  rho_.setConstant(size(), std::numeric_limits<double>::infinity());
  for (std::size_t t = 0; t <= T; ++t) {
    const HorizonStage& stage = qp.stages[t];
    const Eigen::Index count = first_[t + 1] - first_[t];
    if (t < T) d_.segment(first_[t], 4 * nu) << stage.upper, -stage.lower, stage.change, stage.change;
    d_.segment(first_[t], count).tail(stage.d.size()) = stage.d;
    rho_.segment(first_[t], count).tail(stage.d.size()) = stage.rho;
  }
}

void HorizonRows::apply(const std::vector<StageVector>& z, Eigen::ArrayXd& y) const {
  const std::size_t T = qp_->stages.size() - 1;
  const Eigen::Index nu = qp_->u_before.size();
  y.resize(size());
  for (std::size_t t = 0; t <= T; ++t) {
    const HorizonStage& stage = qp_->stages[t];
    if (t < T) y.segment(first_[t], 4 * nu) << z[t].u, -z[t].u, z[t].u - z[t].p, z[t].p - z[t].u;
    if (stage.d.size() == 0) continue;
    auto general = y.segment(first_[t + 1] - stage.d.size(), stage.d.size()).matrix();
    general.noalias() = stage.X * z[t].x + stage.P * z[t].p;
    if (t < T) general.noalias() += stage.U * z[t].u;
  }
}

void HorizonRows::add_transposed(const Eigen::ArrayXd& y, std::vector<StageVector>& g) const {
  const std::size_t T = qp_->stages.size() - 1;
  const Eigen::Index nu = qp_->u_before.size();
  for (std::size_t t = 0; t <= T; ++t) {
    const HorizonStage& stage = qp_->stages[t];
    if (t < T) {
      const auto at = [&](Eigen::Index k) { return y.segment(first_[t] + k * nu, nu).matrix(); };
      g[t].u += at(0) - at(1) + at(2) - at(3);
      g[t].p += at(3) - at(2);
    }
    if (stage.d.size() == 0) continue;
    const auto general = y.segment(first_[t + 1] - stage.d.size(), stage.d.size()).matrix();
    g[t].x.noalias() += stage.X.transpose() * general;
    g[t].p.noalias() += stage.P.transpose() * general;
    if (t < T) g[t].u.noalias() += stage.U.transpose() * general;
  }
}

void HorizonRows::add_form(const Eigen::ArrayXd& w, std::vector<StageForm>& H) const {
  const std::size_t T = qp_->stages.size() - 1;
  const Eigen::Index nu = qp_->u_before.size();
  for (std::size_t t = 0; t <= T; ++t) {
    const HorizonStage& stage = qp_->stages[t];
    if (t < T) {
      const auto at = [&](Eigen::Index k) { return w.segment(first_[t] + k * nu, nu).matrix(); };
      const Eigen::VectorXd change = at(2) + at(3);
      H[t].uu.diagonal() += at(0) + at(1) + change;
      H[t].pp.diagonal() += change;
      H[t].pu.diagonal() -= change;
    }
    if (stage.d.size() == 0) continue;
    const auto general = w.segment(first_[t + 1] - stage.d.size(), stage.d.size()).matrix().asDiagonal();
    const Eigen::MatrixXd wX = general * stage.X, wP = general * stage.P;
    H[t].xx.noalias() += stage.X.transpose() * wX;
    H[t].xp.noalias() += stage.X.transpose() * wP;
    H[t].pp.noalias() += stage.P.transpose() * wP;
    if (t == T) continue;
    const Eigen::MatrixXd wU = general * stage.U;
    H[t].xu.noalias() += stage.X.transpose() * wU;
    H[t].pu.noalias() += stage.P.transpose() * wU;
    H[t].uu.noalias() += stage.U.transpose() * wU;
  }
}

}  // namespace deft::solvers
