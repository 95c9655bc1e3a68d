#include "deft/solvers/uniqueness.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Dense>

#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers {
namespace {

constexpr double kLoaded = 1e-7;  // multipliers above it count as forces where the proximal term may leave smaller ones
constexpr double kTouching = 1e-7;       // slacks below it count as closed
constexpr double kRankTolerance = 1e-7;  // relative length of a generator outside the span of the others

bool loaded(const PackedBlock& block, const Iterate& x, const std::vector<double>& slack, int k, double threshold) {
  const double lambda = x.lambda[block.first_slack + k];
  return lambda > threshold && lambda > slack[block.first_slack + k];
}

}  // namespace

// The loaded generators of all blocks as columns in the metric of Q̃⁻¹, orthogonalised one by one per island.
bool Uniqueness::forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack) {
  // Count first: more generators than columns cannot be independent.
  count_.assign(program.islands.size(), 0);
  const auto generators = [&](const PackedBlock& block, double out[kMaxConeRows][kMaxConeRows]) {
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
      const double tail = tail_norm(block.rows, lambda);
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
    double columns[kMaxConeRows][kMaxConeRows];
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
    total += static_cast<std::size_t>(island.size) * island.size;
  }
  basis_.resize(std::max(basis_.size(), total));
  column_.resize(std::max<std::size_t>(column_.size(), program.nv));
  std::fill(count_.begin(), count_.end(), 0);
  const DenseKernels& kernels = dense_kernels();
  return for_each([&](int k, const RowGroup* group, int b, const double* weights) {
    const Island& island = program.islands[k];
    const PackedBlock& block = program.blocks[b];
    std::fill(column_.begin(), column_.begin() + island.size, 0.0);
    if (group) {
      for (int r = 0; r < block.rows; ++r) {
        const double* row = program.values.data() + group->first_value +
                            static_cast<std::size_t>(block.first_row + r - group->first_row) * group->ld;
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
        const double* q = basis + static_cast<std::size_t>(j) * island.size;
        double along = 0;
        for (int i = 0; i < island.size; ++i) along += q[i] * column_[i];
        for (int i = 0; i < island.size; ++i) column_[i] -= along * q[i];
      }
    }
    double rest = 0;
    for (int i = 0; i < island.size; ++i) rest += column_[i] * column_[i];
    if (!(rest > kRankTolerance * kRankTolerance * norm)) return false;
    double* q = basis + static_cast<std::size_t>(count_[k]++) * island.size;
    for (int i = 0; i < island.size; ++i) q[i] = column_[i] / std::sqrt(rest);
    return true;
  });
}

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Calls visit(block, slack index in block, row over the island's columns) for every slack row of the island.
template <class Visit>
void for_each_slack_row(const PackedProgram& program, int k, Visit visit) {
  const Island& island = program.islands[k];
  VectorXd row(island.size);
  for (const RowGroup& group : program.groups) {
    if (group.island != k) continue;
    for (int b = group.first_block; b < group.first_block + group.num_blocks; ++b) {
      const PackedBlock& block = program.blocks[b];
      for (int s = 0; s < block.slacks; ++s) {
        row.setZero();
        for (int r = 0; r < block.rows; ++r) {
          double weight = block.law == Law::kCone ? r == s : r == 0;
          if (block.law == Law::kRays && r == 1) weight = block.mu * program.cos_of(block, s);
          if (block.law == Law::kRays && r == 2) weight = block.mu * program.sin_of(block, s);
          const double* J = program.values.data() + group.first_value +
                            static_cast<std::size_t>(block.first_row + r - group.first_row) * group.ld;
          for (int c = 0; c < group.num_cols; ++c) row[program.cols[group.first_col + c]] += weight * J[c];
        }
        visit(block, s, row);
      }
    }
  }
  for (std::size_t i = 0; i < program.unit_cols.size(); ++i) {
    if (program.island_of_packed[program.unit_cols[i]] != k) continue;
    row.setZero();
    row[program.unit_cols[i] - island.start] = program.unit_values[i];
    visit(program.blocks[program.first_unit_block + i], 0, row);
  }
}

// Is there z ≠ 0 with A z ≥ 0? The projections of ±e_i on that cone vanish exactly when there is none (Moreau); they
// are found by projected coordinate descent on the dual, min ½|e + Aᵀy|², y ≥ 0.
bool cone_has_a_ray(const MatrixXd& A) {
  const VectorXd norms = A.rowwise().squaredNorm();
  for (int i = 0; i < 2 * A.cols(); ++i) {
    VectorXd z = VectorXd::Unit(A.cols(), i / 2) * (i % 2 ? -1.0 : 1.0), y = VectorXd::Zero(A.rows());
    for (int sweep = 0; sweep < 2000 && z.norm() > 1e-6; ++sweep) {
      double change = 0;
      for (int r = 0; r < A.rows(); ++r) {
        if (norms[r] < 1e-16) continue;
        const double step = std::max(-y[r], -A.row(r).dot(z) / norms[r]);
        y[r] += step;
        z += step * A.row(r).transpose();
        change = std::max(change, std::abs(step));
      }
      if (change < 1e-12) break;
    }
    if (z.norm() > 1e-3) return true;
  }
  return false;
}

/// What cones demand of a flat direction z of island k. Loaded inside the dual cone (sticking): Jz = 0. Loaded on its boundary: s stays on
/// the one ray (λ_n, −λ_t) that is complementary to λ, the cone is curved across it. Touching without load: Jz inside the cone (space: a
/// polygonal cone inside it; with spin its normal row).
void add_cones(const PackedProgram& program, int k, const Iterate& x, const std::vector<double>& slack, MatrixXd& S, std::vector<VectorXd>& open_rows) {
  constexpr int kFacets = 16;
  for (const RowGroup& group : program.groups) {
    if (group.island != k) continue;
    for (int b = group.first_block; b < group.first_block + group.num_blocks; ++b) {
      const PackedBlock& block = program.blocks[b];
      if (block.law != Law::kCone) continue;
      MatrixXd J = MatrixXd::Zero(block.rows, S.cols());
      for (int r = 0; r < block.rows; ++r) {
        const double* row = program.values.data() + group.first_value + static_cast<std::size_t>(block.first_row + r - group.first_row) * group.ld;
        for (int c = 0; c < group.num_cols; ++c) J(r, program.cols[group.first_col + c]) += row[c];
      }
      const double* lambda = x.lambda.data() + block.first_slack;
      const double tail = tail_norm(block.rows, lambda);
      if (lambda[0] > kLoaded && lambda[0] - tail > 1e-8 * lambda[0]) {
        S += J.transpose() * J;
      } else if (lambda[0] > kLoaded) {
        VectorXd ray = -Eigen::Map<const VectorXd>(lambda, block.rows);
        ray[0] = lambda[0];
        ray.normalize();
        const VectorXd along = J.transpose() * ray;
        S += J.transpose() * J - along * along.transpose();
      } else if (slack[block.first_slack] < kTouching && block.rows == 3) {
        for (int f = 0; f < kFacets; ++f) {
          const double angle = 2 * std::numbers::pi * f / kFacets;
          open_rows.push_back(J.transpose() * Eigen::Vector3d(std::cos(std::numbers::pi / kFacets), -std::cos(angle), -std::sin(angle)));
        }
      } else if (slack[block.first_slack] < kTouching) {
        open_rows.push_back(J.row(0).transpose());
      }
    }
  }
}

}  // namespace

bool Uniqueness::motion_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack) const {
  const DenseKernels& kernels = dense_kernels();
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const Island& island = program.islands[k];
    bool singular = false;
    MatrixXd S = MatrixXd::Zero(island.size, island.size);
    for (const MetricBlock& block : program.metric) {
      if (block.island != static_cast<int>(k)) continue;
      singular = singular || block.singular;
      const int at = block.start - island.start;
      for (int r = 0; r < block.size; ++r) {
        for (int c = 0; c < block.size; ++c) S(at + r, at + c) = program.Q_values[block.first_value + r * block.ld + c];
      }
    }
    if (!singular) continue;
    std::vector<VectorXd> open_rows;
    for_each_slack_row(program, static_cast<int>(k), [&](const PackedBlock& block, int s, const VectorXd& row) {
      if (block.law == Law::kEquality || (block.law == Law::kRays && loaded(block, x, slack, s, kLoaded))) {
        S += row * row.transpose();
      } else if (block.law == Law::kRays) {
        if (slack[block.first_slack + s] < kTouching) open_rows.push_back(row);
      }
    });
    add_cones(program, static_cast<int>(k), x, slack, S, open_rows);
    // In coordinates where Q̃ is the identity.
    const auto to_metric = [&](VectorXd& v) {
      for (const MetricBlock& block : program.metric) {
        if (block.island == static_cast<int>(k))
          kernels.forward(block.size, block.ld, program.metric_factor.data() + block.first_value,
                          v.data() + (block.start - island.start));
      }
    };
    for (int pass = 0; pass < 2; ++pass) {
      for (int c = 0; c < island.size; ++c) {
        VectorXd column = S.col(c);
        to_metric(column);
        S.col(c) = column;
      }
      S.transposeInPlace();
    }
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(S);
    int flat = 0;
    while (flat < island.size && eigen.eigenvalues()[flat] < 1e-9) ++flat;
    if (flat == 0) continue;
    if (open_rows.empty()) return false;
    MatrixXd A(static_cast<Eigen::Index>(open_rows.size()), flat);
    for (Eigen::Index r = 0; r < A.rows(); ++r) {
      to_metric(open_rows[r]);
      A.row(r) = open_rows[r].transpose() * eigen.eigenvectors().leftCols(flat);
    }
    if (cone_has_a_ray(A)) return false;
  }
  return true;
}

}  // namespace deft::solvers
