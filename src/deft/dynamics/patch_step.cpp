#include "deft/dynamics/patch_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "deft/core/stopwatch.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kTouching_m = 1e-10;  // a pair that was left out and comes nearer than −this becomes part of the problem

/// Three entries of a vector.
template <typename Index>
Eigen::Map<Vector3d> three(std::vector<double>& x, Index first) {
  return Eigen::Map<Vector3d>(x.data() + first);
}

}  // namespace

PatchStepper::PatchStepper(PatchWorld world) : world_(std::move(world)), solver_(), memory_(world_.pairs.size()) {}

void PatchStepper::forget() {
  for (Memory& m : memory_) m.known = false;
}

void PatchStepper::move_freely(std::span<const PatchState> start, std::span<const PatchImpulse> impulses) {
  free_.resize(6 * start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const PatchBody& body = world_.bodies[i];
    const Matrix3d R = rotation_from_quat_wxyz(start[i].quat_wxyz);
    const Matrix3d I = R * body.I_BCm_B * R.transpose();
    const Vector3d turning = impulses[i].angular_W - world_.h * start[i].omega_W.cross(I * start[i].omega_W);
    three(free_, 6 * i) = start[i].omega_W + I.ldlt().solve(turning);
    three(free_, 6 * i + 3) = start[i].v_WC + world_.h * world_.gravity_W + impulses[i].linear_W / body.mass;
  }
}

void PatchStepper::place(std::span<const double> nu, std::vector<RigidTransform>& X_WB) const {
  X_WB.resize(world_.links.size());
  for (std::size_t k = 0; k < X_WB.size(); ++k) {
    const PatchLink& link = world_.links[k];
    X_WB[k] = link.X;
    if (link.moving < 0) continue;
    const std::size_t i = static_cast<std::size_t>(link.moving);
    const Vector3d omega(nu[6 * i], nu[6 * i + 1], nu[6 * i + 2]), v(nu[6 * i + 3], nu[6 * i + 4], nu[6 * i + 5]);
    const Matrix3d R = turn(omega, world_.h) * rotation_from_quat_wxyz(start_[i].quat_wxyz);
    X_WB[k] = make_transform(R, start_[i].p_WC + world_.h * v - R * world_.bodies[i].p_BC) * link.X;
  }
}

double PatchStepper::distance(int index, std::span<const RigidTransform> X_WB, Vector3d& n, Vector3d& point) const {
  const PatchPair& pair = world_.pairs[static_cast<std::size_t>(index)];
  const PatchGeometry &A = world_.geometries[static_cast<std::size_t>(pair.a)], &B = world_.geometries[static_cast<std::size_t>(pair.b)];
  const RigidTransform &X_A = X_WB[static_cast<std::size_t>(A.body)], &X_B = X_WB[static_cast<std::size_t>(B.body)];
  if (pair.plane) {
    const RigidTransform X_AG = X_A * world_.collision->pose_in_body(pair.a);
    n = B.X_BG.linear() * B.set.planes[0].normal;
    point = X_AG * A.set.support(-(X_AG.linear().transpose() * n));
    return n.dot(point - B.X_BG.translation()) - B.set.planes[0].offset;
  }
  const Vector3d apart = X_A * world_.collision->pose_in_body(pair.a).translation() - X_B * world_.collision->pose_in_body(pair.b).translation();
  const double bound = apart.norm() - A.set.radius - B.set.radius;
  if (bound > 0) {
    n = apart.normalized();
    point = X_A * world_.collision->pose_in_body(pair.a).translation() - A.set.radius * n;
    return bound;
  }
  const collision::ContactPair found = world_.collision->signed_distance(pair.a, pair.b, X_WB);
  const double side = found.geometry_a == pair.a ? 1.0 : -1.0;
  n = side * found.nhat_BA_W;
  point = 0.5 * (found.p_WA + found.p_WB);
  return found.gap;
}

void PatchStepper::make_start(const Recipe& recipe) {
  guess_.assign(static_cast<std::size_t>(system_.size()), 0.0);
  std::copy(free_.begin(), free_.end(), guess_.begin());
  std::vector<RigidTransform>& X_WB = X_WB_;
  place(free_, X_WB);
  const double h = world_.h;
  for (std::size_t k = 0; k < system_.contacts().size(); ++k) {
    const PatchSystem::Layout& c = system_.contacts()[k];
    const PatchPair& pair = world_.pairs[static_cast<std::size_t>(c.pair)];
    const PatchGeometry &A = world_.geometries[static_cast<std::size_t>(pair.a)], &B = world_.geometries[static_cast<std::size_t>(pair.b)];
    const Memory& memory = memory_[static_cast<std::size_t>(c.pair)];
    double* z = guess_.data();
    const auto put = [z](int i, const Vector3d& v) { Eigen::Map<Vector3d>{z + i} = v; };
    const int carrier = c.body_a >= 0 ? c.body_a : c.body_b;
    if (recipe.warm && memory.known) {
      const PatchState& s = start_[static_cast<std::size_t>(carrier)];
      put(c.a, s.p_WC + h * s.v_WC + memory.rho);
      if (c.n >= 0) {
        put(c.n, memory.n);
        z[c.ell] = memory.ell;
        Vector3d axis = world_.ellipsoid_axis;
        patch_tangent(memory.n, axis);
        system_.set_axis(static_cast<int>(k), axis);
      }
      std::copy(memory.l.begin(), memory.l.end(), z + c.l_a);
      z[c.p] = memory.p;
      if (c.b >= 0) {
        put(c.b, memory.b);
        z[c.sigma] = memory.sigma;
      }
      continue;
    }
    Vector3d n, point;
    const double gap = distance(c.pair, X_WB, n, point);
    const RigidTransform X_AG = X_WB[static_cast<std::size_t>(A.body)] * world_.collision->pose_in_body(pair.a);
    const RigidTransform X_BG = X_WB[static_cast<std::size_t>(B.body)] * world_.collision->pose_in_body(pair.b);
    if (recipe.blur > 0 && !A.set.vertices.empty() && pair.plane) {
      const Vector3d down = -(X_AG.linear().transpose() * n);
      const double lowest = down.dot(A.set.support(down));
      Vector3d sum = Vector3d::Zero();
      int count = 0;
      for (const Vector3d& v : A.set.vertices) {
        if (down.dot(v) < lowest - recipe.blur) continue;
        sum += v;
        ++count;
      }
      point = X_AG * (sum / count);
    } else if (recipe.blur > 0 && A.set.curved && pair.plane) {
      // Less steep by the angle that the blur allows: the middle of a cap or of a side.
      Vector3d down = -(X_AG.linear().transpose() * n);
      for (int i = 0; i < 3; ++i)
        if (std::abs(down(i)) * A.set.radius < recipe.blur) down(i) = 0;
      if (down.norm() > 0.1) point = X_AG * A.set.support(down);
    }
    if (c.n >= 0) {
      put(c.n, n);
      Vector3d axis = world_.ellipsoid_axis;
      patch_tangent(n, axis);
      system_.set_axis(static_cast<int>(k), axis);
      z[c.ell] = std::max(gap, 0.0);
    }
    put(c.a, point + (c.n >= 0 ? 0.5 * std::max(gap, 0.0) : 0.0) * n);
    const double reach = recipe.blur + std::max(std::abs(gap), 1e-6 * A.set.radius);
    A.set.normal_cone(X_AG.inverse() * point, -(X_AG.linear().transpose() * n), reach, z + c.l_a);
    if (c.l_b >= 0) B.set.normal_cone(X_BG.inverse() * point, X_BG.linear().transpose() * n, reach, z + c.l_b);

    // An inelastic impact at the point, with the friction that stops it or what the ellipsoid has.
    Matrix3d K = Matrix3d::Zero();  // velocity of the point per impulse
    Vector3d V = Vector3d::Zero(), spin = Vector3d::Zero();
    for (const double side : {1.0, -1.0}) {
      const int body = side > 0 ? c.body_a : c.body_b;
      if (body < 0) continue;
      const std::size_t i = static_cast<std::size_t>(body);
      const Vector3d omega = three(free_, 6 * i), v = three(free_, 6 * i + 3);
      const Vector3d rho = point - (start_[i].p_WC + h * v);
      const Matrix3d R = skew(rho);
      K += Matrix3d::Identity() / world_.bodies[i].mass - R * system_.inertia_W(body).ldlt().solve(R);
      V += side * (v + omega.cross(rho));
      spin += side * omega;
    }
    const double p = std::max(-gap / h, 0.1 * system_.velocity_scale()) / n.dot(K * n);
    z[c.p] = p;
    Vector3d force = p * n;
    if (c.b >= 0) {
      Vector3d axis = c.axis;
      const Vector3d t = c.n >= 0 ? patch_tangent(n, axis) : c.t_W, o = n.cross(t);
      const auto& e = pair.ellipsoid;
      const Vector3d w(e[0] * t.dot(V), e[1] * o.dot(V), e[2] * n.dot(spin));
      const double stops = w.norm() / (p * pair.mu * n.dot(K * n) + 1e-300);  // share of the ellipsoid that would stop it
      if (stops > 1 && !recipe.stick) {
        put(c.b, -w / w.norm());
        z[c.sigma] = w.norm();
      } else if (w.norm() > 0) {
        put(c.b, -w / w.norm() * std::min(0.9, stops));
      }
      for (int j = 0; j < 2; ++j) force += p * pair.mu * e[static_cast<std::size_t>(j)] * z[c.b + j] * (j == 0 ? t : o);
    }
    for (const double side : {1.0, -1.0}) {
      const int body = side > 0 ? c.body_a : c.body_b;
      if (body < 0) continue;
      const std::size_t i = static_cast<std::size_t>(body);
      const Vector3d rho = point - (start_[i].p_WC + h * three(free_, 6 * i + 3));
      Eigen::Map<Vector3d>{z + 6 * i} += side * system_.inertia_W(body).ldlt().solve(rho.cross(force));
      Eigen::Map<Vector3d>{z + 6 * i + 3} += side * force / world_.bodies[i].mass;
    }
  }
  if (recipe.at_rest) std::fill_n(guess_.begin(), 6 * start_.size(), 0.0);
  if (recipe.warm) {
    for (std::size_t i = 0; i < start_.size(); ++i) {
      three(guess_, 6 * i) = start_[i].omega_W;
      three(guess_, 6 * i + 3) = start_[i].v_WC;
    }
  }
}

bool PatchStepper::solve(std::span<const PatchState> start, PatchResult& result) {
  system_.set(world_, start, free_, pairs_);
  const bool warm = std::all_of(pairs_.begin(), pairs_.end(), [this](int i) { return memory_[static_cast<std::size_t>(i)].known; });
  const double L = world_.length;
  const std::array<Recipe, 9> recipes{Recipe{.warm = true}, {}, {.stick = true}, {.blur = 1e-3 * L}, {.blur = 0.02 * L}, {.blur = 0.1 * L}, {.blur = 0.3 * L},
                                      {.blur = 0.1 * L, .stick = true, .at_rest = true}, {.at_rest = true}};
  for (std::size_t k = warm ? 0 : 1; k <= recipes.size(); ++k) {
    const bool last = k == recipes.size();
    make_start(last ? Recipe{} : recipes[k]);
    solver_.settings().max_newton = last ? 100 : k < 2 ? 30 : 40;
    solver_.settings().fallbacks = last;
    ++result.attempts;
    const Stopwatch watch;
    const solvers::McpResult& found = solver_.solve(system_, guess_);
    result.solve_us += watch.microseconds();
    result.iterations += found.iterations;
    result.method = found.method;
    result.status = found.status;
    if (found.status == solvers::Status::kSolved) {
      z_ = found.z;
      return true;
    }
  }
  return false;
}

void PatchStepper::step(std::span<const PatchState> start, std::span<const PatchImpulse> impulses, PatchResult& result) {
  if (start.size() != world_.bodies.size() || impulses.size() != world_.bodies.size()) throw std::invalid_argument("PatchStepper::step: one state and one impulse per body");
  start_.assign(start.begin(), start.end());
  move_freely(start, impulses);
  for (const double x : free_)
    if (!std::isfinite(x)) throw std::invalid_argument("PatchStepper::step: a velocity, impulse or orientation is not finite");
  result.iterations = result.attempts = 0;
  result.solve_us = 0;
  result.method = "free";
  result.status = solvers::Status::kSolved;
  pairs_.clear();
  z_ = free_;
  system_.set(world_, start, free_, pairs_);
  for (;;) {
    place(z_, X_WB_);
    const std::size_t before = pairs_.size();
    for (int i = 0; i < static_cast<int>(world_.pairs.size()); ++i) {
      if (std::find(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(before), i) != pairs_.begin() + static_cast<std::ptrdiff_t>(before)) continue;
      Vector3d n, point;
      const double least = before == 0 ? 0.0 : -kTouching_m;
      if (distance(i, X_WB_, n, point) < least) pairs_.push_back(i);
    }
    if (pairs_.size() == before) break;
    std::sort(pairs_.begin(), pairs_.end());
    if (!solve(start, result)) break;
  }

  result.end.assign(start.begin(), start.end());
  result.certificate = {};
  if (!solvers::usable(result.status)) {
    forget();
    result.contacts.clear();
    return;
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    PatchState& s = result.end[i];
    s.omega_W = three(z_, 6 * i);
    s.v_WC = three(z_, 6 * i + 3);
    s.p_WC += world_.h * s.v_WC;
    const Vector3d w = 0.5 * world_.h * s.omega_W;
    s.quat_wxyz = multiply_quat_wxyz(Eigen::Vector4d(1, w.x(), w.y(), w.z()), start[i].quat_wxyz).normalized();
  }
  result.contacts.resize(pairs_.size());
  for (std::size_t k = 0; k < pairs_.size(); ++k) system_.unpack(static_cast<int>(k), z_, result.contacts[k]);
  result.certificate = certifier_.certify(world_, start, free_, result.end, result.contacts);
  remember();
}

void PatchStepper::remember() {
  for (Memory& m : memory_) m.known = false;
  for (const PatchSystem::Layout& c : system_.contacts()) {
    Memory& m = memory_[static_cast<std::size_t>(c.pair)];
    const PatchPair& pair = world_.pairs[static_cast<std::size_t>(c.pair)];
    const int carrier = c.body_a >= 0 ? c.body_a : c.body_b;
    m.known = z_[static_cast<std::size_t>(c.p)] > 0;
    m.rho = three(z_, c.a) - (start_[static_cast<std::size_t>(carrier)].p_WC + world_.h * three(z_, 6 * carrier + 3));
    if (c.n >= 0) {
      m.n = three(z_, c.n);
      m.ell = z_[static_cast<std::size_t>(c.ell)];
    }
    const int inequalities = world_.geometries[static_cast<std::size_t>(pair.a)].set.count() + (c.l_b >= 0 ? world_.geometries[static_cast<std::size_t>(pair.b)].set.count() : 0);
    m.l.assign(z_.begin() + c.l_a, z_.begin() + c.l_a + inequalities);
    m.p = z_[static_cast<std::size_t>(c.p)];
    if (c.b >= 0) {
      m.b = three(z_, c.b);
      m.sigma = z_[static_cast<std::size_t>(c.sigma)];
    }
  }
}

}  // namespace deft::dynamics
