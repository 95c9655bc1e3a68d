// Contacts linearised again about the motion of a step, against bodies that turn rigidly together.

#include "deft/dynamics/convex/relinearization.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deft/dynamics/models/make_step_model.hpp"
#include "support/allocation_counter.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace relinearization_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;
using multibody::SphereSpec;
using test::at;

constexpr double kRadius = 0.3;  // of the place of the box on the turntable [m]

/// A box that lies on a turntable, which is moved by a stiff motor.
scene::SceneSpec turntable(int relinearize, scene::Cone cone) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("box", BoxSpec{{0.06, 0.06, 0.04}}, 0.5, 3e-4, 1.0, at(kRadius, 0, 0.07)),
                        test::body("table", multibody::JointKind::kAxes, {test::turn("turn", Vector3d::UnitZ())},
                                   BoxSpec{{1, 1, 0.1}}, 5, 1, 1.0)},
                       {{"table", 1e5}});
  spec.gravity_W = {0, 0, -10};
  spec.step.h = 0.4;
  spec.step.contact_margin = 0.02;
  spec.step.cone = cone;
  spec.step.relinearize = relinearize;
  return spec;
}

struct Turned {
  StepResult result;
  double radius = 0, heading = 0, behind = 0;  // of the box; how far its turn is from the table's
};

Turned turn(const scene::SceneSpec& spec, double angle) {
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  Turned turned;
  model->step(scene.initial_configuration(), VectorXd::Constant(1, angle), turned.result);
  const VectorXd& q = turned.result.q_next;  // quaternion, place, table
  turned.radius = std::hypot(q(4), q(5));
  turned.heading = std::atan2(q(5), q(4));
  turned.behind = 2 * std::atan2(q(3), q(0)) - q(7);
  return turned;
}

TEST(Relinearization, ABoxOnATurntableGoesAlongTheArcInsteadOfTheTangent) {
  const double angle = 0.2;
  for (const scene::Cone cone : {scene::Cone::kPyramid, scene::Cone::kCone}) {
    const Turned once = turn(turntable(0, cone), angle);
    ASSERT_EQ(once.result.status, solvers::Status::kSolved);
    EXPECT_NEAR(once.radius, kRadius * std::hypot(1, angle), 1e-4) << "the tangent";
    const Turned twice = turn(turntable(1, cone), angle);
    ASSERT_EQ(twice.result.status, solvers::Status::kSolved);
    EXPECT_LE(twice.result.certificate.max_scaled(), 1e-9);
    EXPECT_NEAR(twice.radius, kRadius, 2e-5);
    EXPECT_NEAR(twice.behind, 0, 1e-4);
    EXPECT_NEAR(twice.heading, twice.result.q_next(7), 2e-4);
    // Each linearisation squares what is left.
    const Turned thrice = turn(turntable(2, cone), angle);
    EXPECT_NEAR(thrice.radius, kRadius, 1e-8);
    EXPECT_NEAR(thrice.behind, 0, 1e-8);
    EXPECT_NEAR(thrice.heading, thrice.result.q_next(7), 1e-8);
  }
}

TEST(Relinearization, HoldsTheWeightWithForcesAndPointsWhereTheStepStarts) {
  const Turned turned = turn(turntable(1, scene::Cone::kCone), 0.2);
  double weight = 0;
  for (const auto& force : turned.result.solution.force) weight += force[0];
  EXPECT_NEAR(weight, 5, 1e-8);
  for (const contact::Contact& contact : turned.result.problem.contacts) {
    // A corner of the box is where it was before the turn.
    EXPECT_NEAR(std::abs(contact.p_WA.x() - kRadius), 0.03, 1e-9);
    EXPECT_NEAR(std::abs(contact.p_WA.y()), 0.03, 1e-9);
    EXPECT_NEAR(contact.p_WA.z(), 0.05, 1e-9);
  }
}

TEST(Relinearization, ALeverThatTurnsIntoAWallStopsAtIt) {
  // A round tip at (0, 1) on a hinge at the origin goes to the wall x = 0.2 along an arc: it is commanded beyond.
  const auto depth = [](int relinearize) {
    scene::SceneSpec spec =
        test::scene_spec({test::body("lever", multibody::JointKind::kAxes, {test::turn("turn", -Vector3d::UnitZ())},
                                     SphereSpec{0.05}, 1, 0.1, 0.0),
                          test::fixed_body("wall", HalfSpaceSpec{{-1, -1, 0}, -0.9}, 0.0)},
                         {{"lever", 100}});
    spec.world.models[0].links[0].collisions[0].X_LG = at(0, 1, 0);
    spec.step.relinearize = relinearize;
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    StepResult result;
    model->step(scene.initial_configuration(), VectorXd::Constant(1, 0.9), result);
    EXPECT_EQ(result.status, solvers::Status::kSolved);
    scene::SceneState state = scene.make_state();
    scene.update(result.q_next, state);
    scene.find_contacts(1.0, state);
    return -state.contacts.at(0).gap;
  };
  EXPECT_GT(std::abs(depth(0)), 0.005);
  EXPECT_LT(std::abs(depth(2)), 1e-3);
  EXPECT_LT(std::abs(depth(4)), 1e-9);
}

TEST(Relinearization, ABallRollsAsFarAsWithoutIt) {
  // Rolling does not slip: the end of the step is that of the first linearisation, up to (angle)³.
  const auto rolled = [](int relinearize) {
    scene::SceneSpec spec = test::scene_spec({test::free_body("ball", SphereSpec{0.1}, 1, 0.004, 1.0, at(0, 0, 0.1)),
                                              test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 1.0)});
    spec.gravity_W = {1, 0, -10};
    spec.step.cone = scene::Cone::kCone;
    spec.step.relinearize = relinearize;
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    StepResult result;
    model->step(scene.initial_configuration(), VectorXd(), result);
    EXPECT_EQ(result.status, solvers::Status::kSolved);
    return result.delta;
  };
  EXPECT_NEAR((rolled(1) - rolled(0)).norm(), 0, 1e-4);
}

TEST(Relinearization, AProgramThatFailsLeavesTheStepAtTheOneBeforeToTheBit) {
  // A finger pushes a ball obliquely and arrives between two plates, which it sees only there: nothing parts it from
  // both. A step at rest comes first, so that the solver is warm.
  for (const auto law : {scene::FrictionLaw::kAssociated, scene::FrictionLaw::kCoulomb}) {
    const auto pushed = [law](int relinearize) {
      const auto plate = [](const char* name, double y) {
        return test::fixed_body(name, BoxSpec{{0.04, 0.02, 0.04}}, 0.5, at(-0.05, y, 0));
      };
      scene::SceneSpec spec =
          test::scene_spec({test::body("finger", multibody::JointKind::kAxes, {test::slide("y", Vector3d::UnitY())},
                                       SphereSpec{0.1}, 1, 0.004, 0.8),
                            test::free_body("ball", SphereSpec{0.1}, 2, 0.008, 0.8, at(0.12, 0.2, 0.03)),
                            plate("near", 0.41), plate("far", 0.59)},
                           {{"finger", 5e3}});
      spec.step.contact_margin = 0.05;
      spec.step.cone = scene::Cone::kCone;
      spec.step.friction_law = law;
      spec.step.relinearize = relinearize;
      const scene::Scene scene = test::build(spec);
      const auto model = make_step_model(scene);
      StepResult result;
      for (const double u : {0.0, 0.5}) model->step(scene.initial_configuration(), VectorXd::Constant(1, u), result);
      return result;
    };
    const StepResult once = pushed(0), kept = pushed(1);
    ASSERT_EQ(once.status, solvers::Status::kSolved);
    EXPECT_GT(once.delta.tail<3>().norm(), 0.1) << "the ball is pushed";
    EXPECT_EQ(kept.status, solvers::Status::kSolved);
    EXPECT_TRUE(kept.linearizations.empty());
    EXPECT_EQ(kept.delta, once.delta);
    EXPECT_EQ(kept.solution.force, once.solution.force);
    EXPECT_TRUE(kept.forces_least_norm);
    EXPECT_LE(kept.certificate.max_scaled(), 1e-9);
    EXPECT_GT(kept.iterations, once.iterations) << "those of the program that failed count too";
  }
}

TEST(ContactsAfter, CarriesWhatHardlyMovesAndFindsTheRest) {
  // Three boxes on a floor: one stays, one moves by less than 1e-8, one by much.
  const auto box = [](const char* name, double x) {
    return test::free_body(name, BoxSpec{{0.1, 0.1, 0.1}}, 1, 0.01, 0.5, at(x, 0, 0.05));
  };
  const scene::Scene scene = test::build(test::scene_spec(
      {box("a", 0), box("b", 1), box("c", 2), test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)}));
  scene::SceneState start = scene.make_state(), end = scene.make_state(), found = scene.make_state();
  constexpr double kMargin = 0.05;
  scene.update(scene.initial_configuration(), start);
  scene.find_contacts(kMargin, start);
  VectorXd delta = VectorXd::Zero(scene.nv()), q;  // [ω, v] of each
  delta.segment<6>(6) << 3e-9, -2e-9, 1e-9, 2e-9, -4e-9, 3e-9;
  delta.segment<6>(12) << 0.02, 0.01, 0.3, 0.02, 0.01, 0.01;
  scene.model().integrate(start.q, delta, q);
  scene.update(q, end);
  scene.update(q, found);
  scene.find_contacts(kMargin, found);
  ContactsAfter after;
  after.find(scene, start, kMargin, end);
  ASSERT_EQ(end.contacts.size(), found.contacts.size());
  ASSERT_EQ(end.contacts.size(), 12u);
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_EQ(end.contacts[k].id, found.contacts[k].id);
    EXPECT_NEAR(end.contacts[k].gap, found.contacts[k].gap, 1e-15);
    EXPECT_LT((end.contacts[k].p_WA - found.contacts[k].p_WA).norm(), 2e-8);
    EXPECT_LT((end.contacts[k].p_WA - end.contacts[k].p_WB - end.contacts[k].gap * end.contacts[k].nhat_BA_W).norm(),
              1e-15);
    // What moved much is found as by itself, to the bit.
    if (k >= 8) {
      EXPECT_EQ(end.contacts[k].gap, found.contacts[k].gap);
    }
  }
  const BodyWay& way = after.ways()[to_size(start.contacts.back().body_a)];
  const Vector3d p(1, 2, 3);
  EXPECT_LT((way.back(way.forth(p)) - p).norm(), 1e-14);
}

TEST(Relinearization, AWarmStepAllocatesNothing) {
  const scene::Scene scene = test::build(turntable(2, scene::Cone::kCone));
  const auto model = make_step_model(scene);
  const VectorXd q = scene.initial_configuration(), u = VectorXd::Constant(1, 0.2);
  const State start{.q = q};
  StepResult result;
  for (int warm = 0; warm < 3; ++warm) model->step(start, u, result);
  ASSERT_EQ(result.linearizations.size(), 2u);
  if (!kCountsAllocations) return;
  EXPECT_EQ(testing_support::allocations_during([&] { model->step(start, u, result); }), 0);
}

}  // namespace relinearization_test
}  // namespace deft::dynamics
