#include "deft/plant/plant_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/dynamics/energy_step.hpp"

namespace deft::plant {
namespace {

using Eigen::VectorXd;

constexpr double kWholeSteps = 1e-9;  // of a step: by so much a period may be longer than whole steps

void check_vector(const char* what, const VectorXd& v, Eigen::Index expected) {
  if (v.size() != expected)
    throw std::invalid_argument(fmt::format("plant: {} has {} entries, the scene needs {}", what, v.size(), expected));
  if (!v.allFinite()) throw std::invalid_argument(fmt::format("plant: {} has an entry that is not finite", what));
}

bool is_stated(const scene::JointValues& values) {
  return values.all || !values.list.empty() || !values.by_name.empty();
}

}  // namespace

void check_options(const scene::Scene& scene, const PlantOptions& options) {
  const auto check = [](bool good, const char* name, const char* range, double value) {
    if (!good) throw std::invalid_argument(fmt::format("plant: {} must be {}, got {}", name, range, value));
  };
  check(options.step > 0 && std::isfinite(options.step), "step [s]", "> 0 and finite", options.step);
  check(options.damping_ratio >= 0 && std::isfinite(options.damping_ratio), "damping_ratio", ">= 0 and finite",
        options.damping_ratio);
  check(options.joint_lag >= 0 && std::isfinite(options.joint_lag), "joint_lag [s]", ">= 0 and finite",
        options.joint_lag);
  const VectorXd& damping = options.object_damping;
  if (damping.size() == 0) return;
  check_vector("object_damping", damping, static_cast<Eigen::Index>(scene.objects().size()));
  check(damping.minCoeff() >= 0, "object_damping [1/s]", ">= 0", damping.minCoeff());
}

VectorXd inner_loop_damping(const scene::Scene& scene, const PlantOptions& options) {
  if (is_stated(scene.settings().step.joint_damping)) return dynamics::joint_damping(scene);
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  Eigen::MatrixXd M;
  scene.model().mass_matrix(state.kinematics, M);
  VectorXd damping(scene.nu());
  for (const scene::Robot& robot : scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) {
      const double K = robot.stiffness(i), inertia = std::max(0.0, M(robot.v(i), robot.v(i)));
      damping(robot.first_u + i) = std::max(2 * options.damping_ratio * std::sqrt(K * inertia), K * options.joint_lag);
    }
  }
  return damping;
}

VectorXd damping_of_objects(const scene::Scene& scene, const PlantOptions& options) {
  if (options.object_damping.size() > 0) return options.object_damping;
  const auto objects = scene.objects();
  VectorXd damping(static_cast<Eigen::Index>(objects.size()));
  for (std::size_t k = 0; k < objects.size(); ++k)
    damping(static_cast<Eigen::Index>(k)) = objects[k].damping.value_or(0);
  return damping;
}

int inner_steps(double period_s, double step) {
  if (!(period_s > 0) || !std::isfinite(period_s))
    throw std::invalid_argument(fmt::format("plant: the period must be > 0 s and finite, got {}", period_s));
  const double steps = std::ceil(period_s / step - kWholeSteps);
  if (!(steps < 1e9))
    throw std::invalid_argument(
        fmt::format("plant: a period of {} s has too many inner steps of {} s", period_s, step));
  return std::max(1, static_cast<int>(steps));
}

void interpolate_targets(const VectorXd& u_last, const VectorXd& u, int k, int n, VectorXd& out) {
  if (k == n)
    out = u;
  else
    out = u_last + (static_cast<double>(k) / n) * (u - u_last);
}

void check_state(const scene::Scene& scene, const dynamics::State& start) {
  check_vector("q", start.q, scene.nq());
  if (start.v.size() > 0) check_vector("v", start.v, scene.nv());
}

void check_targets(const scene::Scene& scene, const VectorXd& u) { check_vector("u", u, scene.nu()); }

void begin_at(const scene::Scene& scene, const dynamics::State& start, dynamics::State& state) {
  check_state(scene, start);
  state.q = start.q;
  state.t = 0;
  if (start.v.size() > 0)
    state.v = start.v;
  else
    state.v.setZero(scene.nv());
  for (const scene::Object& object : scene.objects())
    if (object.frozen) state.v.segment(object.first_v, object.nv).setZero();
}

}  // namespace deft::plant
