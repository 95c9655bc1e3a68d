#include "deft/solvers/newton_system.hpp"

#include <algorithm>

#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers {
namespace {

// A pivot this much smaller than the diagonal entry it came from is rounding noise.
constexpr double kNoise = 2e-16;

}  // namespace

int NewtonSystem::factor(const PackedProgram& program, const std::vector<BlockCurvature>& curvature) {
  const DenseKernels& kernels = dense_kernels();
  std::size_t size = kLane;  // kernels may add zeros to one register beyond the end
  for (const Island& island : program.islands) size += static_cast<std::size_t>(island.size) * island.ld;
  H_.assign(size, 0.0);
  for (const MetricBlock& block : program.metric) {
    const Island& island = program.islands[block.island];
    const int offset = block.start - island.start;
    double* H = H_.data() + island.first_value;
    const double* Q = program.Q_values.data() + block.first_value;
    for (int r = 0; r < block.size; ++r) {
      for (int c = r; c < block.size; ++c)
        H[static_cast<std::size_t>(offset + r) * island.ld + offset + c] = Q[r * block.ld + c];
    }
  }
  for (const RowGroup& group : program.groups) {
    const Island& island = program.islands[group.island];
    J_scratch_.resize(std::max(J_scratch_.size(), static_cast<std::size_t>(group.num_rows) * group.ld));
    T_scratch_.resize(J_scratch_.size());
    int rows = 0;
    for (int k = group.first_block; k < group.first_block + group.num_blocks; ++k) {
      const PackedBlock& block = program.blocks[k];
      if (curvature[k].zero) continue;
      const double* J = program.values.data() + group.first_value +
                        static_cast<std::size_t>(block.first_row - group.first_row) * group.ld;
      std::copy(J, J + static_cast<std::size_t>(block.rows) * group.ld,
                J_scratch_.data() + static_cast<std::size_t>(rows) * group.ld);
      for (int r = 0; r < block.rows; ++r) {
        double* T = T_scratch_.data() + static_cast<std::size_t>(rows + r) * group.ld;
        const double* C = curvature[k].C + r * block.rows;
        for (int j = 0; j < group.ld; j += kLane) {  // lanes of known length become vectors
          double total[kLane] = {};
          for (int i = 0; i < block.rows; ++i) {
            const double* row = J + static_cast<std::size_t>(i) * group.ld + j;
            for (int lane = 0; lane < kLane; ++lane) total[lane] += C[i] * row[lane];
          }
          std::copy(total, total + kLane, T + j);
        }
      }
      rows += block.rows;
    }
    if (rows == 0) continue;
    kernels.add_product(rows, group.num_cols, group.ld, J_scratch_.data(), T_scratch_.data(),
                        program.cols.data() + group.first_col, group.contiguous, H_.data() + island.first_value,
                        island.ld);
  }
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i) {
    const BlockCurvature& c = curvature[program.first_unit_block + i];
    if (c.zero) continue;
    const Island& island = program.islands[program.island_of_packed[program.unit_cols[i]]];
    const int local = program.unit_cols[i] - island.start;
    H_[island.first_value + static_cast<std::size_t>(local) * (island.ld + 1)] +=
        program.unit_values[i] * c.C[0] * program.unit_values[i];
  }
  int flat = 0;
  for (const Island& island : program.islands) {
    double* H = H_.data() + island.first_value;
    floor_.resize(std::max<std::size_t>(floor_.size(), island.size));
    for (int i = 0; i < island.size; ++i) floor_[i] = kNoise * H[static_cast<std::size_t>(i) * (island.ld + 1)];
    flat += kernels.factor(island.size, island.ld, H, floor_.data());
  }
  return flat;
}

void NewtonSystem::solve(const PackedProgram& program, std::vector<double>& x) const {
  const DenseKernels& kernels = dense_kernels();
  for (const Island& island : program.islands) {
    if (island.size == 1) {
      const double u = H_[island.first_value];
      x[island.start] /= u * u;
    } else {
      kernels.solve(island.size, island.ld, H_.data() + island.first_value, x.data() + island.start);
    }
  }
}

void NewtonSystem::multiply(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& z) {
  const DenseKernels& kernels = dense_kernels();
  for (const RowGroup& group : program.groups) {
    local_.resize(std::max<std::size_t>(local_.size(), group.ld));
    const double* source = v.data() + (program.islands.empty() ? 0 : program.islands[group.island].start);
    const int* cols = program.cols.data() + group.first_col;
    for (int c = 0; c < group.num_cols; ++c) local_[c] = source[cols[c]];
    for (int c = group.num_cols; c < group.ld; ++c) local_[c] = 0.0;
    kernels.multiply(group.num_rows, group.ld, program.values.data() + group.first_value, local_.data(),
                     z.data() + group.first_row);
  }
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i)
    z[program.first_unit_row + i] = program.unit_values[i] * v[program.unit_cols[i]];
}

void NewtonSystem::add_transposed(const PackedProgram& program, const std::vector<double>& y,
                                  std::vector<double>& out) {
  const DenseKernels& kernels = dense_kernels();
  for (const RowGroup& group : program.groups) {
    local_.resize(std::max<std::size_t>(local_.size(), group.ld));
    std::fill(local_.begin(), local_.begin() + group.ld, 0.0);
    kernels.multiply_transposed(group.num_rows, group.ld, program.values.data() + group.first_value,
                                y.data() + group.first_row, local_.data());
    double* target = out.data() + program.islands[group.island].start;
    const int* cols = program.cols.data() + group.first_col;
    for (int c = 0; c < group.num_cols; ++c) target[cols[c]] += local_[c];
  }
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i)
    out[program.unit_cols[i]] += program.unit_values[i] * y[program.first_unit_row + i];
}

void energy_gradient(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& out) {
  for (const MetricBlock& block : program.metric) {
    const double* Q = program.Q_values.data() + block.first_value;
    for (int r = 0; r < block.size; ++r) {
      double total = program.b[block.start + r];
      for (int c = 0; c < block.size; ++c) total += Q[r * block.ld + c] * v[block.start + c];
      out[block.start + r] = total;
    }
  }
}

void curvature_of_rays(const PackedProgram& program, const PackedBlock& block, const double* D, BlockCurvature& out) {
  double n = 0, t = 0, o = 0, tt = 0, to = 0, oo = 0;
  for (int k = 0; k < block.slacks; ++k) {
    const double c = block.mu * program.cos_of(block, k), s = block.mu * program.sin_of(block, k);
    n += D[k], t += D[k] * c, o += D[k] * s, tt += D[k] * c * c, to += D[k] * c * s, oo += D[k] * s * s;
  }
  out.zero = n == 0;
  if (block.rows == 1) {
    out.C[0] = n;
  } else if (block.rows == 2) {
    out.C[0] = n, out.C[1] = out.C[2] = t, out.C[3] = tt;
  } else {
    out.C[0] = n, out.C[1] = out.C[3] = t, out.C[2] = out.C[6] = o;
    out.C[4] = tt, out.C[5] = out.C[7] = to, out.C[8] = oo;
  }
}

}  // namespace deft::solvers
