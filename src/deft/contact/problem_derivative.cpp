#include "deft/contact/problem_derivative.hpp"

#include <algorithm>
#include <stdexcept>

#include "deft/math/rotation.hpp"
#include "deft/scene/motion_plane.hpp"

namespace deft::contact {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Map = Eigen::Matrix<double, 3, 12>;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Map6 = Eigen::Matrix<double, 6, 12>;

constexpr double kTie = 1e-6;  // components of a normal this close are equal

Vector6 cross_twist(const Vector6& s, const Vector6& t) {
  Vector6 r;
  r.head<3>() = s.head<3>().cross(t.head<3>());
  r.tail<3>() = s.head<3>().cross(t.tail<3>()) + s.tail<3>().cross(t.head<3>());
  return r;
}

/// t = e × n normalised: dt = (1 − ttᵀ)[e] dn/|e × n|.
Matrix3d unit_cross_rate(const Vector3d& e, const Vector3d& n) {
  const Vector3d raw = e.cross(n);
  const double length = raw.norm();
  const Vector3d t = raw / length;
  return (Matrix3d::Identity() - t * t.transpose()) * skew(e) / length;
}

/// Velocity of the point p of a body with the twist V about the world origin.
Vector3d velocity_at(const Vector6& V, const Vector3d& p) { return V.tail<3>() + V.head<3>().cross(p); }

bool has_frame_tie(const Vector3d& n) {
  Vector3d sizes = n.cwiseAbs();
  std::sort(sizes.data(), sizes.data() + 3);
  return sizes(1) - sizes(0) < kTie && sizes(1) > kTie;  // along an axis the rays of both choices coincide
}

}  // namespace

void tangent_rates(const Vector3d& n, scene::Plane plane, Matrix3d& T1, Matrix3d& T2) {
  if (plane != scene::Plane::kSpace && scene::plane_normal(plane).cross(n).norm() > kAlongNormal) {
    T1 = unit_cross_rate(scene::plane_normal(plane), n);
    T2.setZero();
    return;
  }
  const int axis = tangent_axis(n);
  T1 = unit_cross_rate(Vector3d::Unit(axis), n);
  T2 = skew(n) * T1 - skew(Vector3d::Unit(axis).cross(n).normalized());
  if (plane != scene::Plane::kSpace) T2.setZero();
}

void patch_tangent_rates(const Vector3d& n, const Vector3d& axis, Matrix3d& T1, Matrix3d& T2) {
  // t₁ = a − n(n·a) normalised.
  const Vector3d along = axis - n.dot(axis) * n;
  const Vector3d t1 = along.normalized();
  T1 = -(Matrix3d::Identity() - t1 * t1.transpose()) * (n.dot(axis) * Matrix3d::Identity() + n * axis.transpose()) /
       along.norm();
  T2 = skew(n) * T1 - skew(t1);
}

RowDifferentiator::RowDifferentiator(const scene::Scene& scene)
    : scene_(&scene),
      frozen_(scene.nv(), 0),
      workspace_(scene.collision_world().make_workspace()),
      bodies_(scene.model().bodies().size()),
      Z_{Columns(6, scene.nv()), Columns(6, scene.nv())},
      carried_(6, scene.nv()) {
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) std::fill_n(frozen_.begin() + object.first_v, object.nv, 1);
  }
}

const RowDifferentiator::BodyMotion& RowDifferentiator::body_motion(const Columns& S, int body,
                                                                    const Eigen::VectorXd& delta) {
  BodyMotion& motion = bodies_[body];
  if (motion.is_known) return motion;
  const auto cols = scene_->model().columns(body);
  motion.is_known = true;
  motion.V.setZero();
  motion.D.setZero(6, static_cast<Eigen::Index>(cols.size()));
  for (const int c : cols) {
    const Vector6 part = S.col(c) * delta(c);
    motion.V += part;
    for (const int i : scene_->model().movers(c)) {
      const auto at = std::lower_bound(cols.begin(), cols.end(), i) - cols.begin();
      motion.D.col(at) += cross_twist(S.col(i), part);
    }
  }
  return motion;
}

/// What is known of one contact while its rows and forces are differentiated.
struct RowDifferentiator::ContactTerms {
  const Contact& contact;
  const collision::ContactPair& pair;
  const collision::ContactMotion& motion;
  const std::array<double, 4>& f;  // (f_n, f_t1, f_t2, f_spin)
  std::span<const int> own[2];     // columns of bodies A and B
  Map dp[2];                       // of the points where force and reaction act, by ζ
  Map dt1, dt2;                    // of the tangents, by ζ
  bool follows_axis = false;       // the tangents are those of a patch
  ContactProblemDerivative::ShapeMaps shape;
};

/// The columns of both bodies and their places among those of the contact, and the part of ζ = Z dq that each makes.
void RowDifferentiator::find_columns(const Columns& S, ContactTerms& terms) {
  terms.own[0] = scene_->model().columns(terms.pair.body_a);
  terms.own[1] = scene_->model().columns(terms.pair.body_b);
  const auto& own = terms.own;
  cols_.clear();
  std::set_union(own[0].begin(), own[0].end(), own[1].begin(), own[1].end(), std::back_inserter(cols_));
  for (int x = 0; x < 2; ++x) {
    at_[x].clear();
    for (const int c : own[x])
      at_[x].push_back(static_cast<int>(std::lower_bound(cols_.begin(), cols_.end(), c) - cols_.begin()));
  }
  for (int x = 0; x < 2; ++x) {
    const Vector3d& p = x == 0 ? terms.pair.p_WA : terms.pair.p_WB;
    for (std::size_t c = 0; c < own[x].size(); ++c) {
      auto z = Z_[x].col(static_cast<Eigen::Index>(c));
      z = S.col(own[x][c]);
      z.tail<3>() += z.head<3>().cross(p);
    }
  }
}

/// How the points where forces act and the tangents move with the shapes.
void RowDifferentiator::set_frame_rates(const AssembleOptions& options, ContactTerms& terms) const {
  const Contact& contact = terms.contact;
  const collision::ContactMotion& motion = terms.motion;
  terms.dp[0] = options.midpoint_forces ? Map(0.5 * (motion.dp_A + motion.dp_B)) : motion.dp_A;
  terms.dp[1] = options.midpoint_forces ? terms.dp[0] : motion.dp_B;
  const Vector3d& axis = scene_->spec().friction.ellipsoid_axis;
  Vector3d t1, t2;
  terms.follows_axis =
      contact.patch && scene_->plane() == scene::Plane::kSpace && patch_tangents(contact.n_W, axis, t1, t2);
  Matrix3d T1, T2;
  if (terms.follows_axis)
    patch_tangent_rates(contact.n_W, axis, T1, T2);
  else
    tangent_rates(contact.n_W, scene_->plane(), T1, T2);
  terms.dt1 = T1 * motion.dn;
  terms.dt2 = T2 * motion.dn;
}

/// ∂s of the rows s = φe₁ + E(v_A − v_B) and of the spin n·(ω_A − ω_B), and the maps of the shapes alone.
void RowDifferentiator::add_rows(int rows, const BodyMotion& A, const BodyMotion& B, ContactTerms& terms,
                                 ContactProblemDerivative& out) const {
  const Contact& contact = terms.contact;
  const std::array<double, 4>& f = terms.f;
  const Map &dn = terms.motion.dn, &dt1 = terms.dt1, &dt2 = terms.dt2;
  ContactProblemDerivative::ShapeMaps& shape = terms.shape;
  const Vector3d u = velocity_at(A.V, contact.p_WA) - velocity_at(B.V, contact.p_WB), w = A.V.head<3>() - B.V.head<3>();
  const Map du = skew(A.V.head<3>()) * terms.dp[0] - skew(B.V.head<3>()) * terms.dp[1];
  shape.ds.row(0) = terms.motion.dgap + contact.n_W.transpose() * du + u.transpose() * dn;
  shape.ds.row(1) = contact.t1_W.transpose() * du + u.transpose() * dt1;
  if (rows > 2) shape.ds.row(2) = contact.t2_W.transpose() * du + u.transpose() * dt2;
  if (rows > 3) shape.ds.row(3) = w.transpose() * dn;
  shape.turn = f[0] * dn + f[1] * dt1 + f[2] * dt2;
  RowBlocks::Block ds = out.ds.append(rows, cols_);
  for (int x = 0; x < 2; ++x) {
    const double sign = x == 0 ? 1.0 : -1.0;
    const Columns& D = x == 0 ? A.D : B.D;
    const Vector3d& p = x == 0 ? contact.p_WA : contact.p_WB;
    for (std::size_t c = 0; c < terms.own[x].size(); ++c) {
      const int at = at_[x][c];
      const Vector6 z = Z_[x].col(static_cast<Eigen::Index>(c)), d = sign * D.col(static_cast<Eigen::Index>(c));
      const Vector3d v = d.tail<3>() + d.head<3>().cross(p);
      Eigen::Vector4d column = shape.ds.middleCols<6>(6 * x) * z;
      column +=
          Eigen::Vector4d(contact.n_W.dot(v), contact.t1_W.dot(v), contact.t2_W.dot(v), contact.n_W.dot(d.head<3>()));
      for (int r = 0; r < rows; ++r) ds(r, at) += column(r);
    }
  }
}

/// Slips since the start of the step by q, in ds and in the maps of the shapes, and by q there. Bodies that have turned
/// by R_A and R_B carry points to p_A, p_B, which were at c_X = X₀X₁⁻¹p_X; they slip by m = −H(c_A − c_B), H = ½(R_A +
/// R_B):
///   dc = Rᵀ(dp − ξ₁(p)) + ξ₀(c),   d(Rw) = ω₁ × Rw − R(ω₀ × w) + R dw,   ξ, ω the motions of the body.
void RowDifferentiator::add_slips(const scene::SceneState& state, const scene::SceneState& start, int rows,
                                  ContactTerms& terms, ContactProblemDerivative& out) const {
  const Columns& S_start = scene_->model().spatial_columns(start.kinematics);
  const Contact& contact = terms.contact;
  const int body[2] = {terms.pair.body_a, terms.pair.body_b};
  const Vector3d p[2] = {contact.p_WA, contact.p_WB}, witness[2] = {terms.pair.p_WA, terms.pair.p_WB};
  Matrix3d R[2];
  Vector3d c[2];
  for (int x = 0; x < 2; ++x) {
    const RigidTransform &X_1 = state.X_WB()[body[x]], &X_0 = start.X_WB()[body[x]];
    R[x] = X_1.linear() * X_0.linear().transpose();
    c[x] = X_0 * (X_1.inverse() * p[x]);
  }
  const Vector3d apart = c[0] - c[1];
  const Matrix3d H = 0.5 * (R[0] + R[1]), E = R[0] * R[1].transpose();
  const Vector3d turn = log_so3(E), moved = -H * apart;
  const Vector3d n_turn = left_jacobian_so3(turn).inverse().transpose() * contact.n_W;
  const Map by_points = -H * (R[0].transpose() * terms.dp[0] - R[1].transpose() * terms.dp[1]);
  Eigen::Matrix<double, 4, 12> shape = Eigen::Matrix<double, 4, 12>::Zero();
  shape.row(1) = contact.t1_W.transpose() * by_points + moved.transpose() * terms.dt1;
  shape.row(2) = contact.t2_W.transpose() * by_points + moved.transpose() * terms.dt2;
  shape.row(3) = turn.transpose() * terms.motion.dn;
  terms.shape.ds += shape;
  RowBlocks::Block ds = out.ds.block(out.ds.size() - 1);
  RowBlocks::Block ds_start = out.ds_start.append(rows, cols_);
  const auto in_frame = [&](const Vector3d& shift, const Vector3d& spin) {
    return Eigen::Vector4d(0, contact.t1_W.dot(shift), contact.t2_W.dot(shift), n_turn.dot(spin));
  };
  for (int x = 0; x < 2; ++x) {
    const double sign = x == 0 ? 1.0 : -1.0;
    for (std::size_t k = 0; k < terms.own[x].size(); ++k) {
      const Vector6 z = Z_[x].col(static_cast<Eigen::Index>(k)), s = S_start.col(terms.own[x][k]);
      const Vector3d omega = z.head<3>(), omega_start = s.head<3>();
      const Vector3d end = sign * H * R[x].transpose() * (z.tail<3>() + omega.cross(p[x] - witness[x])) -
                           0.5 * omega.cross(R[x] * apart);
      const Vector3d begin = -sign * H * velocity_at(s, c[x]) + 0.5 * R[x] * omega_start.cross(apart);
      const Eigen::Vector4d by_end =
          shape.middleCols<6>(6 * x) * z + in_frame(end, x == 0 ? omega : Vector3d(-E * omega));
      const Eigen::Vector4d by_start = in_frame(begin, -sign * R[0] * omega_start);
      for (int r = 1; r < rows; ++r) {
        ds(r, at_[x][k]) += by_end(r);
        ds_start(r, at_[x][k]) += by_start(r);
      }
    }
  }
}

/// What the shapes alone do to the contact, and how its force turns; rows for dtau_shape.
void RowDifferentiator::add_shape(const ContactTerms& terms, ContactProblemDerivative& out) const {
  out.shape.push_back(terms.shape);
  out.dtau_shape.append(12, cols_);
  RowBlocks::Block turn = out.turn.append(3, cols_);
  for (int x = 0; x < 2; ++x) {
    for (std::size_t c = 0; c < terms.own[x].size(); ++c) {
      const Vector3d turned = terms.shape.turn.middleCols<6>(6 * x) * Z_[x].col(static_cast<Eigen::Index>(c));
      for (int r = 0; r < 3; ++r) turn(r, at_[x][c]) += turned(r);
    }
  }
}

/// ∂(Jᵀf) with the columns fixed, from the wrenches [p × F + f₄ n; F] about the world origin; these are also added to
/// what every column carries.
void RowDifferentiator::add_forces(const Columns& S, DerivativeParts parts, const ContactTerms& terms,
                                   ContactProblemDerivative& out) {
  const Contact& contact = terms.contact;
  const std::array<double, 4>& f = terms.f;
  const auto& own = terms.own;
  const Vector3d F = f[0] * contact.n_W + f[1] * contact.t1_W + f[2] * contact.t2_W;
  RowBlocks::Block dtau = out.dtau.append(static_cast<int>(cols_.size()), cols_);
  for (int x = 0; x < 2; ++x) {
    const double sign = x == 0 ? 1.0 : -1.0;
    const Vector3d& p = x == 0 ? contact.p_WA : contact.p_WB;
    Map6 wrench;
    wrench.topRows<3>() = sign * (skew(p) * terms.shape.turn - skew(F) * terms.dp[x] + f[3] * terms.motion.dn);
    wrench.bottomRows<3>() = sign * terms.shape.turn;
    Vector6 total;
    total << sign * (p.cross(F) + f[3] * contact.n_W), sign * F;
    for (std::size_t c = 0; c < own[x].size(); ++c) {
      if (frozen_[own[x][c]] != 0) continue;
      const Eigen::Matrix<double, 12, 1> row = wrench.transpose() * S.col(own[x][c]);
      if (parts == DerivativeParts::kAll) {
        RowBlocks::Block dtau_shape = out.dtau_shape.block(out.dtau_shape.size() - 1);
        for (int r = 0; r < 12; ++r) dtau_shape(r, at_[x][c]) += row(r);
      }
      for (int y = 0; y < 2; ++y) {
        for (std::size_t i = 0; i < own[y].size(); ++i)
          dtau(at_[x][c], at_[y][i]) += row.segment<6>(6 * y).dot(Z_[y].col(static_cast<Eigen::Index>(i)));
      }
      carried_.col(own[x][c]) += total;
    }
  }
}

/// What turning columns add: (S_i × S_c)·(wrenches on all that c carries) for every i that moves c.
void RowDifferentiator::add_turning_columns(const Columns& S, int nv, ContactProblemDerivative& out) const {
  for (int c = 0; c < nv; ++c) {
    if (carried_.col(c).isZero(0)) continue;
    for (const int i : scene_->model().movers(c)) {
      out.dtau_columns.push_back({c, i, cross_twist(S.col(i), S.col(c)).dot(carried_.col(c))});
    }
  }
}

void RowDifferentiator::differentiate(const scene::SceneState& state, const AssembleOptions& options,
                                      const ContactProblem& problem, const Eigen::VectorXd& delta,
                                      std::span<const std::array<double, 4>> force, ContactProblemDerivative& out,
                                      DerivativeParts parts, const scene::SceneState* start) {
  if (force.size() != problem.contacts.size() || delta.size() != problem.nv) {
    throw std::invalid_argument(
        "row derivatives: one force per contact and one entry of delta per velocity are needed");
  }
  const Columns& S = scene_->model().spatial_columns(state.kinematics);
  scene_->collision_world().find_motions(state.kinematics.X_WB, state.contacts, workspace_, motions_);
  out.ds.clear();
  out.ds_start.clear();
  out.dtau.clear();
  out.turn.clear();
  out.dtau_shape.clear();
  out.shape.clear();
  out.nonsmooth_points.clear();
  out.frame_ties.clear();
  out.dtau_columns.clear();
  carried_.setZero();
  for (BodyMotion& body : bodies_) body.is_known = false;

  std::size_t found = 0;
  for (std::size_t k = 0; k < problem.contacts.size(); ++k) {
    const Contact& contact = problem.contacts[k];
    while (found < state.contacts.size() && state.contacts[found].id != contact.id) ++found;
    if (found == state.contacts.size())
      throw std::invalid_argument("row derivatives: the state lacks a contact of the problem");
    ContactTerms terms{
        .contact = contact, .pair = state.contacts[found], .motion = motions_[found], .f = force[k], .shape = {}};
    ++found;
    find_columns(S, terms);
    const BodyMotion &A = body_motion(S, terms.pair.body_a, delta), &B = body_motion(S, terms.pair.body_b, delta);
    set_frame_rates(options, terms);
    add_rows(problem.J.rows(static_cast<int>(k)), A, B, terms, out);
    if (start != nullptr) add_slips(state, *start, problem.J.rows(static_cast<int>(k)), terms, out);
    if (parts == DerivativeParts::kAll) add_shape(terms, out);
    add_forces(S, parts, terms, out);
    out.nonsmooth_points.push_back(terms.motion.nonsmooth);
    out.frame_ties.push_back(!terms.follows_axis && scene_->plane() == scene::Plane::kSpace &&
                             has_frame_tie(contact.n_W));
  }
  add_turning_columns(S, problem.nv, out);
}

}  // namespace deft::contact
