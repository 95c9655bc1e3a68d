#pragma once
// What the tests of step derivatives expect of them.

#include <gtest/gtest.h>

#include "step_differences.hpp"

namespace deft::dynamics {

/// Relative, of the largest entry; differences carry 1e-9 … 1e-8 themselves.
inline constexpr double kTolerance = 1e-7;

/// A step, its derivative, and its differences, with expectations.
class Bench : public StepDifferences {
 public:
  using StepDifferences::StepDifferences;

  /// The step and its derivative.
  void differentiate(const DerivativeOptions& options = {}) { ASSERT_TRUE(take_derivative(options)); }

  /// Expects the derivative to exist and to agree.
  void check(const std::string& what, double tolerance = kTolerance) {
    differentiate();
    if (::testing::Test::HasFatalFailure()) return;
    const auto nonsmooth_points = differentiator.nonsmooth_points();
    EXPECT_FALSE(differentiator.is_nonsmooth())
        << what << ": " << (nonsmooth_points.empty() ? "" : nonsmooth_points[0]);
    for (const By by : {By::kQ, By::kV, By::kU}) {
      if (by == By::kV && v.size() == 0) continue;
      const auto e = errors(by);
      const char* name = by == By::kQ ? "q" : by == By::kV ? "v" : "u";
      ASSERT_TRUE(e) << what << ": contacts come and go within the stencil";
      EXPECT_LT(e->largest(), tolerance) << what
                                         << fmt::format(": by {}: motion {:.1e}, force {:.1e}", name, e->motion,
                                                        e->force);
    }
  }
};

/// A brick on the floor, turned about the vertical, that a finger on two slides pushes; exact.
inline scene::SceneSpec pushed_brick(scene::Cone cone) {
  const auto finger =
      test::body("finger", JointKind::kAxes, {test::slide("x", Vector3d::UnitX()), test::slide("z", Vector3d::UnitZ())},
                 multibody::SphereSpec{0.03}, 0.3, 0.001, 0.6, test::at(-0.13, 0.013, 0.055));
  scene::SceneSpec spec =
      test::scene_spec({finger,
                        test::free_body("brick", multibody::BoxSpec{{0.2, 0.16, 0.1}}, 0.7, 0.002, 0.6,
                                        pose({0, 0, 0.3}, {0.005, 0, 0.05})),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)},
                       {{"finger", 300}});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.cone = cone;
  spec.step.contact_margin = 0.05;
  return spec;
}

/// A chain that an object's body leans on: a robot arm, a free brick, the ground.
inline scene::SceneSpec leaning(double kappa) {
  scene::SceneSpec spec = derivative_scene(
      {arm("arm", "hsh", multibody::SphereSpec{0.05}),
       lopsided_body("brick", multibody::BoxSpec{{0.16, 0.12, 0.1}}, pose({0.12, -0.08, 0.4}, {0.25, 0.36, 0.3})),
       test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d(0.1, 0.15, 1).normalized(), 0.22}, 0.5)},
      {{"arm", 80}});
  weld(spec, "arm", pose({0.1, -0.2, 0.3}, {0.05, 0.02, 0.0}));
  spec.step.kappa = kappa;
  spec.step.contact_margin = 0.3;
  return spec;
}

/// A ball between a finger and a wall: every force is unique.
inline scene::SceneSpec squeezed_ball(double kappa, scene::Cone cone) {
  const auto finger = test::body(
      "finger", JointKind::kAxes,
      {test::slide("x", Vector3d::UnitX()), test::slide("y", Vector3d::UnitY()), test::slide("z", Vector3d::UnitZ())},
      multibody::SphereSpec{0.03}, 0.3, 0.001, 0.6, test::at(-0.12, 0.013, 0.031));
  scene::SceneSpec spec = derivative_scene(
      {finger, lopsided_body("ball", multibody::SphereSpec{0.08}, pose({0.2, 0.4, -0.3}, {0.01, -0.004, 0.003})),
       test::fixed_body("wall", multibody::HalfSpaceSpec{Vector3d(-1, 0.2, 0.1).normalized(), -0.1}, 0.7)},
      {{"finger", 300}});
  spec.step.kappa = kappa;
  spec.step.cone = cone;
  spec.gravity_W = {0.3, 0.2, -2};
  return spec;
}

}  // namespace deft::dynamics
