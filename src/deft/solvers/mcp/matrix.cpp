#include "deft/solvers/mcp/matrix.hpp"

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::mcp {

void McpMatrix::resize(int n) {
  n_ = n;
  ld_ = kernels::padded(n);
  data_.resize(dense() ? to_size(n) * to_size(ld_) : 0);
}

McpJacobian McpMatrix::start() {
  if (dense()) {
    std::fill(data_.begin(), data_.end(), 0.0);
    return {data_.data(), ld_, nullptr};
  }
  entries_.clear();
  return {nullptr, 0, &entries_};
}

void McpMatrix::scale(const double* row, const double* column) {
  if (!dense()) {
    for (McpJacobian::Entry& entry : entries_) entry.value *= row[entry.row] * column[entry.column];
    return;
  }
  for (int i = 0; i < n_; ++i) {
    double* values = data_.data() + static_cast<std::ptrdiff_t>(i) * ld_;
    for (int j = 0; j < ld_; ++j) values[j] *= row[i] * column[j];
  }
}

void McpMatrix::multiply(const double* x, double* out) const {
  if (dense()) {
    kernels::dense_kernels().multiply(n_, ld_, data_.data(), x, out);
    return;
  }
  std::fill_n(out, n_, 0.0);
  for (const McpJacobian::Entry& entry : entries_) out[entry.row] += entry.value * x[entry.column];
}

void McpMatrix::multiply_transposed(const double* x, double* out) const {
  std::fill_n(out, ld_, 0.0);
  if (dense()) {
    kernels::dense_kernels().multiply_transposed(n_, ld_, data_.data(), x, out);
    return;
  }
  for (const McpJacobian::Entry& entry : entries_) out[entry.column] += entry.value * x[entry.row];
}

}  // namespace deft::solvers::mcp
