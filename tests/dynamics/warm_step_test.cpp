// A warm step and its derivatives allocate nothing.

#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "derivative_bench.hpp"
#include "support/allocation_counter.hpp"
#include "support/tripod.hpp"

namespace deft::dynamics {
namespace warm_step_test {

using namespace collision::reference;

/// Everything that a planner calls in its loop.
struct Loop {
  Bench bench;
  State state;
  VectorXd none, dq, du, moved, force, q_bar, no_q_bar, u_bar;
  StepDerivative by_u;

  explicit Loop(const scene::SceneSpec& spec) : bench(spec) {
    state.q = bench.q;
    if (bench.model->second_order()) state.v = VectorXd::Constant(bench.scene.nv(), 0.02);
    dq = VectorXd::Ones(bench.scene.nv());
    du = VectorXd::Ones(bench.scene.nu());
  }
  void step() { bench.model->step(state, bench.u, bench.result); }
  void differentiate(bool by_q) {
    StepDifferentiator& differentiator = bench.differentiator;
    differentiator.linearize(*bench.model, state, bench.u, bench.result, {.configuration = by_q});
    differentiator.jacobians(by_q ? bench.derivative : by_u);
    differentiator.forward(by_q ? dq : none, du, moved, &force);
    differentiator.backward(dq, none, by_q ? q_bar : no_q_bar, u_bar);
  }
};

void expect_no_allocation(const std::string& what, const scene::SceneSpec& spec) {
  for (const bool by_q : {false, true}) {
    Loop loop(spec);
    for (int warm = 0; warm < 3; ++warm) {
      loop.step();
      ASSERT_EQ(loop.bench.result.status, solvers::Status::kSolved) << what;
      loop.differentiate(by_q);
    }
    EXPECT_GE(loop.bench.result.problem.contacts.size(), 5u) << what;
    if (!kCountsAllocations) return;
    EXPECT_EQ(testing_support::allocations_during([&] { loop.step(); }), 0) << what << ": step";
    EXPECT_EQ(testing_support::allocations_during([&] { loop.differentiate(by_q); }), 0) << what << ": by q " << by_q;
  }
}

/// An arm that touches a body, and a brick on the ground, with more contacts than its motion determines forces of.
scene::SceneSpec arm_body_and_brick() {
  Random random(5);
  scene::SceneSpec spec = arm_and_body(box({0.12, 0.1, 0.08}), ellipsoid({0.04, 0.06, 0.08}), -1e-3, random);
  spec.world.models.push_back(
      test::free_body("brick", multibody::BoxSpec{{0.2, 0.2, 0.1}}, 1, 0.01, 0.7, test::at(0, 0, -0.951)));
  spec.world.models.push_back(test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), -1}, 0.7));
  return spec;
}

/// With every cone, barrier, choice of forces and order.
void expect_no_allocation_with(scene::FrictionLaw law, int relinearize) {
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    for (const double kappa : {100.0, kInfinity}) {
      for (const scene::Forces forces : {scene::Forces::kAny, scene::Forces::kLeastNorm}) {
        // A derivative that has to be smoothed follows the gaps of some contacts, then of all.
        if (law == scene::FrictionLaw::kCoulomb && relinearize > 0 && forces == scene::Forces::kAny) continue;
        for (const bool second_order : {false, true}) {
          scene::SceneSpec spec = arm_body_and_brick();
          spec.step.friction_law = law;
          spec.step.relinearize = relinearize;
          if (relinearize > 0) spec.step.contact_margin = 0.5;  // the same contacts in all programs of a step
          spec.step.cone = cone;
          spec.step.kappa = kappa;
          spec.step.forces = forces;
          if (second_order) spec.step.model = scene::ModelKind::kConvexSecondOrder;
          expect_no_allocation(
              fmt::format("law {} relinearize {} cone {} kappa {} forces {} second order {}", static_cast<int>(law),
                          relinearize, static_cast<int>(cone), kappa, static_cast<int>(forces), second_order),
              spec);
        }
      }
    }
  }
}

TEST(WarmStep, AllocatesNothingAndNeitherDoItsDerivatives) {
  expect_no_allocation_with(scene::FrictionLaw::kAssociated, 0);
}

TEST(WarmStep, OfCoulombsLawAllocatesNothing) { expect_no_allocation_with(scene::FrictionLaw::kCoulomb, 0); }

TEST(WarmStep, LinearizedAgainAllocatesNothing) {
  for (const auto law : {scene::FrictionLaw::kAssociated, scene::FrictionLaw::kCoulomb})
    expect_no_allocation_with(law, 1);
}

TEST(WarmStep, OfExactCoulombFrictionAllocatesNothing) {
  // The bases of mixed problems may be singular, which takes scratch.
  for (const scene::ModelKind model : {scene::ModelKind::kStewartTrinkle}) {
    for (const scene::Forces forces : {scene::Forces::kAny, scene::Forces::kLeastNorm}) {
      scene::SceneSpec spec = test::scene_spec(
          {test::tripod("tripod", 1, 0.01, 0.7),
           test::body("finger", multibody::JointKind::kAxes, {test::slide("x", {1, 0, 0}), test::slide("z", {0, 0, 1})},
                      multibody::SphereSpec{0.02}, 0.1, 1e-4, 0.5, test::at(-0.121, 0, 0.05)),
           test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.7)},
          {{"finger", 500}});
      spec.gravity_W = {0, 0, -10};
      spec.step.contact_margin = 0.04;
      spec.step.model = model;
      spec.step.forces = forces;
      const scene::Scene scene = test::build(spec);
      const auto step_model = make_step_model(scene);
      State state{.q = scene.initial_configuration()};
      if (step_model->second_order()) state.v = VectorXd::Zero(scene.nv());
      const VectorXd u = Eigen::Vector2d(0.03, 0);  // slides: sticking feet share their friction in many ways
      StepResult result;
      for (int warm = 0; warm < 3; ++warm) {
        step_model->step(state, u, result);
        ASSERT_EQ(result.status, solvers::Status::kSolved) << to_string(model);
      }
      EXPECT_GE(result.problem.contacts.size(), 4u) << to_string(model);
      if (!kCountsAllocations) return;
      EXPECT_EQ(testing_support::allocations_during([&] { step_model->step(state, u, result); }), 0)
          << to_string(model) << " forces " << static_cast<int>(forces);
    }
  }
}

TEST(WarmStep, OfEquivalentContactPointsAllocatesNothing) {
  // Faces, lines and points on a plane and on each other.
  scene::SceneSpec spec = test::scene_spec(
      {test::free_body("lower", multibody::BoxSpec{{0.4, 0.3, 0.2}}, 2, 0.03, 0.5, test::at(0, 0, 0.1)),
       test::free_body("upper", multibody::CylinderSpec{0.1, 0.2}, 1, 0.005, 0.5, test::at(0.03, 0.01, 0.3)),
       test::free_body("ball", multibody::EllipsoidSpec{{0.1, 0.1, 0.1}}, 1, 0.004, 0.5, test::at(1, 0, 0.1)),
       test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)});
  spec.gravity_W = {0, 0, -9.8};
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = 0.01;
  spec.friction.ellipsoid = std::array<double, 3>{1, 0.8, 0.05};
  const scene::Scene scene = test::build(spec);
  const auto step_model = make_step_model(scene);
  State state{.q = scene.initial_configuration(), .v = VectorXd::Zero(scene.nv())};
  state.v.segment<3>(3) = Vector3d(0.5, 0.2, 0);
  state.v.segment<3>(6) = Vector3d(0, 0, 1);
  state.v.segment<3>(15) = Vector3d(0.3, -0.4, 0);
  StepResult result;
  for (int warm = 0; warm < 3; ++warm) {
    step_model->step(state, VectorXd(0), result);
    ASSERT_EQ(result.status, solvers::Status::kSolved);
  }
  ASSERT_EQ(result.patch()->contacts.size(), 3u);
  if (!kCountsAllocations) return;
  EXPECT_EQ(testing_support::allocations_during([&] { step_model->step(state, VectorXd(0), result); }), 0)
      << "the same step";
  state = {.q = result.q_next, .v = result.v_next, .t = 0.01};
  EXPECT_EQ(testing_support::allocations_during([&] { step_model->step(state, VectorXd(0), result); }), 0)
      << "the next step";
}

}  // namespace warm_step_test
}  // namespace deft::dynamics
