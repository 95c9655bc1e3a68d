#include "deft/multibody/kinematic_tree.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "spec_builder.hpp"

namespace deft::multibody {
namespace kinematic_tree_test {

/// hand: palm (line 2), finger (3), tip (4), joints knuckle (5) and tip_joint, fixed (6). box: one free link (line 12).
MultibodySpec sound_world() {
  ModelSpec hand{.name = "hand",
                 .links = {heavy_link("palm", 1, 2), heavy_link("finger", 1, 3), heavy_link("tip", 1, 4)},
                 .where = {"test", 1, 0}};
  hand.joints = {one_axis("knuckle", "palm", "finger", true, {0, 0, 1}, 5),
                 fixed_joint("tip_joint", "finger", "tip", 6)};
  ModelSpec box{.name = "box", .links = {heavy_link("cube", 1, 12)}, .where = {"test", 11, 0}};
  return {.models = {hand, box}};
}

WeldSpec weld(const std::string& parent, const std::string& child, int line) {
  return {.parent = parent, .child = child, .where = {"scene", line, 0}};
}

std::vector<std::string> complaints(const MultibodySpec& spec) {
  Diagnostics diagnostics;
  try {
    Model::build(spec, diagnostics);
  } catch (const InputError& error) {
    EXPECT_TRUE(diagnostics.has_errors());
  }
  std::vector<std::string> lines;
  for (const Diagnostic& d : diagnostics.all()) lines.push_back(to_string(d));
  return lines;
}

TEST(KinematicTree, IsBuiltWithoutComplaintFromASoundWorld) { EXPECT_TRUE(complaints(sound_world()).empty()); }

TEST(KinematicTree, NamesEachMistakeAndItsLine) {
  using World = MultibodySpec;
  const struct {
    std::function<void(World&)> spoil;
    std::string complaint;
  } cases[] = {
      // joints
      {[](World& w) { w.models[0].joints[0].parent = "plam"; },
       "test:5: error: joint 'knuckle': parent link 'plam' not found; did you mean 'palm'?"},
      {[](World& w) { w.models[0].joints[0].child = "thumb"; },
       "test:5: error: joint 'knuckle': child link 'thumb' not found; valid: palm, finger, tip"},
      {[](World& w) { w.models[0].joints[0].child = "world"; },
       "test:5: error: joint 'knuckle': the world cannot be a child"},
      {[](World& w) { w.models[0].joints[0].parent = "finger"; },
       "test:5: error: joint 'knuckle' joins link 'finger' to itself"},
      {[](World& w) { w.models[0].joints.push_back(one_axis("extra", "palm", "tip", false, {1, 0, 0}, 7)); },
       "test:7: error: link 'tip' has two parents: it is the child of joint 'tip_joint' and of joint 'extra'"},
      {[](World& w) { w.models[0].joints.push_back(one_axis("back", "tip", "palm", true, {1, 0, 0}, 7)); },
       "test:7: error: a kinematic loop: the links that 'hand/knuckle', 'hand/back' move carry each other"},
      {[](World& w) {
         w.models[0].joints[0] = fixed_joint("knuckle", "palm", "finger", 5);
         w.models[0].joints.push_back(fixed_joint("back", "tip", "palm", 7));
       },
       "test:7: error: joint 'back' closes a loop: 'hand/tip' and 'hand/palm' are already fixed together"},
      {[](World& w) { w.models[0].joints[0].kind = JointKind::kFree; },
       "test:5: error: joint 'knuckle': a floating joint must have the world as its parent"},
      {[](World& w) { w.models[0].base = "wrist"; },
       "test:1: error: model 'hand': the base link 'wrist' is not among its links"},
      // welds
      {[](World& w) { w.welds = {weld("world", "hand::plam", 8)}; },
       "scene:8: error: add_weld child 'hand::plam' not found; did you mean 'hand::palm'?"},
      {[](World& w) { w.welds = {weld("worlds", "hand::palm", 8)}; },
       "scene:8: error: add_weld parent 'worlds' not found; valid: hand::palm, hand::finger, hand::tip, box::cube"},
      {[](World& w) { w.welds = {weld("hand::palm", "world", 8)}; },
       "scene:8: error: add_weld child 'world' is fixed to the world; exchange parent and child"},
      {[](World& w) { w.welds = {weld("world", "hand::tip", 8)}; },
       "scene:8: error: add_weld child 'hand::tip' is already held by joint 'knuckle'; weld 'hand/palm' or a link "
       "fixed to it instead"},
      {[](World& w) { w.welds = {weld("world", "box::cube", 8), weld("hand::tip", "box::cube", 9)}; },
       "scene:9: error: add_weld child 'box::cube' is already held by a weld to 'world'"},
      {[](World& w) {
         w.models.push_back({.name = "lid", .links = {heavy_link("lid", 1, 20)}});
         w.welds = {weld("lid::lid", "box::cube", 8), weld("box::cube", "lid::lid", 9)};
       },
       "scene:9: error: the weld of 'lid::lid' to 'box::cube' closes a loop: 'box/cube' and 'lid/lid' are already "
       "fixed together"},
      {[](World& w) { w.welds = {weld("hand::tip", "hand::palm", 8)}; },
       "test:5: error: a kinematic loop: the links that 'hand/knuckle' move carry each other"},
      {[](World& w) { w.models[1].is_static = true, w.welds = {weld("hand::tip", "box::cube", 8)}; },
       "scene:8: error: add_weld child 'box::cube' is already held by its static model"},
      {[](World& w) { w.models[0].is_static = true; },
       "test:5: warning: joint 'knuckle' does not move: model 'hand' is static"},
      // frames
      {[](World& w) { w.models[0].frames = {{.name = "grip", .attached_to = "tips", .where = {"test", 9, 0}}}; },
       "test:9: error: frame 'grip' is attached to unknown 'tips'; did you mean 'hand::tip'?"},
      {[](World& w) { w.frames = {{.name = "a", .attached_to = "a", .where = {"scene", 3, 0}}}; },
       "scene:3: error: frame 'a' cannot be placed: the frames it is attached to form a loop or are misplaced"},
      // inertia
      {[](World& w) { w.models[1].links[0].inertial.reset(); },
       "test:12: warning: 'box/cube' has no mass and nothing holds it: it is fixed to the world. A mass in its file "
       "frees it; "
       "'- add_weld: {parent: world, child: box::cube}' in directives says the same without this warning"},
      {[](World& w) { w.models[1].links[0].inertial->I_Com_L.setZero(); },
       "test:12: warning: 'box/cube' has no inertia and nothing holds it: it is fixed to the world. An inertia in its "
       "file "
       "frees it; '- add_weld: {parent: world, child: box::cube}' in directives says the same without this warning"},
      {[](World& w) { w.models[1].links[0].inertial->I_Com_L = Eigen::Vector3d(1, 1, 0).asDiagonal(); },
       "test:12: error: 'box' rotates freely but its inertia is not positive definite: principal moments 0, 1, 1 kg "
       "m²"},
  };
  for (const auto& c : cases) {
    World world = sound_world();
    c.spoil(world);
    EXPECT_EQ(complaints(world), std::vector<std::string>{c.complaint});
  }
}

TEST(KinematicTree, ReportsEverythingAtOnceAcrossModels) {
  MultibodySpec world = sound_world();
  world.models[0].joints[0].parent = "wrist";
  world.models[1].links[0].inertial->mass = -2;
  world.welds = {weld("world", "box::lid", 8)};
  EXPECT_EQ(complaints(world).size(), 3u);
}

TEST(KinematicTree, KeepsMasslessLinksThatSomethingHolds) {
  MultibodySpec world = sound_world();
  for (LinkSpec& link : world.models[0].links) link.inertial.reset();
  world.welds = {weld("world", "hand::palm", 8)};
  EXPECT_TRUE(complaints(world).empty());
}

TEST(KinematicTree, FixesARootWithoutMassUnderItsJoints) {
  MultibodySpec world = sound_world();
  world.models[0].links[0].inertial.reset();  // the palm
  EXPECT_EQ(
      complaints(world),
      std::vector<std::string>{
          "test:2: warning: 'hand/palm' has no mass and nothing holds it: it is fixed to the world. A mass in its "
          "file frees it; '- add_weld: {parent: world, child: hand::palm}' in directives says the same without "
          "this warning"});
  Diagnostics ignored;
  const Model model = Model::build(world, ignored);
  EXPECT_EQ(model.nv(), 1 + 6) << "the knuckle and the box";
  EXPECT_EQ(model.bodies()[model.find_body("hand/palm")].weld_group, 0);
}

TEST(KinematicTree, AWeldTakesThePlaceOfAFixedJointThatGivesWay) {
  MultibodySpec world = sound_world();
  JointSpec stand = fixed_joint("palm_fixed", "world", "palm", 2);
  stand.gives_way = true;
  stand.X_PJ.translation() = Vector3d(0, 0, 1);
  world.models[0].joints.push_back(stand);
  const auto height = [](const MultibodySpec& of) {
    const Model model = build(of);
    Kinematics kinematics = model.make_kinematics();
    model.update(model.default_configuration(), kinematics);
    return kinematics.X_WB[model.find_body("hand/palm")].translation().z();
  };
  EXPECT_DOUBLE_EQ(height(world), 1);
  world.welds = {weld("world", "hand::palm", 8)};
  world.welds[0].X_PC.translation() = Vector3d(0, 0, 3);
  EXPECT_DOUBLE_EQ(height(world), 3);
  world.models[0].joints.back().gives_way = false;
  EXPECT_EQ(complaints(world).size(), 1u);
}

TEST(KinematicTree, ArmaturesAddToTheMassMatrix) {
  MultibodySpec world = sound_world();
  const Model without = build(world);
  world.models[0].joints[0].axes[0].armature = 0.3;
  const Model with = build(world);
  MatrixXd M0, M1;
  Kinematics k0 = without.make_kinematics(), k1 = with.make_kinematics();
  without.update(without.default_configuration(), k0), with.update(with.default_configuration(), k1);
  without.mass_matrix(k0, M0), with.mass_matrix(k1, M1);
  MatrixXd more = MatrixXd::Zero(with.nv(), with.nv());
  const int knuckle = with.models()[0].first_v + 6;
  more(knuckle, knuckle) = 0.3;
  EXPECT_TRUE((M1 - M0 - more).isZero(1e-15));
}

TEST(KinematicTree, TakesTheInertiaOfAFreeBodyFromAllThatIsFixedToIt) {
  // Neither half has an inertia of its own about every axis; three masses off a line have one together.
  ModelSpec frame{.name = "frame"};
  for (const char* name : {"a", "b", "c"}) {
    frame.links.push_back(bare_link(name, 3));
    frame.links.back().inertial = InertialSpec{.mass = 1};
  }
  frame.joints = {fixed_joint("ab", "a", "b"), fixed_joint("ac", "a", "c")};
  frame.joints[0].X_PJ.translation() = Vector3d(1, 0, 0);
  frame.joints[1].X_PJ.translation() = Vector3d(0, 1, 0);
  EXPECT_TRUE(complaints({.models = {frame}}).empty());
  frame.joints[1].X_PJ.translation() = Vector3d(2, 0, 0);  // on a line: no inertia about it
  EXPECT_EQ(complaints({.models = {frame}}).size(), 1u);
}

}  // namespace kinematic_tree_test
}  // namespace deft::multibody
