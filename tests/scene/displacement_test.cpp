// Displacements between configurations: those of the model, whatever joints come in which order.

#include "deft/scene/displacement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/scene_builder.hpp"

namespace deft::scene {
namespace displacement_test {

using Eigen::VectorXd;

TEST(Displacement, IsThatOfTheModelForEveryOrderOfJoints) {
  const multibody::ShapeSpec shape = multibody::SphereSpec{0.1};
  std::vector<multibody::ModelSpec> models{
      test::free_body("free", shape, 1, 1, 0.5),
      test::body("hinge", multibody::JointKind::kAxes, {test::turn("a", {0, 0, 1})}, shape, 1, 1, 0.5),
      test::body("ball", multibody::JointKind::kBall, {}, shape, 1, 1, 0.5),
      test::fixed_body("wall", shape, 0.5),
      test::body("planar", multibody::JointKind::kAxes,
                 {test::slide("x", {1, 0, 0}), test::slide("y", {0, 1, 0}), test::turn("t", {0, 0, 1})}, shape, 1, 1,
                 0.5),
      test::free_body("last", shape, 1, 1, 0.5)};
  for (std::size_t turned = 0; turned < models.size(); ++turned) {
    const Scene scene = test::build(test::scene_spec(models));
    const multibody::Model& model = scene.model();
    const VectorXd q0 = model.default_configuration();
    VectorXd q1, q2, found = VectorXd::Constant(model.nv(), 999);
    model.integrate(q0, VectorXd::LinSpaced(model.nv(), -1.1, 1.3), q1);
    model.integrate(q1, VectorXd::LinSpaced(model.nv(), 0.7, -0.4), q2);
    difference(model, q1, q2, found);
    EXPECT_EQ(found, model.difference(q1, q2)) << turned;
    EXPECT_LT((found - VectorXd::LinSpaced(model.nv(), 0.7, -0.4)).cwiseAbs().maxCoeff(), 1e-13) << turned;
    EXPECT_THROW(difference(model, q1.head(3), q2, found), std::invalid_argument);
    EXPECT_THROW(difference(model, q1, q2.head(3), found), std::invalid_argument);
    std::rotate(models.begin(), models.begin() + 1, models.end());
  }
}

}  // namespace displacement_test
}  // namespace deft::scene
