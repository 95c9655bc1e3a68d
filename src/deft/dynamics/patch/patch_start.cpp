#include "deft/dynamics/patch/patch_start.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr int kSweeps = 60;
constexpr double kFar = 0.1;           // of the sizes: pairs whose bounding spheres are farther apart get that distance
constexpr double kSticking = 0.99;     // share of the friction ellipsoid below which a contact is taken to stick
constexpr double kMostSticking = 0.9;  // share of the ellipsoid that an impact that sticks is given at most
constexpr double kLeastApproach = 0.1;   // of the velocity scale, which an impact stops at least
constexpr double kLeastDirection = 0.1;  // length of a blurred direction below which it has none
constexpr double kReach = 3;             // ways of the free motion over a step within which points are near
constexpr double kFaceReach = 0.01;  // of the bodies' size: faces within it of the centre of pressure may carry load

Vector3d three(std::span<const double> x, int first) {
  return {x[first], x[to_size(first) + 1], x[to_size(first) + 2]};
}
void put(std::vector<double>& x, int first, const Vector3d& v) { std::copy_n(v.data(), 3, x.begin() + first); }
double& at(std::vector<double>& x, int i) { return x[i]; }

const PatchPair& pair_of(const PatchSystem& system, int contact) {
  return system.world().pairs[system.contacts()[contact].pair];
}

/// The PatchBody of A (side 0) or B (side 1); −1: fixed.
int body_on(const PatchSystem::Layout& c, int side) { return side == 0 ? c.body_a : c.body_b; }

/// Tangents of a contact with normal n.
struct Tangents { Vector3d t, o; };

Tangents tangents_of(const PatchSystem::Layout& c, const Vector3d& n) {
  Vector3d axis = c.axis;
  const Vector3d t = c.n >= 0 ? patch_tangent(n, axis) : c.t_W;
  return {t, n.cross(t)};
}

/// Velocity and spin of A against B.
struct RelativeMotion { Vector3d velocity = Vector3d::Zero(), spin = Vector3d::Zero(); };

/// Of the material points of A and B at the ends of `arms`, under velocities ν (6 per body).
RelativeMotion relative_motion(const PatchSystem::Layout& c, const std::array<Vector3d, 2>& arms,
                               std::span<const double> nu) {
  RelativeMotion motion;
  for (const int side : {0, 1}) {
    const int body = body_on(c, side);
    if (body < 0) continue;
    const double sign = side == 0 ? 1.0 : -1.0;
    motion.velocity += sign * (three(nu, 6 * body + 3) + three(nu, 6 * body).cross(arms[side]));
    motion.spin += sign * three(nu, 6 * body);
  }
  return motion;
}

/// Slip in the measure of the friction ellipsoid: E (v_t, v_o, v_r).
Vector3d scaled_slip(const PatchPair& pair, const Vector3d& n, const Vector3d& t, const Vector3d& o,
                     const RelativeMotion& motion) {
  const auto& e = pair.ellipsoid;
  return {e[0] * t.dot(motion.velocity), e[1] * o.dot(motion.velocity), e[2] * n.dot(motion.spin)};
}

/// The lowest point of a set over a plane with normal n, blurred: the middle of the vertices within `blur` of the
/// lowest; of curved sets the lowest point as if tilts below the blur were none, the middle of a cap or of a side.
/// `lowest` where there is none.
Vector3d blurred_lowest(const PatchGeometry& geometry, const RigidTransform& X_WG, const Vector3d& n, double blur,
                        const Vector3d& lowest) {
  Vector3d down = -(X_WG.linear().transpose() * n);
  if (geometry.set.vertices.empty()) {
    for (int i = 0; i < 3; ++i)
      if (std::abs(down(i)) * geometry.set.radius < blur) down(i) = 0;
    return down.norm() > kLeastDirection ? Vector3d(X_WG * geometry.set.support(down)) : lowest;
  }
  const double depth = down.dot(geometry.set.support(down));
  Vector3d sum = Vector3d::Zero();
  int count = 0;
  for (const Vector3d& v : geometry.set.vertices) {
    if (down.dot(v) < depth - blur) continue;
    sum += v;
    ++count;
  }
  return count > 0 ? Vector3d(X_WG * (sum / count)) : lowest;
}

}  // namespace

PatchStarts::PatchStarts(const PatchWorld& world) : world_(&world), memory_(world.pairs.size()) {
  const std::size_t n = world.geometries.size();
  pair_of_.assign(n * n, -1);
  for (std::size_t k = 0; k < world.pairs.size(); ++k) {
    const std::size_t a = to_size(world.pairs[k].a), b = to_size(world.pairs[k].b);
    pair_of_[a * n + b] = pair_of_[b * n + a] = static_cast<int>(k);
  }
}

void PatchStarts::forget() {
  for (Memory& m : memory_) m.loaded = false;
}

void PatchStarts::place(std::span<const PatchState> start, std::span<const double> nu,
                        std::vector<RigidTransform>& X_WB) const {
  X_WB.resize(world_->links.size());
  for (std::size_t k = 0; k < X_WB.size(); ++k) {
    const PatchLink& link = world_->links[k];
    X_WB[k] = link.X;
    if (link.moving < 0) continue;
    const PatchState& s = start[link.moving];
    const Matrix3d R = turn(three(nu, 6 * link.moving), world_->h) * rotation_from_quat_wxyz(s.quat_wxyz);
    X_WB[k] =
        make_transform(R, s.p_WC + world_->h * three(nu, 6 * link.moving + 3) - R * world_->bodies[link.moving].p_BC) *
        link.X;
  }
}

double PatchStarts::distance(int index, std::span<const RigidTransform> X_WB, Vector3d& n, Vector3d& point) const {
  const PatchPair& pair = world_->pairs[index];
  const PatchGeometry &A = world_->geometries[pair.a], &B = world_->geometries[pair.b];
  const RigidTransform X_AG = X_WB[A.body] * world_->collision->pose_in_body(pair.a);
  if (pair.plane) {
    n = B.X_BG.linear() * B.set.planes[0].normal;
    point = X_AG * A.set.support(-(X_AG.linear().transpose() * n));
    return n.dot(point - B.X_BG.translation()) - B.set.planes[0].offset;
  }
  const Vector3d apart = X_AG.translation() - X_WB[B.body] * world_->collision->pose_in_body(pair.b).translation();
  const double bound = apart.norm() - A.set.radius - B.set.radius;
  if (bound > kFar * (A.set.radius + B.set.radius)) {
    n = apart.normalized();
    point = X_AG.translation() - (A.set.radius + 0.5 * bound) * n;
    return bound;
  }
  const collision::ContactPair found = world_->collision->signed_distance(pair.a, pair.b, X_WB);
  n = (found.geometry_a == pair.a ? 1.0 : -1.0) * found.nhat_BA_W;
  point = 0.5 * (found.p_WA + found.p_WB);
  return found.gap;
}

void PatchStarts::make(const InitialGuess& guess, PatchSystem& system, std::span<const double> free_motion,
                       std::vector<double>& z) {
  z.assign(system.size(), 0.0);
  std::copy(free_motion.begin(), free_motion.end(), z.begin());
  const int contacts = static_cast<int>(system.contacts().size());
  if (guess.from == InitialGuess::From::kSweeps) {
    sweep(system, free_motion, z);
  } else {
    place(system.start(), free_motion, X_WB_);
    bool all_loaded = true;
    for (int k = 0; k < contacts; ++k) {
      const int pair = system.contacts()[k].pair;
      if (guess.from == InitialGuess::From::kLast && was_loaded(pair)) continue;
      all_loaded = false;
      impact(guess, system, k, free_motion, z);
    }
    for (int k = 0; k < contacts; ++k)
      if (guess.from == InitialGuess::From::kLast && was_loaded(system.contacts()[k].pair)) recall(system, k, z);
    if (guess.from == InitialGuess::From::kLast && all_loaded) {
      for (std::size_t i = 0; i < system.start().size(); ++i) {
        put(z, static_cast<int>(6 * i), system.start()[i].omega_W);
        put(z, static_cast<int>(6 * i) + 3, system.start()[i].v_WC);
      }
    }
  }
  if (guess.at_rest) std::fill_n(z.begin(), free_motion.size(), 0.0);
}

void PatchStarts::recall(PatchSystem& system, int contact, std::vector<double>& z) const {
  const PatchSystem::Layout& c = system.contacts()[contact];
  const Memory& memory = memory_[c.pair];
  const PatchState& s = system.start()[c.body_a >= 0 ? c.body_a : c.body_b];
  put(z, c.a, world_->h * s.v_WC + memory.rho);
  if (c.n >= 0) {
    system.choose_axis(contact, memory.n);
    put(z, c.n, memory.n);
    at(z, c.ell) = memory.ell;
  }
  std::copy(memory.l.begin(), memory.l.end(), z.begin() + c.l_a);
  at(z, c.p) = memory.p;
  if (c.b < 0) return;
  put(z, c.b, memory.b);
  at(z, c.sigma) = memory.sigma;
}

void PatchStarts::touch(PatchSystem& system, int contact, const Vector3d& n, const Vector3d& point, double gap,
                        double reach, std::span<const RigidTransform> X_WB, std::vector<double>& z) const {
  // The point on A, the normal and both normal cones.
  const PatchSystem::Layout& c = system.contacts()[contact];
  const PatchPair& pair = pair_of(system, contact);
  const PatchGeometry &A = world_->geometries[pair.a], &B = world_->geometries[pair.b];
  const RigidTransform X_AG = X_WB[A.body] * world_->collision->pose_in_body(pair.a);
  const RigidTransform X_BG = X_WB[B.body] * world_->collision->pose_in_body(pair.b);
  const double apart = std::max(gap, 0.0);
  put(z, c.a, point - c.origin + (c.n >= 0 ? 0.5 * apart : 0.0) * n);
  if (c.n >= 0) {
    put(z, c.n, n);
    at(z, c.ell) = apart;
  }
  reach += std::max(std::abs(gap), 1e-6 * A.set.radius);
  A.set.normal_cone(X_AG.inverse() * point, -(X_AG.linear().transpose() * n), reach, &at(z, c.l_a));
  if (c.l_b >= 0) B.set.normal_cone(X_BG.inverse() * point, X_BG.linear().transpose() * n, reach, &at(z, c.l_b));
}

void PatchStarts::impact(const InitialGuess& guess, PatchSystem& system, int contact,
                         std::span<const double> free_motion, std::vector<double>& z) {
  const PatchSystem::Layout& c = system.contacts()[contact];
  const PatchPair& pair = pair_of(system, contact);
  const PatchGeometry& A = world_->geometries[pair.a];
  Vector3d n, point;
  const double gap = distance(c.pair, X_WB_, n, point);
  if (guess.blur > 0 && pair.plane)
    point = blurred_lowest(A, X_WB_[A.body] * world_->collision->pose_in_body(pair.a), n, guess.blur, point);
  if (c.n >= 0) system.choose_axis(contact, n);
  touch(system, contact, n, point, gap, guess.blur, X_WB_, z);

  // From the centres of mass of A and B at the end of the free motion.
  std::array<Vector3d, 2> arms{Vector3d::Zero(), Vector3d::Zero()};
  Matrix3d K = Matrix3d::Zero();  // velocity of the point per impulse
  for (const int side : {0, 1}) {
    const int body = body_on(c, side);
    if (body < 0) continue;
    arms[side] = point - (system.start()[body].p_WC + world_->h * three(free_motion, 6 * body + 3));
    const Matrix3d R = skew(arms[side]);
    K += Matrix3d::Identity() / world_->bodies[body].mass - R * ldlt_solve(system.inertia_W(body), R);
  }
  const double p = std::max(-gap / world_->h, kLeastApproach * system.velocity_scale()) / n.dot(K * n);
  at(z, c.p) = p;
  Vector3d force = p * n;
  if (c.b >= 0) {
    const auto [t, o] = tangents_of(c, n);
    const auto& e = pair.ellipsoid;
    const Vector3d w = scaled_slip(pair, n, t, o, relative_motion(c, arms, free_motion));
    const double stops = w.norm() / (p * pair.mu * n.dot(K * n));  // share of the ellipsoid that would stop it
    const bool slides = stops > 1 && !guess.stick;
    Vector3d b = Vector3d::Zero();
    if (w.norm() > 0) b = -w / w.norm() * (slides ? 1.0 : std::min(kMostSticking, stops));
    put(z, c.b, b);
    at(z, c.sigma) = slides ? w.norm() : 0.0;
    force += p * pair.mu * (e[0] * b(0) * t + e[1] * b(1) * o);
  }
  for (const int side : {0, 1}) {
    const int body = body_on(c, side);
    if (body < 0) continue;
    const double sign = side == 0 ? 1.0 : -1.0;
    put(z, 6 * body, three(z, 6 * body) + sign * ldlt_solve(system.inertia_W(body), Vector3d(arms[side].cross(force))));
    put(z, 6 * body + 3, three(z, 6 * body + 3) + sign * force / world_->bodies[body].mass);
  }
}

void PatchStarts::sweep(PatchSystem& system, std::span<const double> free_motion, std::vector<double>& z) {
  find_points(system, free_motion);
  relax_points(system, z);
  // One contact per pair: its centre of pressure at the end of the step.
  place(system.start(), std::span<const double>(z).first(6 * world_->bodies.size()), X_WB_);
  for (int k = 0; k < static_cast<int>(system.contacts().size()); ++k) take_pressure(system, k, z);
}

void PatchStarts::find_points(const PatchSystem& system, std::span<const double> free_motion) {
  const std::size_t bodies = world_->bodies.size();
  const std::vector<double> none(6 * bodies, 0.0);
  place(system.start(), none, X_WB_);
  double reach = 1e-3 * world_->length;
  for (std::size_t i = 0; i < bodies; ++i)
    reach = std::max(reach, kReach * world_->h *
                                (three(free_motion, static_cast<int>(6 * i)).norm() * world_->length +
                                 three(free_motion, static_cast<int>(6 * i) + 3).norm()));
  world_->collision->find_contacts(X_WB_, reach, workspace_, near_);
  inverse_inertia_.resize(bodies);
  for (std::size_t i = 0; i < bodies; ++i) inverse_inertia_[i] = system.inertia_W(static_cast<int>(i)).inverse();
  points_.clear();
  for (const collision::ContactPair& found : near_) {
    const int pair = pair_of_[to_size(found.geometry_a) * world_->geometries.size() + to_size(found.geometry_b)];
    for (int k = 0; pair >= 0 && k < static_cast<int>(system.contacts().size()); ++k)
      if (system.contacts()[k].pair == pair) points_.push_back(make_point(system, k, found));
  }
}

PatchStarts::Point PatchStarts::make_point(const PatchSystem& system, int contact,
                                           const collision::ContactPair& found) const {
  const PatchSystem::Layout& c = system.contacts()[contact];
  Point point;
  point.contact = contact;
  point.bodies = {c.body_a, c.body_b};
  point.n = (found.geometry_a == world_->pairs[c.pair].a ? 1.0 : -1.0) * found.nhat_BA_W;
  Vector3d axis = world_->ellipsoid_axis;
  point.t = patch_tangent(point.n, axis);
  point.o = point.n.cross(point.t);
  point.position = 0.5 * (found.p_WA + found.p_WB);
  point.gap = found.gap;
  for (const int side : {0, 1}) {
    const int body = point.bodies[side];
    if (body < 0) continue;
    Vector3d& r = point.arms[side];
    r = point.position - system.start()[body].p_WC;
    const auto mobility = [&](const Vector3d& d) {
      return 1 / world_->bodies[body].mass + r.cross(d).dot(inverse_inertia_[body] * r.cross(d));
    };
    point.W_n += mobility(point.n);
    point.W_t += std::max(mobility(point.t), mobility(point.o));
  }
  return point;
}

void PatchStarts::push(const Point& point, const Vector3d& impulse, std::vector<double>& z) const {
  for (const int side : {0, 1}) {
    const int body = point.bodies[side];
    if (body < 0) continue;
    const double sign = side == 0 ? 1.0 : -1.0;
    put(z, 6 * body, three(z, 6 * body) + sign * (inverse_inertia_[body] * point.arms[side].cross(impulse)));
    put(z, 6 * body + 3, three(z, 6 * body + 3) + sign / world_->bodies[body].mass * impulse);
  }
}

void PatchStarts::relax_points(const PatchSystem& system, std::vector<double>& z) {
  const double h = world_->h;
  const auto velocity = [&](const Point& point) {
    const auto [a, b] = point.bodies;
    Vector3d V = Vector3d::Zero();
    if (a >= 0) V += three(z, 6 * a + 3) + three(z, 6 * a).cross(point.arms[0]);
    if (b >= 0) V -= three(z, 6 * b + 3) + three(z, 6 * b).cross(point.arms[1]);
    return V;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (Point& point : points_) {
      const PatchPair& pair = pair_of(system, point.contact);
      Vector3d V = velocity(point);
      const double p = std::max(0.0, point.p - (point.n.dot(V) + point.gap / h) / point.W_n);
      push(point, (p - point.p) * point.n, z);
      point.p = p;
      V = velocity(point);
      double f_t = point.f_t - point.t.dot(V) / point.W_t, f_o = point.f_o - point.o.dot(V) / point.W_t;
      const double size = std::hypot(f_t / pair.ellipsoid[0], f_o / pair.ellipsoid[1]);
      if (size > pair.mu * p) {
        f_t *= pair.mu * p / size;
        f_o *= pair.mu * p / size;
      }
      push(point, (f_t - point.f_t) * point.t + (f_o - point.f_o) * point.o, z);
      point.f_t = f_t;
      point.f_o = f_o;
    }
  }
}

PatchStarts::Pressure PatchStarts::sum_points(int contact) const {
  Pressure sum;
  for (const Point& point : points_) {
    if (point.contact != contact || !(point.p > 0)) continue;
    const Vector3d f = point.f_t * point.t + point.f_o * point.o;
    sum.p += point.p;
    sum.centre += point.p * point.position;
    sum.normal += point.p * point.n;
    sum.friction += f;
    sum.moment += point.position.cross(f);
  }
  if (sum.p > 0) sum.centre /= sum.p;
  return sum;
}

void PatchStarts::take_pressure(PatchSystem& system, int contact, std::vector<double>& z) {
  const PatchSystem::Layout& c = system.contacts()[contact];
  const PatchPair& pair = pair_of(system, contact);
  const double h = world_->h;
  const Pressure pressure = sum_points(contact);
  const double p = pressure.p;
  Vector3d n, point;
  const double gap = distance(c.pair, X_WB_, n, point);
  if (p > 0) {
    if (c.n >= 0) n = pressure.normal.normalized();
    // Carried along by the body.
    const int carrier = c.body_a >= 0 ? c.body_a : c.body_b;
    const Vector3d omega = three(z, 6 * carrier), v = three(z, 6 * carrier + 3);
    const Vector3d centre = system.start()[carrier].p_WC;
    point = centre + h * v + turn(omega, h) * (pressure.centre - centre);
  }
  if (c.n >= 0) system.choose_axis(contact, n);
  touch(system, contact, n, point, p > 0 ? std::min(gap, 0.0) : gap, kFaceReach * world_->length, X_WB_, z);
  at(z, c.p) = p;
  if (c.b < 0) return;

  const auto [t, o] = tangents_of(c, n);
  std::array<Vector3d, 2> arms{Vector3d::Zero(), Vector3d::Zero()};
  for (const int side : {0, 1})
    if (const int body = body_on(c, side); body >= 0) arms[side] = point - system.start()[body].p_WC;
  const Vector3d w = scaled_slip(pair, n, t, o, relative_motion(c, arms, z));
  const auto& e = pair.ellipsoid;
  Vector3d b = Vector3d::Zero();
  if (p > 0)
    b = Vector3d(t.dot(pressure.friction) / e[0], o.dot(pressure.friction) / e[1],
                 n.dot(pressure.moment - pressure.centre.cross(pressure.friction)) / e[2]) /
        (pair.mu * p);
  else if (w.norm() > 0)
    b = -w / w.norm();
  const bool sticks = b.norm() < kSticking;
  if (!sticks) b.normalize();
  put(z, c.b, b);
  at(z, c.sigma) = sticks ? 0.0 : w.norm();
}

void PatchStarts::remember(const PatchSystem& system, std::span<const double> z) {
  forget();
  for (const PatchSystem::Layout& c : system.contacts()) {
    Memory& m = memory_[c.pair];
    const PatchPair& pair = world_->pairs[c.pair];
    const int carrier = c.body_a >= 0 ? c.body_a : c.body_b;
    m.p = z[c.p];
    m.loaded = m.p > 0;
    m.rho = three(z, c.a) - world_->h * three(z, 6 * carrier + 3);
    if (c.n >= 0) {
      m.n = three(z, c.n);
      m.ell = z[c.ell];
    }
    const int inequalities =
        world_->geometries[pair.a].set.count() + (c.l_b >= 0 ? world_->geometries[pair.b].set.count() : 0);
    m.l.assign(z.begin() + c.l_a, z.begin() + c.l_a + inequalities);
    if (c.b < 0) continue;
    m.b = three(z, c.b);
    m.sigma = z[c.sigma];
  }
}

}  // namespace deft::dynamics
