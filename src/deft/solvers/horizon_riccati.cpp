#include "deft/solvers/horizon_riccati.hpp"

namespace deft::solvers {

bool HorizonRiccati::factor(const HorizonQp& qp, const std::vector<StageForm>& H) {
  const std::size_t T = qp.stages.size() - 1;
  const Eigen::Index nx = qp.x_start.size(), nu = qp.u_before.size();
  nx_ = nx;
  uu_.resize(T);
  K_.resize(T);
  k_.resize(T);
  Pxx_ = H[T].xx;
  Pxp_ = H[T].xp;
  Ppp_ = H[T].pp;
  AB_.resize(nx, nx + nu);
  right_.resize(nu, nx + nu);
  for (std::size_t t = T; t-- > 0;) {
    // The value of the next stage at (A x + B u, u), added to this stage's form.
    AB_ << qp.stages[t].A, qp.stages[t].B;
    PAB_.noalias() = Pxx_ * AB_;
    PAB_.rightCols(nu) += Pxp_;
    const auto A = AB_.leftCols(nx), B = AB_.rightCols(nu);
    Eigen::MatrixXd xx = H[t].xx, uu = H[t].uu + Ppp_;
    xx.noalias() += A.transpose() * PAB_.leftCols(nx);
    uu.noalias() += B.transpose() * PAB_.rightCols(nu);
    uu.noalias() += Pxp_.transpose() * B;
    right_.leftCols(nx) = H[t].xu.transpose();
    right_.leftCols(nx).noalias() += PAB_.rightCols(nu).transpose() * A;
    right_.rightCols(nu) = H[t].pu.transpose();

    // Its minimum over u.
    uu_[t].compute(0.5 * (uu + uu.transpose()));
    if (uu_[t].info() != Eigen::Success) return false;
    K_[t] = uu_[t].solve(right_);
    Pxx_ = xx;
    Pxx_.noalias() -= right_.leftCols(nx).transpose() * K_[t].leftCols(nx);
    Pxx_ = (0.5 * (Pxx_ + Pxx_.transpose())).eval();
    Pxp_ = H[t].xp;
    Pxp_.noalias() -= right_.leftCols(nx).transpose() * K_[t].rightCols(nu);
    Ppp_ = H[t].pp;
    Ppp_.noalias() -= right_.rightCols(nu).transpose() * K_[t].rightCols(nu);
    Ppp_ = (0.5 * (Ppp_ + Ppp_.transpose())).eval();
  }
  return true;
}

void HorizonRiccati::solve(const HorizonQp& qp, const std::vector<StageVector>& g, std::vector<StageVector>& step) {
  const std::size_t T = qp.stages.size() - 1;
  const Eigen::Index nx = nx_, nu = qp.u_before.size();
  // V's gradient (vx, vp) backwards: with z = (x, p) and u = −K z − k,  v = g_z + (A 0)ᵀv⁺ − Kᵀ h,  h = g_u + Bᵀv_x⁺ +
  // v_p⁺.
  Eigen::VectorXd vx = g[T].x, vp = g[T].p, h;
  for (std::size_t t = T; t-- > 0;) {
    h = g[t].u + vp;
    h.noalias() += qp.stages[t].B.transpose() * vx;
    k_[t] = uu_[t].solve(h);
    vx = (g[t].x + qp.stages[t].A.transpose() * vx - K_[t].leftCols(nx).transpose() * h).eval();
    vp = g[t].p - K_[t].rightCols(nu).transpose() * h;
  }
  step.resize(T + 1);
  step[0].x.setZero(nx);
  step[0].p.setZero(nu);
  for (std::size_t t = 0; t < T; ++t) {
    step[t].u = -k_[t] - K_[t].leftCols(nx) * step[t].x - K_[t].rightCols(nu) * step[t].p;
    step[t + 1].x = qp.stages[t].A * step[t].x + qp.stages[t].B * step[t].u;
    step[t + 1].p = step[t].u;
  }
  step[T].u.setZero(nu);
}

}  // namespace deft::solvers
