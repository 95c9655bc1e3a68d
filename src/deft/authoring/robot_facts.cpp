#include "deft/authoring/robot_facts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "deft/authoring/object_places.hpp"
#include "deft/core/index.hpp"

namespace deft::authoring {
namespace {

constexpr std::size_t kWristJoints = 2;  // that the fingers of a hand may share

using scene::Robot;
using scene::Scene;

std::vector<char> bodies_with_geometry(const Scene& scene) {
  std::vector<char> has(scene.model().bodies().size(), 0);
  for (const collision::GeometryInfo& geometry : scene.collision_world().geometries()) has[to_size(geometry.body)] = 1;
  return has;
}

/// Whether `body` hangs on `ancestor`, or is it.
bool hangs_on(const multibody::Model& model, int body, int ancestor) {
  for (; body > 0; body = model.bodies()[to_size(body)].parent)
    if (body == ancestor) return true;
  return false;
}

/// Not if its model's file brings it along as an object.
bool is_of_robot(const Scene& scene, int body) {
  const scene::Object* const object = scene.object_of(body);
  return object == nullptr || object->is_base;
}

/// Two significant digits: nobody reads more out of a rule of thumb.
double rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

}  // namespace

void keep_couplings(const multibody::Model& model, Eigen::VectorXd& q) {
  for (const multibody::Coupling& coupling : model.couplings()) q[coupling.q] = coupling.at(q);
}

RobotFacts robot_facts(const Scene& scene, int index) {
  const multibody::Model& model = scene.model();
  const Robot& robot = scene.robots()[to_size(index)];
  RobotFacts facts;
  const std::vector<char> touchable = bodies_with_geometry(scene);
  for (const int body : model.models()[to_size(robot.model)].bodies)
    if (touchable[to_size(body)] != 0 && is_of_robot(scene, body)) facts.bodies.push_back(body);
  facts.p_BMiddle.resize(model.bodies().size(), Eigen::Vector3d::Zero());
  for (const int body : facts.bodies)
    facts.p_BMiddle[to_size(body)] = extent_of(scene, body, Eigen::Matrix3d::Identity()).middle_B;
  for (const int body : facts.bodies) {
    const auto carries = [&](int other) {
      return other != body && hangs_on(model, other, body) &&
             model.bodies()[to_size(other)].weld_group != model.bodies()[to_size(body)].weld_group;
    };
    if (model.columns(body).empty() || std::any_of(facts.bodies.begin(), facts.bodies.end(), carries)) continue;
    // Of links that are welded together the last is the tip.
    const int group = model.bodies()[to_size(body)].weld_group;
    std::erase_if(facts.tips, [&](int tip) { return model.bodies()[to_size(tip)].weld_group == group; });
    facts.tips.push_back(body);
  }
  std::vector<int> shared;
  for (std::size_t i = 0; i < facts.tips.size(); ++i) {
    const std::span<const int> columns = model.columns(facts.tips[i]);
    std::vector<int> both;
    if (i == 0)
      std::copy_if(columns.begin(), columns.end(), std::back_inserter(both),
                   [&](int v) { return v >= robot.first_v; });  // not of a base that floats
    else
      std::set_intersection(shared.begin(), shared.end(), columns.begin(), columns.end(), std::back_inserter(both));
    shared = both;
  }
  facts.is_hand = facts.tips.size() > 1 && shared.size() <= kWristJoints;

  for (const int body : facts.bodies) {
    const auto is_carried = [&](int tip) { return tip != body && hangs_on(model, tip, body); };
    if (!std::all_of(facts.tips.begin(), facts.tips.end(), is_carried)) continue;
    if (facts.palm < 0 || hangs_on(model, body, facts.palm)) facts.palm = body;
  }

  facts.q_middle = facts.q_straight = scene.initial_configuration();
  for (int i = 0; i < robot.nu; ++i) {
    const multibody::CoordinateInfo& joint = model.coordinates()[to_size(robot.q(i))];
    const double straight = std::clamp(0.0, joint.lower, joint.upper);
    const bool bounded = std::isfinite(joint.lower) && std::isfinite(joint.upper);
    facts.q_straight[robot.q(i)] = straight;
    facts.q_middle[robot.q(i)] = bounded ? (joint.lower + joint.upper) / 2 : straight;
  }
  keep_couplings(model, facts.q_middle);
  keep_couplings(model, facts.q_straight);
  return facts;
}

Eigen::Vector3d middle_of(const RobotFacts& facts, const scene::SceneState& state, int body) {
  return state.X_WB()[to_size(body)] * facts.p_BMiddle[to_size(body)];
}

Eigen::VectorXd joint_stiffness(const Scene& scene, scene::SceneState& state, int index, const RobotFacts& facts,
                                double payload, double frequency) {
  const multibody::Model& model = scene.model();
  const Robot& robot = scene.robots()[to_size(index)];
  Eigen::MatrixXd M(scene.nv(), scene.nv());
  model.mass_matrix(state.kinematics, M);
  Eigen::VectorXd inertia(robot.nu);
  for (int i = 0; i < robot.nu; ++i) inertia[i] = M(robot.v(i), robot.v(i));
  Eigen::VectorXd arm2 = Eigen::VectorXd::Zero(robot.nu);  // r² [m², or 1 along an axis]
  for (const int tip : facts.tips) {
    const std::span<const int> columns = model.columns(tip);
    Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J(6, columns.size());
    model.point_jacobian(state.kinematics, tip, middle_of(facts, state, tip), J.data(), static_cast<int>(J.cols()));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int i = robot.command_of(columns[c]);
      if (i >= 0) arm2[i] = std::max(arm2[i], J.col(static_cast<int>(c)).tail<3>().squaredNorm());
    }
  }
  const double omega2 = std::pow(2 * std::numbers::pi * frequency, 2);
  Eigen::VectorXd stiffness(robot.nu);
  for (int i = 0; i < robot.nu; ++i) stiffness[i] = rounded(std::max(omega2 * (inertia[i] + payload * arm2[i]), 1e-3));
  return stiffness;
}

}  // namespace deft::authoring
