// Derivatives of columns, inertia and gravity against sixth-order differences, over every kind of joint.

#include <gtest/gtest.h>

#include "spec_builder.hpp"
#include "support/differences.hpp"

namespace deft::multibody {
namespace model_derivatives_test {

constexpr double kStep = 2e-3;        // truncation (2e-3)⁶/140 and rounding 1e-16/2e-3 are both below 1e-12
constexpr double kTolerance = 1e-11;  // relative to the largest entry

/// A free ball, a hand (two fingers, a ball joint) on a free palm, and another on an arm of a slide and a hinge.
MultibodySpec mixed_world() {
  ModelSpec arm{.name = "arm", .links = {heavy_link("base"), heavy_link("slider"), heavy_link("upper")}};
  arm.joints = {one_axis("elbow", "slider", "upper", true, {0, 1, 0}),
                one_axis("rail", "base", "slider", false, {1, 1, 0})};
  arm.joints[0].X_PJ = pose({0.2, 0, 0.1}, {0, 0, 0.4});
  MultibodySpec spec;
  spec.models = {ball_model("ball"), hand_model("hand"), arm, hand_model("tool")};
  spec.welds = {{.parent = "arm::upper", .child = "tool::palm", .X_PC = pose({0.1, 0.6, 0}, {0, 0, 0.07})},
                {.parent = "world", .child = "arm::base", .X_PC = pose({0, 0, 0.8}, {1, 0, 0})}};
  return spec;
}

/// Column i: the derivative of evaluate(kinematics at q ⊕ ε e_i).
template <typename Evaluate>
MatrixXd differences(const Model& model, const VectorXd& q, const Evaluate& evaluate) {
  Kinematics kinematics = model.make_kinematics();
  MatrixXd result;
  for (int i = 0; i < model.nv(); ++i) {
    const VectorXd column = test::difference(
        [&](double step) -> VectorXd {
          VectorXd moved;
          model.integrate(q, step * VectorXd::Unit(model.nv(), i), moved);
          model.update(moved, kinematics);
          return evaluate(kinematics);
        },
        kStep);
    result.conservativeResize(column.size(), model.nv());
    result.col(i) = column;
  }
  return result;
}

TEST(ModelDerivatives, AColumnTurnsWithItsMoversAndWithNothingElse) {
  const Model model = build(mixed_world());
  const VectorXd q = random_configuration(model, 5);
  const MatrixXd expected =
      differences(model, q, [&](Kinematics& k) -> VectorXd { return model.spatial_columns(k).reshaped(); });
  Kinematics k = model.make_kinematics();
  model.update(q, k);
  const auto& S = model.spatial_columns(k);
  MatrixXd computed = MatrixXd::Zero(6 * model.nv(), model.nv());
  for (int c = 0; c < model.nv(); ++c) {
    for (const int i : model.movers(c)) {
      const Vector3d w = S.col(i).head<3>(), v = S.col(i).tail<3>();
      computed.col(i).segment<3>(6 * c) = w.cross(S.col(c).head<3>());
      computed.col(i).segment<3>(6 * c + 3) = w.cross(S.col(c).tail<3>()) + v.cross(S.col(c).head<3>());
    }
  }
  EXPECT_LT(test::relative_error(computed, expected), kTolerance);
}

TEST(ModelDerivatives, InertiaTimesAVectorFollowsDifferences) {
  const Model model = build(mixed_world());
  for (unsigned seed : {1u, 2u, 3u}) {
    const VectorXd q = random_configuration(model, seed), y = random_vector(model.nv(), 1.0, seed + 10);
    const MatrixXd expected = differences(model, q, [&](Kinematics& k) -> VectorXd {
      MatrixXd M;
      model.mass_matrix(k, M);
      return M * y;
    });
    Kinematics k = model.make_kinematics();
    model.update(q, k);
    MatrixXd computed;
    model.inertia_derivative(k, y, computed);
    EXPECT_LT(test::relative_error(computed, expected), kTolerance) << seed;
  }
}

TEST(ModelDerivatives, GravityFollowsDifferences) {
  const Model model = build(mixed_world());
  const Vector3d gravity(1, -2, -9);
  for (unsigned seed : {1u, 2u, 3u}) {
    const VectorXd q = random_configuration(model, seed);
    const MatrixXd expected = differences(model, q, [&](Kinematics& k) -> VectorXd {
      VectorXd tau;
      model.gravity_force(k, gravity, tau);
      return tau;
    });
    Kinematics k = model.make_kinematics();
    model.update(q, k);
    MatrixXd computed;
    model.gravity_derivative(k, gravity, computed);
    EXPECT_LT(test::relative_error(computed, expected), kTolerance) << seed;
  }
}

TEST(ModelDerivatives, VelocityDependentForcesFollowDifferences) {
  const Model model = build(mixed_world());
  for (unsigned seed : {1u, 2u, 3u}) {
    const VectorXd q = random_configuration(model, seed), v = random_vector(model.nv(), 1.5, seed + 20);
    const MatrixXd expected_q = differences(model, q, [&](Kinematics& k) -> VectorXd {
      VectorXd bias;
      model.bias_force(k, v, bias);
      return bias;
    });
    Kinematics k = model.make_kinematics();
    model.update(q, k);
    MatrixXd by_q, by_v;
    model.bias_derivative(k, v, by_q, by_v);
    EXPECT_LT(test::relative_error(by_q, expected_q), kTolerance) << seed;
    for (int i = 0; i < model.nv(); ++i) {
      const VectorXd column = test::difference(
          [&](double step) -> VectorXd {
            VectorXd bias;
            model.bias_force(k, v + step * VectorXd::Unit(model.nv(), i), bias);
            return bias;
          },
          0.1);  // quadratic in v: exact
      EXPECT_LT((by_v.col(i) - column).cwiseAbs().maxCoeff(), kTolerance * by_v.cwiseAbs().maxCoeff())
          << seed << " " << i;
    }
  }
}

}  // namespace model_derivatives_test
}  // namespace deft::multibody
