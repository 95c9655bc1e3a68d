#include "deft/solvers/lcs/relaxation.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kEffectsRounding = 1e-13;  // of the effects of multipliers, summed without their signs
constexpr double kLoose = 1e-3;      // of the dual: a bound that is lower by more is looked for with other centres
constexpr double kCentred = 1e-11;   // of the largest variable: the centre stands still
constexpr int kExtrapolate = 4;      // every fourth centre
constexpr double kLeastRatio = 0.1;  // of successive moves of the centre, for an extrapolation
constexpr double kFurthest = 1e6;    // moves that an extrapolation may add
constexpr int kCentres = 6, kExactCentres = 200;  // at most: to improve a bound, to remove the proximal term

}  // namespace

LcsRelaxation::LcsRelaxation(const LcsStages& stages, const LcsPropagation& layout)
    : stages_(&stages),
      layout_(&layout),
      ng_(stages.rows().pairs()),
      per_(stages.rows().per_stage()),
      rows_(stages.num_rows()),
      N_(stages.N()) {
  const int pairs = N_ * ng_;
  lo_.resize(rows_);
  hi_.resize(rows_);
  z_lo_.resize(stages.num_variables());
  z_hi_.resize(stages.num_variables());
  cuts_.resize(pairs);
  place_.assign(rows_ + pairs, -1);
  skipped_.assign(rows_ + pairs, 0);
  lambda_.assign(rows_, 0.0);
  const std::size_t most = to_size(stages.num_variables() + 2);
  residual_.reserve(most);
  step_.resize(most);
  w_.resize(most);
}

void LcsRelaxation::set(const LcsMpcProgram& program, const LcsIntervals& intervals, const std::vector<PairMode>& modes,
                        bool cuts) {
  const LcsRows& rows = stages_->rows();
  const int nu = rows.nu(), nx = rows.nx(), nz = rows.nz();
  std::fill(lo_.begin(), lo_.end(), -kInfinity);
  std::fill(hi_.begin(), hi_.end(), kInfinity);
  for (int k = 0; k < N_; ++k) {
    double *lo = lo_.data() + k * per_, *hi = hi_.data() + k * per_;
    double *z_lo = z_lo_.data() + k * nz, *z_hi = z_hi_.data() + k * nz;
    for (int i = 0; i < ng_; ++i) {
      const PairMode mode = modes[k * ng_ + i];
      const double L = intervals.hi[layout_->gamma(k, i)], S = intervals.hi[layout_->slack(k, i)];
      lo[rows.gamma(i)] = lo[rows.slack(i)] = 0;
      if (mode == PairMode::kGammaZero) hi[rows.gamma(i)] = 0;
      if (mode == PairMode::kSlackZero) hi[rows.slack(i)] = 0;
      if (mode != PairMode::kGammaZero && program.gamma_max.size() > 0) hi[rows.gamma(i)] = program.gamma_max(i);
      z_lo[nu + i] = 0;
      z_hi[nu + i] = mode == PairMode::kGammaZero ? 0.0 : L;
      Cut& cut = cuts_[k * ng_ + i];
      cut = {};
      if (cuts && mode == PairMode::kOpen && !layout_->is_idle(i) && std::isfinite(L) && std::isfinite(S)) {
        const double larger = std::max(L, S);
        cut = {S / larger, L / larger, L * S / larger};
      }
    }
    for (int j = 0; j < nu; ++j) {
      z_lo[j] = lo[rows.input(j)] = program.u_min.size() > 0 ? program.u_min(j, k) : -kInfinity;
      z_hi[j] = hi[rows.input(j)] = program.u_max.size() > 0 ? program.u_max(j, k) : kInfinity;
    }
    const std::vector<int>& soft = rows.soft();
    for (int i = 0; i < nx; ++i) {
      const double least = program.x_min.size() > 0 ? program.x_min(i) : -kInfinity,
                   most = program.x_max.size() > 0 ? program.x_max(i) : kInfinity;
      const auto found = std::find(soft.begin(), soft.end(), i);
      if (found == soft.end()) {
        lo[rows.state(i)] = least;
        hi[rows.state(i)] = most;
        continue;
      }
      const int s = static_cast<int>(found - soft.begin());
      hi[rows.below_upper(s)] = most;
      lo[rows.above_lower(s)] = least;
      lo[rows.excess(s)] = 0;
      z_lo[nu + ng_ + s] = 0;
      z_hi[nu + ng_ + s] = kInfinity;
    }
  }
  price_.assign(nz, 0.0);
  for (std::size_t s = 0; s < rows.soft().size(); ++s) price_[to_size(nu + ng_) + s] = program.x_price(rows.soft()[s]);
}

double LcsRelaxation::value(int row) const {
  if (!is_cut(row)) return point_.y[row];
  const int pair = row - rows_;
  const Cut& cut = cuts_[pair];
  return cut.gamma * point_.y[gamma_row(pair)] + cut.slack * point_.y[slack_row(pair)];
}

double LcsRelaxation::diagonal(int row) const {
  if (!is_cut(row)) return stages_->diagonal(row);
  const int pair = row - rows_;
  const Cut& cut = cuts_[pair];
  return cut.gamma * cut.gamma * stages_->diagonal(gamma_row(pair)) +
         cut.slack * cut.slack * stages_->diagonal(slack_row(pair)) +
         2 * cut.gamma * cut.slack * stages_->cross(pair / ng_, pair % ng_);
}

/// w_j = the response of working row j to a multiplier of `row`.
void LcsRelaxation::products(int row, double* w) {
  const auto read = [&](const double* column, double factor, bool first) {
    for (std::size_t j = 0; j < active_.size(); ++j) {
      const int other = active_[j].row;
      double value;
      if (!is_cut(other)) {
        value = column[other];
      } else {
        const int pair = other - rows_;
        const Cut& cut = cuts_[pair];
        value = cut.gamma * column[gamma_row(pair)] + cut.slack * column[slack_row(pair)];
      }
      w[j] = first ? factor * value : w[j] + factor * value;
    }
  };
  if (!is_cut(row)) return read(stages_->column(row, scratch_), 1.0, true);
  const int pair = row - rows_;
  const Cut& cut = cuts_[pair];
  read(stages_->column(gamma_row(pair), scratch_), cut.gamma, true);
  read(stages_->column(slack_row(pair), scratch_), cut.slack, false);
}

void LcsRelaxation::start(std::span<const LcsMultiplier> working) {
  for (const Active& row : active_) place_[row.row] = -1;
  active_.clear();
  residual_.clear();
  const int most = stages_->num_variables() + 1;
  factor_.clear(most);
  for (const LcsMultiplier& given : working) {
    const double lo = lower(given.row), hi = upper(given.row);
    if (is_cut(given.row) && hi == 0) continue;  // the pair has no hull any more
    int side = given.lambda > 0 ? 1 : -1;
    if (lo == hi) side = 0;
    const double target = side > 0 ? hi : lo;
    if (!std::isfinite(target) || (side != 0 && given.lambda == 0)) continue;
    active_.push_back({given.row, side, given.lambda, target});
  }
  if (static_cast<int>(active_.size()) <= most && factorise()) return;
  const std::vector<Active> wanted = std::move(active_);  // some depend on the others
  active_.clear();
  for (const Active& row : wanted) append(row.row, row.target, row.side, row.lambda);
}

/// The factor of all rows in active_ at once. @returns false where they are not independent.
bool LcsRelaxation::factorise() {
  const int n = static_cast<int>(active_.size());
  factor_.begin(n);
  for (int k = 0; k < n; ++k) {
    products(active_[k].row, w_.data());
    std::copy(w_.begin() + k, w_.begin() + n, &factor_.entry(k, k));
    factor_.entry(k, k) = diagonal(active_[k].row);
    residual_.push_back(0);
  }
  if (!factor_.factorise(n, residual_.data())) {
    residual_.clear();
    return false;
  }
  for (int k = 0; k < n; ++k) place_[active_[k].row] = k;
  return true;
}

void LcsRelaxation::add_to_rows(int row, double lambda) {
  if (!is_cut(row)) {
    lambda_[row] += lambda;
    return;
  }
  const int pair = row - rows_;
  lambda_[gamma_row(pair)] += cuts_[pair].gamma * lambda;
  lambda_[slack_row(pair)] += cuts_[pair].slack * lambda;
}

void LcsRelaxation::evaluate() {
  std::fill(lambda_.begin(), lambda_.end(), 0.0);
  for (const Active& row : active_) add_to_rows(row.row, row.lambda);
  stages_->minimise(lambda_.data(), centre_.empty() ? nullptr : centre_.data(), point_, scratch_);
  dual_ = point_.cost + point_.proximal;
  double size = 0;
  for (std::size_t j = 0; j < active_.size(); ++j) {
    residual_[j] = value(active_[j].row) - active_[j].target;
    dual_ += active_[j].lambda * residual_[j];
    size += std::abs(active_[j].lambda) * std::sqrt(diagonal(active_[j].row));
  }
  // The minimiser is off by rounding of the multipliers' effects, which may cancel; the Lagrangian there is too high by
  // the square.
  rounding_ = std::pow(kEffectsRounding * size, 2);
}

/// The dual less what the proximal term may have added: for all points z' of the node
///   cost(z') ≥ dual + Σ ½ε[(z'_i − z_i)² − (z'_i − c_i)²],  which is linear in z'_i and least at an end of its
///   interval.
double LcsRelaxation::safe_bound(double cutoff) const {
  double bound = dual_ - rounding_;
  const int nz = stages_->rows().nz();
  double largest = 0;
  for (int i = 0; i < stages_->num_variables(); ++i) largest = std::max(largest, std::abs(point_.z[i]));
  for (int i = 0; i < stages_->num_variables(); ++i) {
    const double eps = stages_->epsilon(i % nz);
    if (eps == 0) continue;
    const double z = point_.z[i], c = centre_.empty() ? 0.0 : centre_[i];
    const double price = price_[i % nz];
    double end = z > c ? z_hi_[i] : z_lo_[i];
    if (!std::isfinite(end) && price > 0 && std::isfinite(cutoff))
      end = std::max(cutoff, 0.0) / price;  // more would cost more
    if (!std::isfinite(end)) {
      if (std::abs(z - c) <= kCentred * (1 + largest)) continue;
      return -kInfinity;
    }
    bound += 0.5 * eps * (z * z - c * c - 2 * end * (z - c));
  }
  return bound;
}

double LcsRelaxation::distance_to_centre() const {
  double most = 0;
  for (std::size_t i = 0; i < point_.z.size(); ++i)
    most = std::max(most, std::abs(point_.z[i] - (centre_.empty() ? 0.0 : centre_[i])));
  return most;
}

/// The centre moves to the minimiser, or further along where steps shrink like a geometric series: any centre is
/// allowed.
LcsRelaxation::End LcsRelaxation::recentre(double cutoff, int round) {
  double now = 0, along = 0;
  move_.resize(point_.z.size());
  last_move_.resize(point_.z.size());
  for (std::size_t i = 0; i < point_.z.size(); ++i) {
    last_move_[i] = round > 0 ? move_[i] : 0.0;
    move_[i] = point_.z[i] - (centre_.empty() ? 0.0 : centre_[i]);
    now += last_move_[i] * last_move_[i];
    along += move_[i] * last_move_[i];
  }
  const double ratio = now > 0 ? along / now : 0.0;
  const double further = round % kExtrapolate == kExtrapolate - 1 && ratio > kLeastRatio && ratio < 1
                             ? std::min(ratio / (1 - ratio), kFurthest)
                             : 0.0;
  centre_ = point_.z;
  for (std::size_t i = 0; i < centre_.size(); ++i) centre_[i] += further * move_[i];
  return climb(cutoff);
}

LcsRelaxation::End LcsRelaxation::solve(double cutoff, bool exact) {
  centre_.clear();
  End end = climb(cutoff);
  if (end == End::kOptimal && exact) {
    const auto far = [&] {
      double size = 1;
      for (const double z : point_.z) size = std::max(size, std::abs(z));
      return distance_to_centre() > kCentred * size;
    };
    for (int i = 0; i < kExactCentres && end == End::kOptimal && far(); ++i) end = recentre(cutoff, i);
    if (end == End::kOptimal) bound_ = safe_bound(cutoff);
  } else if (end == End::kOptimal) {
    bound_ = safe_bound(cutoff);
    // Where the proximal term alone may lift the dual above the cutoff, other centres show whether the node closes;
    // where multipliers without an upper bound leave no bound, they find one. The multipliers for the centre zero are
    // what children start from: they are not degenerate.
    const auto wanted = [&] { return dual_ >= cutoff || dual_ - bound_ > kLoose * (1 + std::abs(dual_)); };
    if (wanted()) {
      const std::vector<LcsMultiplier> before = working();
      double best = bound_;
      for (int i = 0; i < kCentres && end == End::kOptimal && wanted(); ++i) {
        end = recentre(cutoff, i);
        if (end == End::kOptimal) best = std::max(best, bound_ = safe_bound(cutoff));
      }
      if (end == End::kAbove || end == End::kInfeasible) return end;
      centre_.clear();
      start(before);
      end = climb(kInfinity);
      bound_ = best;
    }
  }
  if (end == End::kFailed) bound_ = -kInfinity;
  return end;
}

std::vector<LcsMultiplier> LcsRelaxation::working() const {
  std::vector<LcsMultiplier> out;
  out.reserve(active_.size());
  for (const Active& row : active_) out.push_back({row.row, row.lambda});
  return out;
}

double LcsRelaxation::multiplier(int row) const { return place_[row] < 0 ? 0.0 : active_[place_[row]].lambda; }

}  // namespace deft::solvers::lcs
