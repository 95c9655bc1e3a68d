#include "deft/io/runs/run_folder.hpp"
#include "deft/core/index.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "deft/core/diagnostics.hpp"
#include "deft/io/runs/hdf5_run.hpp"

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

Trajectory start_of(int nq, int nu, int bodies) {
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
void add_reference(Trajectory& motion, double value) {
  motion.reference_q.emplace_back(motion.names_q.size(), value);
  motion.reference_X_WB.emplace_back(motion.names_bodies.size(),
                                     std::array<double, 7>{1, 0, 0, 0, value, 2 * value, 3 * value});
}

/// One step whose every number is different; step k has k mod 4 contacts.
void add_step(Trajectory& motion) {
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
  if (!motion.looks_for_second_motions) return;
  const bool known = k % 3 == 2;
  motion.second_delta.emplace_back(motion.names_v.size(), known ? s : std::nan(""));
  motion.second_X_WB.emplace_back();
  if (known) motion.second_X_WB.back().assign(motion.names_bodies.size(), {1, 0, 0, 0, -s, 2 * s, 3 * s});
}

/// The same numbers; NaN where NaN.
void expect_same(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size());
    for (std::size_t i = 0; i < a[k].size(); ++i)
      EXPECT_TRUE(a[k][i] == b[k][i] || (std::isnan(a[k][i]) && std::isnan(b[k][i]))) << k << ' ' << i;
  }
}

void expect_equal(const Trajectory& a, const Trajectory& b) {
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
  EXPECT_EQ(a.looks_for_second_motions, b.looks_for_second_motions);
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
bool wait_for_steps(const std::string& folder, int steps) {
  for (int i = 0; i < 1000; ++i) {
    if (read_run(folder).trajectory.num_steps() >= steps) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

const RunHeader kHeader{"ball", "deft: 1\n", "{\"name\": \"ball\"}", "0.1.0"};

TEST_F(RunFolder, GivesBackEverythingThatWasWritten) {
  Trajectory motion = start_of(7, 2, 3);
  motion.v = {{0.1, 0.2}};
  {
    RunWriter writer(path(), kHeader, motion);
    for (int k = 0; k < 300; ++k) {
      add_step(motion);
      writer.append(motion);
    }
  }
  const io::Run run = read_run(path());
  expect_equal(run.trajectory, motion);
  EXPECT_EQ(run.header.name, kHeader.name);
  EXPECT_EQ(run.header.scene_yaml, kHeader.scene_yaml);
  EXPECT_EQ(run.header.scene_json, kHeader.scene_json);
  EXPECT_EQ(run.header.version, kHeader.version);
  EXPECT_FALSE(run.complete);
  publish_text(path("summary.json"), "{}\n");
  EXPECT_TRUE(read_run(path("run.h5")).complete);
}

/// Appends 600 steps to `motion` and the run, waiting until half of them can be read; before and after, the file must
/// hold what was written.
void expect_given_back(const std::string& path, Trajectory& motion, std::size_t whole_copy_bytes) {
  {
    RunWriter writer(path, kHeader, motion, {.period_s = 0.01, .whole_copy_bytes = whole_copy_bytes});
    expect_equal(read_run(path).trajectory, motion);
    for (int k = 0; k < 600; ++k) {
      add_step(motion);
      writer.append(motion);
      if (k == 300) {
        ASSERT_TRUE(wait_for_steps(path, 301));
      }
    }
  }
  expect_equal(read_run(path).trajectory, motion);
}

TEST_F(RunFolder, GivesBackSupportsAndOtherMotions) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(7, 2, 3);
    motion.looks_for_second_motions = true;
    motion.support_bodies = {1, 2};
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
    const Trajectory read = read_run(path()).trajectory;
    ASSERT_EQ(read.second_delta.size(), 600u);
    EXPECT_TRUE(std::isnan(read.second_delta[0][0]));
    EXPECT_EQ(read.second_delta[2], motion.second_delta[2]);
  }
}

TEST_F(RunFolder, GivesBackPointsLinesAndSurfaces) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(7, 2, 3);
    motion.has_contact_kinds = true;
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, GivesBackWhatAControllerPlanned) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(3, 2, 3);
    motion.names_x = {"ball/q0", "ball/q1", "ball/q0 rate", "ball/q1 rate"};
    motion.horizon = 4;
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, GivesBackWhatFollowsAPlan) {
  for (const std::size_t whole_copy_bytes : {std::size_t{1} << 30, std::size_t{50'000}}) {
    Trajectory motion = start_of(3, 2, 3);
    motion.track_words = {"tracking", "hold"};
    add_reference(motion, 0.7);
    ASSERT_NO_FATAL_FAILURE(expect_given_back(path(), motion, whole_copy_bytes));
  }
}

TEST_F(RunFolder, TakesOnlyTheStepsOfWhichTheTrackIsWhole) {
  Trajectory motion = start_of(3, 2, 3);
  motion.track_words = {"tracking", "hold"};
  add_reference(motion, 0.7);
  for (int k = 0; k < 40; ++k) add_step(motion);
  RunRows whole;
  copy_rows(motion, 0, true, whole);
  // As when a writer is killed between two columns: one of them ends early, by rows of the state or of the step.
  const std::size_t nq = 3, poses = 3 * 7;
  const auto steps_of = [&](const RunRows& rows) {
    {
      RunFile(path("run.h5"), kHeader, motion, RunFormat::kWhole).append(rows);
    }
    const Trajectory read = read_run(path()).trajectory;
    const auto steps = to_size(read.num_steps());
    EXPECT_EQ(read.tracks.size(), steps);
    EXPECT_EQ(read.measured_q.size(), steps);
    EXPECT_EQ(read.reference_q.size(), steps + 1);
    EXPECT_EQ(read.reference_X_WB.size(), steps + 1);
    EXPECT_EQ(read.q.size(), steps + 1);
    return steps;
  };
  EXPECT_EQ(steps_of(whole), 40u);
  RunRows rows = whole;
  rows.tracks.records.resize(31);
  EXPECT_EQ(steps_of(rows), 31u);
  rows = whole;
  rows.tracks.reference_q.resize(31 * nq);
  EXPECT_EQ(steps_of(rows), 30u);
  rows = whole;
  rows.tracks.reference_X_WB.resize(31 * poses);
  EXPECT_EQ(steps_of(rows), 30u);
  rows = whole;
  rows.tracks.measured_q.resize(31 * nq);
  EXPECT_EQ(steps_of(rows), 31u);
  rows = whole;
  rows.t.resize(21);  // the rest is ahead
  EXPECT_EQ(steps_of(rows), 20u);
}

TEST_F(RunFolder, HoldsStepsWithoutACertificate) {
  Trajectory motion = start_of(7, 2, 3);
  const double nan = std::nan("");
  for (int k = 0; k < 3; ++k) {
    add_step(motion);
    StepRecord& step = motion.steps.back();
    step.residual = step.residual_stationarity = step.residual_primal = step.residual_complementarity = nan;
    step.energy = step.solve_us = nan;
  }
  {
    RunWriter(path(), kHeader, motion).append(motion);
  }
  const Trajectory read = read_run(path()).trajectory;
  ASSERT_EQ(read.num_steps(), 3);
  for (const StepRecord& step : read.steps) {
    for (const double value : {step.residual, step.residual_stationarity, step.residual_primal,
                               step.residual_complementarity, step.energy, step.solve_us})
      EXPECT_TRUE(std::isnan(value));
    EXPECT_GT(step.step_us, 20);
  }
}

TEST_F(RunFolder, LeavesNothingButTheRunBehind) {
  Trajectory motion = start_of(1, 1, 1);
  RunWriter writer(path(), kHeader, motion);
  add_step(motion);
  writer.append(motion);
  writer.close();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path())) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"run.h5"});
}

TEST_F(RunFolder, PublishesTheStartAtOnceAndStepsWhileTheNextOneTakesLong) {
  Trajectory motion = start_of(7, 0, 2);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.02});
  expect_equal(read_run(path()).trajectory, motion);
  add_step(motion);
  writer.append(motion);
  // No further call: the writer publishes by itself.
  ASSERT_TRUE(wait_for_steps(path(), 1));
  expect_equal(read_run(path()).trajectory, motion);
}

TEST_F(RunFolder, GoesOnInSingleWriterModeWhenTheFileIsLarge) {
  Trajectory motion = start_of(7, 2, 3);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.01, .whole_copy_bytes = 200'000});
  for (int k = 0; k < 2000; ++k) {
    add_step(motion);
    writer.append(motion);
    if (k % 500 == 499) {
      ASSERT_TRUE(wait_for_steps(path(), k + 1));
    }
  }
  EXPECT_FALSE(fs::exists(path("run.h5.work")));
  writer.close();
  expect_equal(read_run(path()).trajectory, motion);
}

TEST_F(RunFolder, HoldsManyNamesAndALongScene) {
  Trajectory motion = start_of(9000, 0, 1300);
  const std::string yaml(300'000, 'y');
  {
    const RunWriter writer(path(), {"many", yaml, "{}", "0.1.0"}, motion);
  }
  const io::Run run = read_run(path());
  EXPECT_EQ(run.header.scene_yaml, yaml);
  expect_equal(run.trajectory, motion);
}

TEST_F(RunFolder, HoldsASceneWhereNothingMovesAndNothingIsCommanded) {
  Trajectory motion = start_of(0, 0, 1);
  {
    RunWriter writer(path(), kHeader, motion);
    add_step(motion);
    writer.append(motion);
  }
  expect_equal(read_run(path()).trajectory, motion);
}

TEST_F(RunFolder, SaysWhatIsWrongWithAFileThatIsNoRun) {
  const auto message = [&](const std::string& file) {
    try {
      read_run(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message(path()).find("it has no run.h5"), std::string::npos);
  EXPECT_NE(message(path("none.h5")).find("no such run"), std::string::npos);
  std::ofstream(path("run.h5")) << "this is not HDF5";
  EXPECT_NE(message(path()).find("is not a run"), std::string::npos);
}

TEST_F(RunFolder, ReadsNoCutOrDamagedFileWrongly) {
  Trajectory motion = start_of(7, 2, 3);
  {
    RunWriter writer(path(), kHeader, motion);
    for (int k = 0; k < 40; ++k) add_step(motion);
    writer.append(motion);
  }
  std::ifstream in(path("run.h5"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const double part : {0.0, 0.001, 0.01, 0.1, 0.3, 0.6, 0.9, 0.999}) {
    std::ofstream(path("cut.h5"), std::ios::binary)
        << whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size())));
    EXPECT_THROW(read_run(path("cut.h5")), InputError) << part;
  }
}

TEST_F(RunFolder, RefusesAFolderInUseUnlessForced) {
  const std::string folder = path("run");
  EXPECT_EQ(make_run_folder(folder, "ball", false), folder);
  EXPECT_EQ(make_run_folder(folder, "ball", false), folder);
  std::ofstream(folder + "/run.h5") << "old";
  std::ofstream(folder + "/notes.txt") << "mine";
  EXPECT_THROW(make_run_folder(folder, "ball", false), InputError);
  EXPECT_EQ(make_run_folder(folder, "ball", true), folder);
  EXPECT_FALSE(fs::exists(folder + "/run.h5"));
  EXPECT_TRUE(fs::exists(folder + "/notes.txt"));
  EXPECT_THROW(make_run_folder(folder + "/notes.txt", "ball", true), InputError);
}

TEST_F(RunFolder, NamesDefaultFoldersBySceneAndTimeEachItsOwn) {
  const fs::path before = fs::current_path();
  fs::current_path(path());
  const std::string first = make_run_folder("", "two spheres/x", false),
                    second = make_run_folder("", "two spheres/x", false);
  fs::current_path(before);
  EXPECT_EQ(first.rfind("out/two_spheres_x-20", 0), 0u) << first;
  EXPECT_NE(first, second);
  EXPECT_TRUE(fs::is_directory(folder_ / first));
  EXPECT_TRUE(fs::is_directory(folder_ / second));
}

TEST_F(RunFolder, TellsTheSimulationThatTheDiskRefuses) {
  Trajectory motion = start_of(7, 2, 3);
  RunWriter writer(path(), kHeader, motion, {.period_s = 0.01});
  fs::remove_all(path());
  const auto go_on = [&] {
    for (int i = 0; i < 1000; ++i) {
      add_step(motion);
      writer.append(motion);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  EXPECT_THROW(go_on(), std::exception);
}

TEST_F(RunFolder, PublishesTextWholeOrNotAtAll) {
  publish_text(path("a.txt"), "first");
  publish_text(path("a.txt"), "second");
  std::ifstream in(path("a.txt"));
  std::string text;
  in >> text;
  EXPECT_EQ(text, "second");
  EXPECT_THROW(publish_text(path("no/such/folder/a.txt"), "x"), std::runtime_error);
}

}  // namespace run_folder_test
}  // namespace deft::io
