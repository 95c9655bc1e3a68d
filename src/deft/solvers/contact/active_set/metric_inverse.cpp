#include "deft/solvers/contact/active_set/metric_inverse.hpp"

#include <Eigen/Cholesky>
#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kSingularPivot = 1e-12;  // relative

// A small block of known size: everything in registers.
template <int n>
bool invert_fixed(const double* Q, double* inverse) {
  using Matrix = Eigen::Matrix<double, n, n>;
  const Eigen::Map<const Matrix> source(Q);
  const Matrix symmetric = 0.5 * (source + source.transpose());
  const Eigen::LLT<Matrix> llt(symmetric);
  if (llt.info() != Eigen::Success) return false;
  for (int i = 0; i < n; ++i) {
    const double pivot = llt.matrixLLT()(i, i);
    if (!(pivot * pivot > kSingularPivot * symmetric(i, i))) return false;
  }
  Eigen::Map<Matrix> out(inverse);
  out = llt.solve(Matrix::Identity());
  return true;
}

}  // namespace

bool MetricInverse::invert(const double* Q, int n, double* inverse) {
  if (n == 1) {
    *inverse = 1 / *Q;
    return *Q > 0;
  }
  if (n == 3) return invert_fixed<3>(Q, inverse);
  if (n == 6) return invert_fixed<6>(Q, inverse);
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int ld = kernels::padded(n);
  factor_.assign(to_size(n) * ld + kernels::kLane, 0.0);
  floor_.resize(n);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) factor_[to_size(r) * ld + c] = 0.5 * (Q[r * n + c] + Q[c * n + r]);
    floor_[r] = kSingularPivot * Q[r * n + r];
  }
  if (kernels.factor(n, ld, factor_.data(), floor_.data()) > 0) return false;
  std::fill(inverse, inverse + to_size(n) * n, 0.0);
  for (int c = 0; c < n; ++c) {
    double* column = inverse + to_size(c) * n;
    column[c] = 1.0;
    kernels.solve(n, ld, factor_.data(), column);
  }
  return true;
}

bool MetricInverse::update(const ContactProgram& program) {
  const BlockDiagonal& Q = program.Q;
  columns_.resize(program.nv);
  diagonal_.resize(program.nv);
  std::size_t first = 0;
  int end = 0;
  bool kept = nv_ == program.nv;
  nv_ = -1;  // until all is well
  for (int k = 0; k < Q.num_blocks(); ++k) {
    const int start = Q.start(k), n = Q.size(k);
    const std::size_t count = to_size(n) * n;
    if (start != end) return false;
    end += n;
    const double* source = Q.block(k).data();
    // By the layout of the columns values_ at `first` belongs to a block of this size, or not.
    const bool same_place =
        kept && columns_[start].first == first && columns_[start].start == start && columns_[start].size == n;
    kept = same_place;
    if (first + count > values_.size()) {
      values_.resize(first + count);
      Q_.resize(first + count);
    }
    const bool changed = !same_place || !std::equal(source, source + count, Q_.data() + first);
    if (changed) {
      if (!invert(source, n, values_.data() + first)) return false;
      std::copy(source, source + count, Q_.data() + first);
    }
    for (int i = 0; i < n && changed; ++i) {
      columns_[start + i] = {k, start, n, first + to_size(i) * n};
      diagonal_[start + i] = values_[first + to_size(i) * (n + 1)];
    }
    first += count;
  }
  if (end != program.nv) return false;
  nv_ = program.nv;
  return true;
}

}  // namespace deft::solvers::contact
