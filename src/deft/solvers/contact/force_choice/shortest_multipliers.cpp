// min ½|λ|²  subject to  Aᵀλ = g,  λ ∈ K has a dual without constraints,
//
//   max_z  gᵀz − ½|P_K(Az)|²,   λ = P_K(Az),
//
// whose gradient is the residual of the balance. Newton's method (semismooth) with a line search on it.

#include "deft/solvers/contact/force_choice/shortest_multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kBalanced = 1e-13;  // residual over the forces at which Newton's method stops
constexpr double kNear = 1e-6;       // residual below which a step that does not halve it is the last one
constexpr double kAccepted = 1e-9;   // residual that counts as success
constexpr double kRegular = 1e-13;   // weight on directions of z that no row sees
constexpr int kMaxSteps = 100, kMaxHalvings = 40;

double dot(std::span<const double> a, const double* b) { return std::inner_product(a.begin(), a.end(), b, 0.0); }
double norm(std::span<const double> a) { return std::sqrt(dot(a, a.data())); }

/// λ = P_K(x).
void project(GeneratorKind kind, int rows, const double* x, double* out) {
  if (kind == GeneratorKind::kLine) {
    out[0] = x[0];
  } else if (kind == GeneratorKind::kRay) {
    out[0] = std::max(0.0, x[0]);
  } else {
    const double tail = linear::tail_norm(rows, x);
    if (tail <= -x[0]) {
      std::fill_n(out, rows, 0.0);
    } else if (tail <= x[0]) {
      std::copy_n(x, rows, out);
    } else {
      out[0] = 0.5 * (x[0] + tail);
      for (int r = 1; r < rows; ++r) out[r] = x[r] * out[0] / tail;
    }
  }
}

/// The derivative of the projection on a cone, row-major. @returns whether it is not zero.
bool projection_slope(int rows, const double* x, double* slope) {
  const double tail = linear::tail_norm(rows, x);
  if (tail <= -x[0] && tail > x[0]) return false;
  linear::SpectralConeOperator arrow{.plus = 1, .minus = 1, .perp = 1};
  if (tail > x[0]) {
    arrow = {.plus = 1, .minus = 0, .perp = 0.5 * (x[0] + tail) / tail};
    linear::tail_direction(rows, x, arrow.u);
  }
  arrow.to_matrix(rows, slope);
  return true;
}

}  // namespace

void Generators::clear() {
  A.clear();
  kinds.clear();
  first.clear();
  given.clear();
}

RowBlocks::Block Generators::add(GeneratorKind kind, std::span<const int> cols,
                                 std::span<const double> given_multipliers) {
  kinds.push_back(kind);
  first.push_back(static_cast<int>(given.size()));
  given.insert(given.end(), given_multipliers.begin(), given_multipliers.end());
  return A.append(static_cast<int>(given_multipliers.size()), cols);
}

bool ShortestMultipliers::find(Generators& generators, int nv, std::vector<double>& z) {
  generators.shortest.assign(generators.given.size(), 0.0);
  Az_.resize(generators.given.size());
  find_islands(generators, nv);
  for (std::size_t k = 0; k < count_; ++k) {
    if (!solve(generators, islands_[k], z)) return false;
  }
  return true;
}

/// Generators that share velocities, directly or through others.
void ShortestMultipliers::find_islands(const Generators& generators, int nv) {
  parent_.resize(nv);
  std::iota(parent_.begin(), parent_.end(), 0);
  const auto root = [&](int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  };
  for (int k = 0; k < generators.A.size(); ++k) {
    for (const int c : generators.A.cols(k)) parent_[root(c)] = root(generators.A.cols(k).front());
  }
  count_ = 0;
  island_of_.assign(nv, -1);
  local_.resize(nv);
  for (int k = 0; k < generators.A.size(); ++k) {
    int& island = island_of_[root(generators.A.cols(k).front())];
    if (island < 0) {
      if (count_ == islands_.size()) islands_.emplace_back();
      islands_[count_].cols.clear();
      islands_[count_].generators.clear();
      island = static_cast<int>(count_++);
    }
    islands_[island].generators.push_back(k);
  }
  for (int c = 0; c < nv; ++c) {
    const int island = island_of_[root(c)];
    if (island < 0) continue;
    local_[c] = static_cast<int>(islands_[island].cols.size());
    islands_[island].cols.push_back(c);
  }
}

bool ShortestMultipliers::solve(Generators& generators, const Island& island, std::vector<double>& z) {
  const std::size_t n = island.cols.size();
  g_.assign(n, 0.0);
  residual_.assign(n, 0.0);
  size_ = 0;
  for (const int k : island.generators) {
    const auto cols = generators.A.cols(k);
    const auto A = generators.A.block(k);
    const double* given = generators.given.data() + generators.first[k];
    for (std::size_t c = 0; c < cols.size(); ++c) {
      double share = 0;
      for (Eigen::Index r = 0; r < A.rows(); ++r) share += A(r, static_cast<Eigen::Index>(c)) * given[r];
      size_ += share * share;  // of the forces, which may cancel
      g_[local_[cols[c]]] += share;
    }
  }
  size_ = std::sqrt(size_);
  z_.resize(n);
  bool is_warm = false;
  for (std::size_t c = 0; c < n; ++c) {
    z_[c] = z[island.cols[c]];
    is_warm |= z_[c] != 0;
  }
  bool found = is_warm && newton(generators, island, false);
  if (!found) {
    z_.assign(n, 0.0);
    found = newton(generators, island, true);
  }
  for (std::size_t c = 0; c < n; ++c) z[island.cols[c]] = found ? z_[c] : 0.0;
  return found;
}

/// From z_. @returns whether the forces balance.
bool ShortestMultipliers::newton(Generators& generators, const Island& island, bool first) {
  evaluate(generators, island);
  double error = norm(residual_);
  for (int step = 0; step < kMaxSteps && error > kBalanced * size_; ++step) {
    newton_direction(generators, island, first && step == 0);
    if (!search(generators, island)) break;
    const double next = norm(residual_);
    const bool stalled = error <= kNear * size_ && next >= 0.5 * error;
    error = next;
    if (stalled) break;
  }
  return error <= kAccepted * size_;
}

/// λ, the residual g − Aᵀλ and the dual's value at z_.
void ShortestMultipliers::evaluate(Generators& generators, const Island& island) {
  residual_ = g_;
  value_ = dot(g_, z_.data());
  for (const int k : island.generators) {
    const auto cols = generators.A.cols(k);
    const auto A = generators.A.block(k);
    const int rows = static_cast<int>(A.rows());
    double *x = Az_.data() + generators.first[k], *lambda = generators.shortest.data() + generators.first[k];
    const double* row = A.data();
    for (int r = 0; r < rows; ++r, row += cols.size()) {
      x[r] = 0;
      for (std::size_t c = 0; c < cols.size(); ++c) x[r] += row[c] * z_[local_[cols[c]]];
    }
    project(generators.kinds[k], rows, x, lambda);
    row = A.data();
    for (int r = 0; r < rows; ++r, row += cols.size()) {
      if (lambda[r] == 0) continue;
      for (std::size_t c = 0; c < cols.size(); ++c) residual_[local_[cols[c]]] -= row[c] * lambda[r];
      value_ -= 0.5 * lambda[r] * lambda[r];
    }
  }
}

void ShortestMultipliers::newton_direction(const Generators& generators, const Island& island, bool first) {
  const int n = static_cast<int>(island.cols.size()), ld = kernels::padded(n);
  H_.assign(to_size(n) * ld, 0.0);
  for (const int k : island.generators) {
    const auto cols = generators.A.cols(k);
    const auto A = generators.A.block(k);
    const int rows = static_cast<int>(A.rows());
    const double* x = Az_.data() + generators.first[k];
    // At the apex every cone counts as inside: the first step is the least-norm solution without cones.
    double slope[linear::kMaxConeRows * linear::kMaxConeRows] = {1};
    if (generators.kinds[k] == GeneratorKind::kRay && !first && !(x[0] > 0)) continue;
    if (generators.kinds[k] == GeneratorKind::kCone) {
      if (first)
        linear::SpectralConeOperator{.plus = 1, .minus = 1, .perp = 1}.to_matrix(rows, slope);
      else if (!projection_slope(rows, x, slope))
        continue;
    }
    for (std::size_t c = 0; c < cols.size(); ++c) {
      double turned[linear::kMaxConeRows] = {};
      for (int r = 0; r < rows; ++r) {
        for (int s = 0; s < rows; ++s) turned[r] += slope[r * rows + s] * A(s, static_cast<Eigen::Index>(c));
      }
      double* row = H_.data() + to_size(local_[cols[c]]) * ld;
      // Upper triangle: the columns of a generator and of its island ascend.
      for (int r = 0; r < rows; ++r) {
        if (turned[r] == 0) continue;
        const double* values = A.data() + to_size(r) * cols.size();
        for (std::size_t d = c; d < cols.size(); ++d) row[local_[cols[d]]] += turned[r] * values[d];
      }
    }
  }
  double trace = 0;
  for (int i = 0; i < n; ++i) trace += H_[to_size(i) * ld + i];
  const double regular = kRegular * std::max(trace, 1e-300) / n;
  for (int i = 0; i < n; ++i) H_[to_size(i) * ld + i] += regular;
  floor_.assign(n, 0.1 * regular);
  direction_ = residual_;
  direction_.resize(ld, 0.0);
  kernels::dense_kernels().factor(n, ld, H_.data(), floor_.data());
  kernels::dense_kernels().solve(n, ld, H_.data(), direction_.data());
}

/// Moves z_ along the direction, halving until the dual rises enough. @returns whether it did.
bool ShortestMultipliers::search(Generators& generators, const Island& island) {
  const double value = value_, rise = dot(residual_, direction_.data()), error = norm(residual_);
  if (!(rise > 0)) return false;
  start_ = z_;
  double length = 1;
  for (int k = 0; k < kMaxHalvings; ++k, length *= 0.5) {
    for (std::size_t c = 0; c < z_.size(); ++c) z_[c] = start_[c] + length * direction_[c];
    evaluate(generators, island);
    // Near the end the values differ by rounding only; there the residual decides.
    if (value_ >= value + 1e-4 * length * rise || norm(residual_) <= 0.9 * error) return true;
  }
  z_ = start_;
  evaluate(generators, island);
  return false;
}

}  // namespace deft::solvers::contact
