#pragma once
// Runs that are written and read back.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/io/runs/run_folder.hpp"

namespace deft::io {
namespace run_folder_test {

namespace fs = std::filesystem;
using dynamics::ContactRecord;
using dynamics::StepRecord;
using dynamics::Trajectory;

/// A folder of its own for each test, removed at the end.
class RunFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / ("deft_run_folder_" + std::string(test->name()) + "_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name = "") const {
    return name.empty() ? folder_.string() : (folder_ / name).string();
  }
  fs::path folder_;
};

/// The start of a motion: all coordinates 0.5, all bodies at the origin.
inline Trajectory start_of(int nq, int nu, int bodies) {
  Trajectory motion;
  for (int i = 0; i < nq; ++i) motion.names_q.push_back("ball/q" + std::to_string(i));
  motion.names_v = {"ball/wx", "ball/µ"};
  for (int i = 0; i < nu; ++i) {
    motion.names_u.push_back("hand/u" + std::to_string(i));
    motion.u_index_q.push_back(nq - 1 - i);
  }
  motion.names_bodies.push_back("world");
  for (int i = 1; i < bodies; ++i) motion.names_bodies.push_back("body" + std::to_string(i));
  motion.status_words = {"Solved", "NotUnique"};
  motion.t = {0.0};
  motion.q = {std::vector<double>(nq, 0.5)};
  motion.X_WB = {std::vector<std::array<double, 7>>(bodies, {1, 0, 0, 0, 0, 0, 0})};
  return motion;
}

/// One more state of the plan that is followed.
inline void add_reference(Trajectory& motion, double value) {
  motion.reference_q.emplace_back(motion.names_q.size(), value);
  motion.reference_X_WB.emplace_back(motion.names_bodies.size(),
                                     std::array<double, 7>{1, 0, 0, 0, value, 2 * value, 3 * value});
}

/// One step whose every number is different; step k has k mod 4 contacts.
inline void add_step(Trajectory& motion) {
  const int k = motion.num_steps();
  const double s = 1.0 / (k + 3.0);
  motion.t.push_back(0.1 * (k + 1));
  motion.q.emplace_back(motion.names_q.size(), s);
  motion.u.emplace_back(motion.names_u.size(), -s);
  if (!motion.v.empty()) motion.v.emplace_back(motion.names_v.size(), 3 * s);
  motion.X_WB.emplace_back(motion.names_bodies.size(), std::array<double, 7>{1, 0, 0, 0, s, 2 * s, 3 * s});
  for (int c = 0; c < k % 4; ++c) {
    ContactRecord contact;
    contact.a = c;
    contact.b = k;
    contact.point_W = {s, 2 * s, 3 * s};
    contact.normal_W = {0, s, 1};
    contact.gap = 1e-3 * s;
    contact.gap_start = 2e-3 * s;
    contact.boundary_gap = 3e-3 * s;
    contact.force_W = {4 * s, 5 * s, 6 * s};
    contact.torque_W = {7 * s, 8 * s, 9 * s};
    contact.mu = 0.5 + s;
    contact.state = static_cast<dynamics::ContactState>(c % 3);
    if (motion.has_contact_kinds) {
      contact.kind = static_cast<dynamics::ContactKind>((k + c) % 4);
      contact.tangent_W = {s, -s, 0.5};
      contact.slip = {1e-3 * s, -2e-3 * s, 3 * s};
      contact.ellipsoid = {1, 0.5 + s, 0.01 * s};
    }
    motion.contacts.push_back(contact);
  }
  motion.contact_offset.push_back(motion.contacts.size());
  StepRecord step;
  step.status = k % 2;
  step.residual = 1e-12 * s;
  step.residual_stationarity = 2e-12 * s;
  step.residual_primal = 3e-12 * s;
  step.residual_complementarity = 4e-12 * s;
  step.iterations = k;
  step.solve_us = 10 + s;
  step.step_us = 20 + s;
  step.energy = -s;
  step.gap_min_linearised = 5e-3 * s;
  step.gap_min = k % 3 == 0 ? std::numeric_limits<double>::infinity() : 6e-3 * s;
  step.motion_unique = k % 2 == 0;
  step.forces_unique = k % 3 == 0;
  step.forces_least_norm = k % 5 == 0;
  step.uniqueness = k % 3;
  motion.steps.push_back(step);
  for (std::size_t i = 0; i < motion.support_bodies.size(); ++i) {
    motion.supports.push_back({.load = {s, 2 * s, 3 * s},
                               .factor = 4 * s,
                               .twist = {5 * s, 6 * s, 7 * s},
                               .form = {s, 0.1 * s, 0.2 * s, 2 * s, 0.3 * s, 3 * s},
                               .state = static_cast<dynamics::SupportState>((k + static_cast<int>(i)) % 3)});
  }
  if (motion.horizon > 0) {
    const auto N = to_size(motion.horizon);
    dynamics::HorizonRecord plan{.cost = s,
                                 .bound = -s,
                                 .gap = k % 2 == 0 ? std::numeric_limits<double>::infinity() : s,
                                 .nodes = 10 + k,
                                 .time_s = 2 * s,
                                 .status = k % 2,
                                 .fallback = k % 2 == 0};
    plan.x.assign((N + 1) * motion.names_x.size(), s);
    plan.u.assign(N * motion.names_u.size(), 2 * s);
    plan.X_WB.assign((N + 1) * motion.names_bodies.size() * 7, 3 * s);
    for (int i = 0; i < k % 3; ++i)
      plan.pairs.push_back({static_cast<dynamics::HorizonPair::Kind>(k % 4), i, k, i - 1});
    plan.gamma.assign(plan.pairs.size() * N, 4 * s);
    plan.slack.assign(plan.pairs.size() * N, 5 * s);
    motion.horizons.push_back(plan);
  }
  if (!motion.track_words.empty()) {
    motion.tracks.push_back({.knot = 0.3 * k,
                             .position_error_m = s,
                             .rotation_error_rad = 2 * s,
                             .status = k % 2,
                             .period_us = 3 * s,
                             .plan = k / 7});
    motion.measured_q.emplace_back(motion.names_q.size(), k % 5 == 4 ? std::nan("") : 4 * s);
    add_reference(motion, 5 * s);
  }
  if (!motion.searches_alternatives) return;
  const bool known = k % 3 == 2;
  motion.second_delta.emplace_back(motion.names_v.size(), known ? s : std::nan(""));
  motion.second_X_WB.emplace_back();
  if (known) motion.second_X_WB.back().assign(motion.names_bodies.size(), {1, 0, 0, 0, -s, 2 * s, 3 * s});
}

/// The same numbers; NaN where NaN.
inline void expect_same(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size());
    for (std::size_t i = 0; i < a[k].size(); ++i)
      EXPECT_TRUE(a[k][i] == b[k][i] || (std::isnan(a[k][i]) && std::isnan(b[k][i]))) << k << ' ' << i;
  }
}

/// The same names, states, steps and records.
inline void expect_equal(const Trajectory& a, const Trajectory& b) {
  EXPECT_EQ(a.names_q, b.names_q);
  EXPECT_EQ(a.names_v, b.names_v);
  EXPECT_EQ(a.names_u, b.names_u);
  EXPECT_EQ(a.names_bodies, b.names_bodies);
  EXPECT_EQ(a.status_words, b.status_words);
  EXPECT_EQ(a.u_index_q, b.u_index_q);
  EXPECT_EQ(a.t, b.t);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.u, b.u);
  EXPECT_EQ(a.X_WB, b.X_WB);
  EXPECT_EQ(a.contact_offset, b.contact_offset);
  EXPECT_EQ(a.has_contact_kinds, b.has_contact_kinds);
  EXPECT_EQ(a.searches_alternatives, b.searches_alternatives);
  EXPECT_EQ(a.second_X_WB, b.second_X_WB);
  EXPECT_EQ(a.support_bodies, b.support_bodies);
  EXPECT_EQ(a.names_x, b.names_x);
  EXPECT_EQ(a.horizon, b.horizon);
  ASSERT_EQ(a.horizons.size(), b.horizons.size());
  for (std::size_t i = 0; i < a.horizons.size(); ++i) {
    const dynamics::HorizonRecord &x = a.horizons[i], &y = b.horizons[i];
    EXPECT_EQ(
        std::tie(x.x, x.u, x.X_WB, x.gamma, x.slack, x.cost, x.bound, x.gap, x.nodes, x.time_s, x.status, x.fallback),
        std::tie(y.x, y.u, y.X_WB, y.gamma, y.slack, y.cost, y.bound, y.gap, y.nodes, y.time_s, y.status, y.fallback));
    ASSERT_EQ(x.pairs.size(), y.pairs.size());
    for (std::size_t p = 0; p < x.pairs.size(); ++p)
      EXPECT_EQ(std::tie(x.pairs[p].kind, x.pairs[p].a, x.pairs[p].b, x.pairs[p].index),
                std::tie(y.pairs[p].kind, y.pairs[p].a, y.pairs[p].b, y.pairs[p].index));
  }
  EXPECT_EQ(a.track_words, b.track_words);
  EXPECT_EQ(a.reference_q, b.reference_q);
  EXPECT_EQ(a.reference_X_WB, b.reference_X_WB);
  expect_same(a.measured_q, b.measured_q);
  ASSERT_EQ(a.tracks.size(), b.tracks.size());
  for (std::size_t i = 0; i < a.tracks.size(); ++i) {
    const dynamics::TrackRecord &x = a.tracks[i], &y = b.tracks[i];
    EXPECT_EQ(std::tie(x.knot, x.position_error_m, x.rotation_error_rad, x.status, x.period_us, x.plan),
              std::tie(y.knot, y.position_error_m, y.rotation_error_rad, y.status, y.period_us, y.plan));
  }
  ASSERT_EQ(a.supports.size(), b.supports.size());
  for (std::size_t i = 0; i < a.supports.size(); ++i) {
    const dynamics::SupportRecord &x = a.supports[i], &y = b.supports[i];
    EXPECT_EQ(std::tie(x.load, x.factor, x.twist, x.form, x.state),
              std::tie(y.load, y.factor, y.twist, y.form, y.state));
  }
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    const ContactRecord &x = a.contacts[i], &y = b.contacts[i];
    EXPECT_EQ(std::tie(x.a, x.b, x.point_W, x.normal_W, x.gap, x.gap_start, x.boundary_gap, x.force_W, x.torque_W, x.mu,
                       x.state),
              std::tie(y.a, y.b, y.point_W, y.normal_W, y.gap, y.gap_start, y.boundary_gap, y.force_W, y.torque_W, y.mu,
                       y.state));
    EXPECT_EQ(std::tie(x.kind, x.tangent_W, x.slip, x.ellipsoid), std::tie(y.kind, y.tangent_W, y.slip, y.ellipsoid));
  }
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    const StepRecord &x = a.steps[i], &y = b.steps[i];
    EXPECT_EQ(std::tie(x.status, x.residual, x.residual_stationarity, x.residual_primal, x.residual_complementarity,
                       x.iterations, x.solve_us, x.step_us, x.energy, x.gap_min, x.gap_min_linearised, x.motion_unique,
                       x.forces_unique, x.forces_least_norm, x.uniqueness),
              std::tie(y.status, y.residual, y.residual_stationarity, y.residual_primal, y.residual_complementarity,
                       y.iterations, y.solve_us, y.step_us, y.energy, y.gap_min, y.gap_min_linearised, y.motion_unique,
                       y.forces_unique, y.forces_least_norm, y.uniqueness));
  }
}

/// Waits until the published run has `steps` steps; false after ten seconds.
inline bool wait_for_steps(const std::string& folder, int steps) {
  for (int i = 0; i < 1000; ++i) {
    if (read_run(folder).trajectory.num_steps() >= steps) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline const RunHeader kHeader{"ball", "deft: 1\n", "{\"name\": \"ball\"}", "0.1.0"};

}  // namespace run_folder_test
}  // namespace deft::io
