// Velocity-dependent forces and potential energy against sums over the bodies.

#include <gtest/gtest.h>

#include "deft/multibody/model.hpp"
#include "spec_builder.hpp"

namespace deft::multibody {
namespace model_bias_test {

/// A ball and a hand with a free palm: free, ball, sliding and turning joints.
MultibodySpec world() {
  MultibodySpec spec;
  spec.models = {ball_model("ball"), hand_model("hand")};
  return spec;
}

/// Momentum of every body at q when it moves with v: [I_W ω; m v_c], 6 × bodies.
MatrixXd momenta(const MultibodySpec& spec, const Model& model, const VectorXd& q, const VectorXd& v) {
  Kinematics k = model.make_kinematics();
  model.update(q, k);
  MatrixXd momentum = MatrixXd::Zero(6, static_cast<Eigen::Index>(model.bodies().size()));
  int body = 0;
  for (const ModelSpec& m : spec.models) {
    for (const LinkSpec& link : m.links) {
      ++body;
      const Matrix3d R = k.X_WB[body].linear();
      const VectorXd twist = dense_jacobian(model, k, body, k.X_WB[body] * link.inertial->p_LCom) * v;
      momentum.col(body).head<3>() = R * link.inertial->I_Com_L * R.transpose() * twist.head<3>();
      momentum.col(body).tail<3>() = link.inertial->mass * twist.tail<3>();
    }
  }
  return momentum;
}

TEST(Model, BiasForceIsTheChangeOfMomentumAtConstantVelocity) {
  const MultibodySpec spec = world();
  const Model model = build(spec);
  const VectorXd v = random_vector(model.nv(), 1.0, 3);
  VectorXd q;
  model.integrate(model.default_configuration(), random_vector(model.nv(), 1.0, 4), q);
  Kinematics k = model.make_kinematics();
  model.update(q, k);
  VectorXd bias;
  model.bias_force(k, v, bias);

  // Σ_b J_bᵀ d/dt [I ω; m v_c] along q ⊕ t v, by central differences.
  constexpr double kStep = 1e-5;
  VectorXd ahead, behind;
  model.integrate(q, kStep * v, ahead);
  model.integrate(q, -kStep * v, behind);
  const MatrixXd rate = (momenta(spec, model, ahead, v) - momenta(spec, model, behind, v)) / (2 * kStep);
  VectorXd expected = VectorXd::Zero(model.nv());
  int body = 0;
  for (const ModelSpec& m : spec.models) {
    for (const LinkSpec& link : m.links) {
      ++body;
      expected += dense_jacobian(model, k, body, k.X_WB[body] * link.inertial->p_LCom).transpose() * rate.col(body);
    }
  }
  EXPECT_LT((bias - expected).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_GT(bias.cwiseAbs().minCoeff(), 1e-6) << "every entry is tested";
}

TEST(Model, GravityEnergyHasGravityAsItsSlope) {
  const Model model = build(world());
  const Vector3d gravity(0.4, -1.3, -9.0);
  VectorXd q, tau;
  model.integrate(model.default_configuration(), random_vector(model.nv(), 1.0, 5), q);
  Kinematics k = model.make_kinematics();
  model.update(q, k);
  model.gravity_force(k, gravity, tau);
  const auto energy = [&](const VectorXd& delta, int index) {
    VectorXd moved;
    model.integrate(q, delta, moved);
    model.update(moved, k);
    const ModelInfo& info = model.models()[index];
    return model.gravity_energy(k, gravity, {info.first_v, info.nv});
  };
  for (int index = 0; index < 2; ++index) {
    const ModelInfo& info = model.models()[index];
    for (int v = 0; v < model.nv(); ++v) {
      const VectorXd e = 1e-5 * VectorXd::Unit(model.nv(), v);
      const bool own = v >= info.first_v && v < info.first_v + info.nv;
      EXPECT_NEAR((energy(e, index) - energy(-e, index)) / 2e-5, own ? -tau[v] : 0.0, 1e-8)
          << model.velocities()[v].name;
    }
  }
}

TEST(Model, BiasForceRejectsVelocitiesOfTheWrongSize) {
  const Model model = build(world());
  Kinematics k = model.make_kinematics();
  model.update(model.default_configuration(), k);
  VectorXd bias;
  EXPECT_THROW(model.bias_force(k, VectorXd::Zero(3), bias), std::invalid_argument);
}

}  // namespace model_bias_test
}  // namespace deft::multibody
