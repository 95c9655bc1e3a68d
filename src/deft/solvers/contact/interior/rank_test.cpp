#include "deft/solvers/contact/interior/rank_test.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr int kLargestIsland = 300;      // columns up to which the test, of the third order in them, is worth its time
constexpr double kRankTolerance = 1e-7;  // relative length of a generator outside the span of the others
constexpr double kCarriesForce = 1e-10;  // multipliers above it count as forces, if they are larger than their slacks
constexpr double kInsideCone = 1e-8;     // a force this much inside its cone, relative, may change in all directions

/// A row of weights per generator of a block.
using Weights = double[linear::kMaxConeRows][linear::kMaxConeRows];

int all_directions(int rows, Weights out) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) out[i][j] = i == j;
  }
  return rows;
}

// Inside the cone a force may change in all directions, on its boundary along itself.
int generators_of_cone(int rows, const double* lambda, const double* slack, Weights out) {
  const double tail = linear::tail_norm(rows, lambda);
  if (lambda[0] <= kCarriesForce || lambda[0] <= slack[0]) return 0;
  if (lambda[0] - tail > kInsideCone * lambda[0]) return all_directions(rows, out);
  for (int j = 0; j < rows; ++j) out[0][j] = lambda[j] / lambda[0];
  return 1;
}

// One per loaded ray; three and more loaded rays of a pyramid in space leave the force free in all directions.
int generators_of_rays(const PackedProgram& program, const PackedBlock& block, const double* lambda,
                       const double* slack, Weights out) {
  int n = 0;
  for (int k = 0; k < block.slacks; ++k) {
    if (!(lambda[k] > kCarriesForce && lambda[k] > slack[k])) continue;
    if (++n > 2 && block.rows == 3) return block.slacks > 2 ? all_directions(3, out) : 2;
    double* weights = out[n - 1];
    weights[0] = 1;
    if (block.rows > 1) weights[1] = block.mu * program.cos_of(block, k);
    if (block.rows > 2) weights[2] = block.mu * program.sin_of(block, k);
  }
  return n;
}

// Fills the weights of a block's generators. @returns their number; compliant blocks have none.
int generators_of(const PackedProgram& program, const PackedBlock& block, const Iterate& x,
                  const std::vector<double>& slack, Weights out) {
  if (block.compliance > 0) return 0;
  if (block.law == Law::kEquality) {
    out[0][0] = 1;
    return 1;
  }
  const double* lambda = x.lambda.data() + block.first_slack;
  const double* s = slack.data() + block.first_slack;
  return block.law == Law::kCone ? generators_of_cone(block.rows, lambda, s, out)
                                 : generators_of_rays(program, block, lambda, s, out);
}

}  // namespace

// Visits the generators of all loaded blocks, bounds last. @returns false as soon as a visit does.
template <typename Visit>
bool RankTest::for_each_generator(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack,
                                  Visit&& visit) {
  Weights weights;
  for (const RowGroup& group : program.groups) {
    for (int b = group.first_block; b < group.first_block + group.num_blocks; ++b) {
      const int n = generators_of(program, program.blocks[b], x, slack, weights);
      for (int k = 0; k < n; ++k) {
        if (!visit(Generator{group.island, &group, b, weights[k]})) return false;
      }
    }
  }
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i) {
    const int b = program.first_unit_block + static_cast<int>(i);
    const int island = program.island_of_packed[program.unit_cols[i]];
    if (generators_of(program, program.blocks[b], x, slack, weights) == 1 &&
        !visit(Generator{island, nullptr, b, weights[0]}))
      return false;
  }
  return true;
}

void RankTest::start_bases(const PackedProgram& program) {
  first_.clear();
  std::size_t total = 0;
  for (const Island& island : program.islands) {
    first_.push_back(total);
    total += to_size(island.size) * island.size;
  }
  basis_.resize(std::max(basis_.size(), total));
  column_.resize(std::max<std::size_t>(column_.size(), program.nv));
  std::fill(count_.begin(), count_.end(), 0);
}

// column ← the generator's pull on the columns of its island, in the metric of Q̃⁻¹.
void RankTest::take_column(const PackedProgram& program, const Generator& generator) {
  const Island& island = program.islands[generator.island];
  const PackedBlock& block = program.blocks[generator.block];
  std::fill(column_.begin(), column_.begin() + island.size, 0.0);
  if (const RowGroup* group = generator.group) {
    for (int r = 0; r < block.rows; ++r) {
      const double* row =
          program.values.data() + group->first_value + to_size(block.first_row + r - group->first_row) * group->ld;
      for (int c = 0; c < group->num_cols; ++c)
        column_[program.cols[group->first_col + c]] += generator.weights[r] * row[c];
    }
  } else {
    const int unit = generator.block - program.first_unit_block;
    column_[program.unit_cols[unit] - island.start] = program.unit_values[unit];
  }
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  for (const MetricBlock& metric : program.metric) {
    if (metric.island == generator.island)
      kernels.forward(metric.size, metric.ld, program.metric_factor.data() + metric.first_value,
                      column_.data() + (metric.start - island.start));
  }
}

// Adds the part of the column that is orthogonal to the island's basis, by two passes of Gram–Schmidt. @returns whether
// there is one beyond rounding.
bool RankTest::extend_basis(const PackedProgram& program, int k) {
  const int size = program.islands[k].size;
  double norm = 0;
  for (int i = 0; i < size; ++i) norm += column_[i] * column_[i];
  double* basis = basis_.data() + first_[k];
  for (int pass = 0; pass < 2; ++pass) {
    for (int j = 0; j < count_[k]; ++j) {
      const double* q = basis + to_size(j) * size;
      double along = 0;
      for (int i = 0; i < size; ++i) along += q[i] * column_[i];
      for (int i = 0; i < size; ++i) column_[i] -= along * q[i];
    }
  }
  double rest = 0;
  for (int i = 0; i < size; ++i) rest += column_[i] * column_[i];
  if (!(rest > kRankTolerance * kRankTolerance * norm)) return false;
  double* q = basis + to_size(count_[k]++) * size;
  for (int i = 0; i < size; ++i) q[i] = column_[i] / std::sqrt(rest);
  return true;
}

bool RankTest::forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack) {
  for (const Island& island : program.islands) {
    if (island.size > kLargestIsland) return false;
  }
  // Count first: more generators than columns cannot be independent.
  count_.assign(program.islands.size(), 0);
  const auto fits = [&](const Generator& generator) {
    return ++count_[generator.island] <= program.islands[generator.island].size;
  };
  if (!for_each_generator(program, x, slack, fits)) return false;
  start_bases(program);
  return for_each_generator(program, x, slack, [&](const Generator& generator) {
    take_column(program, generator);
    return extend_basis(program, generator.island);
  });
}

}  // namespace deft::solvers::contact
