#pragma once
// Random small worlds: bodies of every primitive on and above a floor, pushed by a robot, with mixed friction.

#include <Eigen/Geometry>
#include <random>

#include "support/scene_builder.hpp"

namespace deft::test {

class RandomScenes {
 public:
  explicit RandomScenes(std::uint64_t seed) : rng_(seed) {}

  /// A floor, one to four free bodies that touch it or each other or nearly do, and a finger on three slides.
  scene::SceneSpec next() {
    std::vector<ModelSpec> models{
        fixed_body("floor", multibody::HalfSpaceSpec{Eigen::Vector3d::UnitZ(), 0}, uniform(0.2, 1))};
    const int bodies = integer(1, 4);
    for (int k = 0; k < bodies; ++k) models.push_back(body_above(k));
    const Eigen::Vector3d p(uniform(-0.15, -0.1), uniform(-0.03, 0.03), uniform(0.05, 0.1));
    models.push_back(body("finger", JointKind::kAxes,
                          {slide("x", Eigen::Vector3d::UnitX()), slide("y", Eigen::Vector3d::UnitY()),
                           slide("z", Eigen::Vector3d::UnitZ())},
                          multibody::SphereSpec{0.03}, 0.2, 1e-4, uniform(0.2, 1), at(p.x(), p.y(), p.z())));
    scene::SceneSpec spec = scene_spec(std::move(models), {{"finger", log_uniform(50, 5000)}});
    spec.gravity_W = {normal(), normal(), -9.81};
    spec.step.h = log_uniform(0.005, 0.1);
    spec.step.contact_margin = 0.05;
    spec.step.cone = chance(0.5) ? scene::Cone::kCone : scene::Cone::kPyramid;
    spec.step.rays = chance(0.5) ? 4 : 8;
    spec.step.joint_damping.all = chance(0.5) ? 0.0 : uniform(0, 20);
    spec.step.effort_limits = chance(0.3);
    spec.robots[0].effort_limit.all = log_uniform(0.5, 50);
    if (chance(0.3))
      spec.friction.pairs.push_back({.between = {"body0", "floor"},
                                     .mu = uniform(0, 1),
                                     .ellipsoid = std::array{uniform(0.5, 1.5), uniform(0.5, 1.5), 0.02}});
    if (chance(0.2)) spec.friction.pairs.push_back({.between = {"body0", "finger"}, .frictionless = true});
    if (chance(0.3))
      spec.wrenches.push_back(
          {.body = "body0", .force_W = {normal(), normal(), 0}, .torque_W = {0, 0, 0.05 * normal()}});
    return spec;
  }

  /// Targets that push the finger by a few centimetres from its place (where it is at zero).
  Eigen::VectorXd command() { return Eigen::Vector3d(uniform(0, 0.08), 0.02 * normal(), 0.02 * normal()); }

  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  double log_uniform(double a, double b) { return std::exp(uniform(std::log(a), std::log(b))); }
  double normal() { return std::normal_distribution<double>()(rng_); }
  int integer(int a, int b) { return std::uniform_int_distribution<int>(a, b)(rng_); }
  bool chance(double share) { return uniform(0, 1) < share; }
  Eigen::Matrix3d rotation() {
    return Eigen::Quaterniond(Eigen::Vector4d(normal(), normal(), normal(), normal()).normalized()).toRotationMatrix();
  }

 private:
  /// Upright bodies rest on the floor up to a millimetre, tilted ones hang above it.
  ModelSpec body_above(int k) {
    const double size = uniform(0.04, 0.08);
    ShapeSpec shape = multibody::SphereSpec{size};
    double half = size;
    const int kind = integer(0, 3);
    if (kind == 1) shape = multibody::BoxSpec{{2 * size, size, 1.5 * size}}, half = 0.75 * size;
    if (kind == 2) shape = multibody::CylinderSpec{size, 2 * size}, half = size;
    if (kind == 3) shape = multibody::CapsuleSpec{0.5 * size, size}, half = size;
    const bool upright = chance(0.7);
    const Eigen::Matrix3d R = upright ? exp_so3({0, 0, uniform(-3, 3)}) : rotation();
    const double z = upright ? half + (chance(0.5) ? 0.0 : uniform(-1e-4, 1e-3)) : 2 * size;
    const double mass = log_uniform(0.05, 5);
    return free_body("body" + std::to_string(k), shape, mass, 0.4 * mass * size * size, uniform(0.2, 1),
                     make_transform(R, {0.17 * k + 0.01 * normal(), 0.02 * normal(), z}));
  }

  std::mt19937_64 rng_;
};

/// The same world moved rigidly: bodies, gravity, wrenches, axes.
inline scene::SceneSpec moved(scene::SceneSpec spec, const RigidTransform& X) {
  for (ModelSpec& model : spec.world.models) {
    model.X_WModel = X * model.X_WModel;
    // Joint frames hang on the model's frame already, which has moved.
  }
  const Eigen::Matrix3d R = X.linear();
  spec.gravity_W = R * spec.gravity_W;
  spec.friction.ellipsoid_axis = R * spec.friction.ellipsoid_axis;
  for (scene::WrenchSpec& wrench : spec.wrenches) {
    wrench.force_W = R * wrench.force_W;
    wrench.torque_W = R * wrench.torque_W;
  }
  return spec;
}

}  // namespace deft::test
