#include "deft/solvers/lcs/stages.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"

namespace deft::solvers::lcs {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kProximal = 1e-4;   // ε of a multiplier, times the curvature that its effect has in the cost
constexpr double kSpread = 1e3;      // largest ratio of two of these curvatures
constexpr double kUndone = 1e-4;     // weight of what inputs pay to undo a multiplier, beside what its effect costs
constexpr double kFree = 1e-3;       // of the largest weight: an input without weight counts as this when it undoes a
                                     // multiplier
constexpr double kReachable = 1e-2;  // of the direction that inputs move most: others hardly count as reachable
constexpr double kNoCurvature = 1e-12;  // of the largest: rounding
constexpr double kWeightless = 1e-9;    // of the largest eigenvalue of R: inputs below have no weight of their own

/// out += M v, column after column (M is column-major).
void add_product(const MatrixXd& M, const double* v, double* out) {
  const Index rows = M.rows(), cols = M.cols();
  const double* column = M.data();
  for (Index j = 0; j < cols; ++j, column += rows) {
    const double w = v[j];
    if (w == 0) continue;
    for (Index i = 0; i < rows; ++i) out[i] += column[i] * w;
  }
}

/// out += Mᵀ v.
void add_transposed_product(const MatrixXd& M, const double* v, double* out) {
  const Index rows = M.rows(), cols = M.cols();
  const double* column = M.data();
  for (Index j = 0; j < cols; ++j, column += rows) {
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += column[i] * v[i];
    out[j] += sum;
  }
}

/// The largest entry, or one if all are zero.
double size_of(const MatrixXd& M) {
  const double largest = M.size() > 0 ? M.cwiseAbs().maxCoeff() : 0.0;
  return largest > 0 ? largest : 1.0;
}

bool same(const MatrixXd& a, const MatrixXd& b) { return a.rows() == b.rows() && a.cols() == b.cols() && a == b; }

/// Which states have which soft bounds does not differ.
bool same_softness(const LcsRows& a, const LcsMpcProgram& program) { return a.soft() == LcsRows(program).soft(); }

}  // namespace

LcsStages::LcsStages(const LcsMpcProgram& program, double weight)
    : rows_(program),
      N_(program.N),
      system_(program.system),
      Q_(program.Q),
      R_(program.R),
      Qf_(program.Qf),
      x_price_(program.x_price),
      columns_(to_size(num_rows())),
      column_memory_(to_size(num_rows())) {
  const int nu = rows_.nu(), ng = rows_.pairs();
  G_ = MatrixXd::Zero(rows_.nx(), rows_.nz());
  G_.leftCols(nu) = system_.B;
  G_.middleCols(nu, ng) = system_.C;
  price_.assign(rows_.nz(), 0.0);
  for (std::size_t i = 0; i < rows_.soft().size(); ++i) price_[to_size(nu + ng) + i] = x_price_(rows_.soft()[i]);
  choose_epsilon(program, weight);
  factor(program);
  set_data(program);
  find_diagonal();
}

bool LcsStages::fits(const LcsMpcProgram& program) const {
  const LinearComplementaritySystem& s = program.system;
  return program.N == N_ && same(s.A, system_.A) && same(s.B, system_.B) && same(s.C, system_.C) &&
         same(s.D0, system_.D0) && same(s.D, system_.D) && same(s.E, system_.E) && same(s.H, system_.H) &&
         same(program.Q, Q_) && same(program.R, R_) && same(program.Qf, Qf_) && same(program.x_price, x_price_) &&
         same_softness(rows_, program);
}

void LcsStages::set_data(const LcsMpcProgram& program) {
  x0_ = program.x0;
  x_goal_ = program.x_goal;
  system_.F = program.system.F;
  system_.alpha = program.system.alpha;
  rows_ = LcsRows(program);
}

/// Curvature per entry of z: of what it does to the next state, in the weights of two steps and of the end. Multipliers
/// that do not enter the dynamics trade with the next state in their slack rows.
void LcsStages::choose_epsilon(const LcsMpcProgram& program, double proximal_weight) {
  const int nx = rows_.nx(), nu = rows_.nu(), ng = rows_.pairs();
  const MatrixXd R = 2 * program.R;
  const double input_weight = size_of(R);
  const MatrixXd P = 2 * (program.Q + program.Qf + system_.A.transpose() * program.Q * system_.A);
  VectorXd curvature = VectorXd::Zero(rows_.nz());
  for (int i = 0; i < nu + ng; ++i) curvature(i) = G_.col(i).dot(P * G_.col(i));
  for (std::size_t i = 0; i < rows_.soft().size(); ++i)
    curvature(nu + ng + static_cast<int>(i)) = P(rows_.soft()[i], rows_.soft()[i]);
  // What the inputs pay to undo it counts too, or a cost without weight on states would leave multipliers no curvature
  // at all.
  if (nu > 0) {
    MatrixXd weight = R;
    weight.diagonal().array() += kFree * input_weight;
    const SymmetricEigen gramian = symmetric_eigen(MatrixXd(system_.B * ldlt_solve(weight, system_.B.transpose())));
    for (int i = 0; i < nx; ++i) {
      const double length = gramian.values(i);
      if (length <= kReachable * gramian.values(nx - 1)) continue;
      for (int j = nu; j < nu + ng; ++j) {
        const double along = gramian.vectors.col(i).dot(G_.col(j));
        curvature(j) = std::max(curvature(j), kUndone * along * along / length);
      }
    }
  }
  const int own = rows_.nz() - nu;
  const double found = own > 0 ? curvature.tail(own).maxCoeff() : 0.0, largest = found > 0 ? found : input_weight;
  MatrixXd regular = P;
  regular.diagonal().array() += largest / kSpread + 1e-6 * size_of(P);
  const MatrixXd inverse = ldlt_solve(regular, MatrixXd::Identity(nx, nx));
  for (int i = 0; i < ng; ++i) {
    if (curvature(nu + i) > 0) continue;
    for (int j = 0; j < ng; ++j) {
      const double response = system_.D.row(j).dot(inverse * system_.D.row(j).transpose());
      if (system_.E(j, i) != 0 && response > 0)
        curvature(nu + i) = std::max(curvature(nu + i), system_.E(j, i) * system_.E(j, i) / response);
    }
  }
  epsilon_.resize(rows_.nz());
  const bool weightless = nu > 0 && symmetric_eigenvalues(R).minCoeff() <= kWeightless * input_weight;
  for (int i = 0; i < rows_.nz(); ++i) {
    double h = curvature(i);
    if (i >= nu) h = h > kNoCurvature * largest ? std::clamp(h, largest / kSpread, largest) : largest;
    if (h == 0) h = input_weight;
    epsilon_[i] = i >= nu || weightless ? proximal_weight * kProximal * h : 0.0;
  }
}

void LcsStages::factor(const LcsMpcProgram& program) {
  const int nu = rows_.nu(), nz = rows_.nz();
  MatrixXd R = MatrixXd::Zero(nz, nz);
  R.topLeftCorner(nu, nu) = 2 * program.R;
  for (int i = 0; i < nz; ++i) R(i, i) += epsilon_[i];
  stages_.resize(N_);
  MatrixXd P = 2 * program.Qf;
  for (int k = N_ - 1; k >= 0; --k) {
    Stage& stage = stages_[k];
    stage.P = P;
    const MatrixXd PG = P * G_;
    const Eigen::LLT<MatrixXd> M(R + G_.transpose() * PG);
    stage.Minv = M.solve(MatrixXd::Identity(nz, nz));
    stage.MG = M.solve(G_.transpose());
    stage.K = -M.solve(PG.transpose() * system_.A);
    stage.Acl = system_.A + G_ * stage.K;
    // Joseph's form keeps P semidefinite.
    P = 2 * program.Q + stage.Acl.transpose() * P * stage.Acl + stage.K.transpose() * R * stage.K;
    P = 0.5 * (P + P.transpose()).eval();
  }
}

void LcsStages::clear(Scratch& scratch) const {
  scratch.state_gradient.assign((N_ + 1) * rows_.nx(), 0.0);
  scratch.variable_gradient.assign(num_variables(), 0.0);
  scratch.offset.resize(num_variables());
  scratch.p.resize(rows_.nx());
  scratch.pv.resize(rows_.nx());
}

void LcsStages::add_multiplier(int row, double lambda, Scratch& scratch) const {
  const int k = row / rows_.per_stage(), nx = rows_.nx();
  for (const LcsTerm& term : rows_.terms(row % rows_.per_stage())) {
    const double g = lambda * term.a;
    if (term.of == LcsQuantity::kVariable)
      scratch.variable_gradient[k * rows_.nz() + term.index] += g;
    else
      scratch.state_gradient[(k + (term.of == LcsQuantity::kNext ? 1 : 0)) * nx + term.index] += g;
  }
}

/// offset_k = −M⁻¹(Gᵀ(p_{k+1} + P F) + gradient of z_k) from the last stage whose gradients count.
void LcsStages::backward(int from, Scratch& scratch, bool affine) const {
  const int nx = rows_.nx(), nz = rows_.nz();
  double *p = scratch.p.data(), *pv = scratch.pv.data();
  std::copy_n(scratch.state_gradient.data() + (from + 1) * nx, nx, p);
  for (int k = from; k >= 0; --k) {
    const Stage& stage = stages_[k];
    const double* gz = scratch.variable_gradient.data() + k * nz;
    double* offset = scratch.offset.data() + k * nz;
    std::copy_n(p, nx, pv);
    if (affine) add_product(stage.P, system_.F.data(), pv);
    std::fill_n(offset, nz, 0.0);
    add_product(stage.MG, pv, offset);
    add_product(stage.Minv, gz, offset);
    for (int i = 0; i < nz; ++i) offset[i] = -offset[i];
    std::copy_n(scratch.state_gradient.data() + k * nx, nx, p);
    add_transposed_product(stage.Acl, pv, p);
    for (int j = 0; j < nx; ++j) {
      const double* column = stage.K.data() + static_cast<Index>(j) * nz;
      double sum = 0;
      for (int i = 0; i < nz; ++i) sum += column[i] * gz[i];
      p[j] += sum;
    }
  }
  for (int k = from + 1; k < N_; ++k) std::fill_n(scratch.offset.data() + k * nz, nz, 0.0);
}

void LcsStages::forward(Scratch& scratch, bool affine, const double* x0, double* x, double* z, int stages) const {
  const int nx = rows_.nx(), nz = rows_.nz();
  if (x0)
    std::copy_n(x0, nx, x);
  else
    std::fill_n(x, nx, 0.0);
  for (int k = 0; k < stages; ++k) {
    double *now = x + k * nx, *next = now + nx, *zk = z + k * nz;
    std::copy_n(scratch.offset.data() + k * nz, nz, zk);
    add_product(stages_[k].K, now, zk);
    if (affine)
      std::copy_n(system_.F.data(), nx, next);
    else
      std::fill_n(next, nx, 0.0);
    add_product(system_.A, now, next);
    add_product(G_, zk, next);
  }
}

void LcsStages::read_rows(const double* x, const double* z, bool affine, double* y) const {
  const int nx = rows_.nx(), nz = rows_.nz(), per = rows_.per_stage();
  for (int k = 0; k < N_; ++k) {
    const double *now = x + k * nx, *next = now + nx, *zk = z + k * nz;
    double* yk = y + k * per;
    // x_0 is given: in directions (not affine) it is zero, as `now` is.
    for (int r = 0; r < per; ++r) {
      double sum = affine ? rows_.constant(r) : 0.0;
      for (const LcsTerm& term : rows_.terms(r))
        sum += term.a * (term.of == LcsQuantity::kVariable ? zk
                         : term.of == LcsQuantity::kNext   ? next
                                                           : now)[term.index];
      yk[r] = sum;
    }
  }
}

void LcsStages::minimise(const double* lambda, const double* centre, LcsStagePoint& point, Scratch& scratch) const {
  const int nx = rows_.nx(), nz = rows_.nz(), nu = rows_.nu();
  clear(scratch);
  for (int k = 1; k <= N_; ++k) {
    const MatrixXd& Q = k < N_ ? Q_ : Qf_;
    double* g = scratch.state_gradient.data() + k * nx;
    for (int j = 0; j < nx; ++j) {
      const double w = -2 * x_goal_(j, k);
      for (int i = 0; w != 0 && i < nx; ++i) g[i] += Q(i, j) * w;
    }
  }
  for (int k = 0; k < N_; ++k) {
    double* g = scratch.variable_gradient.data() + k * nz;
    for (int i = 0; i < nz; ++i) g[i] = price_[i] - (centre ? epsilon_[i] * centre[k * nz + i] : 0.0);
  }
  const int rows = num_rows();
  for (int r = 0; r < rows; ++r) {
    if (lambda[r] != 0) add_multiplier(r, lambda[r], scratch);
  }
  backward(N_ - 1, scratch, true);
  point.x.resize((N_ + 1) * nx);
  point.z.resize(num_variables());
  point.y.resize(rows);
  forward(scratch, true, x0_.data(), point.x.data(), point.z.data(), N_);
  read_rows(point.x.data(), point.z.data(), true, point.y.data());

  point.cost = point.proximal = 0;
  double* e = scratch.pv.data();
  for (int k = 0; k <= N_; ++k) {
    const MatrixXd& Q = k < N_ ? Q_ : Qf_;
    for (int i = 0; i < nx; ++i) e[i] = point.x[k * nx + i] - x_goal_(i, k);
    for (int j = 0; j < nx; ++j) {
      double sum = 0;
      for (int i = 0; i < nx; ++i) sum += Q(i, j) * e[i];
      point.cost += sum * e[j];
    }
    if (k == N_) break;
    const double* zk = point.z.data() + k * nz;
    for (int j = 0; j < nu; ++j) {
      double sum = 0;
      for (int i = 0; i < nu; ++i) sum += R_(i, j) * zk[i];
      point.cost += sum * zk[j];
    }
    for (int i = 0; i < nz; ++i) {
      const double d = zk[i] - (centre ? centre[k * nz + i] : 0.0);
      point.proximal += 0.5 * epsilon_[i] * d * d;
      point.cost += price_[i] * zk[i];
    }
  }
}

double LcsStages::energy(const double* lambda, Scratch& scratch) const {
  const int nx = rows_.nx(), nz = rows_.nz(), nu = rows_.nu();
  clear(scratch);
  for (int r = 0; r < num_rows(); ++r) {
    if (lambda[r] != 0) add_multiplier(r, lambda[r], scratch);
  }
  backward(N_ - 1, scratch, false);
  VectorXd x(static_cast<Index>((N_ + 1) * nx)), z(static_cast<Index>(num_variables()));
  forward(scratch, false, nullptr, x.data(), z.data(), N_);
  double sum = 0;
  for (int k = 0; k < N_; ++k) {
    const auto next = x.segment((k + 1) * nx, nx);
    const auto zk = z.segment(k * nz, nz);
    sum += 2 * next.dot((k + 1 < N_ ? Q_ : Qf_) * next) + 2 * zk.head(nu).dot(R_ * zk.head(nu));
    for (int i = 0; i < nz; ++i) sum += epsilon_[i] * zk(i) * zk(i);
  }
  return sum;
}

const double* LcsStages::column(int row, Scratch& scratch) const {
  if (const double* known = columns_[row].load(std::memory_order_acquire)) return known;
  const int nx = rows_.nx(), rows = num_rows();
  auto memory = std::make_unique<double[]>(to_size(rows));
  clear(scratch);
  add_multiplier(row, 1.0, scratch);
  backward(row / rows_.per_stage(), scratch, false);
  std::vector<double> x(to_size((N_ + 1) * nx)), z(to_size(num_variables()));
  forward(scratch, false, nullptr, x.data(), z.data(), N_);
  read_rows(x.data(), z.data(), false, memory.get());
  for (int r = 0; r < rows; ++r) memory[r] = -memory[r];
  const std::lock_guard lock(columns_mutex_);
  if (const double* known = columns_[row].load(std::memory_order_acquire)) return known;  // another thread was faster
  column_memory_[row] = std::move(memory);
  columns_[row].store(column_memory_[row].get(), std::memory_order_release);
  return column_memory_[row].get();
}

void LcsStages::find_diagonal() {
  const int per = rows_.per_stage(), nx = rows_.nx(), nz = rows_.nz();
  Scratch scratch;
  std::vector<double> x(to_size((N_ + 1) * nx)), z(to_size(num_variables()));
  diagonal_.resize(num_rows());
  cross_.resize(N_ * rows_.pairs());
  for (int row = 0; row < num_rows(); ++row) {
    const int k = row / per;
    clear(scratch);
    add_multiplier(row, 1.0, scratch);
    if (k == 0) std::fill_n(scratch.state_gradient.data(), nx, 0.0);
    backward(k, scratch, false);
    forward(scratch, false, nullptr, x.data(), z.data(), k + 1);
    const auto answer = [&](int r) {
      double sum = 0;
      for (const LcsTerm& term : rows_.terms(r)) {
        sum -= term.a * (term.of == LcsQuantity::kVariable ? z[k * nz + term.index]
                         : term.of == LcsQuantity::kNext   ? x[(k + 1) * nx + term.index]
                                                           : x[k * nx + term.index]);
      }
      return sum;
    };
    diagonal_[row] = answer(row % per);
    if (row % per < rows_.pairs()) cross_[k * rows_.pairs() + row % per] = answer(rows_.slack(row % per));
  }
}

}  // namespace deft::solvers::lcs
