// A, B, ∂force/∂q, ∂force/∂u of whole steps against sixth-order differences of the solver: pairs of shapes, joints,
// barriers.

#include <map>

#include "derivative_bench.hpp"

namespace deft::dynamics {
namespace step_derivative_test {

using namespace collision::reference;

std::vector<collision::reference::Body> shapes() {
  return {sphere(0.05),        capsule(0.03, 0.12), box({0.12, 0.1, 0.08}),
          prism(5, 0.06, 0.1), cylinder(0.05, 0.1), ellipsoid({0.04, 0.06, 0.08})};
}

TEST(StepDerivative, FollowsDifferencesForEveryPairOfShapes) {
  const auto all = shapes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      int checked = 0, nonsmooth_points = 0, left = 0;
      double worst = 0;
      for (int trial = 0; trial < 6; ++trial) {
        Random random(100 * i + 10 * j + trial);
        scene::SceneSpec spec = arm_and_body(all[i], all[j], uniform(random, 1e-3, 4e-3), random);
        spec.step.cone = trial % 2 == 0 ? scene::Cone::kPyramid : scene::Cone::kCone;
        const std::string what = fmt::format("{} – {} trial {}", all[i].name, all[j].name, trial);
        Bench bench(spec);
        bench.differentiate();
        if (bench.differentiator.is_nonsmooth()) {
          ++nonsmooth_points;
          continue;
        }
        const auto by_q = bench.errors(Bench::By::kQ), by_u = bench.errors(Bench::By::kU);
        if (!by_q || !by_u) {
          ++left;
          continue;
        }
        ++checked;
        EXPECT_LT(by_q->largest(), kTolerance)
            << what << fmt::format(": A {:.1e}, ∂f/∂q {:.1e}", by_q->motion, by_q->force);
        EXPECT_LT(by_u->largest(), kTolerance)
            << what << fmt::format(": B {:.1e}, ∂f/∂u {:.1e}", by_u->motion, by_u->force);
        worst = std::max({worst, by_q->largest(), by_u->largest()});
      }
      RecordProperty(
          all[i].name + "_" + all[j].name,
          fmt::format("{} steps, {} nonsmooth points, {} left, worst {:.1e}", checked, nonsmooth_points, left, worst));
      EXPECT_GE(checked, 2) << all[i].name << " – " << all[j].name;
    }
  }
}

/// Rows and columns of a Jacobian by velocity, those of the first `n` velocities last.
MatrixXd rotated(const MatrixXd& A, int n, bool columns) {
  MatrixXd rows(A.rows(), A.cols()), both = rows;
  rows << A.bottomRows(A.rows() - n), A.topRows(n);
  if (!columns) return rows;
  both << rows.rightCols(A.cols() - n), rows.leftCols(n);
  return both;
}

TEST(StepDerivative, IsTheSameWithAAndBSwapped) {
  const auto all = shapes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
      Random random(40 + i);
      scene::SceneSpec spec = arm_and_body(all[i], all[(i + 2) % all.size()], 1e-3, random);
      spec.step.cone = cone;
      Bench first(spec);
      std::swap(spec.world.models[0], spec.world.models[1]);
      Bench second(spec);
      first.solve_again_to = second.solve_again_to = 1e-13;
      ASSERT_NO_FATAL_FAILURE(first.differentiate());
      ASSERT_NO_FATAL_FAILURE(second.differentiate());
      if (first.differentiator.is_nonsmooth()) continue;
      ASSERT_EQ(first.result.problem.contacts.size(), second.result.problem.contacts.size());
      const Vector3d n_first = first.result.problem.contacts[0].n_W, n_second = second.result.problem.contacts[0].n_W;
      EXPECT_LT((n_first + n_second).norm(), 1e-9) << "the bodies of the contact are swapped";
      const int n = first.scene.nu();  // the arm's, first in the first scene and last in the second
      const std::string what = fmt::format("{} cone {}", all[i].name, static_cast<int>(cone));
      EXPECT_LT(test::relative_error(second.derivative.A, rotated(first.derivative.A, n, true)), 1e-12) << what;
      EXPECT_LT(test::relative_error(second.derivative.B, rotated(first.derivative.B, n, false)), 1e-12) << what;
    }
  }
}

TEST(StepDerivative, FollowsDifferencesForEveryKindOfJoint) {
  Random random(7);
  for (const char* joints : {"hhh", "shh", "hsh", "hhs", "sss"}) {
    Bench(arm_and_body(box({0.12, 0.1, 0.08}), ellipsoid({0.04, 0.06, 0.08}), 2e-3, random, joints)).check(joints);
  }
  // Objects with joints of their own, a ball among them, against a robot; both hang on the world.
  for (const char* joints : {"hhb", "bhh", "hbh"}) {
    Random same(11);
    scene::SceneSpec spec = arm_and_body(sphere(0.05), capsule(0.03, 0.12), 2e-3, same);
    spec.world.models.push_back(arm("chain", joints, multibody::SphereSpec{0.05}));
    weld(spec, "chain", pose({0.1, -0.2, 0.3}, {0.14, 0.0, 0.02}));
    spec.step.contact_margin = 0.1;
    Bench bench(spec);
    ASSERT_NO_FATAL_FAILURE(bench.check(joints));
    EXPECT_GE(bench.result.problem.contacts.size(), 2u);
  }
}

TEST(StepDerivative, FollowsDifferencesForEveryKindOfPair) {
  Random random(3);
  const auto rod = capsule(0.03, 0.12);
  // Two robots, both moving; robot and world; two free bodies; a robot touching itself.
  scene::SceneSpec two_arms =
      derivative_scene({arm("left", "hhh", rod.spec), arm("right", "hhh", rod.spec)}, {{"left", 80}, {"right", 120}});
  weld(two_arms, "left", pose({0.1, -0.2, 0.3}, {0, 0, 0}));
  weld(two_arms, "right", pose({0.15, -0.25, 0.4}, {0.07, 0.02, 0.01}));
  two_arms.step.contact_margin = 0.1;
  Bench links(two_arms);
  ASSERT_NO_FATAL_FAILURE(links.check("link – link"));
  EXPECT_GE(links.result.problem.contacts.size(), 1u);

  scene::SceneSpec wall = derivative_scene(
      {arm("arm", "hhh", box({0.1, 0.08, 0.06}).spec),
       test::fixed_body("wall", multibody::HalfSpaceSpec{Vector3d(-1, -0.4, 0.2).normalized(), -0.2}, 0.7)},
      {{"arm", 80}});
  weld(wall, "arm", pose({0.1, -0.2, 0.3}, {0, 0, 0}));
  wall.step.contact_margin = 1;
  Bench world(wall);
  ASSERT_NO_FATAL_FAILURE(world.check("link – world"));
  EXPECT_EQ(world.result.problem.contacts.size(), 8u);

  const auto brick = box({0.12, 0.1, 0.08});
  const RigidTransform X = pose({0.4, 0.2, 0.7}, {0.25, 0.35, 0.3});
  for (int trial = 0; trial < 2; ++trial) {
    scene::SceneSpec free = derivative_scene(
        {lopsided_body("a", brick.spec, X), lopsided_body("b", rod.spec, touching(rod, brick, X, 2e-3, random))}, {});
    Bench bench(free);
    ASSERT_NO_FATAL_FAILURE(bench.check(fmt::format("free – free {}", trial)));
    EXPECT_GE(bench.result.problem.contacts.size(), 1u);
  }

  scene::SceneSpec self = derivative_scene({arm("arm", "hhhh", multibody::SphereSpec{0.06}, true)}, {{"arm", 80}});
  self.robots[0].self_collision = true;
  weld(self, "arm", pose({0.1, -0.2, 0.3}, {0, 0, 0}));
  self.step.contact_margin = 0.5;
  Bench itself(self);
  ASSERT_NO_FATAL_FAILURE(itself.check("self"));
  EXPECT_GE(itself.result.problem.contacts.size(), 2u);
}

TEST(StepDerivative, FollowsDifferencesAtEveryBarrierAndWithoutOne) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    for (const double kappa : {10.0, 100.0, 1e4, kInfinity}) {
      for (const double gap : {2e-3, -2e-3, -1e-2}) {
        Random random(5);
        scene::SceneSpec spec = arm_and_body(sphere(0.05), ellipsoid({0.04, 0.06, 0.08}), gap, random);
        spec.step.kappa = kappa;
        spec.step.cone = cone;
        Bench(spec).check(fmt::format("kappa {} gap {} cone {}", kappa, gap, static_cast<int>(cone)));
      }
    }
  }
}

TEST(StepDerivative, FollowsDifferencesInEveryVariantOfTheModel) {
  const auto variant = [](const std::string& what, const auto& change) {
    Random random(12);
    scene::SceneSpec spec = arm_and_body(cylinder(0.05, 0.1), box({0.12, 0.1, 0.08}), 1e-3, random);
    change(spec);
    Bench(spec).check(what);
  };
  variant("plain", [](scene::SceneSpec&) {});
  variant("midpoint", [](scene::SceneSpec& spec) { spec.step.midpoint_forces = true; });
  variant("robot gravity", [](scene::SceneSpec& spec) { spec.step.robot_gravity = true; });
  variant("damping", [](scene::SceneSpec& spec) { spec.step.joint_damping.all = 7; });
  variant("object damping", [](scene::SceneSpec& spec) { spec.step.object_damping.all = 40; });
  variant("object damping and mass rule", [](scene::SceneSpec& spec) {
    spec.step.object_damping.all = 40;
    spec.step.unactuated_mass_scale = 3;
  });
  variant("mass rule", [](scene::SceneSpec& spec) { spec.step.unactuated_mass_scale = 3; });
  variant("objects stay", [](scene::SceneSpec& spec) { spec.step.objects_move = false; });
  variant("frozen", [](scene::SceneSpec& spec) { spec.objects.push_back({.name = "body", .frozen = true}); });
  variant("six rays", [](scene::SceneSpec& spec) { spec.step.rays = 6; });
  variant("compliant", [](scene::SceneSpec& spec) { spec.step.compliance = 1e-4; });
  variant("compliant cone", [](scene::SceneSpec& spec) {
    spec.step.compliance = 1e-4;
    spec.step.cone = scene::Cone::kCone;
  });
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    for (const double pull : {0.0, -0.4}) {  // sticking, sliding
      variant(fmt::format("exact, compliant, cone {} pull {}", static_cast<int>(cone), pull),
              [&](scene::SceneSpec& spec) {
                spec.step.compliance = 1e-4;
                spec.step.kappa = kInfinity;
                spec.step.cone = cone;
                spec.gravity_W = {pull * 20, 3, 9};
              });
    }
  }
  variant("frictionless", [](scene::SceneSpec& spec) {
    for (auto& model : spec.world.models)
      for (auto& link : model.links)
        for (auto& geometry : link.collisions) geometry.mu = 0;
  });
  variant("limits", [](scene::SceneSpec& spec) {
    for (auto& joint : spec.world.models[0].joints) joint.axes[0].lower = -0.01, joint.axes[0].upper = 0.02;
  });
  variant("exact limits", [](scene::SceneSpec& spec) {
    spec.step.kappa = kInfinity;
    spec.world.models[0].joints[0].axes[0].upper = 0.02;
  });
}

}  // namespace step_derivative_test
}  // namespace deft::dynamics
