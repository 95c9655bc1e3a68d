#include "deft/solvers/force_space/coulomb_sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::force_space {
namespace {

constexpr double kFloor = 1e-12;  // of the local stiffnesses, whose scale is one
constexpr double kRoot = 1e-14;   // relative, of λ and of |r_t| − r_n
constexpr int kMostSecants = 60;
constexpr double kFirstReach = 10, kLongestReach = 3000;  // times the step of a sweep

}  // namespace

void CoulombSweeps::start(const ForceSpace& space) {
  locals_.assign(space.contacts.size(), {});
  for (std::size_t i = 0; i < space.contacts.size(); ++i) {
    const ForceSpace::Contact& c = space.contacts[i];
    Local& local = locals_[i];
    double block[3][3] = {};
    for (int k = 0; k < c.rows; ++k) {
      for (Eigen::SparseMatrix<double>::InnerIterator it(space.W, c.first + k); it; ++it) {
        const auto row = static_cast<int>(it.row()) - c.first;
        if (row >= 0 && row < c.rows) block[row][k] = it.value();
      }
    }
    local.normal = std::max(block[0][0], kFloor);
    const double a = block[1][1] - block[1][0] * block[1][0] / local.normal,
                 b = block[1][2] - block[1][0] * block[2][0] / local.normal,
                 d = block[2][2] - block[2][0] * block[2][0] / local.normal;
    local.coupling[0] = block[1][0];
    local.coupling[1] = block[2][0];
    if (c.rows < 3) {
      local.eigenvalue[0] = std::max(a, kFloor);
      continue;
    }
    const double mean = 0.5 * (a + d), radius = std::hypot(0.5 * (a - d), b),
                 angle = 0.5 * std::atan2(b, 0.5 * (a - d));
    local.eigenvalue[0] = std::max(mean + radius, kFloor);
    local.eigenvalue[1] = std::max(mean - radius, kFloor);
    local.axis[0] = std::cos(angle);
    local.axis[1] = std::sin(angle);
  }
}

// u = W_ii r + q. Open: r = 0. Otherwise u_n = 0 and u_t = −λ r_t with the λ ≥ 0 where |r_t| = r_n, or λ = 0 inside the
// cone (sticking): r_t(λ) = −(S + λ)⁻¹c and r_n = −(q_n + wᵀr_t)/W_n, S = W_t − wwᵀ/W_n, c = q_t − w q_n/W_n.
void CoulombSweeps::solve_contact(int rows, const Local& local, const double* q, double* r) {
  for (int k = 0; k < rows; ++k) r[k] = 0;
  if (q[0] >= 0) return;
  if (rows == 1) {
    r[0] = -q[0] / local.normal;
    return;
  }
  const double* w = local.coupling;
  const double c0 = q[1] - w[0] * q[0] / local.normal, c1 = rows > 2 ? q[2] - w[1] * q[0] / local.normal : 0.0;
  const double along = local.axis[0] * c0 + local.axis[1] * c1, across = local.axis[0] * c1 - local.axis[1] * c0;
  // |r_t| − r_n at λ; sets r.
  const auto excess = [&](double lambda) {
    const double x = -along / (local.eigenvalue[0] + lambda), y = -across / (local.eigenvalue[1] + lambda);
    r[1] = local.axis[0] * x - local.axis[1] * y;
    double pull = w[0] * r[1];
    if (rows > 2) {
      r[2] = local.axis[1] * x + local.axis[0] * y;
      pull += w[1] * r[2];
    }
    r[0] = -(q[0] + pull) / local.normal;
    return std::hypot(x, y) - r[0];
  };
  double f_low = excess(0);
  if (f_low <= 0) return;
  double low = 0, high = local.eigenvalue[0], f_high = excess(high);
  while (f_high > 0 && high < 1e300) low = high, f_low = f_high, f_high = excess(high *= 4);
  for (int k = 0, side = 0; k < kMostSecants && high - low > kRoot * high; ++k) {  // regula falsi (Illinois)
    const double middle = k % 8 == 7 ? 0.5 * (low + high) : (low * f_high - high * f_low) / (f_high - f_low);
    const double f = excess(middle);
    if (std::abs(f) <= kRoot * r[0]) return;
    if (f > 0) {
      low = middle, f_low = f;
      if (side == 1) f_high *= 0.5;
      side = 1;
    } else {
      high = middle, f_high = f;
      if (side == -1) f_low *= 0.5;
      side = -1;
    }
  }
}

void CoulombSweeps::visit(const ForceSpace& space, std::size_t i, Eigen::VectorXd& r, double& change) const {
  const ForceSpace::Contact& c = space.contacts[i];
  double local_q[3] = {}, out[3] = {};
  for (int k = 0; k < c.rows; ++k) {
    double u = space.q[c.first + k];
    for (Eigen::SparseMatrix<double>::InnerIterator it(space.W, c.first + k); it; ++it) {
      const auto row = it.row();
      if (row < c.first || row >= c.first + c.rows) u += it.value() * r[row];
    }
    local_q[k] = u;
  }
  solve_contact(c.rows, locals_[i], local_q, out);
  for (int k = 0; k < c.rows; ++k) {
    change = std::max(change, std::abs(out[k] - r[c.first + k]));
    r[c.first + k] = out[k];
  }
}

double CoulombSweeps::sweep(const ForceSpace& space, Eigen::VectorXd& r) const {
  double change = 0;
  const std::size_t n = space.contacts.size();
  for (std::size_t i = 0; i < n; ++i) visit(space, i, r, change);
  for (std::size_t i = n; i-- > 0;) visit(space, i, r, change);
  return change;
}

int CoulombSweeps::extrapolate(const ForceSpace& space, const Eigen::VectorXd& before, double& change,
                               Eigen::VectorXd& r) const {
  const Eigen::VectorXd way = r - before;
  int sweeps = 0;
  for (double length = kFirstReach; length < kLongestReach; length *= 2) {
    Eigen::VectorXd beyond = r + length * way;
    const double next = sweep(space, beyond);
    ++sweeps;
    if (!(next <= change)) break;
    r = beyond;
    change = next;
  }
  return sweeps;
}

}  // namespace deft::solvers::force_space
