#include "deft/solvers/lcp/complementarity_certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"

namespace deft::solvers::lcp {
namespace {

using Eigen::VectorXd;

constexpr double kNegligibleEntry = 1e-9;  // entries below this of their row's and column's largest say nothing about
                                           // units
constexpr double kZeroEntry = 1e-14;  // scaled entries below this are rounding of zero: what they add to w does not
                                      // count
constexpr double kCeiling = 1e4;      // larger scaled terms do not permit larger residuals
constexpr int kSweeps = 2;            // of the search for units
constexpr long kCoverBudget = 20'000'000;  // steps that the check of completeness may take

/// 0/0 is no residual.
double ratio(double value, double scale) { return value == 0 ? 0 : value / scale; }

/// Whether the parts of a proof cover all modes: z_i = 0 or w_i = 0 for every pair. Splits at a pair that as many parts
/// as possible fix.
class Cover {
 public:
  Cover(const std::vector<RefutedModes>& proof, Eigen::Index n) : count_(to_size(n)) {
    for (const RefutedModes& part : proof) {
      std::vector<signed char> fixed(n, 0);
      for (const int i : part.z_zero) fixed[i] |= 1;
      for (const int i : part.w_zero) fixed[i] |= 2;
      fixed_.push_back(std::move(fixed));
    }
  }

  bool complete() {
    std::vector<int> all(fixed_.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    std::vector<char> decided(count_.size(), 0);
    return covers(all, decided);
  }

 private:
  bool covers(const std::vector<int>& parts, std::vector<char>& decided) {
    const std::size_t n = count_.size();
    std::fill(count_.begin(), count_.end(), 0);
    for (const int k : parts) {
      bool whole = true;
      for (std::size_t i = 0; i < n; ++i) {
        if (decided[i] || fixed_[k][i] == 0) continue;
        whole = false;
        ++count_[i];
      }
      if (whole) return true;
      if ((steps_ += static_cast<long>(n)) > kCoverBudget) return false;
    }
    if (parts.empty()) return false;
    const auto split = to_size(std::max_element(count_.begin(), count_.end()) - count_.begin());
    decided[split] = 1;
    bool both = true;
    for (const signed char side : {1, 2}) {
      std::vector<int> rest;  // parts that are valid (also) on this side
      for (const int k : parts) {
        if ((fixed_[k][split] & ~side) == 0) rest.push_back(k);
      }
      both = both && covers(rest, decided);
    }
    decided[split] = 0;
    return both;
  }

  std::vector<std::vector<signed char>> fixed_;  // per part and pair: 1 z_i = 0, 2 w_i = 0, 3 both
  std::vector<int> count_;
  long steps_ = 0;
};

}  // namespace

double ComplementarityCertificate::max_scaled() const {
  const double worst = std::max({stationarity, primal, complementarity});
  const bool numbers = stationarity >= 0 && primal >= 0 && complementarity >= 0;
  return numbers ? worst : kInfinity;
}

// Units ρ and ζ such that |M_ij| ζ_j/ρ_i lies around one (largest and smallest entry of every row and column
// have the product one, found by sweeps).
void ComplementarityCertifier::measure(const ComplementarityProgram& program) {
  const Eigen::Index n = program.q.size();
  free_.assign(n, 0);
  for (const int i : program.free) free_[i] = 1;
  if (n == 0) return;
  // First so that the largest entry of each row and column is one: then small entries are known to be rounding.
  high_entry_ = program.M.cwiseAbs();
  row_ = high_entry_.col(0);
  for (Eigen::Index j = 1; j < n; ++j) row_ = row_.cwiseMax(high_entry_.col(j));
  row_ = (row_.array() > 0).select(row_, 1.0);
  inverse_ = row_.cwiseInverse();
  col_.setOnes(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const double largest = high_entry_.col(j).cwiseProduct(inverse_).maxCoeff();
    if (largest > 0) col_[j] = 1 / largest;
  }
  largest_row_ = row_;
  largest_col_ = col_;
  low_entry_ = high_entry_;
  for (Eigen::Index j = 0; j < n; ++j) {
    double *high = high_entry_.col(j).data(), *low = low_entry_.col(j).data();
    for (Eigen::Index i = 0; i < n; ++i) {
      if (high[i] * largest_col_[j] > kNegligibleEntry * largest_row_[i]) continue;
      high[i] = 0;
      low[i] = kInfinity;
    }
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    high_.setZero(n);
    low_.setConstant(n, kInfinity);
    inverse_ = row_.cwiseInverse();
    for (Eigen::Index j = 0; j < n; ++j) {
      const double high = high_entry_.col(j).cwiseProduct(inverse_).maxCoeff(),
                   low = low_entry_.col(j).cwiseProduct(inverse_).minCoeff();
      if (high > 0) col_[j] = 1 / (std::sqrt(high) * std::sqrt(low));
      high_ = high_.cwiseMax(col_[j] * high_entry_.col(j));
      low_ = low_.cwiseMin(col_[j] * low_entry_.col(j));
    }
    for (Eigen::Index i = 0; i < n; ++i) {
      if (high_[i] > 0) row_[i] = std::sqrt(high_[i]) * std::sqrt(low_[i]);
    }
  }
  measure_parts(program);
}

// One factor is left to each part, rows and columns that entries connect (forces and motions of a quasistatic problem
// are two): with it what drives the part, negative q and q of free rows, is at most one, or where nothing drives it any
// q.
void ComplementarityCertifier::measure_parts(const ComplementarityProgram& program) {
  const Eigen::Index n = program.q.size();
  plain_row_ = row_;
  plain_col_ = col_;
  row_part_.assign(n, -1);
  col_part_.assign(n, -1);
  part_size_.clear();
  for (Eigen::Index first = 0; first < n; ++first) {
    if (row_part_[first] >= 0) continue;
    const int part = static_cast<int>(part_size_.size());
    row_part_[first] = part;
    stack_.assign(1, static_cast<int>(first));
    double drive = 0, any = 0;
    while (!stack_.empty()) {
      const Eigen::Index i = stack_.back();
      stack_.pop_back();
      const double q = program.q[i] / row_[i];
      drive = std::max(drive, free_[i] ? std::abs(q) : -q);
      any = std::max(any, std::abs(q));
      for (Eigen::Index j = 0; j < n; ++j) {
        if (col_part_[j] >= 0 || std::abs(program.M(i, j)) * col_[j] <= kNegligibleEntry * row_[i]) continue;
        col_part_[j] = part;
        for (Eigen::Index k = 0; k < n; ++k) {
          if (row_part_[k] >= 0 || std::abs(program.M(k, j)) * col_[j] <= kNegligibleEntry * row_[k]) continue;
          row_part_[k] = part;
          stack_.push_back(static_cast<int>(k));
        }
      }
    }
    part_size_.push_back(drive > 0 ? drive : any);
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    row_[i] *= part_size_[row_part_[i]];
    const int part = col_part_[i];
    if (part >= 0 && part_size_[part] > 0) col_[i] *= part_size_[part];
  }
}

void ComplementarityCertifier::check_point(const ComplementarityProgram& program, const VectorXd& z,
                                           const VectorXd* given, ComplementarityCertificate& out) {
  const Eigen::Index n = program.q.size();
  if (!z.allFinite()) {
    out.stationarity = out.primal = out.complementarity = kInfinity;
    out.stationarity_abs = out.primal_abs = out.complementarity_abs = kInfinity;
    return;
  }
  computed_ = program.q;
  scale_.setZero(n);     // Σ |M_ij z_j|
  rounding_.setZero(n);  // the part of it that is rounding of M
  for (Eigen::Index j = 0; j < n; ++j) {
    if (z[j] == 0) continue;
    computed_ += z[j] * program.M.col(j);
    part_ = std::abs(z[j]) * program.M.col(j).cwiseAbs();
    scale_ += part_;
    rounding_ += (program.M.col(j).array().abs() * plain_col_[j] <= kZeroEntry * plain_row_.array())
                     .select(part_.array(), 0.0)
                     .matrix();
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const double unit = row_[i];
    scale_[i] = std::max({std::abs(program.q[i]), unit, unit > 0 ? std::min(scale_[i], kCeiling * unit) : scale_[i]});
  }
  const bool all_sized = n == 0 || scale_.minCoeff() > 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double w = given ? (*given)[i] : computed_[i];
    const double off = std::abs(computed_[i] - w);
    const double counted = std::copysign(std::max(0.0, std::abs(w) - rounding_[i]), w);  // of w
    out.stationarity = std::max(out.stationarity, ratio(off, scale_[i]));
    out.stationarity_abs = std::max(out.stationarity_abs, off);
    if (free_[i]) {
      out.stationarity = std::max(out.stationarity, ratio(std::abs(counted), scale_[i]));
      out.stationarity_abs = std::max(out.stationarity_abs, std::abs(w));
      continue;
    }
    // z_i counts as what it adds to the row on which it has the largest effect.
    double effect = 0;
    if (z[i] != 0 && all_sized)
      effect = std::abs(z[i]) * (program.M.col(i).cwiseAbs().cwiseQuotient(scale_)).maxCoeff();
    for (Eigen::Index k = 0; k < n && z[i] != 0 && !all_sized; ++k)
      effect = std::max(effect, ratio(std::abs(program.M(k, i) * z[i]), scale_[k]));
    if (effect == 0 && z[i] != 0) effect = 1;  // moves nothing: compared with itself
    const double of_w = ratio(counted, scale_[i]), of_z = z[i] < 0 ? -effect : effect;
    out.primal = std::max({out.primal, -of_w, -of_z});
    out.primal_abs = std::max({out.primal_abs, -w, -z[i]});
    out.complementarity = std::max(out.complementarity, std::min(of_w, of_z));
    out.complementarity_abs = std::max(out.complementarity_abs, std::min(w, z[i]));
  }
}

// Scaled, yᵀw = (Mᵀy)ᵀz + qᵀy: wrong signs ε of y and Mᵀy leave solutions of size −qᵀy/ε and more.
double ComplementarityCertifier::check_proof(const ComplementarityProgram& program,
                                             const std::vector<RefutedModes>& proof) {
  const Eigen::Index n = program.q.size();
  double worst = 0;
  for (const RefutedModes& part : proof) {
    if (part.y.size() != n)
      throw std::invalid_argument(fmt::format("certify: a proof has size {}, needs {}", part.y.size(), n));
    for (const auto* list : {&part.z_zero, &part.w_zero}) {
      for (const int i : *list) {
        if (i < 0 || i >= n) throw std::invalid_argument(fmt::format("certify: a proof fixes pair {} of {}", i, n));
      }
    }
    const double gained = -program.q.dot(part.y);
    if (!(gained > 0)) return kInfinity;
    computed_.noalias() = program.M.transpose() * part.y;
    scale_.setZero(n);  // where 1: z may be anything, or w may
    for (const int i : part.z_zero) scale_[i] = 1;
    low_.setZero(n);
    for (const int i : part.w_zero) low_[i] = 1;
    for (Eigen::Index i = 0; i < n; ++i) {
      const bool free = free_[i] != 0;
      if (free)
        worst = std::max(worst, std::abs(computed_[i]) * col_[i] / gained);
      else if (scale_[i] == 0)
        worst = std::max(worst, computed_[i] * col_[i] / gained);
      if (!free && low_[i] == 0)
        worst = std::max(worst, -part.y[i] * std::max(row_[i], std::abs(program.q[i])) / gained);
    }
    if (std::isnan(worst)) return kInfinity;
  }
  return Cover(proof, n).complete() ? worst : kInfinity;
}

ComplementarityCertificate ComplementarityCertifier::certify(const ComplementarityProgram& program,
                                                             const ComplementaritySolution& solution) {
  const Eigen::Index n = program.q.size();
  if (solution.z.size() != n || solution.w.size() != n)
    throw std::invalid_argument(fmt::format("certify: z and w have sizes {} and {}, need {} (the size of q)",
                                            solution.z.size(), solution.w.size(), n));
  ComplementarityCertificate out;
  measure(program);
  check_point(program, solution.z, &solution.w, out);
  if (!solution.proof.empty()) out.infeasible = check_proof(program, solution.proof);
  return out;
}

ComplementarityCertificate ComplementarityCertifier::certify_point(const ComplementarityProgram& program,
                                                                   const VectorXd& z) {
  measure(program);
  return certify_measured(program, z);
}

ComplementarityCertificate ComplementarityCertifier::certify_measured(const ComplementarityProgram& program,
                                                                      const VectorXd& z) {
  ComplementarityCertificate out;
  check_point(program, z, nullptr, out);
  return out;
}

ComplementarityCertificate certify(const ComplementarityProgram& program, const ComplementaritySolution& solution) {
  check(program);
  return ComplementarityCertifier().certify(program, solution);
}

}  // namespace deft::solvers::lcp
