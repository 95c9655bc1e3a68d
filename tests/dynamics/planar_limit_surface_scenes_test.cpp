// The planar limit-surface step in random scenes, after other steps, and in scenes that it refuses.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "deft/math/random.hpp"
#include "limit_surface_scenes.hpp"

namespace deft::dynamics {
namespace planar_limit_surface_scenes_test {

using namespace limit_surface_scenes;

TEST(PlanarLimitSurface, RandomScenesAreSolvedAndBalance) {
  const char* const rounds = std::getenv("DEFT_FUZZ_ROUNDS");  // for a long hunt
  const std::uint64_t count = rounds != nullptr ? std::strtoull(rounds, nullptr, 10) : 150;
  for (std::uint64_t item = 0; item < count; ++item) {
    std::uint32_t counter = 0;
    const auto draw = [&](double low, double high) { return low + (high - low) * random_uniform(21, item, counter++); };
    Builder builder;
    builder.gain(std::pow(10.0, draw(-8, 0)));
    builder.spec.step.contact_margin = item % 3 == 0 ? kInfinity : 0.05;
    const int objects = 1 + static_cast<int>(draw(0, 3)), fingers = 1 + static_cast<int>(draw(0, 4));
    const auto shape = [&]() -> multibody::ShapeSpec {
      const double kind = draw(0, 3);
      if (kind < 1) return CylinderSpec{draw(0.2, 0.5), 0.1};
      if (kind < 2) return BoxSpec{{draw(0.3, 1), draw(0.3, 1), 0.1}};
      return PrismSpec{{{draw(-0.6, -0.2), -0.3}, {draw(0.2, 0.6), -0.2}, {draw(-0.1, 0.1), draw(0.2, 0.6)}}, 0.1};
    };
    const auto matrix = [&] {
      Matrix3d L = Matrix3d::Zero();
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c <= r; ++c) L(r, c) = r == c ? draw(0.3, 2) : draw(-1, 1);
      return Matrix3d(L * L.transpose());
    };
    for (int i = 0; i < objects; ++i)
      builder.object(planar_body("o" + std::to_string(i), shape(), draw(0, 1.2)),
                     {1.6 * i, draw(-0.2, 0.2), draw(-3, 3)}, matrix());
    for (int i = 0; i < fingers; ++i) {
      const double x = draw(-1, 1.6 * objects), y = (i % 2 == 0 ? 1 : -1) * draw(1.1, 1.4);
      if (i % 3 == 2)
        builder.finger(planar_body("f" + std::to_string(i), shape(), draw(0, 1.2)),
                       {x, y + (y > 0 ? 0.5 : -0.5), draw(-3, 3)}, draw(0.3, 3));
      else
        builder.finger(tip("f" + std::to_string(i), draw(0, 1.2), i % 2 == 0 ? 0.0 : 0.1), {x, y}, draw(0.3, 3));
    }
    builder.fixed(test::fixed_body("wall", multibody::HalfSpaceSpec{{0, 1, 0}, -2.4}, draw(0, 1.2)));
    const scene::Scene scene = test::build(builder.spec);
    const auto model = make_step_model(scene);
    VectorXd q = scene.initial_configuration(), u(scene.nu());
    StepResult result;
    for (int k = 0; k < 25; ++k) {
      // Towards the objects, with something at random.
      int at = 0;
      for (const scene::Robot& robot : scene.robots())
        for (int j = 0; j < robot.nu; ++j, ++at)
          u(at) = j == 1 ? (q(robot.first_q + 1) > 0 ? -1.5 : 1.5) + draw(-0.5, 0.5) : draw(-1, 1);
      model->step(q, u, result);
      EXPECT_TRUE(solvers::usable(result.status))
          << "scene " << item << " step " << k << ": " << to_string(result.status) << " c " << builder.spec.step.gain
          << " residual " << result.certificate.max_scaled() << " balance " << result.complementarity()->balance
          << " bound " << result.complementarity()->bound;
      if (!solvers::usable(result.status)) break;
      EXPECT_LE(result.complementarity()->balance, 1e-8);
      EXPECT_LE(result.complementarity()->bound, 1 + 1e-8);
      for (std::size_t i = 0; i < result.solution.gap.size(); ++i)
        EXPECT_GE(result.solution.gap[i], std::min(0.0, result.problem.contacts[i].gap) - 1e-9);
      q = result.q_next;
    }
  }
}

TEST(PlanarLimitSurface, ResultsDoNotDependOnEarlierSteps) {
  Builder builder;
  builder.object(planar_body("square", BoxSpec{{2, 2, 0.1}}, 0.4), {0, 0, 0})
      .finger(tip("a", 0.4), {-1, 0.3})
      .finger(tip("b", 0.4), {1.01, -0.9})
      .gain(0.05);
  const scene::Scene scene = test::build(builder.spec);
  const auto fresh = make_step_model(scene), used = make_step_model(scene);
  StepResult a, b;
  const VectorXd u = Eigen::Vector4d(1, 0.2, -1, 0.1);
  used->step(scene.initial_configuration(), -u, b);
  used->step(b.q_next, u, b);
  used->step(scene.initial_configuration(), u, b);
  fresh->step(scene.initial_configuration(), u, a);
  EXPECT_EQ((a.delta - b.delta).norm(), 0);
}

TEST(PlanarLimitSurface, SaysWhatASceneLacks) {
  const auto message = [](const Builder& builder) -> std::string {
    try {
      const scene::Scene scene = test::build(builder.spec);
      make_step_model(scene);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect = [&](const Builder& builder, const std::string& part) {
    EXPECT_NE(message(builder).find(part), std::string::npos) << message(builder);
  };
  Builder good;
  good.object(planar_body("disc", CylinderSpec{1, 0.1}, 1), {0, 0, 0}).finger(tip("tip"), {-1, 0}).gain(0.1);
  EXPECT_EQ(message(good), "");
  Builder b = good;
  b.spec.limit_surfaces.clear();
  expect(b, "object 'disc' needs 'limit_surface'");
  b = good;
  b.spec.robots[0].admittance = {};
  expect(b, "'admittance' (B, one number per joint) of robot 'tip'");
  b.gain(0);
  EXPECT_EQ(message(b), "");
  b = good;
  b.spec.gravity_W = {0, -1, 0};
  expect(b, "needs gravity along the normal of the plane of motion xy");
  b = good;
  b.spec.step.kappa = 100;
  expect(b, "step.kappa is 100");
  b = good;
  b.spec.step.joint_damping.all = 1;
  expect(b, "step.joint_damping");
  b = good;
  b.spec.limit_surfaces["tip"] = {};
  expect(b, "'tip' is a robot or cannot move");
  b = good;
  b.spec.world.models.push_back(test::free_body("ball", SphereSpec{1}, 1, 1, 1));
  expect(b, "in a plane");
  b = good;
  b.spec.limit_surfaces["disc"].support =
      scene::SupportSpec{.polygon = {{0, 0}, {1, 0}, {0, 1}}, .mu = 1, .force_N = {}};
  expect(b, "'disc': give 'force' [N]");
}

}  // namespace planar_limit_surface_scenes_test
}  // namespace deft::dynamics
