#include "deft/dynamics/patch/patch_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/dynamics/patch/patch_motion.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kNoLoad = 1e-14;  // of a body's impulses: rounding, from which no point follows

/// Raises `worst` to `value`; NaN counts as infinite.
void worsen(double& worst, double value) {
  worst = std::isnan(value) ? std::numeric_limits<double>::infinity() : std::max(worst, value);
}
void worsen(double& worst, std::initializer_list<double> values) {
  for (const double value : values) worsen(worst, value);
}

RigidTransform geometry_pose(const PatchWorld& world, const PatchGeometry& geometry,
                             std::span<const PatchState> states) {
  if (geometry.moving < 0) return geometry.X_BG;
  const PatchState& s = states[geometry.moving];
  const Matrix3d R = rotation_from_quat_wxyz(s.quat_wxyz);
  const Vector3d p = s.p_WC - R * world.bodies[geometry.moving].p_BC;
  return make_transform(R, p) * geometry.X_BG;
}

/// Residuals of one set at the point: direction + Σ l ∇f = 0 (world), f ≤ 0, l ≥ 0, l f = 0.
void check_set(const PatchGeometry& geometry, const RigidTransform& X_WG, const Vector3d& point_W,
               const Vector3d& direction, std::span<const double> l, double length, PatchCertificate& c) {
  const Vector3d x = X_WG.inverse() * point_W;
  Vector3d rest = direction;
  for (int i = 0; i < geometry.set.count(); ++i) {
    const double li = l[i], f = geometry.set.value(i, x);
    rest += li * (X_WG.linear() * geometry.set.gradient(i, x));
    worsen(c.geometry, {f / length, -li});
    worsen(c.complementarity, std::abs(li * f) / length);
  }
  worsen(c.geometry, rest.norm());
}

/// The motion of a body itself: c⁺ = c + h v⁺, q⁺ ∝ (1, hω⁺/2) ∘ q.
void check_motion(const PatchWorld& world, const PatchState& start, const PatchState& end, PatchCertificate& c) {
  const Vector3d s = 0.5 * world.h * end.omega_W;
  const Eigen::Vector4d q = multiply_quat_wxyz(Eigen::Vector4d(1, s.x(), s.y(), s.z()), start.quat_wxyz).normalized();
  worsen(c.geometry, {(end.p_WC - start.p_WC - world.h * end.v_WC).norm() / world.length,
                      std::min((q - end.quat_wxyz).norm(), (q + end.quat_wxyz).norm())});
}

/// The point on both sets with the normal in both cones, the contact frame, and the penetration.
void check_geometry(const PatchWorld& world, const PatchContact& contact, std::span<const PatchState> end,
                    PatchCertificate& c) {
  const PatchPair& pair = world.pairs[contact.pair];
  const PatchGeometry &A = world.geometries[pair.a], &B = world.geometries[pair.b];
  const Vector3d a1 = contact.point_W + 0.5 * contact.gap * contact.n_W,
                 a2 = contact.point_W - 0.5 * contact.gap * contact.n_W;
  const RigidTransform X_A = geometry_pose(world, A, end), X_B = geometry_pose(world, B, end);
  check_set(A, X_A, a1, contact.n_W, contact.l_a, world.length, c);
  if (pair.plane) {
    Vector3d axis = world.ellipsoid_axis;
    const Vector3d n = X_B.linear() * B.set.planes[0].normal;
    worsen(c.geometry, {(contact.n_W - n).norm(), (contact.t_W - patch_tangent(n, axis)).norm()});
    worsen(c.geometry, std::abs(contact.n_W.dot(a2 - X_B.translation()) - B.set.planes[0].offset) / world.length);
    const Vector3d lowest = X_A * A.set.support(-(X_A.linear().transpose() * contact.n_W));
    worsen(c.penetration_m, B.set.planes[0].offset - contact.n_W.dot(lowest - X_B.translation()));
  } else {
    check_set(B, X_B, a2, -contact.n_W, contact.l_b, world.length, c);
  }
  worsen(c.penetration_m, -contact.gap);
  worsen(c.geometry, {std::abs(contact.n_W.norm() - 1), std::abs(contact.t_W.dot(contact.n_W)),
                      std::abs(contact.t_W.norm() - 1), (contact.o_W - contact.n_W.cross(contact.t_W)).norm()});
}

}  // namespace

double PatchCertificate::max_scaled() const {
  return std::max({newton_euler, geometry, complementarity, friction, proposition});
}

solvers::contact::Certificate as_certificate(const PatchCertificate& patch, double length) {
  solvers::contact::Certificate c;
  c.stationarity = std::max({patch.newton_euler, patch.geometry, patch.friction, patch.proposition});
  c.primal = std::max(0.0, patch.penetration_m) / length;
  c.complementarity = patch.complementarity;
  c.primal_m = std::max(0.0, patch.penetration_m);
  return c;
}

PatchCertificate PatchCertifier::certify(const PatchWorld& world, std::span<const PatchState> start,
                                         std::span<const PatchImpulse> impulses, std::span<const PatchState> end,
                                         std::span<const PatchContact> contacts) {
  PatchCertificate c;
  balances_.assign(world.bodies.size(), {});
  for (std::size_t i = 0; i < balances_.size(); ++i) {
    check_motion(world, start[i], end[i], c);
    start_balance(world, world.bodies[i], start[i], impulses[i], end[i], balances_[i], c);
  }
  for (const PatchContact& contact : contacts) {
    check_geometry(world, contact, end, c);
    check_forces(world, contact, end, c);
  }
  for (const Balance& balance : balances_) {
    const double unit = std::max(balance.unit, balance.force.norm());
    worsen(c.newton_euler, {(balance.force - balance.wanted_force).norm() / unit,
                            (balance.torque - balance.wanted_torque).norm() / (unit * world.length)});
    if (balance.loaded == 1 && balance.contact->p_n > kNoLoad * unit) check_proposition(world, balance, unit, c);
  }
  if (!std::isfinite(c.max_scaled()) || !std::isfinite(c.penetration_m))
    c.newton_euler = c.penetration_m = std::numeric_limits<double>::infinity();
  return c;
}

void PatchCertifier::start_balance(const PatchWorld& world, const PatchBody& body, const PatchState& start,
                                   const PatchImpulse& impulse, const PatchState& end, Balance& at,
                                   PatchCertificate& c) {
  const double v_scale = std::max(world.gravity_W.norm() * world.h, 1e-6 * world.length / world.h);
  const Matrix3d R = rotation_from_quat_wxyz(start.quat_wxyz);
  const Matrix3d I = R * body.I_BCm_B * R.transpose();
  // The spin without contacts: of the source's rule, or one that keeps the angular momentum.
  const Vector3d L = I * start.omega_W;
  const Spin spin = free_spin(I, start.omega_W, world.h);
  const Vector3d rest = spin.implicit ? Vector3d(turn(spin.omega, world.h) * (I * spin.omega) - L)
                                      : Vector3d(I * spin.omega - L + world.h * start.omega_W.cross(L));
  at.wanted_force = body.mass * (end.v_WC - start.v_WC - world.h * world.gravity_W) - impulse.linear_W;
  at.wanted_torque = I * (end.omega_W - spin.omega) - impulse.angular_W;
  worsen(c.newton_euler, rest.norm() / std::max(L.norm(), body.mass * v_scale * world.length));
  at.centre = end.p_WC;
  at.unit = body.mass * v_scale;
}

void PatchCertifier::check_forces(const PatchWorld& world, const PatchContact& contact, std::span<const PatchState> end,
                                  PatchCertificate& c) {
  const PatchPair& pair = world.pairs[contact.pair];
  const PatchGeometry &A = world.geometries[pair.a], &B = world.geometries[pair.b];
  const Vector3d F = contact.p_n * contact.n_W + contact.p_f(0) * contact.t_W + contact.p_f(1) * contact.o_W,
                 M = contact.p_f(2) * contact.n_W;
  double unit = std::numeric_limits<double>::infinity();
  Vector3d V = Vector3d::Zero(), spin = Vector3d::Zero();
  double mass = 0;
  for (const double side : {1.0, -1.0}) {
    const int body = side > 0 ? A.moving : B.moving;
    if (body < 0) continue;
    Balance& at = balances_[body];
    const Vector3d rho = contact.point_W - at.centre;
    at.force += side * F;
    at.torque += side * (rho.cross(F) + M);
    if (contact.p_n > 0) {
      ++at.loaded;
      at.contact = &contact;
      at.side = side;
    }
    V += side * (end[body].v_WC + end[body].omega_W.cross(rho));
    spin += side * end[body].omega_W;
    unit = std::min(unit, at.unit);
    mass = mass > 0 ? std::min(mass, world.bodies[body].mass) : world.bodies[body].mass;
  }
  worsen(c.complementarity, std::abs(std::min(contact.p_n / unit, contact.gap / world.length)));
  // p_f / e = the projection of p_f / e − m E V on the ball of radius μ p_n.
  Vector3d w(contact.t_W.dot(V), contact.o_W.dot(V), contact.n_W.dot(spin)), s = contact.p_f;
  for (int k = 0; k < 3; ++k) {
    w(k) *= pair.ellipsoid[k];
    s(k) /= pair.ellipsoid[k];
  }
  Vector3d projected = s - mass * w;
  const double limit = pair.mu * std::max(contact.p_n, 0.0);
  if (projected.norm() > limit) projected *= limit > 0 ? limit / projected.norm() : 0.0;
  worsen(c.friction, (projected - s).norm() / unit);
}

void PatchCertifier::check_proposition(const PatchWorld& world, const Balance& at, double unit, PatchCertificate& c) {
  const PatchContact& contact = *at.contact;
  const Vector3d A = at.side * at.wanted_force, B = at.side * at.wanted_torque, &n = contact.n_W;
  const Vector3d recomputed(n.dot(A), contact.t_W.dot(A), contact.o_W.dot(A));
  Eigen::Matrix4d D = Eigen::Matrix4d::Zero();
  D.topLeftCorner<3, 3>() = -skew(A);
  D.topRightCorner<3, 1>() = n;
  D.bottomLeftCorner<1, 3>() = n.transpose();
  Eigen::Vector4d right;
  right << B, n.dot(contact.point_W - at.centre);
  const Eigen::Vector4d r = lu_solve(D, right);
  // The point is as good as the forces are: its error counts with the share of the load.
  const double share = std::min(1.0, contact.p_n / unit);
  worsen(c.proposition, {(recomputed - Vector3d(contact.p_n, contact.p_f(0), contact.p_f(1))).norm() / unit,
                         share * (r.head<3>() - (contact.point_W - at.centre)).norm() / world.length,
                         std::abs(r(3) - contact.p_f(2)) / (unit * world.length)});
}

}  // namespace deft::dynamics
