#include "deft/solvers/contact/interior/rank_test.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr int kLargestIsland = 300;      // columns up to which the test, of the third order in them, is worth its time
constexpr double kRankTolerance = 1e-7;  // relative length of a generator outside the span of the others

bool loaded(const PackedBlock& block, const Iterate& x, const std::vector<double>& slack, int k, double threshold) {
  const double lambda = x.lambda[block.first_slack + k];
  return lambda > threshold && lambda > slack[block.first_slack + k];
}

}  // namespace

// The loaded generators of all blocks as columns in the metric of Q̃⁻¹, orthogonalised one by one per island.
bool RankTest::forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack) {
  for (const Island& island : program.islands) {
    if (island.size > kLargestIsland) return false;
  }
  // Count first: more generators than columns cannot be independent.
  count_.assign(program.islands.size(), 0);
  const auto generators = [&](const PackedBlock& block, double out[linear::kMaxConeRows][linear::kMaxConeRows]) {
    if (block.compliance > 0) return 0;
    if (block.law == Law::kEquality) return out[0][0] = 1, 1;
    const double* lambda = x.lambda.data() + block.first_slack;
    const double* s = slack.data() + block.first_slack;
    const auto identity = [&](int rows) {
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows; ++j) out[i][j] = i == j;
      }
      return rows;
    };
    if (block.law == Law::kCone) {
      const double tail = linear::tail_norm(block.rows, lambda);
      if (lambda[0] <= 1e-10 || lambda[0] <= s[0]) return 0;
      if (lambda[0] - tail > 1e-8 * lambda[0]) return identity(block.rows);
      for (int j = 0; j < block.rows; ++j) out[0][j] = lambda[j] / lambda[0];
      return 1;
    }
    int n = 0;
    for (int k = 0; k < block.slacks; ++k) {
      if (!loaded(block, x, slack, k, 1e-10)) continue;
      if (++n > 2 && block.rows == 3) return block.slacks > 2 ? identity(3) : 2;
      double* column = out[n - 1];
      column[0] = 1;
      if (block.rows > 1) column[1] = block.mu * program.cos_of(block, k);
      if (block.rows > 2) column[2] = block.mu * program.sin_of(block, k);
    }
    return n;
  };
  const auto for_each = [&](auto&& visit) {
    double columns[linear::kMaxConeRows][linear::kMaxConeRows];
    for (const RowGroup& group : program.groups) {
      for (int b = group.first_block; b < group.first_block + group.num_blocks; ++b) {
        const int n = generators(program.blocks[b], columns);
        for (int k = 0; k < n; ++k) {
          if (!visit(group.island, &group, b, columns[k])) return false;
        }
      }
    }
    for (std::size_t i = 0; i < program.unit_cols.size(); ++i) {
      const int b = program.first_unit_block + static_cast<int>(i);
      if (generators(program.blocks[b], columns) == 1 &&
          !visit(program.island_of_packed[program.unit_cols[i]], nullptr, b, columns[0]))
        return false;
    }
    return true;
  };
  if (!for_each([&](int island, const RowGroup*, int, const double*) {
        return ++count_[island] <= program.islands[island].size;
      }))
    return false;

  first_.clear();
  std::size_t total = 0;
  for (const Island& island : program.islands) {
    first_.push_back(total);
    total += to_size(island.size) * island.size;
  }
  basis_.resize(std::max(basis_.size(), total));
  column_.resize(std::max<std::size_t>(column_.size(), program.nv));
  std::fill(count_.begin(), count_.end(), 0);
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  return for_each([&](int k, const RowGroup* group, int b, const double* weights) {
    const Island& island = program.islands[k];
    const PackedBlock& block = program.blocks[b];
    std::fill(column_.begin(), column_.begin() + island.size, 0.0);
    if (group) {
      for (int r = 0; r < block.rows; ++r) {
        const double* row =
            program.values.data() + group->first_value + to_size(block.first_row + r - group->first_row) * group->ld;
        for (int c = 0; c < group->num_cols; ++c) column_[program.cols[group->first_col + c]] += weights[r] * row[c];
      }
    } else {
      const int unit = b - program.first_unit_block;
      column_[program.unit_cols[unit] - island.start] = program.unit_values[unit];
    }
    for (const MetricBlock& metric : program.metric) {
      if (metric.island == k)
        kernels.forward(metric.size, metric.ld, program.metric_factor.data() + metric.first_value,
                        column_.data() + (metric.start - island.start));
    }
    double norm = 0;
    for (int i = 0; i < island.size; ++i) norm += column_[i] * column_[i];
    double* basis = basis_.data() + first_[k];
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < count_[k]; ++j) {
        const double* q = basis + to_size(j) * island.size;
        double along = 0;
        for (int i = 0; i < island.size; ++i) along += q[i] * column_[i];
        for (int i = 0; i < island.size; ++i) column_[i] -= along * q[i];
      }
    }
    double rest = 0;
    for (int i = 0; i < island.size; ++i) rest += column_[i] * column_[i];
    if (!(rest > kRankTolerance * kRankTolerance * norm)) return false;
    double* q = basis + to_size(count_[k]++) * island.size;
    for (int i = 0; i < island.size; ++i) q[i] = column_[i] / std::sqrt(rest);
    return true;
  });
}

}  // namespace deft::solvers::contact
