#include "deft/plant/mujoco_inertia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"

namespace deft::plant {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kLeastMass_kg = 1e-9, kLeastMoment = 1e-12;
constexpr double kParallel = 1e-9;     // sine below which two directions are one
constexpr double kSameInertia = 1e-9;  // relative
constexpr int kSamples = 4;            // configurations at which a mass matrix is compared

using Directions = Eigen::Matrix<double, 3, Eigen::Dynamic>;

/// The directions in the world about which a body can turn, one column each; zero for those that only shift it.
Directions turning_axes(const scene::Scene& scene, const scene::SceneState& start, int body) {
  const auto n = static_cast<Eigen::Index>(scene.model().columns(body).size());
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J(6, n);
  scene.model().point_jacobian(start.kinematics, body, Vector3d::Zero(), J.data(), static_cast<int>(n));
  return J.topRows<3>();
}

/// The unit vector that all directions are parallel to; zero if there is none, nothing if they span more than a line.
std::optional<Vector3d> only_axis(const Directions& directions) {
  Vector3d longest = Vector3d::Zero();
  for (const auto d : directions.colwise()) {
    if (d.norm() > longest.norm()) longest = d;
  }
  const double length = longest.norm(), none = kParallel * std::max(1.0, length);
  if (length <= none) return Vector3d::Zero();
  const Vector3d axis = longest / length;
  for (const auto d : directions.colwise()) {
    if (axis.cross(d).norm() > none) return {};
  }
  return axis;
}

}  // namespace

multibody::InertialSpec group_inertial(const multibody::KinematicTree& tree, int group) {
  multibody::InertialSpec sum;
  Vector3d moment = Vector3d::Zero();
  const auto& bodies = tree.groups[group].bodies;
  for (const int body : bodies) {
    const auto b = to_size(body);
    sum.mass += tree.inertials[b].mass;
    moment += tree.inertials[b].mass * (tree.X_GB[b] * tree.inertials[b].p_LCom);
  }
  if (sum.mass > 0) sum.p_LCom = moment / sum.mass;
  for (const int body : bodies) {
    const auto b = to_size(body);
    const Vector3d r = tree.X_GB[b] * tree.inertials[b].p_LCom - sum.p_LCom;
    const Matrix3d R = tree.X_GB[b].linear();
    sum.I_Com_L += R * tree.inertials[b].I_Com_L * R.transpose() +
                   tree.inertials[b].mass * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
  }
  return sum;
}

PrincipalInertia principal_inertia(const scene::Scene& scene, const scene::SceneState& start,
                                   const multibody::KinematicTree& tree, int group,
                                   const multibody::InertialSpec& inertial) {
  const int body = tree.groups[group].bodies.front();
  PrincipalInertia out{.mass = inertial.mass};
  out.X_GI.translation() = inertial.p_LCom;
  const auto axes = turning_axes(scene, start, body);
  if (const std::optional<Vector3d> axis_W = only_axis(axes)) {
    const Matrix3d R_WG = start.X_WB()[body].linear() * tree.X_GB[body].linear().transpose();
    const Vector3d n = axis_W->isZero(0) ? Vector3d::UnitZ() : Vector3d(R_WG.transpose() * *axis_W);
    out.moments.setConstant(n.dot(inertial.I_Com_L * n));
  } else {
    const SymmetricEigen3 principal =
        symmetric_eigen(Matrix3d(0.5 * (inertial.I_Com_L + inertial.I_Com_L.transpose())));
    out.moments = principal.values;
    Matrix3d R = principal.vectors;
    if (R.determinant() < 0) R.col(0) *= -1;
    out.X_GI.linear() = R;
  }
  if (out.mass < kLeastMass_kg) {
    out.note = fmt::format("{} kg, here {} kg", out.mass, kLeastMass_kg);
    out.mass = kLeastMass_kg;
  }
  out.moments = out.moments.cwiseMax(kLeastMoment);
  return out;
}

VectorXd constant_inertia(const scene::Scene& scene, const scene::Object& object) {
  scene::SceneState state = scene.make_state();
  const VectorXd q0 = scene.initial_configuration();
  VectorXd q, delta(scene.nv()), diagonal;
  MatrixXd M;
  for (int k = 0; k < kSamples; ++k) {
    for (int i = 0; i < scene.nv(); ++i) delta(i) = k == 0 ? 0.0 : std::sin(1.7 * k * (i + 1));
    scene.model().integrate(q0, delta, q);
    scene.update(q, state);
    scene.model().mass_matrix(state.kinematics, M);
    MatrixXd own = M.block(object.first_v, object.first_v, object.nv, object.nv);
    if (k == 0) diagonal = own.diagonal();
    const VectorXd scale = diagonal.cwiseSqrt();
    own -= MatrixXd(diagonal.asDiagonal());
    if ((own.array().abs() > kSameInertia * (scale * scale.transpose()).array()).any()) return {};
  }
  return diagonal;
}

}  // namespace deft::plant
