// Drake's process: what is said to it and what becomes of its answers, with a small child that speaks its protocol. The
// real one is checked by `./run bench plants`.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "deft/core/diagnostics.hpp"
#include "deft/plant/drake_model.hpp"
#include "deft/plant/drake_plant.hpp"
#include "plant/plant_worlds.hpp"

namespace deft::plant {
namespace drake_process_test {

using Eigen::VectorXd;
using testing::numbers;

/// Reads frames, keeps them in a file, and answers a step of the pusher (q and v of 4 numbers, 1 command): what
/// `ANSWER` makes of (q, v, u, tau).
constexpr const char* kChild = R"(#!/usr/bin/env python3
import os, struct, sys
if sys.argv[1] == "-c":
    sys.exit(0)
if sys.argv[2:] == ["--version"]:
    print("1.2.3")
    sys.exit(0)
state, steps = [0.0] * 8, 0
def say(letter, payload=b""):
    os.write(1, struct.pack("<I", 1 + len(payload)) + letter + payload)
def read(n):
    data = b""
    while len(data) < n:
        part = os.read(0, n - len(data))
        if not part:
            sys.exit(0)
        data += part
    return data
while True:
    body = read(struct.unpack("<I", read(4))[0])
    letter, payload = body[:1], body[1:]
    if letter == b"M":
        with open(os.environ["DEFT_TEST_FRAMES"], "wb") as file:
            file.write(payload)
        say(b"K", b"Fake 1.2.3\nof a test")
        continue
    numbers = list(struct.unpack(f"<{len(payload) // 8}d", payload))
    if letter == b"R":
        state = numbers
        say(b"K")
        continue
    h, want, u, tau = numbers[0], numbers[1], numbers[2], numbers[3:]
    q, v = state[:4], state[4:]
    steps += 1
    ANSWER
    v = [v[i] + h * tau[i] for i in range(4)]
    q = [q[0] + h * u, *(q[i] + h * v[i] for i in range(1, 4))]
    state = q + v
    contact = struct.pack("<16d", 1, 0, 0.1, 0, 0, 1, 0, 0, 7, 0, 0, 0, 0, 0, -1e-5, 1.0) if want else b""
    say(b"K", struct.pack("<8d", *state) + contact)
)";

class DrakeProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("deft_drake_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    setenv("DEFT_TEST_FRAMES", (folder_ / "model.txt").c_str(), 1);
    if (const char* python = std::getenv("DEFT_DRAKE_PYTHON")) before_ = python;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    before_.empty() ? unsetenv("DEFT_DRAKE_PYTHON") : setenv("DEFT_DRAKE_PYTHON", before_.c_str(), 1);
  }
  /// The child whose step does `answer` first becomes the interpreter that has Drake.
  void use(const std::string& answer) {
    std::string text = kChild;
    text.replace(text.find("ANSWER"), 6, answer);
    const auto file = folder_ / "python";
    std::ofstream(file) << text;
    chmod(file.c_str(), 0755);
    setenv("DEFT_DRAKE_PYTHON", file.c_str(), 1);
  }
  static std::string failure(const auto& what) {
    try {
      what();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder_;
  std::string before_;
  scene::Scene scene_ = test::build(testing::pusher(0.1));
};

TEST_F(DrakeProcessTest, StatesTargetsForcesAndContactsGoThroughUnchanged) {
  use("pass");
  EXPECT_EQ(find_drake().version, "1.2.3");
  const auto world = make_plant(PlantKind::kDrake, scene_, {.object_damping = numbers({3})});
  EXPECT_EQ(world->settings()[0], "Fake 1.2.3");
  EXPECT_EQ(world->settings()[1], "of a test");
  const double third = 1.0 / 3;
  world->reset({.q = numbers({third, 0.1, 0.2, 0.3}), .v = numbers({0, 1, 2, third})}, numbers({0}));
  ASSERT_EQ(world->advance(numbers({0.5}), 0.002), PlantStatus::kOk);
  // Two steps of 1 ms with targets 0.25 and 0.5; −γ M v of the puck's slides, M = 1 kg; its moment is 0.0067 kg m².
  EXPECT_EQ(world->state().q(0), third + 0.001 * 0.25 + 0.001 * 0.5);
  const double decay = 3 / (1 + 3 * 0.001);
  EXPECT_NEAR(world->state().v(1), std::pow(1 - 0.001 * decay, 2), 1e-15);
  EXPECT_NEAR(world->state().v(3), third * std::pow(1 - 0.001 * decay * 0.0067, 2), 1e-15);
  EXPECT_EQ(world->state().t, 0.002);
  std::vector<dynamics::ContactRecord> contacts;
  world->contacts(contacts);
  ASSERT_EQ(contacts.size(), 1u);
  // The child's geometry a is the scene's second: forces and normals turn.
  EXPECT_EQ(scene_.names_bodies()[contacts[0].a], "finger");
  EXPECT_EQ(scene_.names_bodies()[contacts[0].b], "puck");
  EXPECT_EQ(contacts[0].force_W[0], -7);
  EXPECT_EQ(contacts[0].normal_W[0], -1);
  EXPECT_EQ(contacts[0].gap, -1e-5);
  EXPECT_EQ(contacts[0].mu, 0.5);
  EXPECT_EQ(contacts[0].state, dynamics::ContactState::kSlide);
}

TEST_F(DrakeProcessTest, AFailedStepIsAStatusInTheStateBefore) {
  use("if steps == 3:\n        say(b'F', b'no solution')\n        continue");
  const auto world = make_plant(PlantKind::kDrake, scene_, {});
  world->reset({.q = scene_.initial_configuration()}, numbers({1}));
  EXPECT_EQ(world->advance(numbers({1}), 0.005), PlantStatus::kStepFailed);
  EXPECT_NEAR(world->state().t, 0.002, 1e-15);
  EXPECT_NEAR(world->state().q(0), 0.002, 1e-15);
  EXPECT_EQ(world->advance(numbers({1}), 0.001), PlantStatus::kOk) << "and the plant can go on";
}

TEST_F(DrakeProcessTest, WhatLeavesTheWorldHasDiverged) {
  for (const char* answer : {"v[2] = float('nan')", "v[2] = 1e9"}) {
    use(answer);
    const auto world = make_plant(PlantKind::kDrake, scene_, {});
    world->reset({.q = scene_.initial_configuration()}, numbers({1}));
    EXPECT_EQ(world->advance(numbers({1}), 0.001), PlantStatus::kDiverged) << answer;
    EXPECT_TRUE(world->state().v.allFinite());
    EXPECT_EQ(world->state().v.norm(), 0);
  }
}

TEST_F(DrakeProcessTest, ErrorsEndsAndNonsenseAreClear) {
  const struct {
    const char *answer, *words;
  } cases[] = {{"say(b'E', b'the joint is rusty')\n    continue", "the joint is rusty"},
               {"sys.stderr.write('out of memory')\n    sys.stderr.flush()\n    os._exit(1)",
                "has ended; it last wrote: out of memory"},
               {"say(b'Z')\n    continue", "frame 'Z'"},
               {"os.write(1, bytes(4))\n    continue", "frame of 0 bytes"},
               {"say(b'K', bytes(24))\n    continue", "24 bytes"}};
  for (const auto& [answer, words] : cases) {
    use(answer);
    const auto world = make_plant(PlantKind::kDrake, scene_, {});
    const std::string said = failure([&] { world->advance(numbers({1}), 0.001); });
    EXPECT_NE(said.find("plant drake"), std::string::npos) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
  }
}

TEST_F(DrakeProcessTest, WithoutThePackageTheLineThatInstallsItIsSaid) {
  for (const char* python : {"/bin/false", "/nowhere/python"}) {
    setenv("DEFT_DRAKE_PYTHON", python, 1);
    const std::string said = failure([&] { make_plant(PlantKind::kDrake, scene_, {}); });
    EXPECT_NE(said.find("pip install drake"), std::string::npos) << said;
    EXPECT_NE(said.find(python), std::string::npos) << said;
  }
}

TEST_F(DrakeProcessTest, TheModelIsTheSceneInNumbersThatLoseNothing) {
  scene::SceneSpec spec = testing::pusher(0.1);
  spec.world.models.push_back(test::fixed_body("wall", multibody::HalfSpaceSpec{{0, 0, 2}, 1}, 0.3));
  spec.friction.pairs.push_back({.between = {"finger", "puck"}, .mu = 1.0 / 3});
  const DrakeModel model = describe_for_drake(test::build(spec), {});
  const auto has = [&](const std::string& line) { return model.text.find(line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("pair 0 1 0x1.5555555555555p-2")) << model.text;
  EXPECT_TRUE(has("actuator 0 0x1.f4p+9 inf 0x0p+0")) << model.text;
  EXPECT_TRUE(has("joint 2 0 axes 0 0x1p+0 0x0p+0 0x0p+0 0x0p+0 0x1.999999999999ap-3 0x0p+0 0x0p+0")) << model.text;
  // The half-space's frame has z along the normal, at its offset.
  EXPECT_TRUE(has("geometry 2 0 half_space 0x1p+0 0x0p+0 0x0p+0 0x0p+0 0x0p+0 0x0p+0 0x1p-1")) << model.text;
  EXPECT_EQ(model.springs, std::vector<int>{0});
}

TEST_F(DrakeProcessTest, WhatDrakeCannotDoIsRefusedByName) {
  scene::SceneSpec ball_joint =
      test::scene_spec({test::body("bob", multibody::JointKind::kBall, {}, multibody::SphereSpec{0.05}, 1, 0.01, 0.5)});
  scene::SceneSpec moving_plane =
      test::scene_spec({test::free_body("plane", multibody::HalfSpaceSpec{{0, 0, 1}, 0}, 1, 0.01, 0.5)});
  scene::SceneSpec patch = testing::pusher(0.1);
  patch.friction.ellipsoid = {1, 1, 0.01};
  const std::pair<scene::SceneSpec, const char*> cases[] = {
      {ball_joint, "ball joint"}, {moving_plane, "half-space"}, {patch, "ellipsoid"}};
  for (const auto& [spec, word] : cases) {
    const scene::Scene scene = test::build(spec);
    const std::string said = failure([&] { describe_for_drake(scene, {}); });
    EXPECT_NE(said.find(word), std::string::npos) << said;
  }
}

}  // namespace drake_process_test
}  // namespace deft::plant
