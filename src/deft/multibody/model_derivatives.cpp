// Derivatives of the inertia and of gravity along world tangents. README.md derives them from ∂S_c/∂q_i = S_i × S_c.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;

/// Twist × twist and twist × wrench; twists [ω; v], wrenches [moment; force].
Vector6 cross_twist(const Vector6& s, const Vector6& t) {
  Vector6 r;
  r.head<3>() = s.head<3>().cross(t.head<3>());
  r.tail<3>() = s.head<3>().cross(t.tail<3>()) + s.tail<3>().cross(t.head<3>());
  return r;
}
Vector6 cross_wrench(const Vector6& s, const Vector6& f) {
  Vector6 r;
  r.head<3>() = s.head<3>().cross(f.head<3>()) + s.tail<3>().cross(f.tail<3>());
  r.tail<3>() = s.head<3>().cross(f.tail<3>());
  return r;
}

Vector6 times(const SpatialInertia& I, const Vector6& s) {
  Vector6 r;
  r.head<3>() = I.I_O * s.head<3>() + I.mc.cross(s.tail<3>());
  r.tail<3>() = I.m * s.tail<3>() - I.mc.cross(s.head<3>());
  return r;
}

/// f ×* with the twist as the variable:  s ×* f = cross_wrench_by(f) s.
Matrix6 cross_wrench_by(const Vector6& f) {
  Matrix6 m = Matrix6::Zero();
  m.topLeftCorner<3, 3>() = -skew(f.head<3>());
  m.topRightCorner<3, 3>() = -skew(f.tail<3>());
  m.bottomLeftCorner<3, 3>() = -skew(f.tail<3>());
  return m;
}

/// N of a body: what a change W of its velocity does to I a + V ×* I V besides I's own turning,
///   N W = I (W × V) + W ×* (I V) + V ×* (I W).
Matrix6 velocity_matrix(const SpatialInertia& I, const Vector6& V) {
  Matrix6 inertia, cross = Matrix6::Zero(), cross_dual = Matrix6::Zero();
  inertia << I.I_O, skew(I.mc), -skew(I.mc), I.m * Eigen::Matrix3d::Identity();
  cross.topLeftCorner<3, 3>() = cross.bottomRightCorner<3, 3>() = skew(V.head<3>());
  cross.bottomLeftCorner<3, 3>() = skew(V.tail<3>());
  cross_dual.topLeftCorner<3, 3>() = cross_dual.bottomRightCorner<3, 3>() = skew(V.head<3>());
  cross_dual.topRightCorner<3, 3>() = skew(V.tail<3>());
  return -inertia * cross + cross_wrench_by(inertia * V) + cross_dual * inertia;
}

SpatialInertia in_world(const pinocchio::SE3& X_WJ, const pinocchio::Inertia& inertia) {
  const pinocchio::Inertia world = X_WJ.act(inertia);
  const Eigen::Vector3d& c = world.lever();
  return {
      world.mass(), world.mass() * c,
      world.inertia().matrix() + world.mass() * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose())};
}

}  // namespace

const Eigen::Matrix<double, 6, Eigen::Dynamic>& Model::spatial_columns(const Kinematics& kinematics) const {
  return kinematics.impl_->J;
}

std::span<const int> Model::movers(int column) const { return impl_->movers[column]; }

void Model::inertia_derivative(Kinematics& kinematics, const Eigen::VectorXd& y, Eigen::MatrixXd& out) const {
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  const auto& parents = impl_->pinocchio.parents;

  // Outward: A_j = Σ S_c y_c of everything that carries joint j's body; inward: composite inertias and P_j = Σ I A.
  k.A.col(0).setZero();
  for (std::size_t j = 1; j < joints.size(); ++j) {
    k.A.col(j) = k.A.col(parents[j]);
    for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) k.A.col(j) += k.J.col(c) * y(c);
    k.inertia[j] = in_world(k.data.oMi[j], impl_->pinocchio.inertias[j]);
    k.P.col(j) = times(k.inertia[j], k.A.col(j));
  }
  for (std::size_t j = joints.size() - 1; j > 0; --j) {
    const std::size_t parent = parents[j];
    if (parent == 0) continue;
    k.inertia[parent].m += k.inertia[j].m;
    k.inertia[parent].mc += k.inertia[j].mc;
    k.inertia[parent].I_O += k.inertia[j].I_O;
    k.P.col(parent) += k.P.col(j);
  }

  // Column i of the joint l: what it carries changes by S_i ×* P_l − I_l (S_i × U_i), U_i the part of A that stays.
  out.setZero(nv(), nv());
  for (std::size_t l = 1; l < joints.size(); ++l) {
    for (int i = joints[l].v; i < joints[l].v + joints[l].nv; ++i) {
      Vector6 stays = k.A.col(l);
      const bool shifts = joints[l].kind == JointKind::kFree && i >= joints[l].v + 3;
      if (shifts)
        for (int c = joints[l].v; c < joints[l].v + 3; ++c) stays -= k.J.col(c) * y(c);
      const Vector6 S_i = k.J.col(i);
      k.turned.col(i) = cross_twist(S_i, stays);
      const Vector6 change = cross_wrench(S_i, k.P.col(l)) - times(k.inertia[l], k.turned.col(i));
      for (std::size_t j = l; j > 0; j = parents[j])
        for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) out(c, i) = k.J.col(c).dot(change);
      if (shifts)
        for (int c = joints[l].v; c < joints[l].v + 3; ++c) out(c, i) += cross_twist(S_i, k.J.col(c)).dot(k.P.col(l));
    }
  }
  for (int c = 0; c < nv(); ++c) {
    const std::size_t j = impl_->column_joint[c];
    for (const int i : impl_->movers[c]) {
      if (impl_->column_joint[i] != static_cast<int>(j))
        out(c, i) = -k.J.col(c).dot(times(k.inertia[j], k.turned.col(i)));
    }
  }
}

void Model::gravity_derivative(Kinematics& kinematics, const Eigen::Vector3d& gravity_W, Eigen::MatrixXd& out) const {
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  const auto& parents = impl_->pinocchio.parents;
  for (std::size_t j = 1; j < joints.size(); ++j) {
    const pinocchio::Inertia& inertia = impl_->pinocchio.inertias[j];
    k.mass[j] = inertia.mass();
    k.moment_W[j] = inertia.mass() * k.data.oMi[j].act(inertia.lever());
  }
  for (std::size_t j = joints.size() - 1; j > 0; --j) {
    if (parents[j] == 0) continue;
    k.mass[parents[j]] += k.mass[j];
    k.moment_W[parents[j]] += k.moment_W[j];
  }

  // The weight W of what a joint carries acts on S_c; moving i shifts the centre of mass of what both carry.
  out.setZero(nv(), nv());
  const auto shift = [&](int i, std::size_t j) -> Eigen::Vector3d {
    return k.J.col(i).head<3>().cross(k.moment_W[j]) + k.mass[j] * k.J.col(i).tail<3>();
  };
  for (std::size_t l = 1; l < joints.size(); ++l) {
    for (int i = joints[l].v; i < joints[l].v + joints[l].nv; ++i) {
      const Eigen::Vector3d moment = shift(i, l).cross(gravity_W);
      for (std::size_t j = l; j > 0; j = parents[j])
        for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) out(c, i) = k.J.col(c).head<3>().dot(moment);
    }
  }
  for (int c = 0; c < nv(); ++c) {
    const std::size_t j = impl_->column_joint[c];
    Vector6 weight;
    weight << k.moment_W[j].cross(gravity_W), k.mass[j] * gravity_W;
    for (const int i : impl_->movers[c]) {
      if (impl_->column_joint[i] != static_cast<int>(j))
        out(c, i) = k.J.col(c).head<3>().dot(shift(i, j).cross(gravity_W));
      out(c, i) += cross_twist(k.J.col(i), k.J.col(c)).dot(weight);
    }
  }
}

void Model::bias_derivative(Kinematics& kinematics, const Eigen::VectorXd& v, Eigen::MatrixXd& by_q,
                            Eigen::MatrixXd& by_v) const {
  if (v.size() != nv())
    throw std::invalid_argument(fmt::format("v has {} entries, the model needs {}", v.size(), nv()));
  Kinematics::Impl& k = *kinematics.impl_;
  const auto& joints = impl_->pinocchio_joints;
  const auto& parents = impl_->pinocchio.parents;
  const std::size_t n = joints.size();

  // Per column c: X_c = Σ S_i v_i of what moves it, and X_c × S_c v_c; per joint V = Σ S_c v_c, a = Σ X_c × S_c v_c.
  auto &X = k.bias_X, &a = k.bias_a, &V = k.bias_V, &F = k.bias_F;
  auto& N = k.bias_N;
  a.col(0).setZero();
  V.col(0).setZero();
  for (int c = 0; c < nv(); ++c) {
    X.col(c).setZero();
    for (const int i : impl_->movers[c]) X.col(c) += k.J.col(i) * v(i);
  }
  for (std::size_t j = 1; j < n; ++j) {
    V.col(j) = V.col(parents[j]);
    a.col(j) = a.col(parents[j]);
    for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) {
      V.col(j) += k.J.col(c) * v(c);
      a.col(j) += cross_twist(X.col(c), k.J.col(c) * v(c));
    }
    k.inertia[j] = in_world(k.data.oMi[j], impl_->pinocchio.inertias[j]);
    F.col(j) = times(k.inertia[j], a.col(j)) + cross_wrench(V.col(j), times(k.inertia[j], V.col(j)));
    N[j] = velocity_matrix(k.inertia[j], V.col(j));
  }
  for (std::size_t j = n - 1; j > 0; --j) {
    const std::size_t parent = parents[j];
    if (parent == 0) continue;
    k.inertia[parent].m += k.inertia[j].m;
    k.inertia[parent].mc += k.inertia[j].mc;
    k.inertia[parent].I_O += k.inertia[j].I_O;
    F.col(parent) += F.col(j);
    N[parent] += N[j];
  }

  // Column i of joint l: U and b are the parts of V and a that stay, W = S_i × U. What joint d carries changes by
  //   S_i ×* F_d − I_d (S_i × b − W × U) − N_d W  with q_i and by  N_d S_i + I_d (X_i × S_i − S_i × U)  with v_i.
  by_q.setZero(nv(), nv());
  by_v.setZero(nv(), nv());
  const auto fill = [&](int c, int i, std::size_t d, bool moves, bool is_outboard) {
    const std::size_t l = impl_->column_joint[i];
    Vector6 U = V.col(l), b = a.col(l);
    if (joints[l].kind == JointKind::kFree && i >= joints[l].v + 3) {
      for (int r = joints[l].v; r < joints[l].v + 3; ++r) {
        U -= k.J.col(r) * v(r);
        b -= cross_twist(X.col(r), k.J.col(r) * v(r));
      }
    }
    const Vector6 S_i = k.J.col(i), S_c = k.J.col(c), W = cross_twist(S_i, U);
    Vector6 change = -times(k.inertia[d], cross_twist(S_i, b) - cross_twist(W, U)) - N[d] * W;
    if (is_outboard) change += cross_wrench(S_i, F.col(d));
    by_q(c, i) = S_c.dot(change);
    if (moves && is_outboard) by_q(c, i) += cross_twist(S_i, S_c).dot(F.col(impl_->column_joint[c]));
    by_v(c, i) = S_c.dot(N[d] * S_i + times(k.inertia[d], cross_twist(X.col(i), S_i) - W));
  };
  for (std::size_t l = 1; l < n; ++l) {
    for (int i = joints[l].v; i < joints[l].v + joints[l].nv; ++i) {
      for (std::size_t j = l; j > 0; j = parents[j]) {
        for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) {
          const auto& movers = impl_->movers[c];
          fill(c, i, l, std::binary_search(movers.begin(), movers.end(), i), true);
        }
      }
    }
  }
  // Where i's joint is the inboard one, (S_i × S_c)·F cancels S_c·(S_i ×* F).
  for (int c = 0; c < nv(); ++c) {
    for (const int i : impl_->movers[c]) {
      if (impl_->column_joint[i] != impl_->column_joint[c]) fill(c, i, impl_->column_joint[c], true, false);
    }
  }
}

}  // namespace deft::multibody
