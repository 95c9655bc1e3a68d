#include "deft/solvers/lcp/lemke.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace deft::solvers::lcp {
namespace {

constexpr double kStart = 1e-10;           // smaller pivots on the way to a start: it is no basis
constexpr double kFast = 0.01;             // of the fastest of the rows that block: slower ones are poor pivots
constexpr double kEqual = 1e-9;            // entries of the lexicographic comparison closer than this are equal
constexpr double kSingularPivots = 1e-13;  // entries of the largest pivots of a basis below: it is none
constexpr int kClockPivots = 32;           // between two readings of the clock

}  // namespace

template <class Scalar>
LemkeEnd BasicLemke<Scalar>::solve(const LemkeProblem& problem, std::span<const double> cover,
                                   std::span<const char> start, const Limits& limits) {
  problem_ = problem;
  cover_ = cover;
  n_ = problem.n;
  pivots_ = 0;
  work_ = 0;
  build();
  if (!start.empty() && !enter(start)) return LemkeEnd::kRay;
  int row = first_row();
  if (row < 0) {
    finish();
    return LemkeEnd::kSolved;
  }
  int column = table_.col_of(artificial());
  for (;;) {
    const int leaving = table_.row_variable(row);
    table_.pivot(row, column);
    ++pivots_;
    work_ += static_cast<double>(n_) * (n_ + 2);
    if (leaving == artificial()) {
      finish();
      return LemkeEnd::kSolved;
    }
    if (pivots_ >= limits.pivots || work_ > limits.work) return LemkeEnd::kPivotLimit;
    if (limits.clock && pivots_ % kClockPivots == 0 && limits.clock->seconds() > limits.time_s)
      return LemkeEnd::kTimeLimit;
    if (limits.renew > 0 && pivots_ % limits.renew == 0 && !renew()) return LemkeEnd::kRay;
    column = table_.col_of(leaving ^ 1);  // the partner of what left
    row = blocking_row(column, limits);
    if (row < 0) return LemkeEnd::kRay;
  }
}

template <class Scalar>
void BasicLemke<Scalar>::build() {
  table_.resize(n_, n_ + 1, 2 * n_ + 1);
  for (int i = 0; i < n_; ++i) {
    Scalar* row = table_.row(i);
    std::copy_n(problem_.M + static_cast<std::ptrdiff_t>(i) * problem_.ld, n_, row);
    row[n_] = cover_[i];
    row[n_ + 1] = problem_.q[i];
    table_.set_row_variable(i, w(i));
    table_.set_col_variable(i, z(i));
  }
  table_.set_col_variable(n_, artificial());
  speed_.resize(n_);
  tied_.reserve(n_);
  basic_.assign(n_, 0);
}

// Exchanges w_i and z_i of all i in `basic`.
template <class Scalar>
bool BasicLemke<Scalar>::exchange(std::span<const char> basic, double least) {
  set_.clear();
  for (int i = 0; i < n_; ++i) {
    if (basic[i]) set_.push_back(i);
  }
  const double count = static_cast<double>(set_.size()), n = n_;
  if constexpr (std::is_same_v<Scalar, double>) {
    work_ += count * n * (count + n) / 4;  // products of matrices take a fraction of a pivot's time
    return block_.exchange(table_, set_, least);
  } else {
    work_ += count * n * n;
    wanted_.assign(2 * n_ + 1, 0);
    for (int i = 0; i < n_; ++i) wanted_[basic[i] ? z(i) : w(i)] = 1;
    return table_.take_basis(wanted_, least) >= 0;
  }
}

template <class Scalar>
bool BasicLemke<Scalar>::enter(std::span<const char> start) {
  if (!exchange(start, kStart)) return false;
  // The covering vector is the same in the new dictionary.
  const int column = table_.col_of(artificial());
  for (int r = 0; r < n_; ++r) table_.row(r)[column] = 1;
  return true;
}

// The same basis from the problem's own numbers: pairs whose z is basic at once, then z₀ for the w of the pair that has
// neither; with a singular block pivot by pivot. (Not for runs with a start, whose covering vector belongs to another
// dictionary.)
template <class Scalar>
bool BasicLemke<Scalar>::renew() {
  wanted_.assign(2 * n_ + 1, 0);
  for (int r = 0; r < n_; ++r) wanted_[table_.row_variable(r)] = 1;
  build();
  if constexpr (std::is_same_v<Scalar, double>) {
    int without = -1;
    for (int i = 0; i < n_; ++i) {
      basic_[i] = wanted_[z(i)];
      if (!wanted_[z(i)] && !wanted_[w(i)]) without = i;
    }
    if (without >= 0 && exchange(basic_, kSingularPivots)) {
      const int row = table_.row_of(w(without)), column = table_.col_of(artificial());
      if (linear::magnitude(table_.at(row, column)) > kSingularPivots) {
        table_.pivot(row, column);
        return true;
      }
    }
    build();
  }
  work_ += static_cast<double>(n_) * n_ * n_ / 4;
  return table_.take_basis(wanted_, kSingularPivots) >= 0;
}

// The row that needs the largest z₀, the last of several: then all others stay lexicographically positive. −1: none
// needs any.
template <class Scalar>
int BasicLemke<Scalar>::first_row() const {
  const int column = table_.col_of(artificial());
  int worst = -1;
  Scalar least = 0;
  for (int r = 0; r < n_; ++r) {
    const Scalar needed = table_.value(r) / table_.at(r, column);
    if (table_.value(r) < 0 && needed <= least) {
      least = needed;
      worst = r;
    }
  }
  return worst;
}

// The ratio test of column s: the row that limits its variable first, ties decided as the class says. −1: none does.
template <class Scalar>
int BasicLemke<Scalar>::blocking_row(int s, const Limits& limits) {
  const Scalar* column = table_.column(s);
  Scalar largest = 1;
  for (int r = 0; r < n_; ++r) {
    speed_[r] = column[r];
    largest = std::max(largest, linear::magnitude(column[r]));
  }
  const Scalar least = -limits.pivot * largest;
  Scalar step = std::numeric_limits<double>::infinity();
  for (int r = 0; r < n_; ++r) {
    if (column[r] < least) step = std::min(step, (std::max(table_.value(r), Scalar(0)) + limits.tie) / -column[r]);
  }
  tied_.clear();
  for (int r = 0; r < n_; ++r) {
    if (column[r] < least && table_.value(r) <= step * -column[r]) tied_.push_back(r);
  }
  if (tied_.size() <= 1) return tied_.empty() ? -1 : tied_[0];
  const int wanted = table_.row_of(artificial());
  if (std::find(tied_.begin(), tied_.end(), wanted) != tied_.end()) return wanted;
  Scalar fastest = 0;
  for (const int r : tied_) fastest = std::max(fastest, -column[r]);
  std::erase_if(tied_, [&](int r) { return -column[r] < kFast * fastest; });
  return lexicographic_least();
}

// Rows of B⁻¹ over their speeds, compared column by column in the order of w: of a nonbasic w_j the dictionary holds
// −B⁻¹e_j, of a basic one B⁻¹e_j is a unit vector.
template <class Scalar>
int BasicLemke<Scalar>::lexicographic_least() {
  for (int j = 0; j < n_ && tied_.size() > 1; ++j) {
    const int s = table_.col_of(w(j)), own = table_.row_of(w(j));
    const auto entry = [&](int r) -> Scalar {
      const Scalar numerator = s >= 0 ? -table_.at(r, s) : Scalar(r == own ? 1 : 0);
      return numerator / -speed_[r];
    };
    Scalar least = std::numeric_limits<double>::infinity();
    for (const int r : tied_) least = std::min(least, entry(r));
    const Scalar limit = least + kEqual * std::max(Scalar(1), linear::magnitude(least));
    std::erase_if(tied_, [&](int r) { return entry(r) > limit; });
  }
  return tied_[0];
}

template <class Scalar>
void BasicLemke<Scalar>::finish() {
  for (int i = 0; i < n_; ++i) basic_[i] = table_.row_of(z(i)) >= 0;
}

template <class Scalar>
void BasicLemke<Scalar>::point(std::vector<double>& z_out) const {
  z_out.assign(n_, 0.0);
  for (int i = 0; i < n_; ++i) {
    const int r = table_.row_of(z(i));
    if (r >= 0) z_out[i] = static_cast<double>(table_.value(r));
  }
}

template class BasicLemke<double>;
template class BasicLemke<linear::Extended>;

}  // namespace deft::solvers::lcp
