#include "deft/multibody/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "deft/math/block_parts.hpp"
#include "spec_builder.hpp"
#include "support/allocation_counter.hpp"

namespace deft::multibody {
namespace model_test {

/// Central differences of poses that are exact to 1e-16: h² truncation and 1e-16/h rounding balance here.
constexpr double kStep = 1e-5;
constexpr double kDifferenceTolerance = 1e-9;

/// Ball first, then the hand with a free palm, then an arm on the world that carries a second, welded hand.
MultibodySpec mixed_world() {
  MultibodySpec spec;
  ModelSpec arm{.name = "arm",
                .links = {heavy_link("base"), heavy_link("slider"), heavy_link("upper"), heavy_link("flange")}};
  arm.joints = {one_axis("elbow", "slider", "upper", true, {0, 1, 0}),
                one_axis("rail", "base", "slider", false, {1, 1, 0}), fixed_joint("flange_joint", "upper", "flange")};
  arm.joints[0].X_PJ = pose({0.2, 0, 0.1}, {0, 0, 0.4});
  arm.joints[2].X_PJ = pose({0, 0.5, 0.1}, {0, 0.1, 0.3});
  spec.models = {ball_model("ball"), hand_model("hand"), arm, hand_model("tool")};
  spec.welds = {{.parent = "arm::flange", .child = "tool::palm", .X_PC = pose({0.1, 0.6, 0}, {0, 0, 0.07})},
                {.parent = "world", .child = "arm::base", .X_PC = pose({0, 0, 0.8}, {1, 0, 0})}};
  return spec;
}

TEST(Model, OrdersCoordinatesByDeclarationAndFile) {
  const Model model = build(mixed_world());
  std::vector<std::string> q, v;
  for (const CoordinateInfo& c : model.coordinates()) q.push_back(c.name);
  for (const VelocityInfo& c : model.velocities()) v.push_back(c.name);
  EXPECT_EQ(q, (std::vector<std::string>{"ball/qw",      "ball/qx",  "ball/qy",      "ball/qz",      "ball/x",
                                         "ball/y",       "ball/z",   "hand/qw",      "hand/qx",      "hand/qy",
                                         "hand/qz",      "hand/x",   "hand/y",       "hand/z",       "hand/a_2",
                                         "hand/b_2",     "hand/a_1", "hand/neck/qw", "hand/neck/qx", "hand/neck/qy",
                                         "hand/neck/qz", "hand/b_1", "arm/elbow",    "arm/rail",     "tool/a_2",
                                         "tool/b_2",     "tool/a_1", "tool/neck/qw", "tool/neck/qx", "tool/neck/qy",
                                         "tool/neck/qz", "tool/b_1"}));
  EXPECT_EQ(
      v, (std::vector<std::string>{
             "ball/wx",  "ball/wy",      "ball/wz",      "ball/vx",      "ball/vy",      "ball/vz",      "hand/wx",
             "hand/wy",  "hand/wz",      "hand/vx",      "hand/vy",      "hand/vz",      "hand/a_2",     "hand/b_2",
             "hand/a_1", "hand/neck/wx", "hand/neck/wy", "hand/neck/wz", "hand/b_1",     "arm/elbow",    "arm/rail",
             "tool/a_2", "tool/b_2",     "tool/a_1",     "tool/neck/wx", "tool/neck/wy", "tool/neck/wz", "tool/b_1"}));
  const ModelInfo& hand = model.models()[1];
  EXPECT_EQ(hand.first_q, 7);
  EXPECT_EQ(hand.nq, 15);
  EXPECT_EQ(hand.first_v, 6);
  EXPECT_EQ(hand.nv, 13);
  EXPECT_TRUE(hand.floating_base());
  EXPECT_EQ(hand.joint_names, (std::vector<std::string>{"a_2", "b_2", "a_1", "neck", "b_1"}));
  EXPECT_FALSE(model.models()[3].floating_base());
  EXPECT_EQ(model.velocities()[3].q_index, 4);
  EXPECT_EQ(model.velocities()[0].q_index, -1);
  EXPECT_EQ(model.coordinates()[0].unit, "1");
  EXPECT_EQ(model.velocities()[0].unit, "rad");
  EXPECT_EQ(model.velocities()[18].unit, "m");  // hand/b_1 slides
}

TEST(Model, ListsBodiesGroupsAndParents) {
  const Model model = build(mixed_world());
  EXPECT_EQ(model.bodies()[0].name, "world");
  EXPECT_EQ(model.bodies()[1].name, "ball");
  EXPECT_EQ(model.bodies()[2].name, "hand/palm");
  EXPECT_EQ(model.find_body("hand::a2"), model.find_body("hand/a2"));
  EXPECT_EQ(model.find_body("ball"), 1);
  EXPECT_EQ(model.find_body("world"), 0);
  EXPECT_EQ(model.find_body("hand"), -1);
  EXPECT_EQ(model.find_body("hand::elbow"), -1);
  const auto group = [&](const char* name) { return model.bodies()[model.find_body(name)].weld_group; };
  EXPECT_EQ(group("arm/base"), 0);
  EXPECT_EQ(group("hand/a2"), group("hand/pad"));
  EXPECT_NE(group("hand/a1"), group("hand/a2"));
  EXPECT_EQ(group("arm/flange"), group("tool/palm"));
  const auto parent = [&](const char* name) { return model.bodies()[model.find_body(name)].parent; };
  EXPECT_EQ(parent("ball"), -1);
  EXPECT_EQ(parent("hand/palm"), -1);
  EXPECT_EQ(parent("hand/pad"), model.find_body("hand/a2"));
  EXPECT_EQ(parent("tool/palm"), model.find_body("arm/flange"));
  EXPECT_EQ(parent("arm/base"), 0);
  EXPECT_NEAR(model.models()[1].mass, 6 * 0.7 + 0.2, 1e-12);
}

TEST(Model, PutsBodiesWhereTheChainOfPosesPutsThem) {
  const MultibodySpec spec = mixed_world();
  const Model model = build(spec);
  const VectorXd q = random_configuration(model, 3);
  Kinematics k = model.make_kinematics();
  model.update(q, k);
  const auto X = [&](const char* name) { return k.X_WB[model.find_body(name)]; };
  const auto turn = [](const Vector3d& w) { return make_transform(exp_so3(w), Vector3d::Zero()); };
  const auto joint = [&](const char* name) {
    for (const JointSpec& j : spec.models[1].joints)
      if (j.name == name) return j;
    throw std::logic_error(name);
  };

  EXPECT_TRUE(X("ball").isApprox(make_transform(rotation_from_quat_wxyz(q.segment<4>(0)), q.segment<3>(4)), 1e-14));
  const RigidTransform a1 = X("hand/palm") * joint("a_1").X_PJ * turn({0, 0, q[16]});
  EXPECT_TRUE(X("hand/a1").isApprox(a1, 1e-13));
  const RigidTransform a2 = a1 * joint("a_2").X_PJ * turn(q[14] * Vector3d(0.3, 0.9, -0.2).normalized());
  EXPECT_TRUE(X("hand/a2").isApprox(a2, 1e-13));
  EXPECT_TRUE(X("hand/pad").isApprox(a2 * joint("pad_joint").X_PJ, 1e-13));
  const RigidTransform b1 = X("hand/palm") * joint("b_1").X_PJ * make_transform(Matrix3d::Identity(), {0, q[21], 0});
  EXPECT_TRUE(X("hand/b1").isApprox(b1, 1e-13));
  EXPECT_TRUE(X("hand/b2").isApprox(b1 * joint("b_2").X_PJ * turn({q[15], 0, 0}) * joint("b_2").X_CJ.inverse(), 1e-13));
  const RigidTransform ball_joint = make_transform(rotation_from_quat_wxyz(q.segment<4>(17)), Vector3d::Zero());
  EXPECT_TRUE(X("hand/head").isApprox(b1 * joint("neck").X_PJ * ball_joint * joint("neck").X_CJ.inverse(), 1e-13));
  EXPECT_TRUE(X("arm/base").isApprox(spec.welds[1].X_PC, 1e-14));
  EXPECT_TRUE(X("tool/palm").isApprox(X("arm/flange") * spec.welds[0].X_PC, 1e-13));
}

TEST(Model, DoesNotDependOnTheOrderOfJointsInTheFile) {
  const Model mixed = build({.models = {ball_model("ball"), hand_model("hand", true)}});
  const Model sorted = build({.models = {ball_model("ball"), hand_model("hand", false)}});
  const VectorXd q_mixed = random_configuration(mixed, 4);
  VectorXd q_sorted(sorted.nq());
  Eigen::MatrixXi P = Eigen::MatrixXi::Zero(sorted.nv(), mixed.nv());
  for (int i = 0; i < mixed.nq(); ++i)
    for (int j = 0; j < sorted.nq(); ++j)
      if (mixed.coordinates()[i].name == sorted.coordinates()[j].name) q_sorted[j] = q_mixed[i];
  for (int i = 0; i < mixed.nv(); ++i)
    for (int j = 0; j < sorted.nv(); ++j) P(j, i) = mixed.velocities()[i].name == sorted.velocities()[j].name;
  Kinematics k_mixed = mixed.make_kinematics(), k_sorted = sorted.make_kinematics();
  mixed.update(q_mixed, k_mixed);
  sorted.update(q_sorted, k_sorted);
  for (const BodyInfo& body : mixed.bodies())
    EXPECT_TRUE(k_mixed.X_WB[mixed.find_body(body.name)].isApprox(k_sorted.X_WB[sorted.find_body(body.name)], 1e-13))
        << body.name;
  MatrixXd M_mixed, M_sorted;
  mixed.mass_matrix(k_mixed, M_mixed);
  sorted.mass_matrix(k_sorted, M_sorted);
  const MatrixXd to_sorted = P.cast<double>();
  EXPECT_LT((to_sorted * M_mixed * to_sorted.transpose() - M_sorted).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_GT((M_mixed - M_sorted).cwiseAbs().maxCoeff(), 1e-3);  // the orders do differ
}

TEST(Model, PointJacobiansEqualDifferencesOfPoses) {
  const Model model = build(mixed_world());
  const VectorXd q = random_configuration(model, 5);
  Kinematics k = model.make_kinematics(), plus = model.make_kinematics(), minus = model.make_kinematics();
  model.update(q, k);
  for (int body = 0; body < static_cast<int>(model.bodies().size()); ++body) {
    const Vector3d p_W(0.3, -0.2, 0.6);
    const Vector3d p_B = k.X_WB[body].inverse() * p_W;
    MatrixXd expected(6, model.nv());
    for (int v = 0; v < model.nv(); ++v) {
      VectorXd q_plus, q_minus;
      model.integrate(q, kStep * VectorXd::Unit(model.nv(), v), q_plus);
      model.integrate(q, -kStep * VectorXd::Unit(model.nv(), v), q_minus);
      model.update(q_plus, plus);
      model.update(q_minus, minus);
      const RigidTransform &X_plus = plus.X_WB[body], &X_minus = minus.X_WB[body];
      expected.col(v) << log_so3(X_plus.linear() * X_minus.linear().transpose()), X_plus * p_B - X_minus * p_B;
    }
    expected /= 2 * kStep;
    EXPECT_LT((dense_jacobian(model, k, body, p_W) - expected).cwiseAbs().maxCoeff(), kDifferenceTolerance)
        << model.bodies()[body].name;
  }
  EXPECT_TRUE(model.columns(0).empty());
  EXPECT_EQ(model.columns(1).size(), 6u);
  const auto head = model.columns(model.find_body("hand/head"));
  EXPECT_EQ(std::vector<int>(head.begin(), head.end()), (std::vector<int>{6, 7, 8, 9, 10, 11, 15, 16, 17, 18}));
}

/// Σ over bodies of the kinetic energy of each, from Jacobians that the test above compares with finite differences.
MatrixXd summed_mass_matrix(const MultibodySpec& spec, const Model& model, const Kinematics& k) {
  MatrixXd M = MatrixXd::Zero(model.nv(), model.nv());
  int body = 0;
  for (const ModelSpec& m : spec.models)
    for (const LinkSpec& link : m.links) {
      ++body;
      if (!link.inertial) continue;
      const Matrix3d R = k.X_WB[body].linear();
      const MatrixXd J = dense_jacobian(model, k, body, k.X_WB[body] * link.inertial->p_LCom);
      M += J.topRows<3>().transpose() * R * link.inertial->I_Com_L * R.transpose() * J.topRows<3>();
      M += link.inertial->mass * J.bottomRows<3>().transpose() * J.bottomRows<3>();
    }
  return M;
}

TEST(Model, MassMatrixIsTheKineticEnergyOfTheBodies) {
  const MultibodySpec spec = mixed_world();
  const Model model = build(spec);
  Kinematics k = model.make_kinematics();
  MatrixXd M;
  for (unsigned seed = 0; seed < 5; ++seed) {
    model.update(random_configuration(model, seed), k);
    model.mass_matrix(k, M);
    EXPECT_LT((M - summed_mass_matrix(spec, model, k)).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_EQ(M, M.transpose());
  }
}

TEST(Model, MassMatrixByTreesIsTheWholeOne) {
  const Model model = build(mixed_world());
  Kinematics k = model.make_kinematics();
  MatrixXd M;
  BlockDiagonal blocks;
  model.update(random_configuration(model, 3), k);
  model.mass_matrix(k, M);
  model.mass_matrix(k, blocks);
  ASSERT_GT(blocks.num_blocks(), 1);
  ASSERT_EQ(blocks.num_blocks(), static_cast<int>(model.inertia_ranges().size()));
  MatrixXd whole = MatrixXd::Zero(model.nv(), model.nv());
  add_part(blocks, 0, model.nv(), 1.0, whole);
  EXPECT_EQ(M, whole);
  VectorXd v = VectorXd::LinSpaced(model.nv(), -1, 2);
  EXPECT_NEAR(quadratic_form(blocks, v), v.dot(M * v), 1e-12);
  // A range across blocks: what lies inside of it.
  const int first = blocks.start(0) + blocks.size(0) - 1;
  MatrixXd part = MatrixXd::Zero(2, 2);
  add_part(blocks, first, 2, 0.5, part);
  EXPECT_EQ(part, 0.5 * M.block(first, first, 2, 2));
}

TEST(Model, MassMatrixLeavesPosesAndJacobiansAlone) {
  const Model model = build(mixed_world());
  Kinematics k = model.make_kinematics();
  model.update(random_configuration(model, 8), k);
  const int tip = model.find_body("tool/head");
  const MatrixXd before = dense_jacobian(model, k, tip, {0.1, 0.2, 0.3});
  MatrixXd M, M_again;
  VectorXd tau;
  model.mass_matrix(k, M);
  model.gravity_force(k, {0, 0, -9.81}, tau);
  model.mass_matrix(k, M_again);
  EXPECT_EQ(before, dense_jacobian(model, k, tip, {0.1, 0.2, 0.3}));
  EXPECT_EQ(M, M_again);
}

TEST(Model, GravityForceIsTheSlopeOfThePotential) {
  const MultibodySpec spec = mixed_world();
  const Model model = build(spec);
  const Vector3d gravity(0.4, -1.3, -9.0);
  const VectorXd q = random_configuration(model, 6);
  Kinematics k = model.make_kinematics();
  const auto potential = [&](const VectorXd& at) {
    Kinematics moved = model.make_kinematics();
    model.update(at, moved);
    double V = 0;
    int body = 0;
    for (const ModelSpec& m : spec.models)
      for (const LinkSpec& link : m.links) {
        ++body;
        V -= link.inertial->mass * gravity.dot(moved.X_WB[body] * link.inertial->p_LCom);
      }
    return V;
  };
  model.update(q, k);
  VectorXd tau;
  model.gravity_force(k, gravity, tau);
  for (int v = 0; v < model.nv(); ++v) {
    VectorXd q_plus, q_minus;
    model.integrate(q, kStep * VectorXd::Unit(model.nv(), v), q_plus);
    model.integrate(q, -kStep * VectorXd::Unit(model.nv(), v), q_minus);
    // The potential is of the order of 100 J, so its difference carries 1e-14 / 1e-5 of rounding.
    EXPECT_NEAR(tau[v], -(potential(q_plus) - potential(q_minus)) / (2 * kStep), 1e-8) << model.velocities()[v].name;
  }
}

TEST(Model, WeightHasNoTorqueAboutTheCentreOfMassWhereverTheBodyIs) {
  // Exactly none: a quasistatic step has nothing that could balance a torque of rounding.
  ModelSpec disc{.name = "disc", .links = {bare_link("disc")}};
  disc.links[0].inertial = InertialSpec{1.7, Vector3d::Zero(), Matrix3d::Identity()};
  JointSpec joint{.name = "planar", .kind = JointKind::kAxes, .parent = "world", .child = "disc"};
  joint.axes = {{.coordinate = "x", .rotational = false, .axis_J = {1, 0, 0}},
                {.coordinate = "z", .rotational = false, .axis_J = {0, 0, 1}},
                {.coordinate = "theta", .rotational = true, .axis_J = {0, 1, 0}}};
  joint.X_PJ = pose({0.3, -0.2, 0.7}, {0.1, 0.2, 0.3});
  disc.joints = {joint};
  ModelSpec ball{.name = "ball", .links = {bare_link("ball")}, .inline_body = true};
  ball.links[0].inertial = disc.links[0].inertial;
  const Model model = build({.models = {disc, ball}});
  Kinematics k = model.make_kinematics();
  VectorXd tau;
  for (unsigned seed = 0; seed < 50; ++seed) {
    VectorXd q = random_configuration(model, seed);
    q.head(3) *= 7;
    model.update(q, k);
    model.gravity_force(k, {0.3, -2.1, -9.3}, tau);
    EXPECT_EQ(tau[2], 0) << seed;
    EXPECT_EQ(tau.segment<3>(3), Vector3d::Zero()) << seed;
  }
}

TEST(Model, DoublePendulumMatchesItsClosedForm) {
  // Two rods along −z, hinged about y: point masses m1, m2 at their ends, lengths l1, l2.
  const double m1 = 1.3, m2 = 0.7, l1 = 0.8, l2 = 0.5, g = 9.81;
  ModelSpec pendulum{.name = "p", .links = {bare_link("rod1"), bare_link("rod2")}};
  pendulum.links[0].inertial = InertialSpec{m1, {0, 0, -l1}, Matrix3d::Zero()};
  pendulum.links[1].inertial = InertialSpec{m2, {0, 0, -l2}, Matrix3d::Zero()};
  pendulum.joints = {one_axis("second", "rod1", "rod2", true, {0, 1, 0}),
                     one_axis("first", "world", "rod1", true, {0, 1, 0})};
  pendulum.joints[0].X_PJ.translation() = Vector3d(0, 0, -l1);
  const Model model = build({.models = {pendulum}});
  const double a = 0.4, b = -1.1;  // angles of the first rod, and of the second against the first
  Kinematics k = model.make_kinematics();
  model.update(Eigen::Vector2d(b, a), k);
  MatrixXd M;
  VectorXd tau;
  model.mass_matrix(k, M);
  model.gravity_force(k, {0, 0, -g}, tau);
  const double coupling = m2 * (l2 * l2 + l1 * l2 * std::cos(b));
  EXPECT_NEAR(M(1, 1), m1 * l1 * l1 + m2 * (l1 * l1 + l2 * l2 + 2 * l1 * l2 * std::cos(b)), 1e-14);
  EXPECT_NEAR(M(0, 1), coupling, 1e-14);
  EXPECT_NEAR(M(0, 0), m2 * l2 * l2, 1e-14);
  EXPECT_NEAR(tau[0], -m2 * g * l2 * std::sin(a + b), 1e-13);
  EXPECT_NEAR(tau[1], -(m1 + m2) * g * l1 * std::sin(a) - m2 * g * l2 * std::sin(a + b), 1e-13);
}

TEST(Model, FreeBodyWithOffsetCentreOfMassMatchesItsClosedForm) {
  const MultibodySpec spec{.models = {ball_model("ball")}};
  const Model model = build(spec);
  const InertialSpec& inertial = *spec.models[0].links[0].inertial;
  Kinematics k = model.make_kinematics();
  model.update(random_configuration(model, 7), k);
  MatrixXd M;
  model.mass_matrix(k, M);
  const Matrix3d R = k.X_WB[1].linear(), C = skew(R * inertial.p_LCom);
  Eigen::Matrix<double, 6, 6> expected;  // [ω_W, v_W] of the origin: the centre of mass moves with v − C ω
  expected << R * inertial.I_Com_L * R.transpose() - inertial.mass * C * C, inertial.mass * C,  //
      -inertial.mass * C, inertial.mass * Matrix3d::Identity();
  EXPECT_LT((M - expected).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Model, IntegratesPositionAndRotationSeparately) {
  const Model model = build({.models = {ball_model("ball")}});
  VectorXd q(7), delta(6), q_next;
  q << 0.5, -0.1, 0.7, 0.5, 1, 2, 3;  // not normalised on purpose
  delta << 0.3, -0.8, 0.2, 0.01, 0.02, 0.03;
  model.integrate(q, delta, q_next);
  EXPECT_TRUE(q_next.tail<3>().isApprox(Vector3d(1.01, 2.02, 3.03), 1e-15));
  EXPECT_TRUE(rotation_from_quat_wxyz(q_next.head<4>())
                  .isApprox(exp_so3(delta.head<3>()) * rotation_from_quat_wxyz(q.head<4>()), 1e-14));
  EXPECT_NEAR(q_next.head<4>().norm(), 1, 1e-15);
  model.integrate(q, delta, q);  // in place
  EXPECT_EQ(q, q_next);
}

TEST(Model, DifferenceUndoesIntegrate) {
  const Model model = build(mixed_world());
  const VectorXd q = random_configuration(model, 9);
  for (const double scale : {1e-9, 1e-3, 1.0, 1.7}) {
    const VectorXd delta = random_vector(model.nv(), scale, 10);
    VectorXd q_next;
    model.integrate(q, delta, q_next);
    EXPECT_LT((model.difference(q, q_next) - delta).cwiseAbs().maxCoeff(), 1e-13) << scale;
  }
}

TEST(Model, NormalisesQuaternionsAndRefusesThoseWithoutDirection) {
  const Model model = build({.models = {ball_model("ball")}});
  Kinematics k = model.make_kinematics(), scaled = model.make_kinematics();
  VectorXd q = random_configuration(model, 2);
  model.update(q, k);
  q.head<4>() *= 3.5;
  model.update(q, scaled);
  EXPECT_TRUE(k.X_WB[1].isApprox(scaled.X_WB[1], 1e-15));
  q.head<4>().setZero();
  EXPECT_THROW(model.update(q, k), std::invalid_argument);
  q[0] = std::nan("");
  EXPECT_THROW(model.update(q, k), std::invalid_argument);
}

TEST(Model, RefusesVectorsOfTheWrongSize) {
  const Model model = build(mixed_world());
  Kinematics k = model.make_kinematics();
  VectorXd out;
  EXPECT_THROW(model.update(VectorXd::Zero(3), k), std::invalid_argument);
  Kinematics empty, other = build({.models = {ball_model("ball")}}).make_kinematics();
  EXPECT_THROW(model.update(model.default_configuration(), empty), std::invalid_argument);
  EXPECT_THROW(model.update(model.default_configuration(), other), std::invalid_argument);
  EXPECT_THROW(model.integrate(model.default_configuration(), VectorXd::Zero(model.nq()), out), std::invalid_argument);
  EXPECT_THROW(model.difference(VectorXd::Zero(3), model.default_configuration()), std::invalid_argument);
}

TEST(Model, HotPathDoesNotAllocate) {
  const Model model = build(mixed_world());
  const VectorXd q = random_configuration(model, 1), delta = random_vector(model.nv(), 0.1, 1);
  Kinematics k = model.make_kinematics();
  VectorXd q_next(model.nq()), tau(model.nv());
  MatrixXd M(model.nv(), model.nv());
  std::vector<double> J(6 * model.nv());
  const auto everything = [&] {
    model.integrate(q, delta, q_next);
    model.update(q_next, k);
    for (int body = 0; body < static_cast<int>(model.bodies().size()); ++body)
      model.point_jacobian(k, body, {0.1, 0.2, 0.3}, J.data(), model.nv());
    model.mass_matrix(k, M);
    model.gravity_force(k, {0, 0, -9.81}, tau);
  };
  everything();
  if (kCountsAllocations) {
    EXPECT_GT(testing_support::allocations_during([&] { VectorXd::Ones(100).eval(); }), 0);  // the counter counts
    EXPECT_EQ(testing_support::allocations_during(everything), 0);
  }
  EXPECT_TRUE(M.allFinite() && tau.allFinite());
}

TEST(Model, StaticModelsStandStill) {
  ModelSpec table{.name = "table", .links = {bare_link("top"), bare_link("leg")}, .is_static = true};
  table.X_WModel = pose({0, 0, 0.3}, {1, 2, 0});
  table.links[0].X_ML = pose({0, 0, 0}, {0, 0, 0.8});
  table.links[1].X_ML = pose({0.1, 0, 0}, {0.4, 0, 0.4});
  const Model model = build({.models = {table}});
  EXPECT_EQ(model.nv(), 0);
  Kinematics k = model.make_kinematics();
  model.update(VectorXd(0), k);
  for (int i : {0, 1}) {
    EXPECT_TRUE(k.X_WB[i + 1].isApprox(table.X_WModel * table.links[i].X_ML, 1e-15));
    EXPECT_EQ(model.bodies()[i + 1].weld_group, 0);
  }
}

TEST(Model, PlacesJointsToTheWorldInTheModelFrame) {
  ModelSpec ghost{.name = "box", .links = {bare_link("ghost"), heavy_link("body")}};
  ghost.joints = {one_axis("y_slider", "world", "ghost", false, {0, 1, 0}),
                  one_axis("rotation", "ghost", "body", true, {1, 0, 0})};
  ghost.joints[0].X_PJ.translation() = Vector3d(0, 0, 0.5);
  ghost.X_WModel = pose({0, 0, std::numbers::pi / 2}, {3, 0, 0});
  const Model model = build({.models = {ghost}});
  EXPECT_FALSE(model.models()[0].floating_base());
  Kinematics k = model.make_kinematics();
  model.update(Eigen::Vector2d(0.2, 0), k);
  EXPECT_TRUE(k.X_WB[2].translation().isApprox(Vector3d(2.8, 0, 0.5), 1e-14));  // the model's y is the world's −x
}

TEST(Model, NamesSeveralFreeLinksOfOneModelByLink) {
  ModelSpec pair{.name = "pair", .links = {heavy_link("left"), heavy_link("right")}};
  pair.links[1].X_ML.translation() = Vector3d(0, 1, 0);
  const Model model = build({.models = {pair}});
  EXPECT_EQ(model.coordinates()[0].name, "pair/left/qw");
  EXPECT_EQ(model.coordinates()[13].name, "pair/right/z");
  EXPECT_EQ(model.velocities()[6].name, "pair/right/wx");
  EXPECT_TRUE(model.default_configuration().tail<3>().isApprox(Vector3d(0, 1, 0)));
}

TEST(Model, FindsFramesWhateverTheirOrder) {
  MultibodySpec spec{.models = {ball_model("ball")}};
  spec.models[0].frames = {{.name = "tip", .attached_to = "mid", .X_AF = pose({0, 0, 0}, {0, 0, 1})},
                           {.name = "mid", .attached_to = "ball", .X_AF = pose({0.5, 0, 0}, {0, 1, 0})}};
  spec.frames = {{.name = "target", .attached_to = "table_top"},
                 {.name = "table_top", .attached_to = "world", .X_AF = pose({0, 0, 0}, {0, 0, 0.7})}};
  const Model model = build(spec);
  const auto tip = model.find_frame("ball::tip");
  ASSERT_TRUE(tip);
  EXPECT_EQ(tip->body, 1);
  EXPECT_TRUE(tip->X_BF.isApprox(pose({0.5, 0, 0}, {0, 1, 0}) * pose({0, 0, 0}, {0, 0, 1}), 1e-15));
  EXPECT_EQ(model.find_frame("target")->X_BF.translation().z(), 0.7);
  EXPECT_EQ(model.find_frame("world")->body, 0);
  EXPECT_TRUE(model.find_frame("ball::__model__"));
  EXPECT_FALSE(model.find_frame("ball::nose"));
  EXPECT_EQ(model.find_body("ball::tip"), -1);  // a frame is no body
}

TEST(Model, WeldsAtFramesAndAtLinksFixedToTheBase) {
  ModelSpec tool{.name = "tool", .links = {heavy_link("base"), heavy_link("mount"), heavy_link("jaw")}};
  tool.joints = {fixed_joint("mount_joint", "base", "mount"), one_axis("jaw_joint", "base", "jaw", true, {0, 0, 1})};
  tool.joints[0].X_PJ = pose({0.3, 0.2, 0.1}, {0, 0, -0.1});
  tool.frames = {{.name = "grip", .attached_to = "mount", .X_AF = pose({0, 0.4, 0}, {0.02, 0, 0})}};
  const RigidTransform X_PC = pose({0.5, 0, 0}, {1, 1, 1});
  const Model model = build({.models = {tool}, .welds = {{.parent = "world", .child = "tool::grip", .X_PC = X_PC}}});
  EXPECT_EQ(model.nv(), 1);
  Kinematics k = model.make_kinematics();
  model.update(VectorXd::Zero(1), k);
  EXPECT_TRUE((k.X_WB[2] * tool.frames[0].X_AF).isApprox(X_PC, 1e-14));
  EXPECT_TRUE((k.X_WB[1] * tool.joints[0].X_PJ).isApprox(k.X_WB[2], 1e-14));
}

TEST(Model, LumpsWeldedModelsIntoOneFreeBody) {
  // Plate on tray: the tray is free, both weigh.
  MultibodySpec spec{.models = {ball_model("plate"), ball_model("tray")}};
  spec.welds = {{.parent = "tray", .child = "plate", .X_PC = pose({0.2, 0.1, 0}, {0, 0, 0.05})}};
  const Model model = build(spec);
  ASSERT_EQ(model.nv(), 6);
  EXPECT_EQ(model.coordinates()[0].name, "tray/qw");
  EXPECT_FALSE(model.models()[0].floating_base());
  Kinematics k = model.make_kinematics();
  model.update(random_configuration(model, 3), k);
  MatrixXd M;
  model.mass_matrix(k, M);
  EXPECT_LT((M - summed_mass_matrix(spec, model, k)).cwiseAbs().maxCoeff(), 1e-13);
}

}  // namespace model_test
}  // namespace deft::multibody
