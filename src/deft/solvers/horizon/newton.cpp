#include "deft/solvers/horizon/newton.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::horizon {
namespace {

constexpr double kStiff = 1e6;   // of held rows, in stiffnesses of the cost
constexpr int kRefinements = 4;  // steps with the same rows
constexpr int kFew = 4;          // rows; more must become fewer from step to step
constexpr double kNear = 1e-12;  // rows that miss by less are where they should be

}  // namespace

void HorizonNewton::begin(HorizonIterate& at) {
  const auto count = to_size(at.program.count());
  row_.assign(count, Row::kOff);
  w_.resize(count);
  weight_.resize(count);
  pull_.resize(count);
  const std::vector<double>& rho = at.program.rho();
  for (std::size_t i = 0; i < count; ++i) {
    w_[i] = kStiff * at.program.stiffness()[i];
    at.l[i] = std::clamp(at.l[i], 0.0, rho[i]);
    if (at.l[i] > 0) row_[i] = at.l[i] < rho[i] ? Row::kHeld : Row::kGivenUp;
  }
}

void HorizonNewton::factor(HorizonIterate& at) {
  for (std::size_t i = 0; i < row_.size(); ++i) weight_[i] = row_[i] == Row::kHeld ? w_[i] : 0;
  at.program.form_weights(weight_, form_weight_);
  at.riccati.factor(at.program, form_weight_, HorizonCost::kProgram, 0);
  ++at.factorizations;
}

int HorizonNewton::judge(HorizonIterate& at) {
  at.program.apply(at.z, Gz_);
  const std::vector<double>&d = at.program.d(), &rho = at.program.rho();
  int moved = 0;
  worst_ = 0;
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const double excess = Gz_[i] - d[i], size = std::abs(d[i]) + std::abs(Gz_[i]);
    const Row old = row_[i];
    switch (old) {
      case Row::kOff:
        if (excess > kNear * size) row_[i] = Row::kHeld;
        break;
      case Row::kGivenUp:
        if (excess < -kNear * size) row_[i] = Row::kHeld;
        break;
      case Row::kHeld: {
        const double l = at.l[i] + w_[i] * excess;
        if (l < 0) row_[i] = Row::kOff;
        if (l > rho[i]) row_[i] = Row::kGivenUp;
        at.l[i] = std::clamp(l, 0.0, rho[i]);
        if (row_[i] == old) worst_ = std::max(worst_, std::abs(excess) / std::max(size, 1e-300));
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
    pull_[i] = row_[i] == Row::kHeld ? at.l[i] + w_[i] * (Gz_[i] - d[i]) : at.l[i];
  g_.resize(at.z.size());
  at.program.gradient(at.z, g_);
  at.program.add_transposed(pull_, g_);
  at.riccati.solve(at.program, g_, false, dz_);
  for (std::size_t k = 0; k < at.z.size(); ++k) at.z[k] += dz_[k];
  ++at.iterations;
}

bool HorizonNewton::run(HorizonIterate& at, double tolerance, int limit) {
  begin(at);
  // The first step from z = 0, along the dynamics as they are.
  factor(at);
  at.z.assign(at.program.size(), 0.0);
  Gz_.assign(row_.size(), 0.0);
  const std::vector<double>& d = at.program.d();
  for (std::size_t i = 0; i < row_.size(); ++i) pull_[i] = row_[i] == Row::kHeld ? at.l[i] - w_[i] * d[i] : at.l[i];
  g_.resize(at.z.size());
  at.program.gradient(at.z, g_);
  at.program.add_transposed(pull_, g_);
  at.riccati.solve(at.program, g_, true, dz_);
  std::swap(at.z, dz_);
  ++at.iterations;
  for (int used = 1, refined = 0, before = 0;;) {
    const int moved = judge(at);
    if (moved > 0) {
      if (used == limit || (used > 1 && moved > kFew && moved >= before)) return false;
      before = moved;
      factor(at);
      ++used;
      refined = 0;
    } else if (worst_ <= 0.1 * tolerance && (refined > 0 || worst_ == 0)) {
      return true;
    } else if (++refined > kRefinements) {
      return false;
    }
    step(at);
  }
}

}  // namespace deft::solvers::horizon
