#include "deft/solvers/contact/interior/optimal_face.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/math/dense.hpp"

namespace deft::solvers::contact {
namespace {

using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kLoaded = 1e-10;          // multipliers above it count as forces
constexpr double kInside = 1e-8;           // a cone's multiplier this much inside its boundary, relative, holds the tip
constexpr double kFlat = 1e-9;             // pivot below which a direction has no curvature and moves no row
constexpr double kSize = 1e-5;             // an optimal set of this radius is a point
constexpr double kRise = 1e-8;             // slopes and openings below it are rounding, for directions of length 1
constexpr double kProofTolerance = 1e-14;  // tolerance of a direction that is to be a proof

// The rows of one block over the columns of its island, in coordinates x̂ = U v where Q̃ = UᵀU becomes the identity.
struct Rows {
  const PackedBlock* block;
  MatrixXd J;
};

// One island with its Q and its rows in these coordinates.
struct IslandView {
  const PackedProgram& program;
  int start, size;
  MatrixXd U, Q;
  VectorXd b;
  std::vector<Rows> rows;
  bool singular = false;

  IslandView(const PackedProgram& packed, int k) : program(packed) {
    start = packed.islands[k].start;
    size = packed.islands[k].size;
    U = Q = MatrixXd::Zero(size, size);
    for (const MetricBlock& block : packed.metric) {
      if (block.island != k) continue;
      singular = singular || block.singular;
      const int at = block.start - start;
      for (int r = 0; r < block.size; ++r) {
        for (int c = 0; c < block.size; ++c) {
          const std::size_t entry = block.first_value + r * block.ld + c;
          Q(at + r, at + c) = packed.Q_values[entry] - (block.singular ? packed.flat_values[entry] : 0.0);
          if (c > r) U(at + r, at + c) = packed.metric_factor[entry];
          if (c == r) U(at + r, at + c) = 1 / packed.metric_factor[entry];  // the factor keeps reciprocals there
        }
      }
    }
    if (!singular) return;
    Q = to_metric(to_metric(Q).transpose());
    b = Eigen::Map<const VectorXd>(packed.b_own.data() + start, size);
    U.transpose().triangularView<Eigen::Lower>().solveInPlace(b);
    for (const RowGroup& group : packed.groups) {
      if (group.island != k) continue;
      for (int i = group.first_block; i < group.first_block + group.num_blocks; ++i) {
        const PackedBlock& block = packed.blocks[i];
        MatrixXd J = MatrixXd::Zero(block.rows, size);
        for (int r = 0; r < block.rows; ++r) {
          const double* row =
              packed.values.data() + group.first_value + to_size(block.first_row + r - group.first_row) * group.ld;
          for (int c = 0; c < group.num_cols; ++c) J(r, packed.cols[group.first_col + c]) += row[c];
        }
        rows.push_back({&block, to_metric(J)});
      }
    }
    for (std::size_t i = 0; i < packed.unit_cols.size(); ++i) {
      if (packed.island_of_packed[packed.unit_cols[i]] != k) continue;
      MatrixXd J = MatrixXd::Zero(1, size);
      J(0, packed.unit_cols[i] - start) = packed.unit_values[i];
      rows.push_back({&packed.blocks[packed.first_unit_block + i], to_metric(J)});
    }
  }

  // A U⁻¹.
  MatrixXd to_metric(const MatrixXd& A) const {
    return U.transpose().triangularView<Eigen::Lower>().solve(A.transpose()).transpose();
  }

  // Row of slack k of a polyhedral block.
  RowVectorXd ray(const Rows& r, int k) const {
    RowVectorXd row = r.J.row(0);
    if (r.block->rows > 1) row += r.block->mu * program.cos_of(*r.block, k) * r.J.row(1);
    if (r.block->rows > 2) row += r.block->mu * program.sin_of(*r.block, k) * r.J.row(2);
    return row;
  }
};

// Rows of a matrix, one at a time.
class Stack {
 public:
  explicit Stack(const MatrixXd& first) : rows_(first) {}
  void add(const MatrixXd& more) {
    rows_.conservativeResize(rows_.rows() + more.rows(), Eigen::NoChange);
    rows_.bottomRows(more.rows()) = more;
  }
  /// Orthonormal basis of the null space.
  MatrixXd null_space() const { return deft::null_space(rows_, kFlat); }

 private:
  MatrixXd rows_;
};

struct Deadline {
  double time_s;
  Stopwatch clock{};
  double left_s() const { return std::max(0.0, time_s - clock.seconds()); }
};

// ½|y|² + cᵀy over the y that satisfy the rows given; y = 0 always does.
class FaceProgram {
 public:
  FaceProgram(const MatrixXd& basis, const Deadline& deadline, const InnerSolver& inner)
      : basis_(basis), deadline_(deadline), inner_(inner) {
    program_.nv = static_cast<int>(basis.cols());
    program_.model = FrictionModel::kCone;
    for (int i = 0; i < program_.nv; ++i) {
      program_.Q.append(i, 1)(0, 0) = 1.0;
      all_.push_back(i);
    }
  }
  void add_ray(const RowVectorXd& row, double slack) {
    const RowVectorXd moved = row * basis_;
    if (moved.norm() <= kFlat) return;
    program_.linear.rows.append(1, all_) = moved;
    program_.linear.rhs.push_back(-slack);
  }
  void add_cone(const MatrixXd& J, const double* slack) {
    const MatrixXd moved = J * basis_;
    if (moved.norm() <= kFlat) return;
    const int rows = static_cast<int>(J.rows());
    program_.J.append(rows, all_) = moved;
    ContactLaw law{.gap = std::max(slack[0], 0.0), .mu = 1.0};
    double tail = 0;
    for (int k = 1; k < rows; ++k) tail = std::hypot(tail, slack[k]);
    for (int k = 1; k < rows; ++k) law.offset[k - 1] = slack[k] * std::min(1.0, tail > 0 ? law.gap / tail : 0.0);
    program_.contacts.push_back(law);
  }
  bool has_rows() const { return !program_.contacts.empty() || program_.linear.rows.size() > 0; }

  /// @returns whether the program was solved.
  bool solve(const VectorXd& c, VectorXd& y, double tolerance = 1e-9) {
    program_.b = c;
    ContactSolution solution;
    const SolveMethod method = tolerance == kProofTolerance ? SolveMethod::kInteriorPoint : SolveMethod::kAuto;
    const SolverSettings settings{.method = method,
                                  .tolerance = tolerance,
                                  .diagnosis = false,
                                  .warm_start = false,
                                  .screening = false,
                                  .polish = false,
                                  .time_limit_s = deadline_.left_s()};
    if (inner_(program_, settings, solution) != Status::kSolved) return false;
    y = solution.delta;
    return true;
  }

 private:
  const MatrixXd& basis_;
  const Deadline& deadline_;
  ContactProgram program_;
  std::vector<int> all_;
  const InnerSolver& inner_;
};

// The rows that keep their slack on the optimal set, as equations.
void add_closed(const IslandView& island, const Rows& rows, const double* lambda, const double* slack, Stack& closed) {
  const PackedBlock& block = *rows.block;
  if (block.law == Law::kEquality) return closed.add(rows.J);
  if (block.law == Law::kRays) {
    for (int k = 0; k < block.slacks; ++k) {
      if (lambda[k] > kLoaded && lambda[k] > slack[k]) closed.add(island.ray(rows, k));
    }
    return;
  }
  if (lambda[0] <= kLoaded) return;
  double ray[linear::kMaxConeRows];
  const double tail = linear::tail_norm(block.rows, lambda);
  if (lambda[0] - tail > kInside * lambda[0]) return closed.add(rows.J);
  for (int k = 0; k < block.rows; ++k) ray[k] = (k == 0 ? lambda[0] : -lambda[k]) / std::hypot(lambda[0], tail);
  const Eigen::Map<const VectorXd> along(ray, block.rows);
  closed.add(rows.J - along * (along.transpose() * rows.J));
}

// And those that must stay satisfied.
void add_open(const IslandView& island, const Rows& rows, const double* lambda, const double* slack,
              FaceProgram& program) {
  const PackedBlock& block = *rows.block;
  if (block.law == Law::kRays) {
    for (int k = 0; k < block.slacks; ++k) program.add_ray(island.ray(rows, k), std::max(slack[k], 0.0));
  } else if (block.law == Law::kCone && lambda[0] > kLoaded) {
    program.add_ray(rows.J.row(0), std::max(slack[0], 0.0));
  } else if (block.law == Law::kCone) {
    program.add_cone(rows.J, slack);
  }
}

OptimalSet take_shortest(const IslandView& island, const std::vector<double>& lambda, const std::vector<double>& slack,
                         double* v, const Deadline& deadline, const InnerSolver& inner) {
  Stack closed(island.Q);
  for (const Rows& rows : island.rows)
    add_closed(island, rows, lambda.data() + rows.block->first_slack, slack.data() + rows.block->first_slack, closed);
  const MatrixXd basis = closed.null_space();
  if (basis.cols() == 0) return OptimalSet::kPoint;

  FaceProgram program(basis, deadline, inner);
  for (const Rows& rows : island.rows)
    add_open(island, rows, lambda.data() + rows.block->first_slack, slack.data() + rows.block->first_slack, program);
  Eigen::Map<VectorXd> motion(v, island.size);
  const VectorXd flat = basis.transpose() * (island.U * motion);
  VectorXd shortest, other;
  if (!program.solve(flat, shortest)) return OptimalSet::kUnknown;
  motion += island.U.triangularView<Eigen::Upper>().solve(basis * shortest);
  if (!program.has_rows() || shortest.norm() > kSize) return OptimalSet::kLarger;
  // If the set is larger than a point, one of the points ± a unit vector away has another projection on it.
  for (int i = 0; i < 2 * basis.cols(); ++i) {
    const VectorXd from = shortest + (i % 2 ? -1.0 : 1.0) * VectorXd::Unit(basis.cols(), i / 2);
    if (!program.solve(-from, other)) return OptimalSet::kUnknown;
    if ((other - shortest).norm() > kSize) return OptimalSet::kLarger;
  }
  return OptimalSet::kPoint;
}

// @returns the fall of the energy (and of the barrier) along `direction`, 0 without one.
double find_recession(const IslandView& island, VectorXd& direction, const Deadline& deadline,
                      const InnerSolver& inner) {
  const bool smoothed = island.program.smoothed;
  const double none[linear::kMaxConeRows] = {};
  Stack still(island.Q);
  for (const Rows& rows : island.rows) {
    if (rows.block->law == Law::kEquality) still.add(rows.J);
  }
  const MatrixXd basis = still.null_space();
  if (basis.cols() == 0) return 0;
  FaceProgram program(basis, deadline, inner);
  RowVectorXd pull = -island.b.transpose();
  const double weight = pull.norm();
  if (weight > 0) pull /= weight;
  if (smoothed && weight > 0) program.add_ray(pull, 0.0);
  for (const Rows& rows : island.rows) {
    const PackedBlock& block = *rows.block;
    if (block.law == Law::kRays) {
      for (int k = 0; k < block.slacks; ++k) program.add_ray(island.ray(rows, k), 0.0);
    } else if (block.law == Law::kCone) {
      program.add_cone(rows.J, none);
    }
    if (smoothed && block.law != Law::kEquality && block.weight > 0) pull += rows.J.row(0);
  }
  VectorXd y;
  if (!program.solve(-(pull * basis).transpose(), y)) return 0;
  if (y.norm() > kRise) {
    // A short projection has few digits: once more from its own direction, with at least half its fall.
    const double fall = y.norm();
    if (!smoothed) program.add_ray(pull, -0.5 * fall);
    y.normalize();
    VectorXd better;
    if (program.solve(-y, better, kProofTolerance)) y = better.normalized();
    direction = basis * y;
    return smoothed ? fall : fall * weight;
  }
  if (!smoothed) return 0;
  for (const Rows& rows : island.rows) still.add(rows.J);
  const MatrixXd untouched = still.null_space();
  if (untouched.cols() == 0) return 0;
  direction = untouched.col(0) * (island.b.dot(untouched.col(0)) > 0 ? -1.0 : 1.0);
  return kRise;
}

}  // namespace

OptimalSet take_shortest(const PackedProgram& program, const std::vector<double>& lambda,
                         const std::vector<double>& slack, std::vector<double>& v, double time_left_s,
                         const InnerSolver& inner) {
  const Deadline deadline{time_left_s};
  OptimalSet all = OptimalSet::kPoint;
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const IslandView island(program, static_cast<int>(k));
    if (!island.singular) continue;
    const OptimalSet one = take_shortest(island, lambda, slack, v.data() + island.start, deadline, inner);
    if (one == OptimalSet::kUnknown) return one;
    if (one == OptimalSet::kLarger) all = one;
  }
  return all;
}

bool find_recession(const PackedProgram& program, std::vector<double>& direction, double time_left_s,
                    const InnerSolver& inner) {
  const Deadline deadline{time_left_s};
  double steepest = 0;
  for (std::size_t k = 0; k < program.islands.size(); ++k) {
    const IslandView island(program, static_cast<int>(k));
    VectorXd found;
    const double fall = island.singular ? find_recession(island, found, deadline, inner) : 0.0;
    if (!(fall > steepest)) continue;
    steepest = fall;
    direction.assign(program.nv, 0.0);
    Eigen::Map<VectorXd>(direction.data() + island.start, island.size) =
        island.U.triangularView<Eigen::Upper>().solve(found);
  }
  return steepest > 0;
}

}  // namespace deft::solvers::contact
