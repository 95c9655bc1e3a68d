#include "deft/contact/assemble.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/scene_builder.hpp"

namespace deft::contact {
namespace assemble_test {

using Eigen::Vector3d;
using multibody::CapsuleSpec;
using multibody::SphereSpec;
using test::at;

TEST(FrictionPoints, MoveToTheMiddleOfTheFaceOfTheirPair) {
  // Two pairs, of two points each; of the second pair one more that turns away, and one that gapes.
  std::vector<collision::ContactPair> contacts;
  const auto add = [&](int b, double x, const Vector3d& n, double gap) {
    collision::ContactPair contact;
    contact.geometry_a = 0;
    contact.geometry_b = b;
    contact.nhat_BA_W = n;
    contact.gap = gap;
    contact.p_WB = Vector3d(x, 0, 0);
    contact.p_WA = contact.p_WB + gap * n;
    contacts.push_back(contact);
  };
  add(1, -1, Vector3d::UnitZ(), 0);
  add(1, 3, Vector3d::UnitZ(), 0);
  add(2, 5, Vector3d::UnitZ(), 0);
  add(2, 7, Vector3d::UnitZ(), 0);
  add(2, 20, Vector3d::UnitX(), 0);
  add(2, 30, Vector3d::UnitZ(), 2 * kFaceGap_m);
  const double expected[] = {0, 2, 5.5, 6.5, 20, 30};
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    Vector3d p_A = contacts[i].p_WA, p_B = contacts[i].p_WB;
    friction_points(contacts, i, 0.5, p_A, p_B);
    EXPECT_NEAR(p_B.x(), expected[i], 1e-14) << i;
    EXPECT_LT((p_A - p_B - contacts[i].gap * contacts[i].nhat_BA_W).norm(), 1e-14) << i;
  }
}

/// A ball (object), a capsule on a three-joint arm (robot), another ball on a plane of motion of its own.
scene::SceneSpec mixed_world() {
  using test::body, test::free_body, test::slide, test::turn;
  return test::scene_spec(
      {free_body("ball", SphereSpec{0.3}, 1, 0.1, 0.5, at(0.5, 0.1, 0.2)),
       body("arm", multibody::JointKind::kAxes,
            {turn("a", Vector3d(1, 2, 3).normalized()), slide("b", Vector3d::UnitY()), turn("c", Vector3d::UnitZ())},
            CapsuleSpec{0.1, 0.8}, 1, 0.1, 1.0, at(0, 0.6, 0.1)),
       body("cart", multibody::JointKind::kAxes, {slide("x", Vector3d::UnitX())}, SphereSpec{0.2}, 1, 1, 0.7,
            at(1.2, 0, 0))},
      {{"arm", 100}});
}

Eigen::VectorXd random_configuration(const scene::Scene& scene, std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Eigen::VectorXd delta(scene.nv()), q;
  for (int i = 0; i < scene.nv(); ++i) delta(i) = uniform(rng);
  scene.model().integrate(scene.initial_configuration(), delta, q);
  return q;
}

TEST(Tangents, AreAnOrthonormalFrameWithTheNormal) {
  std::mt19937 rng(3);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; ++i) {
    const Vector3d n = Vector3d(normal(rng), normal(rng), normal(rng)).normalized();
    Vector3d t1, t2;
    tangents(n, scene::Plane::kSpace, t1, t2);
    Eigen::Matrix3d R;
    R << n, t1, t2;
    EXPECT_NEAR((R.transpose() * R - Eigen::Matrix3d::Identity()).norm(), 0, 1e-14);
    EXPECT_NEAR(R.determinant(), 1, 1e-14);
  }
  // Smallest component x: t₁ = e_x × n.
  Vector3d t1, t2;
  tangents(Vector3d(0, 0, 1), scene::Plane::kSpace, t1, t2);
  EXPECT_EQ(t1, Vector3d(0, -1, 0));
  tangents(Vector3d(0, 0, 1), scene::Plane::kYZ, t1, t2);
  EXPECT_EQ(t1, Vector3d(0, -1, 0));
  EXPECT_EQ(t2, Vector3d(0, 0, 0));
}

TEST(Tangents, RoundingDoesNotTurnTheFrameOfABoxAtRest) {
  Vector3d t1, t2, t1_noisy, t2_noisy;
  tangents(Vector3d::UnitZ(), scene::Plane::kSpace, t1, t2);
  for (const Vector3d& noise : {Vector3d(1e-16, 0, 0), Vector3d(3e-13, -1e-17, 0), Vector3d(-2e-11, 1e-13, 0)}) {
    tangents((Vector3d::UnitZ() + noise).normalized(), scene::Plane::kSpace, t1_noisy, t2_noisy);
    EXPECT_NEAR(t1.dot(t1_noisy), 1, 1e-9) << noise.transpose();
    EXPECT_NEAR(t2.dot(t2_noisy), 1, 1e-9) << noise.transpose();
  }
}

TEST(Assemble, NormalRowsAreTheGradientOfTheTrueGap) {
  const scene::Scene scene = test::build(mixed_world());
  scene::SceneState state = scene.make_state();
  Assembler assembler(scene);
  ContactProblem problem;
  std::mt19937 rng(7);
  const double eps = 1e-6;
  int checked = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const Eigen::VectorXd q = random_configuration(scene, rng);
    scene.update(q, state);
    scene.find_contacts(10.0, state);
    assembler.assemble(state, {}, problem);
    ASSERT_EQ(problem.contacts.size(), 3u);
    for (int i = 0; i < 3; ++i) {
      const Contact& contact = problem.contacts[i];
      Eigen::VectorXd row = Eigen::VectorXd::Zero(scene.nv());
      for (std::size_t c = 0; c < problem.J.cols(i).size(); ++c)
        row(problem.J.cols(i)[c]) = problem.J.block(i)(0, static_cast<int>(c));
      for (int v = 0; v < scene.nv(); ++v) {
        const auto gap = [&](double step) {
          Eigen::VectorXd q_step;
          scene.model().integrate(q, step * Eigen::VectorXd::Unit(scene.nv(), v), q_step);
          scene::SceneState moved = scene.make_state();
          scene.update(q_step, moved);
          return scene.collision_world().signed_distance(contact.geometry_a, contact.geometry_b, moved.X_WB()).gap;
        };
        EXPECT_NEAR(row(v), (gap(eps) - gap(-eps)) / (2 * eps), 1e-6) << "contact " << i << " velocity " << v;
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 50 * 3 * scene.nv());
}

TEST(Assemble, TangentRowsMoveTheMaterialPointsApart) {
  const scene::Scene scene = test::build(mixed_world());
  scene::SceneState state = scene.make_state(), moved = scene.make_state();
  Assembler assembler(scene);
  ContactProblem problem;
  std::mt19937 rng(11);
  const double eps = 1e-6;
  for (int trial = 0; trial < 20; ++trial) {
    const Eigen::VectorXd q = random_configuration(scene, rng);
    scene.update(q, state);
    scene.find_contacts(10.0, state);
    assembler.assemble(state, {}, problem);
    Eigen::VectorXd direction(scene.nv()), q_step;
    std::normal_distribution<double> normal;
    for (int i = 0; i < scene.nv(); ++i) direction(i) = normal(rng);
    scene.model().integrate(q, eps * direction, q_step);
    scene.update(q_step, moved);
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
      const Contact& contact = problem.contacts[i];
      const auto motion = [&](int body, const Vector3d& p_W) -> Vector3d {
        return (moved.X_WB()[body] * (state.X_WB()[body].inverse() * p_W) - p_W) / eps;
      };
      const Vector3d relative = motion(contact.body_a, contact.p_WA) - motion(contact.body_b, contact.p_WB);
      Eigen::VectorXd restricted(problem.J.cols(static_cast<int>(i)).size());
      for (int c = 0; c < restricted.size(); ++c) restricted(c) = direction(problem.J.cols(static_cast<int>(i))[c]);
      const Vector3d rows = problem.J.block(static_cast<int>(i)) * restricted;
      EXPECT_NEAR(
          (rows - Vector3d(contact.n_W.dot(relative), contact.t1_W.dot(relative), contact.t2_W.dot(relative))).norm(),
          0, 2e-5);
    }
  }
}

TEST(Assemble, APatchSpinsAboutItsNormalAndFollowsItsAxis) {
  scene::SceneSpec spec = mixed_world();
  spec.friction.ellipsoid = std::array{1.0, 0.5, 0.02};
  spec.friction.ellipsoid_axis = Vector3d(0, 0.6, 0.8);
  const scene::Scene scene = test::build(spec);
  scene::SceneState state = scene.make_state(), moved = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(10.0, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, {}, problem);
  ASSERT_EQ(problem.contacts.size(), 3u);
  const double eps = 1e-6;
  Eigen::VectorXd direction(scene.nv()), q_step;
  for (int i = 0; i < scene.nv(); ++i) direction(i) = std::sin(1 + i);
  scene.model().integrate(state.q, eps * direction, q_step);
  scene.update(q_step, moved);
  const auto rate = [&](int body) -> Vector3d {
    return log_so3(moved.X_WB()[body].linear() * state.X_WB()[body].linear().transpose()) / eps;
  };
  for (int i = 0; i < 3; ++i) {
    const Contact& contact = problem.contacts[i];
    ASSERT_EQ(problem.J.rows(i), 4);
    EXPECT_NEAR(contact.t1_W.dot(contact.n_W), 0, 1e-14);
    EXPECT_NEAR(contact.t2_W.dot(spec.friction.ellipsoid_axis), 0, 1e-14) << "t₁ is all of the axis in the plane";
    EXPECT_GT(contact.t1_W.dot(spec.friction.ellipsoid_axis), 0);
    double spin = 0;
    for (std::size_t c = 0; c < problem.J.cols(i).size(); ++c)
      spin += problem.J.block(i)(3, static_cast<int>(c)) * direction(problem.J.cols(i)[c]);
    EXPECT_NEAR(spin, contact.n_W.dot(rate(contact.body_a) - rate(contact.body_b)), 1e-5);
  }
  Vector3d t1 = Vector3d::UnitX(), t2 = Vector3d::UnitY();
  EXPECT_FALSE(patch_tangents(Vector3d::UnitZ(), Vector3d(0, 0, 2), t1, t2));
  EXPECT_EQ(t1, Vector3d::UnitX());
}

TEST(Assemble, LeavesOutFrozenObjectsAndPairsThatCannotMove) {
  scene::SceneSpec spec = mixed_world();
  spec.objects.push_back({.name = "ball", .frozen = true});
  spec.objects.push_back({.name = "cart", .frozen = true});
  const scene::Scene scene = test::build(spec);
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(10.0, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, {}, problem);
  ASSERT_EQ(problem.contacts.size(), 2u) << "ball against cart cannot move";
  for (int i = 0; i < 2; ++i) {
    for (int c : problem.J.cols(i)) EXPECT_TRUE(c >= 6 && c < 9) << c;
  }
}

TEST(Assemble, LeavesOutAContactThatJointsHoldOpen) {
  // A puck that slides in the plane z = 0 on a floor that it touches, beside a wall.
  const auto puck = test::body("puck", multibody::JointKind::kAxes,
                               {test::slide("x", Vector3d::UnitX()), test::slide("y", Vector3d::UnitY())},
                               multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 1, 0.5);
  const scene::Scene scene = test::build(
      test::scene_spec({puck, test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), -0.1}, 0.5),
                        test::fixed_body("wall", multibody::HalfSpaceSpec{Vector3d::UnitX(), -0.2}, 0.5)}));
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(0.15, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, {}, problem);
  ASSERT_EQ(state.contacts.size(), 8u) << "four corners on the floor, four against the wall";
  ASSERT_EQ(problem.contacts.size(), 4u);
  EXPECT_EQ(problem.J.size(), 4);
  for (const Contact& contact : problem.contacts) EXPECT_NEAR(std::abs(contact.n_W.x()), 1, 1e-15);
}

/// A box on a floor, at a height and turned about y.
scene::Scene box_on_floor(double height, double tilt) {
  return test::build(
      test::scene_spec({test::free_body("box", multibody::BoxSpec{{0.4, 0.2, 0.1}}, 1, 0.1, 0.5,
                                        test::at(0.3, 0.1, height) * Eigen::AngleAxisd(tilt, Vector3d::UnitY())),
                        test::fixed_body("floor", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5)}));
}

ContactProblem problem_of(const scene::Scene& scene, const AssembleOptions& options) {
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(0.1, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, options, problem);
  return problem;
}

TEST(Assemble, FrictionOfAFaceActsAtAShareOfItsArm) {
  const double s = 0.54;
  const scene::Scene scene = box_on_floor(0.05, 0);
  const ContactProblem at_corners = problem_of(scene, {}), inside = problem_of(scene, {.friction_arm = s});
  ASSERT_EQ(inside.contacts.size(), 4u);
  const Vector3d middle(0.3, 0.1, 0);
  for (int i = 0; i < 4; ++i) {
    const Contact& contact = inside.contacts[i];
    EXPECT_EQ(contact.p_WA, at_corners.contacts[i].p_WA);
    EXPECT_NEAR((contact.friction_WA - (middle + s * (contact.p_WA - middle))).norm(), 0, 1e-15);
    EXPECT_EQ(inside.J.block(i).row(0), at_corners.J.block(i).row(0)) << "support stays at the corners";
    // Velocities [ω, v]: a turn about the normal moves the point by s times as much, a shift by the same.
    for (int row = 1; row < 3; ++row) {
      EXPECT_NEAR(inside.J.block(i)(row, 2) - at_corners.J.block(i)(row, 2),
                  (s - 1) * contact.n_W.cross(contact.p_WA - middle).dot(row == 1 ? contact.t1_W : contact.t2_W),
                  1e-15);
      EXPECT_EQ(inside.J.block(i).row(row).tail<3>(), at_corners.J.block(i).row(row).tail<3>());
    }
  }
}

TEST(Assemble, PointsThatGapeDoNotShareAFace) {
  // On its edge: the two points there have their middle between them, the others stay where they are.
  const scene::Scene scene = box_on_floor(0.2 * std::sin(0.3) + 0.05 * std::cos(0.3), 0.3);
  int on_edge = 0;
  for (const Contact& contact : problem_of(scene, {.friction_arm = 0.5}).contacts) {
    const Vector3d moved = contact.friction_WA - contact.p_WA;
    if (contact.gap > 1e-9) {
      EXPECT_EQ(moved, Vector3d(0, 0, 0));
      continue;
    }
    ++on_edge;
    EXPECT_NEAR((moved - Vector3d(0, 0.5 * (0.1 - contact.p_WA.y()), 0)).norm(), 0, 1e-12);
  }
  EXPECT_EQ(on_edge, 2);
}

TEST(Assemble, MidpointForcesActAtOnePoint) {
  const scene::Scene scene = test::build(mixed_world());
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(10.0, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, {.midpoint_forces = true}, problem);
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    EXPECT_EQ(problem.contacts[i].p_WA, problem.contacts[i].p_WB);
    EXPECT_NEAR((problem.contacts[i].p_WA - 0.5 * (state.contacts[i].p_WA + state.contacts[i].p_WB)).norm(), 0, 1e-15);
  }
}

}  // namespace assemble_test
}  // namespace deft::contact
