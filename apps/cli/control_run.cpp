#include "control_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "deft/control/mixed_integer_mpc.hpp"
#include "deft/core/log.hpp"
#include "statistics.hpp"

namespace deft::cli {

struct ControlRun::Impl {
  const scene::Scene* scene;
  control::MixedIntegerMpc mpc;
  bool told_of_fallback = false;
  const control::MpcResult* last = nullptr;
};

ControlRun::ControlRun(const scene::Scene& scene) : impl_(new Impl{&scene, control::MixedIntegerMpc(scene)}) {}
ControlRun::~ControlRun() = default;

void ControlRun::announce(dynamics::Trajectory& motion) const {
  motion.names_x = impl_->mpc.names_x();
  motion.horizon = impl_->mpc.horizon();
}

void ControlRun::operator()(const dynamics::State& state, Eigen::VectorXd& u, dynamics::Trajectory& motion) {
  const control::MpcResult& result = impl_->mpc.control(state);
  u = result.u;
  impl_->last = &result;
  motion.horizons.push_back(record_of(result, *impl_->scene, state.q));
  if (!result.fallback || impl_->told_of_fallback) return;
  impl_->told_of_fallback = true;
  log::warning(
      fmt::format("t = {:.6g} s: the controller has no plan ({}) and gives the safe command, control.fallback: {} "
                  "(later ones are counted only)",
                  state.t, to_string(result.status), to_string(impl_->scene->settings().control->fallback)));
}

const solvers::lcs::LcsMpcProgram& ControlRun::program() const { return impl_->last->program; }

Json control_summary(const dynamics::Trajectory& motion) {
  std::vector<double> times;
  std::map<std::string, int> statuses;
  double gap_max = motion.horizons.empty() ? std::nan("") : 0;
  std::int64_t nodes = 0;
  int fallbacks = 0, proven = 0;
  for (const dynamics::HorizonRecord& record : motion.horizons) {
    times.push_back(record.time_s);
    nodes += record.nodes;
    fallbacks += record.fallback ? 1 : 0;
    proven += record.status == static_cast<int>(solvers::Status::kSolved) ? 1 : 0;
    if (!record.fallback) gap_max = std::max(gap_max, record.gap);
    ++statuses[motion.status_words.at(record.status)];
  }
  return {{"periods", times.size()},
          {"proven", proven},
          {"fallbacks", fallbacks},
          {"time_s",
           {{"p50", number(percentile(times, 0.5))},
            {"p95", number(percentile(times, 0.95))},
            {"max", number(percentile(times, 1))}}},
          {"gap_max", number(gap_max)},
          {"nodes", nodes},
          {"statuses", statuses}};
}

void print_control(const Json& summary) {
  const auto shown = [](const Json& value) {
    return value.is_number()   ? fmt::format("{:.4g}", value.get<double>())
           : value.is_string() ? value.get<std::string>()
                               : "–";
  };
  fmt::print(
      "controller\n  periods   {}, {} proven optimal, {} without a plan\n  gap       {} (largest, relative)\n  nodes   "
      "  {}\n",
      summary["periods"].get<std::size_t>(), summary["proven"].get<int>(), summary["fallbacks"].get<int>(),
      shown(summary["gap_max"]), summary["nodes"].get<std::int64_t>());
  fmt::print("  time      p50 {} s  p95 {} s  max {} s\n", shown(summary["time_s"]["p50"]),
             shown(summary["time_s"]["p95"]), shown(summary["time_s"]["max"]));
}

}  // namespace deft::cli
