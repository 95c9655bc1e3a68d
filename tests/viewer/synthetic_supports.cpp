#include "synthetic_supports.hpp"

#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"

namespace deft::viewer {

using dynamics::SupportRecord;
using dynamics::SupportState;
using nlohmann::json;

namespace {

constexpr double kGyration = 0.05;  // 1/√400

}  // namespace

json limit_surface_of(int box) {
  if (box == 0) return {{"axes", {0, 1, 2}}, {"ellipsoid", {1, 0, 0, 4, 0, 400}}};
  json loads = json::array();
  for (int i = 0; i < 13; ++i) {
    for (int j = 0; j < 24; ++j) {
      const double b = std::numbers::pi * (i / 12.0 - 0.5), a = std::numbers::pi * j / 12;
      for (const double f : {std::cos(b) * std::cos(a), std::cos(b) * std::sin(a), kGyration * std::sin(b)})
        loads.push_back(f);
    }
  }
  return {{"axes", {0, 1, 2}}, {"gyration", kGyration}, {"columns", 24}, {"loads", loads}};
}

void add_supports(int pushing, dynamics::Trajectory& run) {
  run.support_bodies = {2, 3};
  run.searches_alternatives = true;
  run.second_X_WB.resize(run.steps.size());
  for (int k = 0; k < run.num_steps(); ++k) {
    dynamics::StepRecord& step = run.steps[k];
    SupportRecord first{.form = {1, 0, 0, 4, 0, 400}}, second{.form = {1, 0, 0, 1, 0, 400}};
    step.uniqueness = k >= 30 && k < 35 ? 0 : 1;
    if (k == 50 || k == 51) {
      step.uniqueness = 2;
      step.status = 1;
      step.motion_unique = false;
      auto& poses = run.second_X_WB[k] = run.X_WB[to_size(k) + 1];
      poses[2][5] += 0.1;
      const double half = std::atan2(poses[2][3], poses[2][0]) + 0.1;  // turns by 0.2 rad more; the other sign of the
                                                                       // same quaternion
      poses[2][0] = -std::cos(half);
      poses[2][3] = -std::sin(half);
    }
    if (k == 56) step.status = 4;
    if (k == 57) step.status = 2;
    if (k >= 40 && k < 45) {
      first.state = SupportState::kJammed;
    } else if (k >= pushing && step.status < 2) {
      // A load is (0.6, 0.4, 0), for which FᵀAF = 1, and the twist goes along its A F = (0.6, 1.6, 0).
      first.state = SupportState::kMoves;
      first.load = {0.6, 0.4, 0};
      first.factor = 2.5;
      first.twist = {0.06, 0.16, 0};
    }
    run.supports.push_back(first);
    run.supports.push_back(second);
  }
}

}  // namespace deft::viewer
