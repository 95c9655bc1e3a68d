#include "deft/multibody/description/spec_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "spec_builder.hpp"

namespace deft::multibody {
namespace spec_checks_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A sound model: base at line 2, arm at line 3, joint at line 4, frame at line 5.
ModelSpec sound_model() {
  ModelSpec model{
      .name = "robot", .links = {heavy_link("base", 1.0, 2), heavy_link("arm", 1.0, 3)}, .where = {"test", 1, 0}};
  model.joints = {one_axis("elbow", "base", "arm", true, {0, 0, 1}, 4)};
  model.frames = {{.name = "tip", .attached_to = "arm", .where = {"test", 5, 0}}};
  return model;
}

std::vector<std::string> complaints(const MultibodySpec& spec) {
  Diagnostics diagnostics;
  check_names_and_values(spec, diagnostics);
  std::vector<std::string> lines;
  for (const Diagnostic& d : diagnostics.all()) lines.push_back(to_string(d));
  return lines;
}

TEST(SpecChecks, FindNothingWrongWithASoundModel) { EXPECT_TRUE(complaints({.models = {sound_model()}}).empty()); }

TEST(SpecChecks, NameEachMistakeAndItsLine) {
  const struct {
    std::function<void(ModelSpec&)> spoil;
    std::string complaint;
  } cases[] = {
      {[](ModelSpec& m) { m.name = ""; }, "test:1: error: model without a name"},
      {[](ModelSpec& m) { m.name = "world"; },
       "test:1: error: model must not be named 'world': that is the fixed ground"},
      {[](ModelSpec& m) { m.links.clear(); }, "test:1: error: model 'robot' has no link"},
      {[](ModelSpec& m) { m.X_WModel.translation().x() = kNan; },
       "test:1: error: model 'robot': the pose must have finite entries"},
      {[](ModelSpec& m) { m.links[1].name = "base"; }, "test:3: error: duplicate link name 'base' (first at line 2)"},
      {[](ModelSpec& m) { m.links[1].name = "world"; },
       "test:3: error: link must not be named 'world': that is the fixed ground"},
      {[](ModelSpec& m) { m.links[1].inertial->mass = -0.5; }, "test:3: error: link 'arm': mass -0.5 kg is negative"},
      {[](ModelSpec& m) { m.links[1].inertial->mass = kNan; },
       "test:3: error: link 'arm': mass, centre of mass and inertia must be finite numbers"},
      {[](ModelSpec& m) { m.links[1].inertial->I_Com_L = Vector3d(1, -2, 3).asDiagonal(); },
       "test:3: error: link 'arm': the inertia is not positive definite: principal moments -2, 1, 3 kg m²"},
      {[](ModelSpec& m) { m.links[1].inertial->I_Com_L = Vector3d(1, 2, 4).asDiagonal(); },
       "test:3: warning: link 'arm': principal moments of inertia 1, 2, 4 kg m² violate the triangle inequality; no "
       "rigid body has them"},
      {[](ModelSpec& m) { m.links[1].inertial->I_Com_L(0, 1) += 1; },
       "test:3: error: link 'arm': the inertia matrix is not symmetric"},
      {[](ModelSpec& m) { m.joints[0].axes[0].axis_J.setZero(); }, "test:4: error: joint 'elbow': the axis is zero"},
      {[](ModelSpec& m) { m.joints[0].axes[0].axis_J[1] = kNan; },
       "test:4: error: joint 'elbow': the axis must have finite entries"},
      {[](ModelSpec& m) { m.joints[0].axes[0].lower = 2, m.joints[0].axes[0].upper = 1; },
       "test:4: error: joint 'elbow': the lower limit 2 is above the upper limit 1"},
      {[](ModelSpec& m) { m.joints[0].axes[0].upper = kNan; }, "test:4: error: joint 'elbow': a limit is not a number"},
      {[](ModelSpec& m) { m.joints[0].axes[0].effort_limit = -1; },
       "test:4: error: joint 'elbow': the effort limit -1 must not be negative"},
      {[](ModelSpec& m) { m.joints[0].axes[0].velocity_limit = -2; },
       "test:4: error: joint 'elbow': the velocity limit -2 must not be negative"},
      {[](ModelSpec& m) { m.joints[0].axes[0].velocity_limit = kNan; },
       "test:4: error: joint 'elbow': the velocity limit nan must not be negative"},
      {[](ModelSpec& m) { m.joints[0].axes[0].damping = -3; },
       "test:4: error: joint 'elbow': damping -3 must be finite and not negative"},
      {[](ModelSpec& m) { m.joints[0].axes.clear(); }, "test:4: error: joint 'elbow': no axis"},
      {[](ModelSpec& m) { m.joints[0].X_PJ.translation().y() = kNan; },
       "test:4: error: joint 'elbow': the pose must have finite entries"},
      {[](ModelSpec& m) {
         m.joints.push_back(m.joints[0]), m.joints[1].axes[0].coordinate = "other", m.joints[1].where.line = 6;
       },
       "test:6: error: duplicate joint name 'elbow' (first at line 4)"},
      {[](ModelSpec& m) { m.joints.push_back(m.joints[0]), m.joints[1].name = "other", m.joints[1].where.line = 6; },
       "test:6: error: duplicate coordinate name 'elbow' (first at line 4)"},
      {[](ModelSpec& m) { m.frames[0].name = "base"; }, "test:5: error: duplicate frame name 'base' (first at line 2)"},
      {[](ModelSpec& m) { m.frames[0].X_AF.translation().z() = kNan; },
       "test:5: error: frame 'tip': the pose must have finite entries"},
  };
  for (const auto& c : cases) {
    ModelSpec model = sound_model();
    c.spoil(model);
    EXPECT_EQ(complaints({.models = {model}}), std::vector<std::string>{c.complaint});
  }
}

TEST(SpecChecks, ReportEverythingAtOnce) {
  ModelSpec model = sound_model();
  model.links[0].inertial->mass = -1;
  model.joints[0].axes[0].axis_J.setZero();
  model.frames[0].name = "arm";
  EXPECT_EQ(complaints({.models = {model}}).size(), 3u);
}

TEST(SpecChecks, CoverTheWorldsFramesWeldsAndModelNames) {
  MultibodySpec spec{.models = {sound_model(), sound_model()}};
  spec.models[1].where.line = 11;
  spec.frames = {{.name = "goal", .attached_to = "world", .where = {"scene", 3, 0}},
                 {.name = "goal", .attached_to = "world", .where = {"scene", 4, 0}}};
  spec.welds = {{.parent = "world", .child = "robot::base", .where = {"scene", 7, 0}}};
  spec.welds[0].X_PC.translation().x() = kNan;
  EXPECT_EQ(complaints(spec),
            (std::vector<std::string>{"test:11: error: duplicate model name 'robot' (first at line 1)",
                                      "scene:4: error: duplicate frame name 'goal' (first at line 3)",
                                      "scene:7: error: weld of 'robot::base': the pose must have finite entries"}));
}

}  // namespace spec_checks_test
}  // namespace deft::multibody
