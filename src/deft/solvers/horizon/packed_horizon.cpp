#include "deft/solvers/horizon/packed_horizon.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::horizon {
namespace {

using Eigen::Index;

constexpr int kSparse = 4;  // forms of up to so many entries are not worth a dense row

void copy(const Eigen::VectorXd& from, int size, std::vector<double>& to) {
  to.assign(size, 0.0);
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

void PackedHorizon::assign(const HorizonQp& qp) {
  x_start_ = &qp.x_start;
  u_before_ = &qp.u_before;
  const int nx = static_cast<int>(qp.x_start.size()), nu = static_cast<int>(qp.u_before.size());
  const std::size_t count = qp.stages.size();
  stages_.resize(count);
  for (auto* list : {&value_, &J_, &form_value_, &norm_, &d_, &rho_, &stiffness_}) list->clear();
  general_.clear();
  index_.clear();
  source_.clear();
  constant_.clear();
  size_ = forms_ = 0;
  int widest = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const HorizonStage& from = qp.stages[t];
    Stage& to = stages_[t];
    const bool last = t + 1 == count;
    to.at = size_;
    pack_stage(from, last, nu, to);
    size_ += to.ld;
    widest = std::max(widest, to.ld);
    to.form = forms_;
    to.general = to.form + to.nu + (last ? 0 : to.np);
    forms_ = to.form_end = to.general + static_cast<int>(from.d.size());
    general_.resize(forms_, {0, 0, -1});
    pack_general(from, to);
  }
  form_value_.assign(forms_, 0.0);
  v_.assign(2 * kernels::padded(nx + nu), 0.0);
  h_.assign(widest, 0.0);
  iota_.resize(widest);
  for (int i = 0; i < widest; ++i) iota_[i] = i;
  scale_rows(qp);
  add_inequalities(qp, false);
  hard_ = this->count();
  add_inequalities(qp, true);
}

void PackedHorizon::pack_stage(const HorizonStage& from, bool last, int nu, Stage& to) {
  const int nx = static_cast<int>(from.q.size());
  const bool changes = !last && (from.R.size() > 0 || from.change.size() > 0);
  const bool before = changes || from.P.size() > 0;
  to.nu = last ? 0 : nu;
  to.nx = nx;
  to.np = before ? nu : 0;
  to.n = to.nu + nx + to.np;
  to.ld = kernels::padded(to.n);
  const std::size_t area = to_size(nx) * to_size(to.ld);
  to.Q.assign(area, 0.0);
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < nx; ++j) to.Q[i * to.ld + to.nu + j] = from.Q(j, i);
  copy(from.q, nx, to.q);
  if (last) return;
  copy(from.S, nu, to.S);
  copy(from.s, nu, to.s);
  copy(from.R, nu, to.R);
  copy(from.c, nx, to.c);
  to.M.assign(area, 0.0);
  for (int j = 0; j < nu; ++j)
    for (int i = 0; i < nx; ++i) to.M[i * to.ld + j] = from.B(i, j);
  for (int j = 0; j < nx; ++j)
    for (int i = 0; i < nx; ++i) to.M[i * to.ld + nu + j] = from.A(i, j);
}

void PackedHorizon::pack_general(const HorizonStage& from, Stage& to) {
  const int m = static_cast<int>(from.d.size());
  for (int r = 0; r < m; ++r) {
    General& form = general_[to.general + r];
    form.first = static_cast<int>(index_.size());
    const auto add = [&](const auto& block, Index columns, int offset) {
      for (Index j = 0; j < columns; ++j) {
        if (block(r, j) == 0) continue;
        index_.push_back(offset + static_cast<int>(j));
        value_.push_back(block(r, j));
      }
    };
    if (to.nu > 0) add(from.U, from.U.cols(), 0);
    add(from.X, from.X.cols(), to.nu);
    if (to.np > 0) add(from.P, from.P.cols(), to.nu + to.nx);
    form.last = static_cast<int>(index_.size());
    form.dense = -1;
    if (form.last - form.first <= kSparse) continue;
    form.dense = static_cast<int>(J_.size());
    J_.resize(J_.size() + to_size(to.ld), 0.0);
    double* row = J_.data() + form.dense;
    for (auto k = to_size(form.first); k < to_size(form.last); ++k) row[index_[k]] = value_[k];
  }
}

/// norm_[form] = 1 / (the stiffness that the cost opposes to the form), roughly.
void PackedHorizon::scale_rows(const HorizonQp& qp) {
  norm_.assign(forms_, 0.0);
  const int T = steps();
  double last = 1;
  for (int t = 0; t <= T; ++t) {
    const Stage& s = stages_[t];
    double curvature = last;
    if (t < T) {
      const double nu = std::max(1, s.nu), nx = std::max(1, s.nx);
      curvature = 0;
      const auto k = to_size(t);
      for (std::size_t i = 0; i < s.S.size(); ++i) curvature += (s.S[i] + s.R[i]) / nu;
      curvature += qp.stages[k + 1].Q.trace() / nx * qp.stages[k].B.squaredNorm() / nu;
      if (!(curvature > 0)) curvature = last;
    }
    last = curvature;
    for (int f = s.form; f < s.general; ++f) norm_[f] = 1 / curvature;
    for (int f = s.general; f < s.form_end; ++f) {
      const General& form = general_[f];
      double by_inputs = 0, by_states = 0;
      for (int k = form.first; k < form.last; ++k) {
        const int j = index_[k];
        const double square = value_[k] * value_[k];
        if (j >= s.nu && j < s.nu + s.nx) {
          const double gain = t == 0 ? 0 : qp.stages[to_size(t) - 1].B.row(j - s.nu).squaredNorm();
          by_states += square * (gain > 0 || t == 0 ? gain : 1);
        } else if (j < s.nu || t > 0) {
          by_inputs += square;
        }
      }
      norm_[f] = (by_inputs + by_states) / curvature;
    }
  }
}

void PackedHorizon::add(int t, int place, int form, double sign, double d, double rho) {
  if (!(d < kInfinity)) return;
  const double norm = norm_[form];
  if (!(norm > 0)) {  // nothing that can be chosen moves it
    const Stage& s = stages_[0];
    const General& general = general_[form];
    double value = 0, size = std::abs(d);
    for (int k = general.first; k < general.last && t == 0; ++k) {
      const int j = index_[k] - s.nu;
      const double term = value_[k] * (j < s.nx ? (*x_start_)(j) : (*u_before_)(j - s.nx));
      value += term;
      size += std::abs(term);
    }
    constant_.push_back({t, place, value - d, size, rho});
    return;
  }
  source_.push_back({t, place, form, sign});
  d_.push_back(d);
  rho_.push_back(rho);
  stiffness_.push_back(1 / norm);
}

void PackedHorizon::add_inequalities(const HorizonQp& qp, bool soft) {
  for (int t = 0; t <= steps(); ++t) {
    const Stage& s = stage(t);
    const HorizonStage& from = qp.stages[t];
    const bool last = t == steps();
    for (int i = 0; i < s.nu && !soft; ++i) {
      add(t, i, s.form + i, 1, from.upper(i), kInfinity);
      add(t, s.nu + i, s.form + i, -1, -from.lower(i), kInfinity);
      if (from.change.size() == 0) continue;
      add(t, 2 * s.nu + i, s.form + s.nu + i, 1, from.change(i), kInfinity);
      add(t, 3 * s.nu + i, s.form + s.nu + i, -1, from.change(i), kInfinity);
    }
    for (int r = 0; r < from.d.size(); ++r) {
      if ((from.rho(r) < kInfinity) != soft) continue;
      add(t, (last ? 0 : 4 * s.nu) + r, s.general + r, 1, from.d(r), from.rho(r));
    }
  }
}

void PackedHorizon::apply(const std::vector<double>& z, std::vector<double>& y) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (const Stage& s : stages_) {
    const double* zeta = z.data() + s.at;
    double* out = form_value_.data() + s.form;
    for (int i = 0; i < s.nu; ++i) out[i] = zeta[i];
    if (s.nu > 0)
      for (int i = 0; i < s.np; ++i) out[s.nu + i] = zeta[i] - zeta[s.nu + s.nx + i];
    for (int f = s.general; f < s.form_end; ++f) {
      const General& form = general_[f];
      double sum = 0;
      if (form.dense >= 0)
        kernels.multiply(1, s.ld, J_.data() + form.dense, zeta, &sum);
      else
        for (auto k = to_size(form.first); k < to_size(form.last); ++k) sum += value_[k] * zeta[index_[k]];
      form_value_[f] = sum;
    }
  }
  y.resize(source_.size());
  for (std::size_t i = 0; i < source_.size(); ++i) y[i] = source_[i].sign * form_value_[source_[i].form];
}

void PackedHorizon::add_transposed(const std::vector<double>& y, std::vector<double>& g) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  std::fill(form_value_.begin(), form_value_.end(), 0.0);
  for (std::size_t i = 0; i < source_.size(); ++i) form_value_[source_[i].form] += source_[i].sign * y[i];
  for (const Stage& s : stages_) {
    double* zeta = g.data() + s.at;
    const double* in = form_value_.data() + s.form;
    for (int i = 0; i < s.nu; ++i) zeta[i] += in[i];
    if (s.nu > 0) {
      for (int i = 0; i < s.np; ++i) {
        zeta[i] += in[s.nu + i];
        zeta[s.nu + s.nx + i] -= in[s.nu + i];
      }
    }
    for (int f = s.general; f < s.form_end; ++f) {
      const General& form = general_[f];
      const double factor = form_value_[f];
      if (factor == 0) continue;
      if (form.dense >= 0)
        kernels.multiply_transposed(1, s.ld, J_.data() + form.dense, &factor, zeta);
      else
        for (auto k = to_size(form.first); k < to_size(form.last); ++k) zeta[index_[k]] += factor * value_[k];
    }
  }
}

void PackedHorizon::form_weights(const std::vector<double>& w, std::vector<double>& weight) const {
  weight.assign(forms_, 0.0);
  for (std::size_t i = 0; i < source_.size(); ++i) weight[source_[i].form] += w[i];
}

void PackedHorizon::add_forms(int t, const std::vector<double>& weight, double* H) {
  const Stage& s = stage(t);
  const double* w = weight.data() + s.form;
  const int ld = s.ld, p = s.nu + s.nx;
  for (int i = 0; i < s.nu; ++i) H[i * ld + i] += w[i];
  if (s.nu > 0) {
    for (int i = 0; i < s.np; ++i) {
      H[i * ld + i] += w[s.nu + i];
      H[i * ld + p + i] -= w[s.nu + i];
      H[(p + i) * ld + p + i] += w[s.nu + i];
    }
  }
  int rows = 0;
  active_J_.clear();
  active_T_.clear();
  for (int f = s.general; f < s.form_end; ++f) {
    const double factor = weight[f];
    if (factor == 0) continue;
    const General& form = general_[f];
    if (form.dense >= 0) {
      const double* row = J_.data() + form.dense;
      active_J_.insert(active_J_.end(), row, row + ld);
      active_T_.insert(active_T_.end(), row, row + ld);
      for (int j = 0; j < ld; ++j) active_T_[rows * ld + j] *= factor;
      ++rows;
      continue;
    }
    const auto first = to_size(form.first), last = to_size(form.last);
    for (std::size_t a = first; a < last; ++a) {
      for (std::size_t b = a; b < last; ++b) {
        const int i = index_[a], j = index_[b];
        H[std::min(i, j) * ld + std::max(i, j)] += factor * value_[a] * value_[b];
      }
    }
  }
  if (rows > 0)
    kernels::dense_kernels().add_product(rows, s.n, ld, active_J_.data(), active_T_.data(), iota_.data(), true, H, ld);
}

void PackedHorizon::gradient(const std::vector<double>& z, std::vector<double>& g) const {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (const Stage& s : stages_) {
    const double* zeta = z.data() + s.at;
    double* out = g.data() + s.at;
    std::fill(out, out + s.ld, 0.0);
    kernels.multiply(s.nx, s.ld, s.Q.data(), zeta, out + s.nu);
    for (int i = 0; i < s.nx; ++i) out[s.nu + i] += s.q[i];
    for (int i = 0; i < s.nu; ++i) {
      const std::size_t k = to_size(i);
      out[i] = s.S[k] * zeta[i] + s.s[k];
      if (s.np == 0) continue;
      const double force = s.R[k] * (zeta[i] - zeta[s.nu + s.nx + i]);
      out[i] += force;
      out[s.nu + s.nx + i] = -force;
    }
  }
}

double PackedHorizon::reduced(const std::vector<double>& g, std::vector<double>* inputs) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const Stage& end = stages_.back();
  double* v = v_.data();  // by (x, p)
  std::copy(g.data() + end.at, g.data() + end.at + end.n, v);
  int np = end.np;
  double result = 0;
  for (int t = steps(); t-- > 0;) {
    const Stage& s = stage(t);
    double* h = h_.data();
    std::copy(g.data() + s.at, g.data() + s.at + s.ld, h);
    kernels.multiply_transposed(s.nx, s.ld, s.M.data(), v, h);
    for (int i = 0; i < np; ++i) h[i] += v[s.nx + i];
    for (int i = 0; i < s.nu; ++i) result = std::max(result, std::isfinite(h[i]) ? std::abs(h[i]) : kInfinity);
    if (inputs != nullptr) std::copy(h, h + s.nu, inputs->data() + s.at);
    std::copy(h + s.nu, h + s.n, v);
    np = s.np;
  }
  return result;
}

}  // namespace deft::solvers::horizon
