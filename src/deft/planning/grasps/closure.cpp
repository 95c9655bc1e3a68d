#include "deft/planning/grasps/closure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/scene/motion_plane.hpp"

namespace deft::planning {
namespace {

constexpr int kEdges = 8;             // of a cone in space
constexpr double kZero = 1e-10;       // of entries of a tableau, which are of order 1
constexpr int kMostPivots = 1000;     // of one linear program, which takes some tens
constexpr double kLeastArm_m = 1e-6;  // ℓ of a body that is pushed in its centre alone

/// max cᵀλ s.t. A λ = 0, Σ λ ≤ 1, λ ≥ 0, by the simplex method on a dense tableau: the rows of A, then Σ λ + slack = 1,
/// then the reduced costs; the last column is the right-hand side.
class SmallProgram {
 public:
  SmallProgram(const Eigen::MatrixXd& A, const Eigen::RowVectorXd& c) : rows_(A.rows() + 1), columns_(A.cols() + 1) {
    tableau_.setZero(rows_ + 1, columns_ + 1);
    tableau_.topLeftCorner(A.rows(), A.cols()) = A;
    tableau_.row(rows_ - 1).setOnes();
    tableau_.row(rows_).head(A.cols()) = c;
    basis_.assign(to_size(rows_), -1);  // −1: an equation that no variable answers for yet
    basis_.back() = columns_ - 1;
  }

  double solve() {
    // The right-hand sides of the equations are 0, so that any pivot in them is feasible.
    for (Eigen::Index row = 0; row + 1 < rows_; ++row) {
      Eigen::Index column = 0;
      if (tableau_.row(row).head(columns_).cwiseAbs().maxCoeff(&column) > kZero) pivot(row, column);
    }
    for (int k = 0; k < kMostPivots; ++k) {
      const Eigen::Index column = entering();
      if (column < 0) break;
      pivot(leaving(column), column);
    }
    return -tableau_(rows_, columns_);
  }

 private:
  /// The first variable that gains, or −1 (Bland's rule: no cycles).
  Eigen::Index entering() const {
    for (Eigen::Index j = 0; j < columns_; ++j)
      if (tableau_(rows_, j) > kZero) return j;
    return -1;
  }
  /// The row that bounds it first; Σ λ ≤ 1 always does.
  Eigen::Index leaving(Eigen::Index column) const {
    Eigen::Index best = rows_ - 1;
    double least = kInfinity;
    for (Eigen::Index i = 0; i < rows_; ++i) {
      if (basis_[to_size(i)] < 0 || tableau_(i, column) <= kZero) continue;
      const double ratio = tableau_(i, columns_) / tableau_(i, column);
      if (ratio > least + kZero || (ratio > least - kZero && basis_[to_size(i)] > basis_[to_size(best)])) continue;
      least = std::min(least, ratio);
      best = i;
    }
    return best;
  }
  void pivot(Eigen::Index row, Eigen::Index column) {
    tableau_.row(row) /= tableau_(row, column);
    for (Eigen::Index i = 0; i <= rows_; ++i) {
      if (i != row && tableau_(i, column) != 0)
        tableau_.row(i) -= tableau_(i, column) * Eigen::RowVectorXd(tableau_.row(row));
    }
    basis_[to_size(row)] = column;
  }

  Eigen::Index rows_, columns_;  // of the equations and Σ λ; of λ and the slack
  Eigen::MatrixXd tableau_;
  std::vector<Eigen::Index> basis_;  // the variable of each row
};

/// The edges of a friction cone: forces of normal part 1.
std::vector<Eigen::Vector3d> edges_of(const Push& push, const Eigen::Vector3d& plane_normal_W) {
  std::vector<Eigen::Vector3d> edges;
  if (!plane_normal_W.isZero(0)) {
    const Eigen::Vector3d t = plane_normal_W.cross(push.nhat_W);
    for (const double side : {-push.mu, push.mu}) edges.emplace_back(push.nhat_W + side * t);
    return edges;
  }
  const Eigen::Vector3d t = push.nhat_W.unitOrthogonal(), o = push.nhat_W.cross(t);
  for (int k = 0; k < kEdges; ++k) {
    const double angle = 2 * std::numbers::pi * k / kEdges;
    edges.emplace_back(push.nhat_W + push.mu * (std::cos(angle) * t + std::sin(angle) * o));
  }
  return edges;
}

/// An orthonormal basis of what forces and torques may be: rows of a 6 × 6 or, in a plane, 3 × 6 matrix.
Eigen::MatrixXd axes_of_wrenches(const Eigen::Vector3d& plane_normal_W) {
  if (plane_normal_W.isZero(0)) return Eigen::MatrixXd::Identity(6, 6);
  Eigen::MatrixXd axes = Eigen::MatrixXd::Zero(3, 6);
  const Eigen::Vector3d t = plane_normal_W.unitOrthogonal();
  axes.row(0).head<3>() = t.transpose();
  axes.row(1).head<3>() = plane_normal_W.cross(t).transpose();
  axes.row(2).tail<3>() = plane_normal_W.transpose();
  return axes;
}

/// The centre of mass of a body [m]; its origin if none is stated.
Eigen::Vector3d centre_of(const scene::Scene& scene, int body, const RigidTransform& X_WB) {
  const multibody::BodyInfo& info = scene.model().bodies()[to_size(body)];
  for (const multibody::LinkSpec& link : scene.spec().world.models[to_size(info.model)].links)
    if (link.name == info.link && link.inertial) return X_WB * link.inertial->p_LCom;
  return X_WB.translation();
}

}  // namespace

Closure closure_of(const std::vector<Push>& pushes, const Eigen::Vector3d& c_W, double length_m,
                   const Eigen::Vector3d& plane_normal_W) {
  const Eigen::MatrixXd axes = axes_of_wrenches(plane_normal_W);
  std::vector<Eigen::VectorXd> wrenches;
  for (const Push& push : pushes) {
    for (const Eigen::Vector3d& force : edges_of(push, plane_normal_W)) {
      Eigen::VectorXd wrench(6);
      wrench << force, (push.p_W - c_W).cross(force) / length_m;
      wrenches.emplace_back(axes * wrench);
    }
  }
  if (wrenches.empty()) return {};
  const Eigen::Index size = axes.rows();
  Eigen::MatrixXd W(size, static_cast<Eigen::Index>(wrenches.size()));
  for (std::size_t k = 0; k < wrenches.size(); ++k) W.col(static_cast<Eigen::Index>(k)) = wrenches[k];
  Closure closure{.least = kInfinity};
  Eigen::MatrixXd others(size - 1, W.cols());
  for (Eigen::Index axis = 0; axis < size; ++axis) {
    others << W.topRows(axis), W.bottomRows(size - 1 - axis);
    for (const double sign : {1.0, -1.0}) {
      const double resisted = std::max(0.0, SmallProgram(others, sign * W.row(axis)).solve());
      closure.least = std::min(closure.least, resisted);
      closure.mean += resisted / static_cast<double>(2 * size);
    }
  }
  return closure;
}

Closure closure_at(const scene::Scene& scene, const Hand& hand, const Eigen::VectorXd& q, double friction_share,
                   double reach_m, Proximity& proximity) {
  const bool in_space = scene.plane() == scene::Plane::kSpace;
  const Eigen::Vector3d plane_normal = in_space ? Eigen::Vector3d::Zero() : scene::plane_normal(scene.plane());
  const Eigen::Vector3d gravity = scene.spec().gravity_W;
  const Eigen::Vector3d pull = gravity - gravity.dot(plane_normal) * plane_normal;
  proximity.place(q);
  const std::vector<collision::ContactPair>& contacts = proximity.contacts(reach_m);
  const auto geometries = scene.collision_world().geometries();
  std::vector<int> bodies;
  for (const int surface : hand.surfaces) bodies.push_back(geometries[to_size(surface)].body);
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  std::optional<Closure> weakest;
  for (const int body : bodies) {
    if (static_cast<int>(scene.model().columns(body).size()) != (in_space ? 6 : 3)) continue;
    const Eigen::Vector3d centre = centre_of(scene, body, proximity.state().X_WB()[to_size(body)]);
    std::vector<Push> pushes;
    double length = kLeastArm_m;
    for (const collision::ContactPair& pair : contacts) {
      if (pair.body_a != body && pair.body_b != body) continue;
      const bool is_a = pair.body_a == body;  // the normal points from b to a
      Push push{.p_W = is_a ? pair.p_WA : pair.p_WB,
                .nhat_W = is_a ? pair.nhat_BA_W : Eigen::Vector3d(-pair.nhat_BA_W),
                .mu = friction_share * scene.friction(pair.geometry_a, pair.geometry_b).mu};
      length = std::max(length, (push.p_W - centre).norm());
      pushes.push_back(push);
    }
    if (!pushes.empty() && !pull.isZero(0)) pushes.push_back({.p_W = centre, .nhat_W = pull.normalized()});
    const Closure its = closure_of(pushes, centre, length, plane_normal);
    if (!weakest || its.least < weakest->least || (its.least == weakest->least && its.mean < weakest->mean))
      weakest = its;
  }
  return weakest.value_or(Closure{});
}

}  // namespace deft::planning
