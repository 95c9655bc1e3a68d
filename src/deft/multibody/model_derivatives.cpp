// Derivatives of the inertia and of gravity along world tangents. README.md derives them from ∂S_c/∂q_i = S_i × S_c.

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using SpatialColumns = Eigen::Matrix<double, 6, Eigen::Dynamic>;

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

/// Both about the world origin.
void add_inertia(const SpatialInertia& part, SpatialInertia& sum) {
  sum.m += part.m;
  sum.mc += part.mc;
  sum.I_O += part.I_O;
}

// ------------------------------------------------------------------------------------- derivatives of bias forces

/// What bias_derivative works on, in the letters of README.md: constants of the model, the columns S at q, and per
/// column (X, W, E, G) or per Pinocchio joint (all others) what depends on v.
struct BiasTerms {
  const ModelTables& tables;
  const pinocchio::Data& data;
  const SpatialColumns& S;
  SpatialColumns &X, &W, &E, &G, &a, &V, &F;
  std::vector<Matrix6>& N;
  std::vector<SpatialInertia>& inertia;
};

/// Outward: per column c, X_c = Σ S_i v_i of what moves it; per joint V = Σ S_c v_c, a = Σ X_c × S_c v_c, and I,
/// F = I a + V ×* I V and N of its own body.
void find_body_terms(const Eigen::VectorXd& v, BiasTerms& t) {
  const auto& joints = t.tables.pinocchio_joints;
  const auto& parents = t.tables.pinocchio.parents;
  t.a.col(0).setZero();
  t.V.col(0).setZero();
  for (Eigen::Index c = 0; c < v.size(); ++c) {
    t.X.col(c).setZero();
    for (const int i : t.tables.movers[c]) t.X.col(c) += t.S.col(i) * v(i);
  }
  for (std::size_t j = 1; j < joints.size(); ++j) {
    t.V.col(j) = t.V.col(parents[j]);
    t.a.col(j) = t.a.col(parents[j]);
    for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) {
      t.V.col(j) += t.S.col(c) * v(c);
      t.a.col(j) += cross_twist(t.X.col(c), t.S.col(c) * v(c));
    }
    t.inertia[j] = in_world(t.data.oMi[j], t.tables.pinocchio.inertias[j]);
    t.F.col(j) = times(t.inertia[j], t.a.col(j)) + cross_wrench(t.V.col(j), times(t.inertia[j], t.V.col(j)));
    t.N[j] = velocity_matrix(t.inertia[j], t.V.col(j));
  }
}

/// Inward: I, F and N of all that a joint carries.
void compose(BiasTerms& t) {
  const auto& parents = t.tables.pinocchio.parents;
  for (std::size_t j = t.tables.pinocchio_joints.size() - 1; j > 0; --j) {
    const std::size_t parent = parents[j];
    if (parent == 0) continue;
    add_inertia(t.inertia[j], t.inertia[parent]);
    t.F.col(parent) += t.F.col(j);
    t.N[parent] += t.N[j];
  }
}

/// Per column i, what moving along it does whatever it carries: with U and b the parts of V and a of i's joint that
/// stay,  W = S_i × U,  E = S_i × b − W × U  and  G = X_i × S_i − W.  What a joint d that i carries bears changes by
///   S_i ×* F_d − I_d E − N_d W  with q_i and by  N_d S_i + I_d G  with v_i.
void find_column_terms(const Eigen::VectorXd& v, BiasTerms& t) {
  for (int i = 0; i < v.size(); ++i) {
    const int l = t.tables.column_joint[i];
    const PinocchioJoint& joint = t.tables.pinocchio_joints[l];
    Vector6 U = t.V.col(l), b = t.a.col(l);
    if (joint.kind == JointKind::kFree && i >= joint.v + 3) {
      for (int r = joint.v; r < joint.v + 3; ++r) {
        U -= t.S.col(r) * v(r);
        b -= cross_twist(t.X.col(r), t.S.col(r) * v(r));
      }
    }
    const Vector6 S_i = t.S.col(i), W = cross_twist(S_i, U);
    t.W.col(i) = W;
    t.E.col(i) = cross_twist(S_i, b) - cross_twist(W, U);
    t.G.col(i) = cross_twist(t.X.col(i), S_i) - W;
  }
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
    add_inertia(k.inertia[j], k.inertia[parent]);
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
  BiasTerms terms{*impl_,   k.data,   k.J,      k.bias_X, k.bias_W, k.bias_E,
                  k.bias_G, k.bias_a, k.bias_V, k.bias_F, k.bias_N, k.inertia};
  find_body_terms(v, terms);
  compose(terms);
  find_column_terms(v, terms);
  by_q.setZero(nv(), nv());
  by_v.setZero(nv(), nv());
  const auto& joints = impl_->pinocchio_joints;
  // c's joint is i's, or carries it: what i's joint l carries moves as a whole.
  for (int i = 0; i < nv(); ++i) {
    const int l = impl_->column_joint[i];
    const Vector6 change_q = cross_wrench(k.J.col(i), k.bias_F.col(l)) - times(k.inertia[l], k.bias_E.col(i)) -
                             k.bias_N[l] * k.bias_W.col(i);
    const Vector6 change_v = k.bias_N[l] * k.J.col(i) + times(k.inertia[l], k.bias_G.col(i));
    for (std::size_t j = l; j > 0; j = impl_->pinocchio.parents[j]) {
      for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) {
        by_q(c, i) = k.J.col(c).dot(change_q);
        by_v(c, i) = k.J.col(c).dot(change_v);
      }
    }
  }
  // i carries column c along, and S_c's turning cancels that of the force: (S_i × S_c)·F = −S_c·(S_i ×* F).
  for (int c = 0; c < nv(); ++c) {
    const int d = impl_->column_joint[c];
    const Vector6 IS = times(k.inertia[d], k.J.col(c)), NS = k.bias_N[d].transpose() * k.J.col(c);
    for (const int i : impl_->movers[c]) {
      if (impl_->column_joint[i] == d) {
        by_q(c, i) += cross_twist(k.J.col(i), k.J.col(c)).dot(k.bias_F.col(d));
      } else {
        by_q(c, i) = -k.bias_E.col(i).dot(IS) - k.bias_W.col(i).dot(NS);
        by_v(c, i) = k.J.col(i).dot(NS) + k.bias_G.col(i).dot(IS);
      }
    }
  }
}

}  // namespace deft::multibody
