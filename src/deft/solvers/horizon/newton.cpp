#include "deft/solvers/horizon/newton.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::horizon {
namespace {

constexpr double kStiff = 1e6;          // weight of active rows, in stiffnesses of the cost
constexpr int kRefinements = 4;         // steps with the same active set
constexpr int kFew = 4;                 // rows; more must become fewer from step to step
constexpr double kNear = 1e-12;         // of a row's terms: rows that miss their bound by less stay in their state
constexpr double kAccuracy = 0.1;       // of the tolerance: how well active rows hold in the end
constexpr double kLeastTerms = 1e-300;  // sizes are at least this, against division by zero

}  // namespace

void HorizonNewton::begin(HorizonIterate& at) {
  const auto count = to_size(at.program.count());
  row_.assign(count, Row::kInactive);
  w_.resize(count);
  weight_.resize(count);
  estimate_.resize(count);
  const std::vector<double>& rho = at.program.rho();
  for (std::size_t i = 0; i < count; ++i) {
    w_[i] = kStiff * at.program.stiffness()[i];
    at.l[i] = std::clamp(at.l[i], 0.0, rho[i]);
    if (at.l[i] > 0) row_[i] = at.l[i] < rho[i] ? Row::kActive : Row::kRelaxed;
  }
}

void HorizonNewton::factor(HorizonIterate& at) {
  for (std::size_t i = 0; i < row_.size(); ++i) weight_[i] = row_[i] == Row::kActive ? w_[i] : 0;
  at.program.form_weights(weight_, form_weight_);
  at.riccati.factor(at.program, form_weight_, HorizonCost::kProgram, 0);
  ++at.factorizations;
}

int HorizonNewton::update_active_set(HorizonIterate& at) {
  at.program.apply(at.z, Gz_);
  const std::vector<double>&d = at.program.d(), &rho = at.program.rho();
  int moved = 0;
  worst_ = 0;
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const double excess = Gz_[i] - d[i], size = std::abs(d[i]) + std::abs(Gz_[i]);
    const Row old = row_[i];
    switch (old) {
      case Row::kInactive:
        if (excess > kNear * size) row_[i] = Row::kActive;
        break;
      case Row::kRelaxed:
        if (excess < -kNear * size) row_[i] = Row::kActive;
        break;
      case Row::kActive: {
        const double l = at.l[i] + w_[i] * excess;
        if (l < 0) row_[i] = Row::kInactive;
        if (l > rho[i]) row_[i] = Row::kRelaxed;
        at.l[i] = std::clamp(l, 0.0, rho[i]);
        if (row_[i] == old) worst_ = std::max(worst_, std::abs(excess) / std::max(size, kLeastTerms));
        break;
      }
    }
    moved += row_[i] != old;
  }
  return moved;
}

void HorizonNewton::step(HorizonIterate& at) {
  const std::vector<double>& d = at.program.d();
  for (std::size_t i = 0; i < row_.size(); ++i)
    estimate_[i] = row_[i] == Row::kActive ? at.l[i] + w_[i] * (Gz_[i] - d[i]) : at.l[i];
  g_.resize(at.z.size());
  at.program.gradient(at.z, g_);
  at.program.add_transposed(estimate_, g_);
  at.riccati.solve(at.program, g_, false, dz_);
  for (std::size_t k = 0; k < at.z.size(); ++k) at.z[k] += dz_[k];
  ++at.iterations;
}

void HorizonNewton::first_step(HorizonIterate& at) {
  at.z.assign(at.program.size(), 0.0);
  Gz_.assign(row_.size(), 0.0);
  const std::vector<double>& d = at.program.d();
  for (std::size_t i = 0; i < row_.size(); ++i)
    estimate_[i] = row_[i] == Row::kActive ? at.l[i] - w_[i] * d[i] : at.l[i];
  g_.resize(at.z.size());
  at.program.gradient(at.z, g_);
  at.program.add_transposed(estimate_, g_);
  at.riccati.solve(at.program, g_, true, dz_);
  std::swap(at.z, dz_);
  ++at.iterations;
}

bool HorizonNewton::run(HorizonIterate& at, double tolerance, int limit) {
  begin(at);
  factor(at);
  first_step(at);
  for (int used = 1, refined = 0, before = 0;;) {
    const int moved = update_active_set(at);
    if (moved > 0) {
      if (used == limit || (used > 1 && moved > kFew && moved >= before)) return false;
      before = moved;
      factor(at);
      ++used;
      refined = 0;
    } else if (worst_ <= kAccuracy * tolerance && (refined > 0 || worst_ == 0)) {
      return true;
    } else if (++refined > kRefinements) {
      return false;
    }
    step(at);
  }
}

}  // namespace deft::solvers::horizon
