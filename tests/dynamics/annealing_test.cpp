// κ of a model can change between steps, and a step can be reached by continuation.

#include <gtest/gtest.h>

#include <array>

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace annealing_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::at;

/// Two boxes stacked on a floor and a finger that pushes the upper one.
scene::SceneSpec stack(scene::Cone cone, scene::ModelKind model) {
  scene::SceneSpec spec =
      test::scene_spec({test::body("finger", multibody::JointKind::kAxes,
                                   {test::slide("x", Vector3d::UnitX()), test::slide("y", Vector3d::UnitY())},
                                   multibody::SphereSpec{0.05}, 1, 0.001, 0.7, at(-0.16, 0.02, 0.31)),
                        test::free_body("lower", multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 0.007, 0.5, at(0, 0, 0.1)),
                        test::free_body("upper", multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 0.007, 0.5, at(0, 0, 0.3)),
                        test::fixed_body("floor", multibody::BoxSpec{{2, 2, 0.2}}, 0.5, at(0, 0, -0.1))},
                       {{"finger", 200}});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.contact_margin = 0.05;
  spec.step.cone = cone;
  spec.step.model = model;
  if (model == scene::ModelKind::kConvexSecondOrder) spec.step.h = 0.02;
  return spec;
}

class Annealing : public testing::TestWithParam<std::tuple<scene::Cone, scene::ModelKind>> {
 protected:
  scene::SceneSpec spec = stack(std::get<0>(GetParam()), std::get<1>(GetParam()));
  scene::Scene scene = test::build(spec);
  std::unique_ptr<StepModel> model = make_step_model(scene);
  State start{.q = scene.initial_configuration()};
  VectorXd u = Eigen::Vector2d(0.05, 0.01);
};

TEST_P(Annealing, AModelWithAnotherKappaIsTheModelOfThatScene) {
  for (const double kappa : {100.0, 1e4, kInfinity}) {
    spec.step.kappa = kappa;
    const scene::Scene other = test::build(spec);
    StepResult expected, result;
    make_step_model(other)->step(start, u, expected);
    model->set_kappa(kappa);
    model->reset();
    model->step(start, u, result);
    ASSERT_EQ(result.status, solvers::Status::kSolved);
    EXPECT_TRUE(result.q_next == expected.q_next);
  }
  EXPECT_EQ(model->kappa(), kInfinity);
  for (const double bad : {0.0, -1.0, std::nan("")}) EXPECT_THROW(model->set_kappa(bad), std::invalid_argument);
}

TEST_P(Annealing, EndsAtTheStepOfTheLastKappaWithFewerIterationsOnTheWay) {
  const std::array kappas{100.0, 1e3, 1e4, 1e5, kInfinity};
  StepResult result;
  int cold = 0, first = 0;
  for (const double kappa : kappas) {
    model->reset();
    model->set_kappa(kappa);
    model->step(start, u, result);
    ASSERT_EQ(result.status, solvers::Status::kSolved);
    cold += result.iterations;
    if (kappa == kappas.front()) first = result.iterations;
  }
  model->reset();
  model->set_kappa(7);
  StepResult annealed;
  step_annealed(*model, start, u, kappas, annealed);
  EXPECT_EQ(annealed.status, solvers::Status::kSolved);
  EXPECT_EQ(annealed.program.kappa, kInfinity);
  EXPECT_LE((annealed.delta - result.delta).norm(), 1e-8 * result.delta.norm());
  EXPECT_EQ(model->kappa(), 7);
  // All but the first start from a neighbour. Counts of some 20 differ by one or two with the kernels of the processor.
  EXPECT_LT(annealed.iterations - first, 0.85 * (cold - first));
}

TEST_P(Annealing, RefusesListsThatDoNotAscend) {
  StepResult result;
  for (const std::vector<double>& kappas :
       {std::vector<double>{}, {0, 1}, {10, 10}, {kInfinity, 10}, {1, std::nan("")}}) {
    EXPECT_THROW(step_annealed(*model, start, u, kappas, result), std::invalid_argument);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Annealing,
                         testing::Combine(testing::Values(scene::Cone::kPyramid, scene::Cone::kCone),
                                          testing::Values(scene::ModelKind::kConvex,
                                                          scene::ModelKind::kConvexSecondOrder)));

}  // namespace annealing_test
}  // namespace deft::dynamics
