#include "deft/solvers/contact/interior/newton_system.hpp"

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

// A pivot this much smaller than the diagonal entry it came from is rounding noise.
constexpr double kNoise = 2e-16;
// Columns of an island from which sparse tiles beat the dense factor.
constexpr int kSparseFrom = 150;

}  // namespace

// Where each island is factored.
void NewtonSystem::place_islands(const PackedProgram& program) {
  sparse_of_island_.assign(program.islands.size(), -1);
  first_value_.resize(program.islands.size());
  std::size_t size = 0;
  int count = 0;
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const Island& island = program.islands[k];
    first_value_[k] = size;
    if (island.size < kSparseFrom) {
      size += to_size(island.size) * island.ld;
    } else {
      sparse_of_island_[k] = count++;
    }
  }
  H_.assign(size + kernels::kLane, 0.0);  // kernels may add zeros to one register beyond the end
  if (static_cast<int>(sparse_.size()) < count) sparse_.resize(count);
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    if (sparse_of_island_[k] >= 0) start_sparse(program, static_cast<int>(k));
  }
}

// Tiles: blocks of Q, neighbouring single columns together, large blocks in pieces. Tiles are coupled by blocks of Q
// and by rows.
void NewtonSystem::start_sparse(const PackedProgram& program, int k) {
  const Island& island = program.islands[k];
  tile_sizes_.clear();
  tile_pairs_.clear();
  tile_of_column_.resize(island.size);
  bool open = false;  // the last tile takes single columns
  int column = 0;
  for (const MetricBlock& block : program.metric) {
    if (block.island != k) continue;
    const int first_tile = static_cast<int>(tile_sizes_.size());
    for (int done = 0; done < block.size;) {
      const int size = std::min(kernels::kLane, block.size - done);
      if (block.size == 1 && open && tile_sizes_.back() < kernels::kLane) {
        ++tile_sizes_.back();
      } else {
        tile_sizes_.push_back(size);
      }
      const int tile = static_cast<int>(tile_sizes_.size()) - 1;
      for (int i = 0; i < size; ++i) tile_of_column_[column++] = tile;
      for (int other = first_tile; other < tile; ++other) tile_pairs_.emplace_back(other, tile);
      done += size;
    }
    open = block.size == 1;
  }
  for (const RowGroup& group : program.groups) {
    if (group.island != k) continue;
    const int* cols = program.cols.data() + group.first_col;
    for (int i = 0; i < group.num_cols; ++i) {
      const int tile = tile_of_column_[cols[i]];
      if (i > 0 && tile == tile_of_column_[cols[i - 1]]) continue;
      for (int j = i + 1; j < group.num_cols; ++j) {
        const int other = tile_of_column_[cols[j]];
        if (other != tile && other != tile_of_column_[cols[j - 1]])
          tile_pairs_.emplace_back(std::min(tile, other), std::max(tile, other));
      }
    }
  }
  sparse(k)->start(tile_sizes_, tile_pairs_);
}

// H ← Q, the first entries of all.
void NewtonSystem::add_energy(const PackedProgram& program) {
  for (const MetricBlock& block : program.metric) {
    const Island& island = program.islands[block.island];
    const int offset = block.start - island.start;
    const double* Q = program.Q_values.data() + block.first_value;
    while (static_cast<int>(range_.size()) < island.size) range_.push_back(static_cast<int>(range_.size()));
    if (linear::TileCholesky* tiles = sparse(block.island)) {
      tiles->add(block.size, range_.data() + offset, Q, block.ld);
      continue;
    }
    double* H = H_.data() + first_value_[block.island];
    for (int r = 0; r < block.size; ++r) {
      for (int c = r; c < block.size; ++c) H[to_size(offset + r) * island.ld + offset + c] = Q[r * block.ld + c];
    }
  }
}

// T ← C J of the rows with curvature in a group. @returns these rows of J one after the other: those of the program
// unless there are gaps.
NewtonSystem::LoadedRows NewtonSystem::weigh_rows(const PackedProgram& program, const RowGroup& group,
                                                  const std::vector<BlockCurvature>& curvature) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  J_scratch_.resize(std::max(J_scratch_.size(), to_size(group.num_rows) * group.ld));
  T_scratch_.resize(J_scratch_.size());
  const double* values = program.values.data() + group.first_value;
  LoadedRows loaded{.J = values};
  for (int k = group.first_block; k < group.first_block + group.num_blocks; ++k) {
    const PackedBlock& block = program.blocks[k];
    if (curvature[k].zero) continue;
    const std::size_t at = to_size(loaded.count) * group.ld;
    const double* J = values + to_size(block.first_row - group.first_row) * group.ld;
    if (loaded.J == values && J != values + at) {
      std::copy(values, values + at, J_scratch_.data());
      loaded.J = J_scratch_.data();
    }
    if (loaded.J != values) std::copy(J, J + to_size(block.rows) * group.ld, J_scratch_.data() + at);
    kernels.weigh(block.rows, group.ld, curvature[k].C, J, T_scratch_.data() + at);
    loaded.count += block.rows;
  }
  return loaded;
}

// H += JᵀCJ of the rows of groups.
void NewtonSystem::add_rows(const PackedProgram& program, const std::vector<BlockCurvature>& curvature) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (const RowGroup& group : program.groups) {
    const LoadedRows rows = weigh_rows(program, group, curvature);
    if (rows.count == 0) continue;
    const int* cols = program.cols.data() + group.first_col;
    if (linear::TileCholesky* tiles = sparse(group.island)) {
      local_.assign(to_size(group.num_cols) * group.ld + kernels::kLane, 0.0);
      kernels.add_product(rows.count, group.num_cols, group.ld, rows.J, T_scratch_.data(), range_.data(), true,
                          local_.data(), group.ld);
      tiles->add(group.num_cols, cols, local_.data(), group.ld);
      continue;
    }
    kernels.add_product(rows.count, group.num_cols, group.ld, rows.J, T_scratch_.data(), cols, group.contiguous,
                        H_.data() + first_value_[group.island], program.islands[group.island].ld);
  }
}

// The same of bounds, which change one entry of the diagonal each.
void NewtonSystem::add_bounds(const PackedProgram& program, const std::vector<BlockCurvature>& curvature) {
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i) {
    const BlockCurvature& c = curvature[program.first_unit_block + i];
    if (c.zero) continue;
    const int k = program.island_of_packed[program.unit_cols[i]];
    const Island& island = program.islands[k];
    const int local = program.unit_cols[i] - island.start;
    const double value = program.unit_values[i] * c.C[0] * program.unit_values[i];
    if (linear::TileCholesky* tiles = sparse(k)) {
      tiles->add_diagonal(local, value);
    } else {
      H_[first_value_[k] + to_size(local) * (island.ld + 1)] += value;
    }
  }
}

// Cholesky factors in place of H. @returns the number of pivots that are rounding noise.
int NewtonSystem::factor_islands(const PackedProgram& program) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  int flat = 0;
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const Island& island = program.islands[k];
    if (linear::TileCholesky* tiles = sparse(static_cast<int>(k))) {
      flat += tiles->factor(kNoise);
      continue;
    }
    double* H = H_.data() + first_value_[k];
    floor_.resize(std::max<std::size_t>(floor_.size(), island.size));
    for (int i = 0; i < island.size; ++i) floor_[i] = kNoise * H[to_size(i) * (island.ld + 1)];
    flat += kernels.factor(island.size, island.ld, H, floor_.data());
  }
  return flat;
}

int NewtonSystem::factor(const PackedProgram& program, const std::vector<BlockCurvature>& curvature) {
  place_islands(program);
  add_energy(program);
  add_rows(program, curvature);
  add_bounds(program, curvature);
  return factor_islands(program);
}

void NewtonSystem::solve(const PackedProgram& program, std::vector<double>& x) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const Island& island = program.islands[k];
    if (linear::TileCholesky* tiles = sparse(static_cast<int>(k))) {
      tiles->solve(x.data() + island.start);
    } else if (island.size == 1) {
      const double u = H_[first_value_[k]];
      x[island.start] *= u * u;
    } else {
      kernels.solve(island.size, island.ld, H_.data() + first_value_[k], x.data() + island.start);
    }
  }
}

void NewtonSystem::multiply(const PackedProgram& program, const std::vector<double>& v, std::vector<double>& z) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
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
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
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

}  // namespace deft::solvers::contact
