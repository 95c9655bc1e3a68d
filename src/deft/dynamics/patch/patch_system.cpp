#include "deft/dynamics/patch/patch_system.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using solvers::mcp::McpJacobian;

// Least scales of residuals: of velocity, as shares of the free motion's and of the bodies' size per step; of length,
// as a share of the bodies' size.
constexpr double kSpeedShare = 1e-4, kWayShare = 1e-6, kLengthShare = 1e-4;

Vector3d vector_at(std::span<const double> z, int i) { return {z[i], z[to_size(i) + 1], z[to_size(i) + 2]}; }
double at(std::span<const double> z, int i) { return z[i]; }
void add_vector(std::span<double> F, int i, const Vector3d& v) {
  for (int k = 0; k < 3; ++k) F[i + k] += v(k);
}
void add(McpJacobian& J, int row, int column, const Matrix3d& block) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) J.add(row + i, column + j, block(i, j));
}
void add_column(McpJacobian& J, int row, int column, const Vector3d& v) {
  for (int i = 0; i < 3; ++i) J.add(row + i, column, v(i));
}
void add_row(McpJacobian& J, int row, int column, const Vector3d& v) {
  for (int j = 0; j < 3; ++j) J.add(row, column + j, v(j));
}

}  // namespace

/// Where the point and the pose of a set depend on unknowns: the point is a − ℓ n (pairs, set B) or a.
struct PatchSystem::SetTerms {
  int body = -1;                       // PatchBody, −1: fixed
  int a = -1, n = -1, ell = -1;        // of the point; n, ell: −1 where it is a itself
  Vector3d normal = Vector3d::Zero();  // value of n
  double distance = 0;                 // value of ℓ
};

/// A contact at one z: its point, frame and impulse p (u, torsion n), and their derivatives by n (0 on planes).
struct PatchSystem::ContactTerms {
  const std::array<double, 3>& e;                          // friction ellipsoid
  double mu = 0;                                           // friction coefficient
  Vector3d a, n, t, o;                                     // point and frame
  Vector3d b = Vector3d::Zero();                           // friction, as a point of the unit ball
  double p = 0;                                            // p_n
  Matrix3d dt = Matrix3d::Zero(), d_o = Matrix3d::Zero();  // ∂t/∂n, ∂o/∂n
  Vector3d u = Vector3d::Zero();                           // n + μ(e_t b_t t + e_o b_o o), the impulse on A per p
  Matrix3d du = Matrix3d::Zero();                          // ∂u/∂n
  double torsion = 0;                                      // μ e_r b_r
};

void PatchSystem::set(const PatchWorld& world, std::span<const PatchState> start, std::span<const double> free_motion,
                      std::span<const int> pairs) {
  world_ = &world;
  start_.assign(start.begin(), start.end());
  free_motion_.assign(free_motion.begin(), free_motion.end());
  const int bodies = static_cast<int>(world.bodies.size());
  frames_.resize(world.bodies.size());
  double speed = 0;
  for (int i = 0; i < bodies; ++i) {
    Frame& f = frames_[i];
    f.R0 = rotation_from_quat_wxyz(start_[i].quat_wxyz);
    f.I_W = f.R0 * world.bodies[i].I_BCm_B * f.R0.transpose();
    speed = std::max(
        {speed, vector_at(free_motion_, 6 * i).norm() * world.length, vector_at(free_motion_, 6 * i + 3).norm()});
  }
  v_scale_ = std::max({world.gravity_W.norm() * world.h, kSpeedShare * speed, kWayShare * world.length / world.h});
  length_scale_ = std::max(v_scale_ * world.h, kLengthShare * world.length);

  size_ = 6 * bodies;
  contacts_.clear();
  for (const int pair : pairs) add_unknowns(pair);
  set_scales();
}

void PatchSystem::add_unknowns(int index) {
  const PatchPair& pair = world_->pairs[index];
  const PatchGeometry &A = world_->geometries[pair.a], &B = world_->geometries[pair.b];
  Layout c;
  c.pair = index;
  c.body_a = A.moving;
  c.body_b = B.moving;
  c.axis = world_->ellipsoid_axis;
  c.origin = start_[c.body_a >= 0 ? c.body_a : c.body_b].p_WC;
  const auto take = [this](int n) { return std::exchange(size_, size_ + n); };
  c.a = take(3);
  if (pair.plane) {
    c.n_W = B.X_BG.linear() * B.set.planes[0].normal;
    c.t_W = patch_tangent(c.n_W, c.axis);
    c.o_W = c.n_W.cross(c.t_W);
  } else {
    c.n = take(3);
    c.ell = take(1);
  }
  c.l_a = take(A.set.count());
  if (!pair.plane) c.l_b = take(B.set.count());
  c.p = take(1);
  if (pair.mu > 0) {
    c.b = take(3);
    c.sigma = take(1);
  }
  contacts_.push_back(c);
}

void PatchSystem::set_scales() {
  const PatchWorld& world = *world_;
  free_.assign(size_, 1);
  variable_scale_.assign(size_, 1.0);
  row_scale_.assign(size_, 1.0);
  for (int i = 0; i < static_cast<int>(world.bodies.size()); ++i) {
    const double p = world.bodies[i].mass * v_scale_;
    for (int k = 0; k < 3; ++k) {
      variable_scale_[6 * i + k] = v_scale_ / world.length;
      variable_scale_[6 * i + 3 + k] = v_scale_;
      row_scale_[6 * i + k] = p * world.length;
      row_scale_[6 * i + 3 + k] = p;
    }
  }
  for (const Layout& c : contacts_) {
    const PatchPair& pair = world.pairs[c.pair];
    const auto fill = [](auto& values, int first, int n, auto value) { std::fill_n(values.begin() + first, n, value); };
    fill(variable_scale_, c.a, 3, length_scale_);
    const int inequalities =
        world.geometries[pair.a].set.count() + (pair.plane ? 0 : world.geometries[pair.b].set.count());
    fill(free_, c.l_a, inequalities, char{0});
    fill(row_scale_, c.l_a, inequalities, length_scale_);
    if (c.ell >= 0) fill(variable_scale_, c.ell, 1, length_scale_);
    double mass = c.body_a >= 0 ? world.bodies[c.body_a].mass : 0;
    if (c.body_b >= 0) mass = mass > 0 ? std::min(mass, world.bodies[c.body_b].mass) : world.bodies[c.body_b].mass;
    free_[c.p] = 0;
    variable_scale_[c.p] = mass * v_scale_;
    row_scale_[c.p] = length_scale_;
    if (c.b >= 0) {
      fill(row_scale_, c.b, 3, v_scale_);
      free_[c.sigma] = 0;
      variable_scale_[c.sigma] = v_scale_;
    }
  }
}

void PatchSystem::choose_axis(int contact, const Vector3d& n_W) {
  Vector3d& axis = contacts_[contact].axis;
  axis = world_->ellipsoid_axis;
  patch_tangent(n_W, axis);
}

void PatchSystem::move(std::span<const double> z) {
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    Frame& f = frames_[i];
    f.omega = vector_at(z, static_cast<int>(6 * i));
    f.v = vector_at(z, static_cast<int>(6 * i) + 3);
    f.R = turn(f.omega, world_->h) * f.R0;
    f.T = turn_jacobian(f.omega, world_->h);
  }
}

bool PatchSystem::evaluate(std::span<const double> z, std::span<double> F, McpJacobian* J) {
  move(z);
  std::fill(F.begin(), F.end(), 0.0);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    const int w = static_cast<int>(6 * i), v = w + 3;
    const double mass = world_->bodies[i].mass;
    add_vector(F, w, frames_[i].I_W * (frames_[i].omega - vector_at(free_motion_, w)));
    add_vector(F, v, mass * (frames_[i].v - vector_at(free_motion_, v)));
    if (J != nullptr) {
      add(*J, w, w, frames_[i].I_W);
      add(*J, v, v, mass * Matrix3d::Identity());
    }
  }
  for (const Layout& c : contacts_) add_contact(c, z, F, J);
  return true;
}

void PatchSystem::add_set(const PatchGeometry& geometry, int row_gradient, double sign, int first_l,
                          const Vector3d& origin, const Vector3d& point, std::span<const double> z, std::span<double> F,
                          McpJacobian* J, const SetTerms& terms) const {
  // sign Σ l_i ∇f_i(point) goes to the rows `row_gradient`, −f_i(point) to the rows of l_i.
  Matrix3d R_WG = geometry.X_BG.linear();
  Vector3d p_WG = geometry.X_BG.translation() - origin;
  const Frame* frame = nullptr;
  Vector3d rho = Vector3d::Zero();
  if (terms.body >= 0) {
    frame = &frames_[terms.body];
    R_WG = frame->R * R_WG;
    const Vector3d c = centre(terms.body, origin);
    p_WG = c + frame->R * (geometry.X_BG.translation() - world_->bodies[terms.body].p_BC);
    rho = point - c;
  }
  const Vector3d x = R_WG.transpose() * (point - p_WG);
  for (int i = 0; i < geometry.set.count(); ++i) {
    const double l = at(z, first_l + i), value = geometry.set.value(i, x);
    const Vector3d g = R_WG * geometry.set.gradient(i, x);
    F[first_l + i] -= value;
    add_vector(F, row_gradient, sign * l * g);
    if (J == nullptr) continue;

    // d value = gᵀ(dpoint − dc − δθ × ρ);  d g = δθ × g + H (dpoint − dc − δθ × ρ), c and θ the pose at the end.
    const bool quadric = geometry.set.is_quadric(i);
    const Matrix3d H = quadric
                           ? Matrix3d(geometry.set.size * R_WG * geometry.set.curvature.asDiagonal() * R_WG.transpose())
                           : Matrix3d::Zero();
    add_column(*J, row_gradient, first_l + i, sign * g);
    add_row(*J, first_l + i, terms.a, -g);
    if (quadric) add(*J, row_gradient, terms.a, sign * l * H);
    if (terms.n >= 0) {
      add_row(*J, first_l + i, terms.n, terms.distance * g);
      J->add(first_l + i, terms.ell, g.dot(terms.normal));
      if (quadric) {
        add(*J, row_gradient, terms.n, -sign * l * terms.distance * H);
        add_column(*J, row_gradient, terms.ell, -sign * l * (H * terms.normal));
      }
    }
    if (frame == nullptr) continue;
    const PoseColumns pose = pose_columns(terms.body);
    add_row(*J, first_l + i, pose.centre, pose.h * g);
    add_row(*J, first_l + i, pose.turn, pose.T.transpose() * rho.cross(g));
    add(*J, row_gradient, pose.turn, sign * l * (H * skew(rho) - skew(g)) * pose.T);
    if (quadric) add(*J, row_gradient, pose.centre, -sign * l * pose.h * H);
  }
}

void PatchSystem::add_contact(const Layout& c, std::span<const double> z, std::span<double> F, McpJacobian* J) const {
  const ContactTerms contact = contact_terms(c, z);
  add_geometry(c, contact, z, F, J);
  add_impulse(c, contact, c.body_a, 1.0, F, J);
  add_impulse(c, contact, c.body_b, -1.0, F, J);
  if (c.b >= 0) add_friction(c, contact, at(z, c.sigma), F, J);
}

PatchSystem::ContactTerms PatchSystem::contact_terms(const Layout& c, std::span<const double> z) const {
  const PatchPair& pair = world_->pairs[c.pair];
  const auto& e = pair.ellipsoid;
  const double mu = pair.mu;
  ContactTerms out{.e = e, .mu = mu, .a = vector_at(z, c.a), .n = c.n_W, .t = c.t_W, .o = c.o_W, .p = at(z, c.p)};
  if (!pair.plane) out.n = vector_at(z, c.n);
  if (c.b >= 0) {
    out.b = vector_at(z, c.b);
    if (!pair.plane) {
      const Vector3d& n = out.n;
      const Vector3d along = c.axis - c.axis.dot(n) * n;
      out.t = along.normalized();
      out.o = n.cross(out.t);
      out.dt = -(Matrix3d::Identity() - out.t * out.t.transpose()) / along.norm() *
               (n * c.axis.transpose() + c.axis.dot(n) * Matrix3d::Identity());
      out.d_o = -skew(out.t) + skew(n) * out.dt;
    }
  }
  out.u = out.n + mu * (e[0] * out.b(0) * out.t + e[1] * out.b(1) * out.o);
  out.du = Matrix3d::Identity() + mu * (e[0] * out.b(0) * out.dt + e[1] * out.b(1) * out.d_o);
  out.torsion = mu * e[2] * out.b(2);
  return out;
}

/// Rows of a (the normal cone of A), of n and ℓ (that of B, the length of n), of the multipliers, and the gap.
void PatchSystem::add_geometry(const Layout& c, const ContactTerms& contact, std::span<const double> z,
                               std::span<double> F, McpJacobian* J) const {
  const PatchPair& pair = world_->pairs[c.pair];
  const PatchGeometry &A = world_->geometries[pair.a], &B = world_->geometries[pair.b];
  const Vector3d &a = contact.a, &n = contact.n;
  add_vector(F, c.a, n);
  add_set(A, c.a, 1.0, c.l_a, c.origin, a, z, F, J, {.body = c.body_a, .a = c.a});
  if (pair.plane) {
    // A moving plane does not exist: B is fixed.
    F[c.p] += n.dot(a) + (n.dot(c.origin - B.X_BG.translation()) - B.set.planes[0].offset);
    if (J != nullptr) add_row(*J, c.p, c.a, n);
    return;
  }
  const double ell = at(z, c.ell);
  add_vector(F, c.n, n);
  add_set(B, c.n, -1.0, c.l_b, c.origin, a - ell * n, z, F, J,
          {.body = c.body_b, .a = c.a, .n = c.n, .ell = c.ell, .normal = n, .distance = ell});
  F[c.ell] += 0.5 * (n.squaredNorm() - 1);
  F[c.p] += ell;
  if (J == nullptr) return;
  add(*J, c.a, c.n, Matrix3d::Identity());
  add(*J, c.n, c.n, Matrix3d::Identity());
  add_row(*J, c.ell, c.n, n);
  J->add(c.p, c.ell, 1.0);
}

/// The impulse on a body, sign (p u, and ρ × p u + p w n about its centre), in the balance of its velocities.
void PatchSystem::add_impulse(const Layout& c, const ContactTerms& contact, int body, double sign, std::span<double> F,
                              McpJacobian* J) const {
  if (body < 0) return;
  const auto& e = contact.e;
  const double mu = contact.mu, p = contact.p, torsion = contact.torsion;
  const Vector3d &n = contact.n, &t = contact.t, &o = contact.o, &u = contact.u;
  const Vector3d rho = contact.a - centre(body, c.origin);
  const int w = 6 * body, v = w + 3;
  add_vector(F, w, -sign * p * (rho.cross(u) + torsion * n));
  add_vector(F, v, -sign * p * u);
  if (J == nullptr) return;
  const Matrix3d R = skew(rho), U = skew(u);
  add_column(*J, w, c.p, -sign * (rho.cross(u) + torsion * n));
  add_column(*J, v, c.p, -sign * u);
  add(*J, w, c.a, sign * p * U);
  const PoseColumns pose = pose_columns(body);
  add(*J, w, pose.centre, -sign * p * pose.h * U);
  if (c.n >= 0) {
    add(*J, w, c.n, -sign * p * (R * contact.du + torsion * Matrix3d::Identity()));
    add(*J, v, c.n, -sign * p * contact.du);
  }
  if (c.b >= 0) {
    add_column(*J, w, c.b, -sign * p * mu * e[0] * rho.cross(t));
    add_column(*J, w, c.b + 1, -sign * p * mu * e[1] * rho.cross(o));
    add_column(*J, w, c.b + 2, -sign * p * mu * e[2] * n);
    add_column(*J, v, c.b, -sign * p * mu * e[0] * t);
    add_column(*J, v, c.b + 1, -sign * p * mu * e[1] * o);
  }
}

/// Rows of b and σ: E Wᵀν⁺ + σ b = 0, 1 − |b|² ≥ 0.
void PatchSystem::add_friction(const Layout& c, const ContactTerms& contact, double sigma, std::span<double> F,
                               McpJacobian* J) const {
  const auto& e = contact.e;
  const Vector3d &n = contact.n, &t = contact.t, &o = contact.o, &b = contact.b;
  Vector3d V = Vector3d::Zero(), spin = Vector3d::Zero();  // of A against B at the point
  const auto slide = [&](int body, double sign) {
    if (body < 0) return;
    const Frame& f = frames_[body];
    const Vector3d rho = contact.a - centre(body, c.origin);
    V += sign * (f.v + f.omega.cross(rho));
    spin += sign * f.omega;
    if (J == nullptr) return;
    const int w = 6 * body, v = w + 3;
    const PoseColumns pose = pose_columns(body);
    const std::array<Vector3d, 2> axes{e[0] * t, e[1] * o};
    for (int k = 0; k < 2; ++k) {
      const Vector3d& d = axes[k];
      add_row(*J, c.b + k, v, sign * d);
      add_row(*J, c.b + k, pose.centre, -sign * pose.h * d.cross(f.omega));
      add_row(*J, c.b + k, w, sign * rho.cross(d));
      add_row(*J, c.b + k, c.a, sign * d.cross(f.omega));
    }
    add_row(*J, c.b + 2, w, sign * e[2] * n);
  };
  slide(c.body_a, 1.0);
  slide(c.body_b, -1.0);
  add_vector(F, c.b, Vector3d(e[0] * t.dot(V), e[1] * o.dot(V), e[2] * n.dot(spin)) + sigma * b);
  F[c.sigma] += 1 - b.squaredNorm();
  if (J == nullptr) return;
  if (c.n >= 0) {
    add_row(*J, c.b, c.n, e[0] * (contact.dt.transpose() * V));
    add_row(*J, c.b + 1, c.n, e[1] * (contact.d_o.transpose() * V));
    add_row(*J, c.b + 2, c.n, e[2] * spin);
  }
  add(*J, c.b, c.b, sigma * Matrix3d::Identity());
  add_column(*J, c.b, c.sigma, b);
  add_row(*J, c.sigma, c.b, -2 * b);
}

PatchSystem::PoseColumns PatchSystem::pose_columns(int body) const {
  if (poses_apart_)
    return {.turn = size_ + 6 * body, .centre = size_ + 6 * body + 3, .T = Matrix3d::Identity(), .h = 1};
  return {.turn = 6 * body, .centre = 6 * body + 3, .T = frames_[body].T, .h = world_->h};
}

void PatchSystem::start_derivative(std::span<const double> z, Eigen::MatrixXd& dF) {
  // ∂F by the pose at the end, from the same code with columns of its own.
  const int bodies = static_cast<int>(frames_.size()), columns = size_ + 6 * bodies;
  std::vector<double> F(size_), dense(to_size(size_) * to_size(columns), 0.0);
  McpJacobian J(dense.data(), columns, nullptr);
  poses_apart_ = true;
  evaluate(z, F, &J);
  poses_apart_ = false;
  const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> all(dense.data(),
                                                                                                     size_, columns);
  dF.setZero(size_, 18 * bodies);
  for (int i = 0; i < bodies; ++i) {
    const Frame& f = frames_[i];
    const int first = 18 * i, w = 6 * i, v = w + 3;
    dF.middleCols<3>(first) = all.middleCols<3>(size_ + w) * turn(f.omega, world_->h);
    dF.middleCols<3>(first + 3) = all.middleCols<3>(size_ + v);
    // The rows I(ω⁺ − ω) + h ω × Iω − angular impulse and m(v⁺ − v − h g) − linear impulse.
    const Vector3d omega = start_[i].omega_W, I_omega = f.I_W * omega, y = f.omega - omega;
    const auto turned = [&f](const Vector3d& x) -> Matrix3d { return f.I_W * skew(x) - skew(f.I_W * x); };  // d(I x) by
                                                                                                            // θ, x
                                                                                                            // fixed
    const Spin spin = free_spin(f.I_W, omega, world_->h);
    if (spin.implicit) {
      // I(ω⁺ − ω') − angular impulse, with (I − turnᵀ[Iω]T) dω' = turnᵀ d(Iω) − dI ω'.
      const Matrix3d back = turn(spin.omega, world_->h).transpose();
      const Eigen::PartialPivLU<Matrix3d> inner(f.I_W - back * skew(I_omega) * turn_jacobian(spin.omega, world_->h));
      dF.block<3, 3>(w, first) +=
          turned(f.omega - spin.omega) - f.I_W * inner.solve(back * turned(omega) - turned(spin.omega));
      dF.block<3, 3>(w, first + 6) = -f.I_W * inner.solve(back * f.I_W);
    } else {
      dF.block<3, 3>(w, first) += turned(y) + world_->h * skew(omega) * turned(omega);
      dF.block<3, 3>(w, first + 6) = -f.I_W + world_->h * (skew(omega) * f.I_W - skew(I_omega));
    }
    dF.block<3, 3>(v, first + 9) = -world_->bodies[i].mass * Matrix3d::Identity();
    dF.block<3, 3>(w, first + 12) = -Matrix3d::Identity();
    dF.block<3, 3>(v, first + 15) = -Matrix3d::Identity();
  }
}

void PatchSystem::unpack(int contact, std::span<const double> z, PatchContact& out) const {
  const Layout& c = contacts_[contact];
  const PatchPair& pair = world_->pairs[c.pair];
  const PatchGeometry& B = world_->geometries[pair.b];
  out.pair = c.pair;
  out.body_a = world_->geometries[pair.a].body;
  out.body_b = B.body;
  out.mu = pair.mu;
  out.point_W = c.origin + vector_at(z, c.a);
  out.n_W = c.n_W;
  out.t_W = c.t_W;
  out.o_W = c.o_W;
  if (pair.plane) {
    out.gap = out.n_W.dot(vector_at(z, c.a)) + (out.n_W.dot(c.origin - B.X_BG.translation()) - B.set.planes[0].offset);
    out.point_W -= 0.5 * out.gap * out.n_W;
  } else {
    out.n_W = vector_at(z, c.n);
    Vector3d axis = c.axis;
    out.t_W = patch_tangent(out.n_W, axis);
    out.o_W = out.n_W.cross(out.t_W);
    out.gap = at(z, c.ell);
    out.point_W -= 0.5 * out.gap * out.n_W;
  }
  out.p_n = at(z, c.p);
  out.p_f.setZero();
  out.sigma = c.sigma >= 0 ? at(z, c.sigma) : 0.0;
  if (c.b >= 0)
    for (int k = 0; k < 3; ++k) out.p_f(k) = pair.mu * out.p_n * pair.ellipsoid[k] * at(z, c.b + k);
  Vector3d V = Vector3d::Zero(), spin = Vector3d::Zero();
  const auto add_motion = [&](int body, double sign) {
    if (body < 0) return;
    const Vector3d omega = vector_at(z, 6 * body), v = vector_at(z, 6 * body + 3);
    V += sign * (v + omega.cross(vector_at(z, c.a) - (start_[body].p_WC - c.origin) - world_->h * v));
    spin += sign * omega;
  };
  add_motion(c.body_a, 1.0);
  add_motion(c.body_b, -1.0);
  out.slip = {out.t_W.dot(V), out.o_W.dot(V), out.n_W.dot(spin)};
  const auto copy = [&](std::vector<double>& l, int first, int n) {
    l.assign(z.begin() + first, z.begin() + first + n);
  };
  copy(out.l_a, c.l_a, world_->geometries[pair.a].set.count());
  out.l_b.clear();
  if (!pair.plane) copy(out.l_b, c.l_b, B.set.count());
}

}  // namespace deft::dynamics
