#include "deft/solvers/lcs_propagation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deft::solvers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kWiden = 1e-9;      // of the size of an end
constexpr double kEmpty = 1e-6;      // an interval is empty when its ends cross by more, relative to their size
constexpr double kOpen = 1e-7;       // a slack that is surely larger has no multiplier
constexpr double kNothing = 1e-10;   // an upper end below is zero
constexpr double kWorthwhile = 1e-5; // of the width: smaller gains are not followed
constexpr double kRounding = 1e-14;

double size_of(double v) { return 1 + std::abs(v); }

}  // namespace

LcsPropagation::LcsPropagation(const LcsMpcProgram& program)
    : program_(&program), nx_(program.system.nx()), nu_(program.system.nu()), ng_(program.system.pairs()), N_(program.N),
      stride_(nx_ + nu_ + 2 * ng_) {
  const LinearComplementaritySystem& s = program.system;
  const auto put = [](std::vector<Term>& terms, int offset, double a, double none = 0) {
    if (std::abs(a) > none) terms.push_back({offset, a});
  };
  for (int i = 0; i < nx_; ++i) {
    std::vector<Term> terms;
    put(terms, x(1, i), 1);
    for (int j = 0; j < nx_; ++j) put(terms, x(0, j), -s.A(i, j));
    for (int j = 0; j < nu_; ++j) put(terms, u(0, j), -s.B(i, j));
    for (int j = 0; j < ng_; ++j) put(terms, gamma(0, j), -s.C(i, j));
    add_row(std::move(terms), s.F(i));
  }
  for (int i = 0; i < ng_; ++i) {
    std::vector<Term> terms;
    put(terms, slack(0, i), 1);
    for (int j = 0; j < nx_; ++j) put(terms, x(0, j), -s.D0(i, j));
    for (int j = 0; j < nx_; ++j) put(terms, x(1, j), -s.D(i, j));
    for (int j = 0; j < nu_; ++j) put(terms, u(0, j), -s.H(i, j));
    for (int j = 0; j < ng_; ++j) put(terms, gamma(0, j), -s.E(i, j));
    add_row(std::move(terms), s.alpha(i));
  }
  // Two rows of C that are parallel: their difference knows no multiplier (positions and velocities, for example).
  for (int a = 0; a < nx_; ++a) {
    for (int b = a + 1; b < nx_; ++b) {
      const double na = ng_ > 0 ? s.C.row(a).norm() : 0.0, nb = ng_ > 0 ? s.C.row(b).norm() : 0.0;
      if (na == 0 || nb == 0) continue;
      const double c = s.C.row(a).dot(s.C.row(b)) / (nb * nb);
      if ((s.C.row(a) - c * s.C.row(b)).norm() > kRounding * na) continue;
      std::vector<Term> terms;
      put(terms, x(1, a), 1);
      put(terms, x(1, b), -c);
      for (int j = 0; j < nx_; ++j) put(terms, x(0, j), -(s.A(a, j) - c * s.A(b, j)), kRounding);
      for (int j = 0; j < nu_; ++j) put(terms, u(0, j), -(s.B(a, j) - c * s.B(b, j)), kRounding);
      add_row(std::move(terms), s.F(a) - c * s.F(b));
    }
  }
  find_free(s);
}

void LcsPropagation::add_row(std::vector<Term> terms, double rhs) { rows_.push_back({std::move(terms), rhs}); }

/// γ_i with a zero column in C and H-free rows may be lowered until one of the slacks that it lifts, or itself, becomes zero: this keeps
/// all else, if every E_ji ≥ 0 and E_ii = 0.
void LcsPropagation::find_free(const LinearComplementaritySystem& s) {
  for (int i = 0; i < ng_; ++i) {
    if (s.C.col(i).cwiseAbs().maxCoeff() > 0 || s.E.col(i).minCoeff() < 0 || s.E(i, i) != 0) continue;
    Free free{gamma(0, i), {}};
    for (int j = 0; j < ng_; ++j) {
      if (s.E(j, i) == 0) continue;
      Row row;
      row.rhs = s.alpha(j);
      for (const Term& term : rows_[static_cast<std::size_t>(nx_ + j)].terms) {
        if (term.offset != slack(0, j) && term.offset != gamma(0, i)) row.terms.push_back({term.offset, -term.a});
      }
      free.slacks.emplace_back(std::move(row), s.E(j, i));
    }
    free_.push_back(std::move(free));
  }
}

LcsIntervals LcsPropagation::start() const {
  const auto size = static_cast<std::size_t>(N_ * stride_ + nx_);
  LcsIntervals out{std::vector<double>(size, -kInfinity), std::vector<double>(size, kInfinity)};
  const LcsMpcProgram& p = *program_;
  const auto set = [&](int index, double lo, double hi) {
    out.lo[static_cast<std::size_t>(index)] = lo;
    out.hi[static_cast<std::size_t>(index)] = hi;
  };
  for (int i = 0; i < nx_; ++i) {
    set(x(0, i), p.x0(i), p.x0(i));
    if (p.x_price.size() > 0 && std::isfinite(p.x_price(i))) continue;
    for (int k = 1; k <= N_; ++k) set(x(k, i), p.x_min.size() > 0 ? p.x_min(i) : -kInfinity, p.x_max.size() > 0 ? p.x_max(i) : kInfinity);
  }
  for (int k = 0; k < N_; ++k) {
    for (int j = 0; j < nu_; ++j) set(u(k, j), p.u_min.size() > 0 ? p.u_min(j, k) : -kInfinity, p.u_max.size() > 0 ? p.u_max(j, k) : kInfinity);
    for (int i = 0; i < ng_; ++i) {
      set(gamma(k, i), 0, p.gamma_max.size() > 0 ? p.gamma_max(i) : kInfinity);
      set(slack(k, i), 0, kInfinity);
    }
  }
  return out;
}

bool LcsPropagation::settle_modes(int k, LcsIntervals& intervals, std::vector<PairMode>& modes, bool& changed) const {
  for (int i = 0; i < ng_; ++i) {
    PairMode& mode = modes[static_cast<std::size_t>(k * ng_ + i)];
    double& gamma_hi = intervals.hi[static_cast<std::size_t>(gamma(k, i))];
    double& slack_hi = intervals.hi[static_cast<std::size_t>(slack(k, i))];
    const double slack_lo = intervals.lo[static_cast<std::size_t>(slack(k, i))];
    const double gamma_lo = intervals.lo[static_cast<std::size_t>(gamma(k, i))];
    if (mode == PairMode::kOpen) {
      if (slack_lo > kOpen || gamma_hi <= kNothing)
        mode = PairMode::kGammaZero;
      else if (gamma_lo > kOpen || slack_hi <= kNothing)
        mode = PairMode::kSlackZero;
    }
    if (mode == PairMode::kGammaZero && gamma_hi != 0) gamma_hi = 0, changed = true;
    if (mode == PairMode::kSlackZero && slack_hi != 0) slack_hi = 0, changed = true;
    if ((mode == PairMode::kGammaZero && gamma_lo > kEmpty) || (mode == PairMode::kSlackZero && slack_lo > kEmpty)) return false;
  }
  return true;
}

bool LcsPropagation::run(LcsIntervals& intervals, std::vector<PairMode>& modes, int rounds) const {
  std::vector<char> dirty(static_cast<std::size_t>(N_), 1);
  for (int round = 0; round < rounds; ++round) {
    bool any = false;
    for (int visit = 0; visit < 2 * N_; ++visit) {
      const int k = visit < N_ ? visit : 2 * N_ - 1 - visit;
      if (!dirty[static_cast<std::size_t>(k)]) continue;
      bool changed = false, before = false, after = false;
      if (!settle_modes(k, intervals, modes, changed)) return false;
      double* lo = intervals.lo.data() + k * stride_;
      double* hi = intervals.hi.data() + k * stride_;
      for (const Row& row : rows_) {
        double least = 0, most = 0;  // finite parts of Σ a·v
        int least_infinite = 0, most_infinite = 0;
        for (const Term& term : row.terms) {
          const double a = term.a * (term.a > 0 ? lo : hi)[term.offset], b = term.a * (term.a > 0 ? hi : lo)[term.offset];
          if (a == -kInfinity) ++least_infinite; else least += a;
          if (b == kInfinity) ++most_infinite; else most += b;
        }
        const double slop = kEmpty * size_of(row.rhs);
        if ((least_infinite == 0 && least > row.rhs + slop) || (most_infinite == 0 && most < row.rhs - slop)) return false;
        if (least_infinite > 1 && most_infinite > 1) continue;
        for (const Term& term : row.terms) {
          double &l = lo[term.offset], &h = hi[term.offset];
          if (l == h) continue;
          const double a = term.a * (term.a > 0 ? l : h), b = term.a * (term.a > 0 ? h : l);
          const double rest_least = a == -kInfinity ? (least_infinite == 1 ? least : -kInfinity) : (least_infinite == 0 ? least - a : -kInfinity);
          const double rest_most = b == kInfinity ? (most_infinite == 1 ? most : kInfinity) : (most_infinite == 0 ? most - b : kInfinity);
          double new_lo = (row.rhs - (term.a > 0 ? rest_most : rest_least)) / term.a;
          double new_hi = (row.rhs - (term.a > 0 ? rest_least : rest_most)) / term.a;
          if (std::isfinite(new_lo)) new_lo -= kWiden * size_of(new_lo);
          if (std::isfinite(new_hi)) new_hi += kWiden * size_of(new_hi);
          const double worthwhile = kWorthwhile * std::min(h - l, 1e6);
          const auto moved = [&] {
            changed = true;
            if (term.offset < nx_) before = true;
            if (term.offset >= stride_) after = true;
          };
          if (new_lo > l + worthwhile || (l <= 0 && new_lo > 0)) l = new_lo, moved();
          if (new_hi < h - worthwhile || (h > kNothing && new_hi <= 0)) h = std::max(new_hi, term.offset >= nx_ + nu_ && term.offset < stride_ ? 0.0 : -kInfinity), moved();
          if (l > h + kEmpty * size_of(h) || new_hi < l - kEmpty * size_of(l)) return false;
        }
      }
      for (const Free& free : free_) {
        double most = 0;
        for (const auto& [row, lift] : free.slacks) {
          double least = row.rhs;
          for (const Term& term : row.terms) least += term.a * (term.a > 0 ? lo : hi)[term.offset];
          if (!(least > -kInfinity)) {
            most = kInfinity;
            break;
          }
          most = std::max(most, -least / lift);
        }
        double& h = hi[free.offset];
        if (most + kWiden * size_of(most) < h - kWorthwhile * std::min(h, 1e6)) h = most + kWiden * size_of(most), changed = true;
      }
      dirty[static_cast<std::size_t>(k)] = changed;
      if (!changed) continue;
      any = true;
      if (before && k > 0) dirty[static_cast<std::size_t>(k - 1)] = 1;
      if (after && k + 1 < N_) dirty[static_cast<std::size_t>(k + 1)] = 1;
    }
    if (!any) break;
  }
  return true;
}

}  // namespace deft::solvers
