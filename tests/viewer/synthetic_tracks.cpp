#include "synthetic_tracks.hpp"

#include <cmath>

namespace deft::viewer {

void add_tracks(dynamics::Trajectory& run) {
  const double nothing = std::nan("");
  run.track_words = {"Tracking", "Hold", "Replanning"};
  for (std::size_t k = 0; k < run.t.size(); ++k) {
    run.reference_q.push_back(run.q[k]);
    run.reference_X_WB.push_back(run.X_WB[k]);
    run.reference_X_WB.back()[1][4] += 0.02;
    run.reference_X_WB.back()[2][5] += 0.5e-3 * static_cast<double>(k);
  }
  for (int k = 0; k < run.num_steps(); ++k) {
    const bool holds = k >= 20 && k < 23, replans = k == 30 || k == 31;
    run.tracks.push_back({.knot = 0.25 * k,
                          .position_error_m = 0.5e-3 * (k + 1),
                          .rotation_error_rad = 1e-3 * (k + 1),
                          .status = holds     ? 1
                                    : replans ? 2
                                              : 0,
                          .period_us = k == 5 ? nothing : 400.0 + k,
                          .plan = k >= 32 ? 1 : 0});
    run.measured_q.push_back(run.q[k]);
    dynamics::StepRecord& step = run.steps[k];
    step.residual = step.energy = step.solve_us = nothing;
    step.iterations = 0;
  }
}

dynamics::Trajectory beside_of(const dynamics::Trajectory& run, bool tracked) {
  dynamics::Trajectory other;
  other.names_bodies = run.names_bodies;
  if (tracked) other.track_words = {"OpenLoop"};
  for (std::size_t k = 0; k < run.t.size() && run.t[k] <= 2 + 1e-9; k += 2) {
    other.t.push_back(run.t[k]);
    other.X_WB.push_back(run.X_WB[k]);
    other.X_WB.back()[2][5] += 0.06;
    if (tracked) other.reference_X_WB.push_back(run.X_WB[k]);
    if (k == 0) continue;
    other.steps.emplace_back();
    if (tracked) other.tracks.push_back({.position_error_m = 0.06, .rotation_error_rad = 0.2});
  }
  return other;
}

}  // namespace deft::viewer
