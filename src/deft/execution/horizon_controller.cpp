#include "deft/execution/horizon_controller.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "deft/control/mixed_integer_mpc.hpp"
#include "deft/core/log.hpp"
#include "deft/math/percentile.hpp"

namespace deft::execution {

struct HorizonController::Impl {
  const scene::Scene* scene;
  control::MixedIntegerMpc mpc;
  bool fallback_is_reported = false;
  const control::MpcResult* last = nullptr;
};

HorizonController::HorizonController(const scene::Scene& scene)
    : impl_(new Impl{&scene, control::MixedIntegerMpc(scene)}) {}
HorizonController::~HorizonController() = default;

void HorizonController::announce(dynamics::Trajectory& motion) const {
  motion.names_x = impl_->mpc.names_x();
  motion.horizon = impl_->mpc.horizon();
}

void HorizonController::operator()(const dynamics::State& state, Eigen::VectorXd& u, dynamics::Trajectory& motion) {
  const control::MpcResult& result = impl_->mpc.control(state);
  u = result.u;
  impl_->last = &result;
  motion.horizons.push_back(record_of(result, *impl_->scene, state.q));
  if (!result.fallback || impl_->fallback_is_reported) return;
  impl_->fallback_is_reported = true;
  log::warning(
      fmt::format("t = {:.6g} s: the controller has no plan ({}) and gives the safe command, control.fallback: {} "
                  "(later ones are counted only)",
                  state.t, to_string(result.status), to_string(impl_->scene->settings().control->fallback)));
}

const solvers::lcs::LcsMpcProgram& HorizonController::program() const { return impl_->last->program; }

HorizonStatistics statistics_of(const dynamics::Trajectory& motion) {
  HorizonStatistics all;
  std::vector<double> times;
  all.gap_max = motion.horizons.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (const dynamics::HorizonRecord& record : motion.horizons) {
    times.push_back(record.time_s);
    all.nodes += record.nodes;
    all.fallbacks += record.fallback ? 1 : 0;
    all.proven += record.status == static_cast<int>(solvers::Status::kSolved) ? 1 : 0;
    if (!record.fallback) all.gap_max = std::max(all.gap_max, record.gap);
    ++all.statuses[motion.status_words.at(record.status)];
  }
  all.periods = times.size();
  all.time_p50_s = percentile(times, 0.5);
  all.time_p95_s = percentile(times, 0.95);
  all.time_max_s = percentile(times, 1);
  return all;
}

}  // namespace deft::execution
