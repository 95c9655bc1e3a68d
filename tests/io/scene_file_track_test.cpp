// `track:`: every setting arrives, merges, survives the merged text; wrong ones are named with what is valid.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "deft/io/settings/settings_file.hpp"
#include "scene_file_support.hpp"

namespace deft::io {
namespace scene_file_track_test {

using scene::TrackSettings;
using test::Folder;

const std::string kScene =
    "deft: 1\nbodies: {crate: {shape: {box: {size: [1, 1, 1]}}, joint: free, mass: 1, mu: 0.5}}\n";

TEST(SceneFileTrack, ReadsEverySetting) {
  const Folder folder;
  const std::string path = folder.write(
      "a.deft.yaml",
      kScene +
          "track: {period: 0.002, horizon: 7, linearization: reference, prediction: corrected, reference: nearest, "
          "kappa: 50, "
          "position_weight: 3, "
          "rotation_weight: 4, terminal_factor: 5, joint_weight: 6, command_weight: 8, change_weight: "
          "9, command_offset: "
          "0.11, speed: 0.12, normal_force: 13, kept_force: 0.5, delay_compensation: false, settle: 14, filter_time: "
          "23, "
          "tolerance_position: 0.24, tolerance_rotation: 0.25, replan: false, replan_position: "
          "0.15, replan_rotation: 0.16, replans: 17, replan_time: 18, replan_step_norm: 0.21, "
          "replan_max_target_offset: 0.22, plant_step: 0.0019, mujoco_step: 0.0003, damping_ratio: 20, joint_lag: "
          "21, object_damping: 22}\n");
  const scene::SceneSpec spec = test::read_good(path);
  const auto expect = [](const TrackSettings& s) {
    EXPECT_EQ(s.period, 0.002);
    EXPECT_EQ(s.horizon, 7);
    EXPECT_EQ(s.linearization, scene::TrackLinearization::kReference);
    EXPECT_EQ(s.prediction, scene::TrackPrediction::kCorrected);
    EXPECT_EQ(s.reference, scene::TrackReference::kNearest);
    EXPECT_EQ(s.kappa, 50);
    EXPECT_EQ(s.position_weight, 3);
    EXPECT_EQ(s.rotation_weight, 4);
    EXPECT_EQ(s.terminal_factor, 5);
    EXPECT_EQ(s.joint_weight, 6);
    EXPECT_EQ(s.command_weight, 8);
    EXPECT_EQ(s.change_weight, 9);
    EXPECT_EQ(s.command_offset, 0.11);
    EXPECT_EQ(s.speed, 0.12);
    EXPECT_EQ(s.normal_force, 13);
    EXPECT_EQ(s.kept_force, 0.5);
    EXPECT_FALSE(s.delay_compensation);
    EXPECT_EQ(s.settle, 14);
    EXPECT_EQ(s.filter_time, 23);
    EXPECT_EQ(s.tolerance_position, 0.24);
    EXPECT_EQ(s.tolerance_rotation, 0.25);
    EXPECT_FALSE(s.replan);
    EXPECT_EQ(s.replan_position, 0.15);
    EXPECT_EQ(s.replan_rotation, 0.16);
    EXPECT_EQ(s.replans, 17);
    EXPECT_EQ(s.replan_time, 18);
    EXPECT_EQ(s.replan_step_norm, 0.21);
    EXPECT_EQ(s.replan_max_target_offset, 0.22);
    EXPECT_EQ(s.plant_step, 0.0019);
    EXPECT_EQ(s.mujoco_step, 0.0003);
    EXPECT_EQ(s.damping_ratio, 20);
    EXPECT_EQ(s.joint_lag, 21);
    EXPECT_EQ(s.object_damping, 22);
  };
  expect(spec.track);
  // The merged text, from another folder, says the same.
  const Folder elsewhere;
  test::expect_round_trip(spec, elsewhere);
  expect(test::read_good(elsewhere.write("again.yaml", spec.merged_yaml)).track);
}

TEST(SceneFileTrack, MissingSettingsKeepTheirDefaultsAndNoneIsAValue) {
  const Folder folder;
  const TrackSettings defaults;
  TrackSettings track = test::read_good(folder.write("a.deft.yaml", kScene + "track: {}\n")).track;
  EXPECT_EQ(track.horizon, defaults.horizon);
  EXPECT_EQ(track.object_damping, std::nullopt);
  EXPECT_EQ(track.normal_force, std::numeric_limits<double>::infinity());
  track = test::read_good(folder.write("b.deft.yaml", kScene + "track: {object_damping: null, normal_force: .inf}\n"))
              .track;
  EXPECT_EQ(track.object_damping, std::nullopt);
  EXPECT_EQ(track.normal_force, std::numeric_limits<double>::infinity());
  // An overlay and --set win, key by key; null takes back.
  SceneFileOptions options;
  options.overlays = {folder.write("over.yaml", "track: {horizon: 3, object_damping: null}\n")};
  options.settings = {"track.reference=nearest"};
  const std::string base = folder.write("c.deft.yaml", kScene + "track: {horizon: 5, settle: 2, object_damping: 7}\n");
  EXPECT_EQ(test::read_good(base).track.object_damping, 7);
  track = test::read_good(base, options).track;
  EXPECT_EQ(track.horizon, 3);
  EXPECT_EQ(track.settle, 2);
  EXPECT_EQ(track.reference, scene::TrackReference::kNearest);
  EXPECT_EQ(track.object_damping, std::nullopt);
}

TEST(SceneFileTrack, NamesWrongSettingsTheirValuesAndWhatIsValid) {
  const Folder folder;
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"horizon: 0", {"track.horizon", ">= 1", "0"}},
      {"horizon: 2.5", {"track.horizon", "whole number", "2.5"}},
      {"period: 0", {"track.period: must be > 0, got 0"}},
      {"period: .inf", {"track.period: must be > 0"}},
      {"settle: -1", {"track.settle: must be >= 0, got -1"}},
      {"normal_force: 0", {"track.normal_force: must be > 0 or inf, got 0"}},
      {"kept_force: 1.5", {"track.kept_force: must be from 0 to 1, got 1.5"}},
      {"normal_force: .nan", {"track.normal_force: is not a number"}},
      {"object_damping: -2", {"track.object_damping: must be >= 0, got -2"}},
      {"object_damping: much", {"track.object_damping: expected a number, got 'much'"}},
      {"linearization: plan", {"track.linearization", "plan", "measured, reference"}},
      {"reference: closest", {"track.reference", "closest", "timed, nearest"}},
      {"replan: perhaps", {"track.replan", "perhaps", "true"}},
      {"replans: -1", {"track.replans", ">= 0", "-1"}},
      {"horizn: 3", {"horizn", "horizon"}},
      {"speed: [1, 2]", {"track.speed: expected a number, got a list"}},
  };
  for (const auto& [setting, words] : cases) {
    std::string report;
    test::read(folder.write("a.deft.yaml", kScene + "track: {" + setting + "}\n"), {}, report);
    for (const char* word : words) EXPECT_NE(report.find(word), std::string::npos) << setting << '\n' << report;
  }
  std::string report;
  test::read(folder.write("a.deft.yaml", kScene + "track: 3\n"), {}, report);
  EXPECT_NE(report.find("track"), std::string::npos) << report;
}

TEST(SceneFileTrack, TheHelpNamesEverySettingWithDefaultAndRange) {
  const std::string help = track_settings_help();
  for (const char* key : {"period",
                          "horizon",
                          "linearization",
                          "reference",
                          "kappa",
                          "position_weight",
                          "rotation_weight",
                          "terminal_factor",
                          "joint_weight",
                          "command_weight",
                          "change_weight",
                          "command_offset",
                          "speed",
                          "normal_force",
                          "kept_force",
                          "delay_compensation",
                          "settle",
                          "filter_time",
                          "tolerance_position",
                          "tolerance_rotation",
                          "replan",
                          "replan_position",
                          "replan_rotation",
                          "replans",
                          "replan_step_norm",
                          "replan_max_target_offset",
                          "replan_time",
                          "plant_step",
                          "mujoco_step",
                          "damping_ratio",
                          "joint_lag",
                          "object_damping"})
    EXPECT_NE(help.find(std::string("track.") + key + " "), std::string::npos) << key;
  for (const char* text :
       {"default null; range: >= 0 or null", "default measured; range: measured, reference",
        "default inf; range: > 0 or inf", "default true; range: true, false", "default 3; range: an integer >= 1"})
    EXPECT_NE(help.find(text), std::string::npos) << text << '\n' << help;
}

TEST(SceneFileTrack, FormerNamesAreReadWithAWarning) {
  const Folder folder;
  std::string report;
  const auto spec = test::read(
      folder.write("a.deft.yaml", kScene + "track: {replan_stretch: 0.3}\nplan: {stretch: 0.2, regrasp: transfer}\n"),
      {}, report);
  ASSERT_TRUE(spec.has_value()) << report;
  EXPECT_EQ(spec->track.replan_max_target_offset, 0.3);
  EXPECT_EQ(spec->plan.max_target_offset, 0.2);
  EXPECT_EQ(spec->plan.regrasp, scene::Regrasp::kTransit);
  for (const char* text : {"3:9: warning: track.replan_stretch is now track.replan_max_target_offset",
                           "warning: plan.stretch is now plan.max_target_offset",
                           "warning: plan.regrasp: the word 'transfer' is now 'transit'"})
    EXPECT_NE(report.find(text), std::string::npos) << text << '\n' << report;
  test::read(folder.write("b.deft.yaml", kScene + "plan: {stretch: 0.2, max_target_offset: 0.1}\n"), {}, report);
  EXPECT_NE(report.find("error: plan.stretch is now plan.max_target_offset, and both are given"), std::string::npos)
      << report;
}

}  // namespace scene_file_track_test
}  // namespace deft::io
