// Damaged scene files end in a report, never in a crash or in an exception of another kind.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "deft/io/scene/scene_file.hpp"
#include "scene_file_support.hpp"

namespace deft::io {
namespace scene_file_fuzz_test {

constexpr const char* kScene = R"(deft: 1
directives:
  - add_model: {name: hand, file: arm.sdf, default_joint_positions: {joint_1: [0.25]}}
  - add_frame: {name: f, X_PF: {base_frame: world, rotation: !Rpy {deg: [0, 0, 1]}}}
  - add_weld: {parent: f, child: "hand::base", X_PC: {translation: [0, 0, 0.1]}}
  - add_collision_filter_group: {name: tips, members: ["hand::link_1"], ignored_collision_filter_groups: [tips]}
bodies:
  ball: {shape: {sphere: {radius: 0.06}}, mass: 0.5, joint: free, color: "#ff8000"}
  peg: {shape: {prism: {vertices: [[-1, -3], [1, -3], [1, 3]], height: 0.1}}, joint: {planar: xy}, mass: 1}
robots: [{name: hand, stiffness: {joint_0: 100, joint_1: 50}}]
objects: [{name: peg, frozen: true}]
gravity: [0, 0, -9.7]
friction: {default: 0.4, pairs: [{between: ["hand::*", ball], mu: 0.8}]}
step: &step {h: 0.1, dynamics: quasistatic, kappa: 100, contact_margin: inf}
configurations:
  start: {hand: {joint_0: 0.75}, ball: {position: [-0.08, 0.001, 0.071], quat_wxyz: [1, 0, 0, 0]}, peg: [1, 2, 3]}
initial: start
commands: {interpolation: hold, knots: [{t: 0, hand: [0.1, 0.2]}, {t: 2, hand: {joint_1: 1.2}}]}
goals: {turn: {ball: {rotation: !AngleAxis {angle_deg: 180, axis: [0, 0, 1]}}, tolerance: {position: 0.02}}}
)";

/// One to three random edits: cut, overwrite, insert, repeat a piece, drop a line.
std::string damaged(std::string text, std::mt19937& random) {
  constexpr std::string_view kBytes = "{}[]:,-&*!|>'\"#%@`~ \n\t0.e<?\\\x01\xff\xc3";
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 2:
        text.insert(at, 1, kBytes[below(kBytes.size())]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.erase(at, text.find('\n', at) - at);
    }
  }
  return text;
}

TEST(SceneFileFuzz, DamagedFilesEndInAReport) {
  test::Folder folder;
  folder.write("arm.sdf", test::arm_sdf("arm", 2));
  std::mt19937 random(20240607);
  const char* rounds = std::getenv("DEFT_FUZZ_ROUNDS");  // more of them for a longer hunt
  int bad = 0, good = 0;
  for (int i = 0; i < (rounds != nullptr ? std::atoi(rounds) : 150); ++i) {
    const std::string text = damaged(kScene, random);
    Diagnostics diagnostics;
    std::optional<scene::SceneSpec> spec;
    ASSERT_NO_THROW(spec = read_scene_file(folder.write("scene.yaml", text), {}, diagnostics)) << text;
    ASSERT_EQ(spec.has_value(), !diagnostics.has_errors()) << text;
    if (spec) test::expect_round_trip(*spec, folder);
    if (::testing::Test::HasFailure()) FAIL() << text;
    ++(spec ? good : bad);
  }
  EXPECT_GT(bad, good);  // the damage does reach the reader
  EXPECT_GT(good, 0);
}

}  // namespace scene_file_fuzz_test
}  // namespace deft::io
