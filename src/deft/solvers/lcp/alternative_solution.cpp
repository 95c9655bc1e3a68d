#include "deft/solvers/lcp/alternative_solution.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::lcp {
namespace {

constexpr double kApart = 1e-7;      // by which another motion differs, scaled
constexpr double kTiny = 1e-8;       // smaller members of pairs may be slack of cuts, scaled
constexpr double kReleased = 1e-13;  // of the terms of an energy: less is rounding
constexpr std::uint64_t kMixtureSeed = 0x1e3e;

}  // namespace

Uniqueness AlternativeSolution::look(const ComplementarityProgram& program, const ScaledComplementarity& scaled,
                                     const Eigen::VectorXd& z, const IsSolution& is_solution,
                                     const ModeSearch::Limits& limits) {
  nodes_ = 0;
  find_islands(scaled);
  ModeSearch::Limits left = limits;
  Uniqueness outcome = Uniqueness::kUnique;
  for (const std::vector<int>& island : islands_) {
    extract(program, scaled, z, island);
    if (motion_.isZero(0) || only_one()) continue;
    const Uniqueness own = search(z, island, is_solution, left);
    nodes_ += search_.nodes();
    left.nodes -= search_.nodes();
    left.work -= search_.work();
    if (own == Uniqueness::kNotUnique) return own;
    if (own == Uniqueness::kUnknown) outcome = own;
  }
  return outcome;
}

void AlternativeSolution::find_islands(const ScaledComplementarity& scaled) {
  islands_.clear();
  std::vector<char> seen(scaled.n, 0);
  for (int first = 0; first < scaled.n; ++first) {
    if (seen[first]) continue;
    seen[first] = 1;
    std::vector<int>& island = islands_.emplace_back(1, first);
    for (std::size_t next = 0; next < island.size(); ++next) {
      const int i = island[next];
      for (int j = 0; j < scaled.n; ++j) {
        if (seen[j] || (scaled.M_row(i)[j] == 0 && scaled.M_row(j)[i] == 0)) continue;
        seen[j] = 1;
        island.push_back(j);
      }
    }
    std::sort(island.begin(), island.end());
  }
}

void AlternativeSolution::extract(const ComplementarityProgram& program, const ScaledComplementarity& scaled,
                                  const Eigen::VectorXd& z, const std::vector<int>& island) {
  const std::size_t n = island.size();
  part_.n = static_cast<int>(n);
  part_.ld = kernels::padded(part_.n);
  part_.M.assign(n * to_size(part_.ld), 0.0);
  part_.num_free = 0;
  for (auto* list : {&part_.q, &part_.row, &part_.col, &z_}) list->resize(n);
  part_.free.resize(n);
  for (std::size_t a = 0; a < n; ++a) {
    const int own = island[a];
    const auto i = to_size(own);
    for (std::size_t b = 0; b < n; ++b) part_.M_row(static_cast<int>(a))[b] = scaled.M_row(own)[island[b]];
    part_.q[a] = scaled.q[i];
    part_.row[a] = scaled.row[i];
    part_.col[a] = scaled.col[i];
    part_.free[a] = scaled.free[i];
    part_.num_free += scaled.free[i];
    z_[a] = z[own] / scaled.col[i];
  }
  // Motions, each in units in which its largest entry is one.
  const Eigen::MatrixXd& P = program.motion;
  motion_.setZero(P.size() > 0 ? P.rows() : part_.n, part_.n);
  for (Eigen::Index k = 0; k < motion_.rows(); ++k) {
    for (Eigen::Index j = 0; j < part_.n; ++j) {
      const int own = island[j];
      motion_(k, j) = P.size() > 0 ? P(k, own) * part_.col[j] : (k == j ? 1.0 : 0.0);
    }
    const double largest = motion_.cols() > 0 ? motion_.row(k).lpNorm<Eigen::Infinity>() : 0.0;
    if (largest > 0) motion_.row(k) /= largest;
  }
}

bool AlternativeSolution::only_one() {
  has_energy_ = energy_.assign(part_);
  if (!has_energy_) return false;
  if (energy_.is_frictionless(z_)) return energy_.decides(motion_);
  Cut cut;
  energy_.tangent(z_, cut);
  double own = 0, size = 0;
  for (std::size_t j = 0; j < z_.size(); ++j) {
    own += cut.slope[j] * z_[j];
    size += std::abs(cut.slope[j] * z_[j]);
  }
  if (energy_.dissipation(z_) > kReleased * size) return false;
  // No contact slides under load in z: then the tangent itself bounds how far others move.
  table_.start(part_, cut.slope, kMixtureSeed);
  if (table_.restore() != ModeTable::End::kFeasible || table_.climb(1) != ModeTable::Top::kBest) return false;
  return table_.motion() <= own + kReleased * (1 + size) && energy_.decides(motion_);
}

// One random combination of the motions, so that another motion has almost surely another value.
void AlternativeSolution::choose_mixture() {
  mixture_.assign(z_.size(), 0.0);
  for (Eigen::Index k = 0; k < motion_.rows(); ++k) {
    const double u = random_uniform(kMixtureSeed, 0, static_cast<std::uint32_t>(k)), weight = u < 0.5 ? u - 1 : u;
    for (std::size_t j = 0; j < z_.size(); ++j) mixture_[j] += weight * motion_(k, static_cast<Eigen::Index>(j));
  }
}

Uniqueness AlternativeSolution::search(const Eigen::VectorXd& z, const std::vector<int>& island,
                                       const IsSolution& is_solution, ModeSearch::Limits limits) {
  choose_mixture();
  double value = 0, size = 1;
  for (std::size_t j = 0; j < z_.size(); ++j) {
    value += mixture_[j] * z_[j];
    size = std::max(size, std::abs(mixture_[j] * z_[j]));
  }
  const double apart = kApart * size;
  const auto fits = [&] {
    double other = 0;
    for (std::size_t j = 0; j < z_.size(); ++j) other += mixture_[j] * basis_.z()[j];
    if (!(std::abs(other - value) > apart)) return false;
    candidate_ = z;
    for (std::size_t j = 0; j < z_.size(); ++j) candidate_[island[j]] = basis_.z()[j] * part_.col[j];
    return is_solution(candidate_);
  };
  const ModeSearch::Accept accept = [&](const ModeTable& table) {
    table.basis(rows_, cols_);
    if (basis_.solve(part_, rows_, cols_) && fits()) return true;
    table.point(point_);  // on a ray
    basis_.take(part_, point_);
    if (fits()) return true;
    for (int j = 0; j < part_.n; ++j) {  // the slack of cuts leaves members of pairs a little above zero
      double& member = point_[j];
      if (!part_.free[j] && member < kTiny && member < table.value(part_.n + j)) member = 0;
    }
    basis_.take(part_, point_);
    return fits();
  };
  const ModeSearch::Known known{
      .z = z_, .motion = mixture_, .value = value, .apart = apart, .energy = has_energy_ ? &energy_ : nullptr};
  if (search_.find_other(part_, known, accept, limits)) return Uniqueness::kNotUnique;
  return search_.complete() ? Uniqueness::kUnique : Uniqueness::kUnknown;
}

}  // namespace deft::solvers::lcp
