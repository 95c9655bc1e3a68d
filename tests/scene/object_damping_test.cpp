// `step.object_damping`: whom it is for, and what is wrong input.

#include <gtest/gtest.h>

#include "support/scene_builder.hpp"

namespace deft::scene {
namespace object_damping_test {

SceneSpec two_balls() {
  return test::scene_spec({test::free_body("a", multibody::SphereSpec{0.1}, 1, 0.004, 0.5),
                           test::free_body("b", multibody::SphereSpec{0.1}, 1, 0.004, 0.5, test::at(1, 0, 0))});
}

TEST(ObjectDampingSetting, IsOneNumberAListOrAMap) {
  SceneSpec spec = two_balls();
  EXPECT_FALSE(test::build(spec).objects()[0].damping.has_value());
  spec.step.object_damping = {.all = 3};
  EXPECT_EQ(test::build(spec).objects()[1].damping, 3);
  spec.step.object_damping = {.list = {1, 2}};
  EXPECT_EQ(test::build(spec).objects()[1].damping, 2);
  spec.step.object_damping = {.by_name = {{"b", 4}}};
  EXPECT_FALSE(test::build(spec).objects()[0].damping.has_value());
  EXPECT_EQ(test::build(spec).objects()[1].damping, 4);
}

TEST(ObjectDampingSetting, WrongInputIsNamed) {
  const auto errors = [](const auto& change) {
    SceneSpec spec = two_balls();
    change(spec.step);
    return test::build_errors(std::move(spec));
  };
  EXPECT_NE(errors([](StepSettings& step) { step.object_damping = {.list = {1, 2, 3}}; }).find("2 values expected"),
            std::string::npos);
  EXPECT_NE(
      errors([](StepSettings& step) { step.object_damping = {.by_name = {{"c", 1}}}; }).find("there is no object 'c'"),
      std::string::npos);
  EXPECT_NE(errors([](StepSettings& step) { step.object_damping = {.all = 0}; }).find("must be > 0"), std::string::npos)
      << "nothing else resists";
  const auto refused = [&](ModelKind kind, Dynamics dynamics) {
    return errors([&](StepSettings& step) {
      step.model = kind;
      step.dynamics = dynamics;
      step.object_damping = {.all = 1};
    });
  };
  EXPECT_NE(refused(ModelKind::kConvex, Dynamics::kQuasistatic).find("dynamics: quasistatic has no such force"),
            std::string::npos);
  EXPECT_NE(refused(ModelKind::kImpedance, Dynamics::kQuasidynamic).find("impedance has no such force"),
            std::string::npos);
  EXPECT_EQ(refused(ModelKind::kStewartTrinkle, Dynamics::kQuasidynamic), "");
}

}  // namespace object_damping_test
}  // namespace deft::scene
