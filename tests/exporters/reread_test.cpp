// Exported models as deft reads them again: poses, masses, contacts, gains.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "conformance/bundled_scenes.hpp"
#include "deft/core/index.hpp"
#include "deft/exporters/sdf_export.hpp"
#include "deft/exporters/urdf_export.hpp"

namespace deft::exporters {
namespace reread_test {

namespace fs = std::filesystem;

struct Format {
  const char* name;
  Exported (*write)(const scene::Scene& scene, const std::string& folder);
};

class Reread : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / (std::string("reread_") + GetParam().name);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  scene::Scene read(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return test::load_bundled((folder_ / name).string(), {});
  }

  /// The scene on the exported models.
  scene::Scene again(const scene::Scene& scene) {
    exported_ = GetParam().write(scene, folder_.string());
    return test::load_bundled((folder_ / (scene.spec().name + ".deft.yaml")).string(), {});
  }

  static std::map<std::string, RigidTransform> poses(const scene::Scene& scene) {
    scene::SceneState state = scene.make_state();
    scene.update(scene.initial_configuration(), state);
    std::map<std::string, RigidTransform> found;
    const auto bodies = scene.model().bodies();
    for (std::size_t b = 1; b < bodies.size(); ++b)
      found[scene.model().models()[to_size(bodies[b].model)].name + "/" + bodies[b].link] = state.X_WB()[b];
    return found;
  }

  struct Touch { double gap, mu; };
  /// The contacts at the start, by the links that touch; without the "_link" that sets a link's name off from a
  /// joint's.
  static std::multimap<std::string, Touch> touches(const scene::Scene& scene) {
    scene::SceneState state = scene.make_state();
    scene.update(scene.initial_configuration(), state);
    scene.find_contacts(0.05, state);
    const auto name = [&](int geometry) {
      const multibody::BodyInfo& body =
          scene.model().bodies()[to_size(scene.collision_world().geometries()[to_size(geometry)].body)];
      const std::string& link = body.link;
      return scene.model().models()[to_size(body.model)].name + "/" +
             (link.ends_with("_link") ? link.substr(0, link.size() - 5) : link);
    };
    std::multimap<std::string, Touch> found;
    for (const collision::ContactPair& contact : state.contacts)
      found.emplace(name(contact.geometry_a) + " " + name(contact.geometry_b),
                    Touch{contact.gap, scene.friction(contact.geometry_a, contact.geometry_b).mu});
    return found;
  }

  static double total_mass(const scene::Scene& scene) {
    double mass = 0;
    for (const multibody::BodyInfo& body : scene.model().bodies())
      if (body.weld_group != 0) mass += body.mass;
    return mass;
  }

  fs::path folder_;
  Exported exported_;
};

TEST_P(Reread, BundledScenesAreWhatTheyWere) {
  const bool has_half_spaces = std::string(GetParam().name) != "urdf";
  int compared = 0;
  for (const std::string& file : test::bundled_scenes()) {
    SCOPED_TRACE(file);
    const scene::Scene scene = test::load_bundled(file, {}), read_again = again(scene);
    const auto before = poses(scene), after = poses(read_again);
    for (const auto& [name, X] : before) {
      const auto found = after.contains(name) ? after.find(name) : after.find(name + "_link");
      ASSERT_NE(found, after.end()) << name;
      EXPECT_TRUE(found->second.isApprox(X, 1e-9)) << name;
    }
    EXPECT_NEAR(total_mass(read_again), total_mass(scene), 1e-6 * total_mass(scene));
    ASSERT_EQ(read_again.nu(), scene.nu());
    for (std::size_t r = 0; r < scene.robots().size(); ++r)
      EXPECT_EQ(read_again.robots()[r].stiffness, scene.robots()[r].stiffness);
    for (int i = 0; i < scene.nq(); ++i) {
      EXPECT_EQ(read_again.model().coordinates()[to_size(i)].lower, scene.model().coordinates()[to_size(i)].lower) << i;
      EXPECT_EQ(read_again.model().coordinates()[to_size(i)].upper, scene.model().coordinates()[to_size(i)].upper) << i;
    }
    ++compared;
    if (!has_half_spaces) continue;  // theirs are boxes, whose contact points may be others
    const auto touching = touches(scene), still = touches(read_again);
    ASSERT_EQ(still.size(), touching.size());
    for (auto a = touching.begin(), b = still.begin(); a != touching.end(); ++a, ++b) {
      ASSERT_EQ(b->first, a->first);
      EXPECT_NEAR(b->second.gap, a->second.gap, 1e-9) << a->first;
      EXPECT_NEAR(b->second.mu, a->second.mu, 1e-12) << a->first;
    }
  }
  EXPECT_GE(compared, 15);
}

constexpr const char* kLinked = R"(<sdf version="1.9"><model name="linked">
  <link name="base"/>
  <link name="a"><inertial><mass>1</mass></inertial></link>
  <link name="b"><inertial><mass>1</mass></inertial></link>
  <joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="lead" type="revolute"><parent>base</parent><child>a</child><pose>0.1 0.2 0 0.3 0 0</pose>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort></limit></axis></joint>
  <joint name="follow" type="prismatic"><parent>a</parent><child>b</child>
    <axis><xyz>1 0 0</xyz><mimic joint="lead"><multiplier>0.5</multiplier><offset>0.1</offset><reference>0</reference></mimic></axis></joint>
</model></sdf>)";

TEST_P(Reread, CouplingsAndJointFramesRemain) {
  std::ofstream(folder_ / "linked.sdf") << kLinked;
  const scene::Scene scene = read("linked.deft.yaml", R"(deft: 1
name: linked_scene
directives: [{add_model: {name: linked, file: linked.sdf}}]
robots: [{name: linked, stiffness: 7}]
configurations: {start: {linked: {lead: 0.4, follow: 0.3}}}
initial: start
)");
  const scene::Scene read_again = again(scene);
  const auto before = poses(scene), after = poses(read_again);
  for (const auto& [name, X] : before) EXPECT_TRUE(after.at(name).isApprox(X, 1e-9)) << name;
  ASSERT_EQ(read_again.springs().size(), 1u);
  EXPECT_EQ(read_again.springs()[0].ratio, 0.5);
  EXPECT_EQ(read_again.springs()[0].offset, 0.1);
  EXPECT_EQ(read_again.robots()[0].effort_limit(0), 3);
  EXPECT_EQ(read_again.nu(), 1);
}

// A hand welded to the last link of an arm, with a finger of two axes; names that YAML has to quote.
constexpr const char* kHand = R"(<mujoco model="arm: 1"><worldbody><body name="base"><geom name="g" size="0.1"/>
  <body name="l" pos="0 0 1"><joint name="base" axis="0 1 0"/><geom name="l" size="0.1"/>
    <body name="hand" pos="0 0 0.3"><geom name="h" size="0.1"/>
      <body name="finger" pos="0 0 0.3"><joint name="x: y" axis="1 0 0"/><joint name="f2" axis="0 1 0"/><geom name="f" size="0.1"/>
        <body name="tip" pos="0 0 0.3"><joint name="f3"/><geom name="t" size="0.1"/></body></body></body></body></body>
</worldbody></mujoco>)";

TEST_P(Reread, WhatMayTouchRemainsWhatMayTouch) {
  std::ofstream(folder_ / "hand.xml") << kHand;
  const scene::Scene scene = read("hand.deft.yaml", R"(deft: 1
name: "a hand"
directives: [{add_model: {name: "arm: 1", file: hand.xml}}]
)");
  const scene::Scene read_again = again(scene);
  const auto pairs = [](const scene::Scene& s) {
    std::set<std::string> found;
    const auto bodies = s.model().bodies();
    const auto geometries = s.collision_world().geometries();
    for (int a = 0; a < static_cast<int>(geometries.size()); ++a)
      for (int b = a + 1; b < static_cast<int>(geometries.size()); ++b)
        if (s.collision_world().may_touch(a, b))
          found.insert(bodies[to_size(geometries[to_size(a)].body)].link.substr(0, 3) + " " +
                       bodies[to_size(geometries[to_size(b)].body)].link.substr(0, 3));
    return found;
  };
  std::set<std::string> expected = pairs(scene);
  EXPECT_EQ(expected.erase("bas l"), 1u);  // MuJoCo alone lets a link touch the fixed one that carries it
  EXPECT_EQ(pairs(read_again), expected);
  const auto says = [](const std::string& note) { return note.find("one carries the other") != std::string::npos; };
  EXPECT_EQ(std::count_if(exported_.notes.begin(), exported_.notes.end(), says), 1);
  EXPECT_EQ(read_again.nq(), scene.nq());
}

TEST_P(Reread, FreeBodiesOfOneModel) {
  std::ofstream(folder_ / "two.xml") << R"(<mujoco model="two"><worldbody>
  <body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/></body><body name="b" pos="1 0 1" euler="10 0 0"><freejoint/><geom size="0.1"/></body>
  </worldbody></mujoco>)";
  const scene::Scene scene = read("two.deft.yaml", R"(deft: 1
name: pair
directives: [{add_model: {name: two, file: two.xml}}]
)");
  if (std::string(GetParam().name) == "urdf") {
    EXPECT_THROW(export_urdf(scene, folder_.string()), InputError);
    EXPECT_FALSE(fs::exists(folder_ / "pair.deft.yaml"));  // refused before anything is written
    return;
  }
  const scene::Scene read_again = again(scene);
  const auto before = poses(scene), after = poses(read_again);
  for (const auto& [name, X] : before) EXPECT_TRUE(after.at(name).isApprox(X, 1e-9)) << name;
  EXPECT_EQ(read_again.nq(), 14);
}

INSTANTIATE_TEST_SUITE_P(Formats, Reread,
                         ::testing::Values(Format{"sdf", export_sdf}, Format{"directives", export_directives},
                                           Format{"urdf", export_urdf}),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace reread_test
}  // namespace deft::exporters
