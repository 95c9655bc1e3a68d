#include "deft/solvers/contact/interior/screening.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::contact {
namespace {

constexpr std::size_t kWorthIt = 6;  // contacts
// How far a column may move beyond the guess: a share of its free motion |b_k|/Q_kk, of which contacts usually leave
// little, and of the guess itself. Only speed depends on them.
constexpr double kFreeCold = 1.0, kFreeWarm = 1e-3, kOfGuess = 0.3;
constexpr double kTouching = 1e-9;  // slack over reach below which a contact counts as closed
constexpr int kScreeningRounds = 2;

}  // namespace

void Screening::start(const ContactProgram& program, std::span<const double> guess, std::span<const char> redundant) {
  rounds_ = 0;
  redundant_ = redundant;
  has_redundant_ = std::find(redundant.begin(), redundant.end(), 1) != redundant.end();
  int columns = 0;
  keep_all();
  if (program.contacts.size() < kWorthIt || std::isfinite(program.kappa)) return;
  reach_.assign(program.nv, 0.0);
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const auto Q = program.Q.block(k);
    for (int i = 0; i < program.Q.size(k); ++i) {
      const int col = program.Q.start(k) + i;
      if (!(Q(i, i) > 0)) return;
      reach_[col] = (guess.empty() ? kFreeCold : kFreeWarm) * std::abs(program.b[col]) / Q(i, i);
      if (!guess.empty()) reach_[col] += kOfGuess * std::abs(guess[col]);
      ++columns;
    }
  }
  if (columns < program.nv) return;
  kept_.assign(program.contacts.size(), 0);
  still_.assign(program.nv, 0.0);
  keep_near(program, guess.empty() ? std::span<const double>(still_) : guess, 1.0);
  if (std::find(kept_.begin(), kept_.end(), 0) == kept_.end()) keep_all();
}

bool Screening::holds(const ContactProgram& program, std::span<const double> delta) {
  if (keep_near(program, delta, kTouching) == 0) return true;
  keep_near(program, delta, 1.0);
  if (++rounds_ == kScreeningRounds) {
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] = !is_redundant(i);
  }
  if (std::find(kept_.begin(), kept_.end(), 0) == kept_.end()) keep_all();
  return false;
}

// Keeps the contacts with φ + nδ − μ|E(tδ + o)| ≤ factor · reach; the slack of a pyramid is at least that of the cone.
// @returns how many were added.
int Screening::keep_near(const ContactProgram& program, std::span<const double> delta, double factor) {
  int added = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i] || is_redundant(i)) continue;
    const ContactLaw& law = program.contacts[i];
    const auto cols = program.J.cols(static_cast<int>(i));
    const double* row = program.J.block(static_cast<int>(i)).data();
    const int rows = law.frictionless ? 1 : program.J.rows(static_cast<int>(i));
    double slack = law.gap, squared = 0, reach = 0;
    for (int r = 0; r < rows; ++r, row += cols.size()) {
      const double scale = r == 0 ? 1.0 : law.mu * law.ellipsoid[r - 1];
      double moved = r == 0 ? 0.0 : law.offset[r - 1], reached = 0;
      for (std::size_t k = 0; k < cols.size(); ++k) {
        moved += row[k] * delta[cols[k]];
        reached += std::abs(row[k]) * reach_[cols[k]];
      }
      reach += scale * reached;
      if (r == 0) {
        slack += moved;
      } else {
        squared += scale * moved * scale * moved;
      }
    }
    slack -= std::sqrt(squared);
    if (law.gap >= 0 && slack > factor * reach) continue;
    kept_[i] = 1;
    ++added;
  }
  return added;
}

}  // namespace deft::solvers::contact
