// The metric Q̃ of a packed program: the blocks of Q, filled up where Q is singular, factored; norms in its inverse.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/interior/packed_program.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kSingularPivot = 1e-12;  // relative pivot below which a block of Q counts as singular
constexpr int kSmallBlock = 8;            // blocks of Q up to this size get an explicit inverse factor
constexpr double kProximal = 1e-6;        // ε of Q + ε(Q̃ − Q), where Q is singular: far above rounding, small against 1

}  // namespace

// Partition of the columns: blocks of Q, then of `masses`, single columns elsewhere. size_at_column_ is the size where
// a block begins, −1 inside it, 0 for single columns.
void PackedProgram::partition_columns(const ContactProgram& program) {
  size_at_column_.assign(nv, 0);
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    for (int i = 0; i < program.Q.size(k); ++i)
      size_at_column_[program.Q.start(k) + i] = i == 0 ? program.Q.size(k) : -1;
  }
  for (int k = 0; k < program.masses.num_blocks(); ++k) {
    const int start = program.masses.start(k), size = program.masses.size(k);
    bool free = true;
    for (int i = 0; i < size; ++i) free = free && size_at_column_[start + i] == 0;
    for (int i = 0; free && i < size; ++i) size_at_column_[start + i] = i == 0 ? size : -1;
  }
}

// A metric block per part, with the symmetric part of Q.
void PackedProgram::pack_energy(const ContactProgram& program) {
  metric.clear();
  Q_values.clear();
  metric_at_column_.assign(nv, -1);
  int next_Q = 0;
  for (int i = 0; i < nv; ++i) {
    if (size_at_column_[i] < 0) continue;
    MetricBlock block;
    block.size = std::max(1, size_at_column_[i]);
    block.start = column_of[i];
    block.island = island_of_column_[i];
    block.ld = kernels::padded(block.size);
    block.first_value = Q_values.size();
    for (int k = 0; k < block.size; ++k) metric_at_column_[i + k] = static_cast<int>(metric.size());
    Q_values.resize(block.first_value + to_size(block.size) * block.ld, 0.0);
    if (next_Q < program.Q.num_blocks() && program.Q.start(next_Q) == i) {
      const auto source = program.Q.block(next_Q++);
      double* Q = Q_values.data() + block.first_value;
      for (int r = 0; r < block.size; ++r) {
        for (int c = 0; c < block.size; ++c) Q[r * block.ld + c] = 0.5 * (source(r, c) + source(c, r));
      }
    }
    metric.push_back(block);
  }
  metric_of_packed_.resize(nv);
  for (int i = 0; i < nv; ++i) metric_of_packed_[column_of[i]] = metric_at_column_[i];
}

// Which rows of Q are zero: M or the mean of Q's diagonal goes there.
void PackedProgram::find_missing_rows() {
  missing_.assign(nv, 0);
  for (MetricBlock& block : metric) {
    for (int r = 0; r < block.size; ++r) {
      bool zero = true;
      for (int c = 0; c < block.size && zero; ++c) zero = Q_values[block.first_value + r * block.ld + c] == 0.0;
      if (!zero) continue;
      missing_[block.start + r] = 1;
      block.singular = true;
    }
  }
}

// Q̃ takes the entries of M in the missing rows, as far as they lie in one metric block; a diagonal only if positive.
void PackedProgram::fill_from_masses(const BlockDiagonal& masses) {
  for (int k = 0; k < masses.num_blocks(); ++k) {
    const auto M = masses.block(k);
    for (int r = 0; r < masses.size(k); ++r) {
      const int row = masses.start(k) + r;
      const MetricBlock& block = metric[metric_at_column_[row]];
      double* Q = metric_factor.data() + block.first_value;
      const int local = column_of[row] - block.start;
      if (!missing_[block.start + local]) continue;
      for (int c = 0; c < masses.size(k); ++c) {
        const int col = masses.start(k) + c;
        const int local_c = column_of[col] - block.start;
        if (metric_at_column_[col] != metric_at_column_[row] || c == r) continue;
        const double diagonal_Q = Q_values[block.first_value + local_c * block.ld + local_c];
        if (diagonal_Q == 0.0) Q[local * block.ld + local_c] = 0.5 * (M(r, c) + M(c, r));
      }
    }
    for (int r = 0; r < masses.size(k); ++r) {
      const int row = masses.start(k) + r;
      const MetricBlock& block = metric[metric_at_column_[row]];
      double& diagonal = metric_factor[block.first_value + (column_of[row] - block.start) * (block.ld + 1)];
      if (missing_[column_of[row]] && M(r, r) > 0) diagonal = M(r, r);
    }
  }
}

// Factors Q̃ in place; missing diagonals that M left are `mean`, and a block that is still singular gets it added.
// scratch_ keeps Q̃ of the block.
void PackedProgram::factor_metric(MetricBlock& block, double mean) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  double* Q = metric_factor.data() + block.first_value;
  metric_floor.resize(std::max<std::size_t>(metric_floor.size(), block.size));
  for (int r = 0; r < block.size; ++r) {
    if (missing_[block.start + r] && Q[r * block.ld + r] == 0.0) Q[r * block.ld + r] = mean;
    metric_floor[r] = kSingularPivot * Q[r * block.ld + r];
  }
  scratch_.assign(Q, Q + to_size(block.size) * block.ld);
  if (kernels.factor(block.size, block.ld, Q, metric_floor.data()) == 0) return;
  block.singular = true;
  std::copy(scratch_.begin(), scratch_.end(), Q);
  for (int r = 0; r < block.size; ++r) Q[r * block.ld + r] += mean;
  std::copy(Q, Q + to_size(block.size) * block.ld, scratch_.begin());
  for (int r = 0; r < block.size; ++r) metric_floor[r] = 0.0;
  if (kernels.factor(block.size, block.ld, Q, metric_floor.data()) > 0)
    throw std::invalid_argument(
        fmt::format("contact program: Q is not positive semidefinite in the block of size {} at packed column {}",
                    block.size, block.start));
}

// U⁻ᵀ of a block, for norms of rows; the factor keeps reciprocals on its diagonal.
void PackedProgram::invert_factor(const MetricBlock& block) {
  const double* U = metric_factor.data() + block.first_value;
  double* inverse = metric_inverse_.data() + block.first_value;
  for (int j = 0; j < block.size; ++j) {
    for (int i = j; i < block.size; ++i) {
      double value = i == j;
      for (int k = j; k < i; ++k) value -= U[k * block.ld + i] * inverse[k * block.ld + j];
      inverse[i * block.ld + j] = value * U[i * block.ld + i];
    }
  }
}

// Q ← Q + ε(Q̃ − Q) in a singular block, whose Q̃ is in scratch_.
void PackedProgram::add_proximal(const MetricBlock& block) {
  flat_values.resize(Q_values.size());
  double* Q = Q_values.data() + block.first_value;
  double* flat = flat_values.data() + block.first_value;
  for (std::size_t k = 0; k < scratch_.size(); ++k) {
    flat[k] = kProximal * (scratch_[k] - Q[k]);
    Q[k] += flat[k];
  }
}

void PackedProgram::pack_metric(const ContactProgram& program) {
  partition_columns(program);
  pack_energy(program);
  double trace = 0.0;
  for (int k = 0; k < program.Q.num_blocks(); ++k) trace += program.Q.block(k).trace();
  const double mean = trace > 0 ? trace / nv : 1.0;

  metric_factor.assign(Q_values.begin(), Q_values.end());
  metric_inverse_.resize(Q_values.size());
  find_missing_rows();
  fill_from_masses(program.masses);
  for (MetricBlock& block : metric) {
    factor_metric(block, mean);
    if (block.size <= kSmallBlock) invert_factor(block);
    if (!block.singular) continue;
    has_singular_blocks = true;
    add_proximal(block);
  }
}

void PackedProgram::scale_proximal(double factor) {
  for (const MetricBlock& block : metric) {
    if (!block.singular) continue;
    for (std::size_t k = block.first_value; k < block.first_value + block.size * block.ld; ++k) {
      Q_values[k] += (factor - 1) * flat_values[k];
      flat_values[k] *= factor;
    }
  }
}

// Q = 0: nothing but ε Q̃ is left, Q̃ = UᵀU.
void PackedProgram::make_flat() {
  has_singular_blocks = true;
  flat_values.assign(Q_values.size(), 0.0);
  for (MetricBlock& block : metric) {
    block.singular = true;
    const double* factor = metric_factor.data() + block.first_value;
    double* flat = flat_values.data() + block.first_value;
    const auto U = [&](int r, int c) {  // the factor keeps reciprocals on its diagonal
      return r == c ? 1 / factor[r * block.ld + c] : factor[r * block.ld + c];
    };
    for (int r = 0; r < block.size; ++r) {
      for (int c = 0; c < block.size; ++c) {
        double value = 0.0;
        for (int k = 0; k <= std::min(r, c); ++k) value += U(k, r) * U(k, c);
        flat[r * block.ld + c] = kProximal * value;
      }
    }
  }
  Q_values = flat_values;
}

// |row|² in the metric of Q̃⁻¹; the group's columns are whole metric blocks.
double PackedProgram::row_norm_squared(const RowGroup& group, const double* row) {
  double total = 0.0;
  const int offset = islands.empty() ? 0 : islands[group.island].start;
  for (int position = 0; position < group.num_cols;) {
    const MetricBlock& block = metric[metric_of_packed_[cols[group.first_col + position] + offset]];
    const double* U = metric_factor.data() + block.first_value;
    if (block.size <= kSmallBlock) {
      // Rows of U⁻ᵀ, precomputed: independent products, no divisions.
      const double* inverse = metric_inverse_.data() + block.first_value;
      for (int i = 0; i < block.size; ++i) {
        double y = 0.0;
        for (int j = 0; j <= i; ++j) y += inverse[i * block.ld + j] * row[position + j];
        total += y * y;
      }
    } else {
      scratch_.assign(row + position, row + position + block.size);
      kernels::dense_kernels().forward(block.size, block.ld, U, scratch_.data());
      for (int k = 0; k < block.size; ++k) total += scratch_[k] * scratch_[k];
    }
    position += block.size;
  }
  return total;
}

double PackedProgram::metric_norm_squared(const std::vector<double>& x, std::vector<double>& scratch) const {
  double total = 0.0;
  for (const MetricBlock& block : metric) {
    const double* U = metric_factor.data() + block.first_value;
    if (block.size == 1) {
      const double y = x[block.start] * U[0];
      total += y * y;
      continue;
    }
    scratch.assign(x.begin() + block.start, x.begin() + block.start + block.size);
    kernels::dense_kernels().forward(block.size, block.ld, U, scratch.data());
    for (double y : scratch) total += y * y;
  }
  return total;
}

}  // namespace deft::solvers::contact
