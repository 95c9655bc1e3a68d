// deft's own steps as plants: time, targets, damping and what they share with the scene's step.

#include "deft/plant/step_plant.hpp"

#include <gtest/gtest.h>

#include <random>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "plant/plant_worlds.hpp"
#include "support/allocation_counter.hpp"

namespace deft::plant {
namespace step_plant_test {

using Eigen::VectorXd;
using multibody::JointKind;
using multibody::SphereSpec;
using testing::hold;
using testing::numbers;
using testing::pusher;

TEST(QuasidynamicPlant, TakesTheScenesOwnStepWhereThePeriodIsIts) {
  const scene::Scene scene = test::build(pusher(0.1));
  const auto plant = make_plant(PlantKind::kQuasidynamic, scene, {.step = 0.1});
  const auto model = dynamics::make_step_model(scene);
  dynamics::State state{.q = scene.initial_configuration()};
  plant->reset(state, numbers({0}));
  dynamics::StepResult result;
  for (int k = 1; k <= 5; ++k) {
    const VectorXd u = numbers({0.04 * k});
    ASSERT_EQ(plant->advance(u, 0.1), PlantStatus::kOk);
    model->step(state, u, result);
    state.q = result.q_next;
    EXPECT_LT((plant->state().q - state.q).norm(), 1e-12) << k;
    EXPECT_NEAR(plant->state().t, 0.1 * k, 1e-12);
  }
  EXPECT_GT(state.q(1), 0.05) << "it was pushed";
  EXPECT_EQ(plant->state().v.size(), 0);
  EXPECT_TRUE(std::isnan(plant->energy()));
  std::vector<dynamics::ContactRecord> contacts;
  plant->contacts(contacts);
  ASSERT_FALSE(contacts.empty());
  EXPECT_LE(plant->residual(), 1e-6);
}

TEST(QuasidynamicPlant, ObjectsFeelTheDampingOfTheScenesStepWhateverTheInnerStep) {
  // A force F on a body: D v = F with D = M/h; five steps of h/5 move it as far as one of h.
  scene::SceneSpec spec = test::scene_spec(
      {test::body("puck", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, SphereSpec{0.1}, 2, 0.01, 0.5)});
  spec.wrenches.push_back({.body = "puck", .force_W = {3, 0, 0}});
  spec.step.h = 0.2;
  const scene::Scene scene = test::build(spec);
  for (const double step : {0.2, 0.04, 0.001}) {
    const auto plant = make_plant(PlantKind::kQuasidynamic, scene, {.step = step});
    ASSERT_EQ(plant->advance(VectorXd(0), 0.2), PlantStatus::kOk);
    EXPECT_NEAR(plant->state().q(0), 3 * 0.2 * 0.2 / 2, 1e-9) << step;
  }
  // Weight is weight: it is not scaled.
  spec.wrenches.clear();
  spec.gravity_W = {5, 0, 0};
  const scene::Scene falling = test::build(spec);
  const auto plant = make_plant(PlantKind::kQuasidynamic, falling, {.step = 0.05});
  ASSERT_EQ(plant->advance(VectorXd(0), 0.2), PlantStatus::kOk);
  EXPECT_NEAR(plant->state().q(0), 5 * 0.2 * 0.2, 1e-9);
}

TEST(QuasidynamicPlant, PushesAsFarInFineStepsAsInCoarseOnes) {
  const scene::Scene scene = test::build(pusher(0.05));
  VectorXd ends[2];
  for (const int fine : {0, 1}) {
    const auto plant = make_plant(PlantKind::kQuasidynamic, scene, {.step = fine ? 0.005 : 0.05});
    plant->reset({.q = scene.initial_configuration()}, numbers({0}));
    for (int k = 1; k <= 10; ++k) ASSERT_EQ(plant->advance(numbers({0.03 * k}), 0.05), PlantStatus::kOk);
    ends[fine] = plant->state().q;
  }
  EXPECT_NEAR(ends[0](1), ends[1](1), 5e-3);
  EXPECT_GT(ends[1](1), 0.1);
}

TEST(StepPlant, TargetsGoLinearlyFromTheLastOnes) {
  // A massless first-order joint follows its target at once: halfway through the ramp it is halfway.
  const scene::Scene scene = test::build(pusher(0.01));
  const auto plant = make_plant(PlantKind::kQuasidynamic, scene, {.step = 0.01});
  plant->reset({.q = scene.initial_configuration()}, numbers({0.01}));
  ASSERT_EQ(plant->advance(numbers({0.03}), 0.05), PlantStatus::kOk);
  EXPECT_NEAR(plant->state().q(0), 0.03, 1e-9);
  ASSERT_EQ(plant->advance(numbers({-0.02}), 0.025), PlantStatus::kOk) << "three inner steps";
  EXPECT_NEAR(plant->state().q(0), -0.02, 1e-9);
  EXPECT_NEAR(plant->state().t, 0.075, 1e-12);
}

TEST(StewartTrinklePlant, StepsOfAMillisecondAreCertifiedWhateverTheCommands) {
  // Hands jostle discs that are nearly at rest: the work of such a step is so little that a point which solves the rows
  // to 1e-9 can be too rough for the contacts.
  const auto disc = [](const char* name, double x, double y, bool turns) {
    std::vector<multibody::JointAxisSpec> axes{test::slide("x", {1, 0, 0}), test::slide("y", {0, 1, 0})};
    if (turns) axes.push_back(test::turn("theta", {0, 0, 1}));
    return test::body(name, JointKind::kAxes, std::move(axes), SphereSpec{0.1}, 1, 0.004, 0.5, test::at(x, y, 0));
  };
  scene::SceneSpec spec =
      test::scene_spec({disc("hand", -0.21, 0, false), disc("hand2", 0, 1, false), disc("disc", 0, 0, true),
                        disc("disc2", 0, 1.21, true), disc("disc3", 0.22, 0, true)},
                       {{"hand", 100}, {"hand2", 50}});
  spec.step.h = 0.07;
  spec.step.rays = 2;
  spec.plane = scene::Plane::kXY;
  spec.step.contact_margin = kInfinity;
  const scene::Scene scene = test::build(spec);
  const auto plant = make_plant(PlantKind::kStewartTrinkle, scene, {.step = 0.001});
  const std::vector<std::pair<unsigned, double>> kRuns{{1, 5e-5}, {3, 5e-4}};  // seed, and how far the first hand goes
                                                                               // per period
  for (const auto& [seed, push] : kRuns) {
    plant->reset({.q = scene.initial_configuration(), .v = scene.initial_velocity()}, VectorXd::Zero(scene.nu()));
    std::mt19937 generator(seed);
    std::normal_distribution<double> jostle(0, 1e-5);
    VectorXd u = VectorXd::Zero(4);
    for (int k = 0; k < 1000; ++k) {
      u(0) += k < 500 ? push : 0;
      for (int i = 0; i < 4; ++i) u(i) += jostle(generator);
      ASSERT_EQ(plant->advance(u, 0.005), PlantStatus::kOk) << "seed " << seed << ", period " << k;
    }
  }
}

TEST(StepPlant, RefusesWrongSizesPeriodsAndOptions) {
  const scene::Scene scene = test::build(pusher(0.1));
  EXPECT_THROW(make_plant(PlantKind::kQuasidynamic, scene, {.step = 0}), std::invalid_argument);
  EXPECT_THROW(make_plant(PlantKind::kConvexSecondOrder, scene, {.damping_ratio = -1}), std::invalid_argument);
  EXPECT_THROW(make_plant(PlantKind::kConvexSecondOrder, scene, {.joint_lag = NAN}), std::invalid_argument);
  EXPECT_THROW(make_plant(PlantKind::kConvexSecondOrder, scene, {.object_damping = numbers({1, 2})}),
               std::invalid_argument);
  const auto plant = make_plant(PlantKind::kConvexSecondOrder, scene, {});
  EXPECT_THROW(plant->advance(numbers({0, 0}), 0.01), std::invalid_argument);
  EXPECT_THROW(plant->advance(numbers({0}), 0), std::invalid_argument);
  EXPECT_THROW(plant->advance(numbers({NAN}), 0.01), std::invalid_argument);
  EXPECT_THROW(plant->reset({.q = numbers({0})}, numbers({0})), std::invalid_argument);
  scene::SceneSpec without_h = pusher(0.1);
  without_h.step.h.reset();
  EXPECT_THROW(make_plant(PlantKind::kQuasidynamic, test::build(without_h), {}), InputError);
}

TEST(StepPlant, AWarmAdvanceAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "a sanitizer owns malloc";
  const scene::Scene scene = test::build(pusher(0.1));
  for (const PlantKind kind : {PlantKind::kQuasidynamic, PlantKind::kConvexSecondOrder, PlantKind::kStewartTrinkle}) {
    const auto plant = make_plant(kind, scene, {});
    plant->reset({.q = scene.initial_configuration()}, numbers({0}));
    const VectorXd u = numbers({0.1});
    std::vector<dynamics::ContactRecord> contacts;
    const auto turn = [&] {
      plant->advance(u, 0.005);
      plant->contacts(contacts);
    };
    for (int k = 0; k < 60; ++k) turn();
    EXPECT_FALSE(contacts.empty()) << plant->name();
    EXPECT_EQ(testing_support::allocations_during([&] {
                for (int k = 0; k < 5; ++k) turn();
              }),
              0)
        << plant->name();
  }
}

}  // namespace step_plant_test
}  // namespace deft::plant
