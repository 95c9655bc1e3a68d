#include "deft/dynamics/patch/patch_problem_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/patch/equivalent_contact_point.hpp"
#include "deft/multibody/description/inline_points.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kBox = 1e-12;  // relative: corners nearer than this to those of a box make one

RigidTransform pose_of(const PatchState& state) {
  return make_transform(rotation_from_quat_wxyz(state.quat_wxyz), state.p_WC);
}

/// The same contact seen from the other body: n and o turn round, t stays.
PatchContact exchanged(const PatchContact& c) {
  PatchContact out = c;
  out.n_W = -c.n_W;
  out.o_W = -c.o_W;
  out.p_f = {-c.p_f(0), c.p_f(1), c.p_f(2)};
  out.slip = {-c.slip(0), c.slip(1), c.slip(2)};
  std::swap(out.l_a, out.l_b);
  std::swap(out.body_a, out.body_b);
  return out;
}

/// A set as the shape that it came from, or one that holds the same points.
PatchShape shape_of(const collision::ConvexSet& set) {
  using namespace multibody;
  PatchShape out;
  if (!set.bounded) {
    out.shape = HalfSpaceSpec{set.planes[0].normal, set.planes[0].offset};
  } else if (set.curved && !set.planes.empty()) {
    out.shape = CylinderSpec{1 / std::sqrt(set.curvature.x()), 2 * set.planes[0].offset};
  } else if (set.curved) {
    const Vector3d radii = set.curvature.cwiseSqrt().cwiseInverse();
    if (radii.x() == radii.y() && radii.x() == radii.z())
      out.shape = SphereSpec{radii.x()};
    else
      out.shape = EllipsoidSpec{radii};
  } else {
    Vector3d half = Vector3d::Zero();
    for (const Vector3d& v : set.vertices) half = half.cwiseMax(v.cwiseAbs());
    bool box = set.vertices.size() == 8 && set.planes.size() == 6;
    for (const Vector3d& v : set.vertices)
      box = box && (v.cwiseAbs() - half).cwiseAbs().maxCoeff() <= kBox * half.minCoeff();
    if (box)
      out.shape = BoxSpec{2 * half};
    else
      out.vertices = set.vertices;
  }
  return out;
}

/// Appends the shapes of body i to what a collision world is built from.
void describe_shapes(std::size_t i, const PatchProblemBody& body,
                     std::vector<collision::GeometryDescription>& descriptions) {
  for (std::size_t k = 0; k < body.shapes.size(); ++k) {
    const PatchShape& shape = body.shapes[k];
    collision::GeometryDescription description{.name = fmt::format("{} of body {}", k, i),
                                               .body = static_cast<int>(i) + 1,
                                               .X_BG = shape.X_CG,
                                               .shape = shape.shape,
                                               .where = shape.where};
    if (!shape.vertices.empty()) description.shape = multibody::MeshSpec{multibody::inline_points(shape.vertices)};
    descriptions.push_back(std::move(description));
  }
}

}  // namespace

PatchProblemSolver::~PatchProblemSolver() = default;
PatchProblemSolver::PatchProblemSolver(PatchProblemSolver&&) noexcept = default;

PatchProblemSolver::PatchProblemSolver(const PatchProblem& problem) : problem_(problem) {
  PatchWorld world;
  world.h = problem.h;
  world.gravity_W = problem.gravity_W;
  world.ellipsoid_axis = problem.ellipsoid_axis;
  world.links.resize(problem.bodies.size() + 1);  // 0: the world
  std::vector<collision::GeometryDescription> descriptions;
  for (std::size_t i = 0; i < problem.bodies.size(); ++i) {
    add_body(i, world);
    first_geometry_.push_back(static_cast<int>(descriptions.size()));
    describe_shapes(i, problem.bodies[i], descriptions);
  }
  const std::size_t n = descriptions.size();
  std::vector<unsigned char> allowed(n * n, 0);  // geometry × geometry: may touch
  for (const PatchProblemPair& pair : problem.pairs) add_pair(pair, n, allowed, world);
  Diagnostics diagnostics;
  collision_ = std::make_unique<collision::CollisionWorld>(
      collision::CollisionWorld::build(std::move(descriptions), std::move(allowed), diagnostics));
  world.collision = collision_.get();
  add_geometries(world);
  for (PatchPair& pair : world.pairs) pair.plane = !world.geometries[pair.b].set.bounded;
  stepper_ = std::make_unique<PatchStepper>(std::move(world));
}

void PatchProblemSolver::add_body(std::size_t i, PatchWorld& world) {
  const PatchProblemBody& body = problem_.bodies[i];
  PatchLink& link = world.links[i + 1];
  moving_.push_back(-1);
  if (!(body.mass > 0)) {
    link.X = pose_of(body.start);
    return;
  }
  link.moving = moving_.back() = static_cast<int>(world.bodies.size());
  world.bodies.push_back({.body = static_cast<int>(i) + 1, .mass = body.mass, .I_BCm_B = body.I_BCm_B});
  start_.push_back(body.start);
  impulses_.push_back(body.impulse);
}

void PatchProblemSolver::add_pair(const PatchProblemPair& pair, std::size_t geometries,
                                  std::vector<unsigned char>& allowed, PatchWorld& world) {
  const int bodies = static_cast<int>(problem_.bodies.size());
  const auto known = [&](int body, int shape) {
    return body >= 0 && body < bodies && shape >= 0 && shape < static_cast<int>(problem_.bodies[body].shapes.size());
  };
  if (!known(pair.a, pair.shape_a) || !known(pair.b, pair.shape_b))
    throw std::invalid_argument("PatchProblemSolver: a pair has a body or a shape that is not there");
  int a = first_geometry_[pair.a] + pair.shape_a, b = first_geometry_[pair.b] + pair.shape_b;
  swapped_.push_back(moving_[pair.a] < 0);
  if (pair.a == pair.b || (swapped_.back() && moving_[pair.b] < 0))
    throw std::invalid_argument("PatchProblemSolver: nothing moves in a pair");
  allowed[to_size(a) * geometries + to_size(b)] = allowed[to_size(b) * geometries + to_size(a)] = 1;
  if (swapped_.back()) std::swap(a, b);
  world.pairs.push_back({.a = a, .b = b, .mu = pair.mu, .ellipsoid = pair.ellipsoid});
}

void PatchProblemSolver::add_geometries(PatchWorld& world) const {
  world.length = 0;
  for (std::size_t i = 0; i < problem_.bodies.size(); ++i) {
    for (const PatchShape& shape : problem_.bodies[i].shapes) {
      const int geometry = static_cast<int>(world.geometries.size());
      const std::optional<collision::ConvexSet> set = collision_->convex_set(geometry);
      if (!set)
        throw InputError(shape.where,
                         "is no intersection of smooth convex inequalities; valid: box, cylinder, sphere of radius > "
                         "0, ellipsoid, prism, polytope, half_space");
      if (moving_[i] >= 0 && !set->bounded) throw InputError(shape.where, "a half-space cannot move");
      world.geometries.push_back({.moving = moving_[i],
                                  .body = static_cast<int>(i) + 1,
                                  .X_BG = world.links[i + 1].X * shape.X_CG,
                                  .set = *set,
                                  .name = {}});
      const bool touches = std::any_of(world.pairs.begin(), world.pairs.end(),
                                       [&](const PatchPair& pair) { return pair.a == geometry || pair.b == geometry; });
      if (moving_[i] >= 0 && touches) world.length = std::max(world.length, set->radius);
    }
  }
  if (!(world.length > 0)) world.length = 1;
}

void PatchProblemSolver::solve(PatchAnswer& answer) {
  stepper_->forget();
  try {
    stepper_->step(start_, impulses_, step_);
  } catch (const std::invalid_argument&) {  // numbers that are finite in the file, and not in the motion
    step_ = {};
  }
  answer.status = step_.status;
  answer.iterations = step_.iterations;
  answer.attempts = step_.attempts;
  answer.solve_us = step_.solve_us;
  answer.method = step_.method;
  answer.contacts.clear();
  answer.end.clear();
  const bool usable = solvers::usable(step_.status);
  for (std::size_t i = 0; i < problem_.bodies.size(); ++i)
    answer.end.push_back(usable && moving_[i] >= 0 ? step_.end[moving_[i]] : problem_.bodies[i].start);
  if (!usable) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    answer.certificate = {};
    answer.certificate.stationarity = answer.certificate.primal = answer.certificate.complementarity = kNone;
    answer.certificate.stationarity_N = answer.certificate.primal_m = answer.certificate.complementarity_J = kNone;
    return;
  }
  for (std::size_t k = 0; k < problem_.pairs.size(); ++k) report(k, answer.end, answer);
  certify(answer);
  answer.status = solvers::contact::confirmed(answer.status, answer.certificate,
                                              std::max(solvers::contact::kCertified, settings().tolerance));
}

void PatchProblemSolver::report(std::size_t pair, std::span<const PatchState> end, PatchAnswer& answer) const {
  const PatchWorld& world = stepper_->world();
  PatchProblemContact out;
  const auto found = std::find_if(step_.contacts.begin(), step_.contacts.end(),
                                  [&](const PatchContact& c) { return c.pair == static_cast<int>(pair); });
  if (found != step_.contacts.end()) {
    out.contact = *found;
    out.kind = contact_kind(world, step_.end, *found);
    out.state = contact_state(world, *found);
  } else {
    // It was not part of the problem: the nearest points at the end.
    std::vector<RigidTransform> X_WB(world.links.size());
    for (std::size_t i = 0; i < end.size(); ++i) X_WB[i + 1] = pose_of(end[i]);
    X_WB[0] = RigidTransform::Identity();
    const PatchPair& p = world.pairs[pair];
    const collision::ContactPair nearest = collision_->signed_distance(p.a, p.b, X_WB);
    PatchContact& c = out.contact;
    c.n_W = (nearest.geometry_a == p.a ? 1.0 : -1.0) * nearest.nhat_BA_W;
    c.point_W = 0.5 * (nearest.p_WA + nearest.p_WB);
    c.gap = nearest.gap;
    Vector3d axis = world.ellipsoid_axis;
    c.t_W = patch_tangent(c.n_W, axis);
    c.o_W = c.n_W.cross(c.t_W);
    const auto add = [&](int geometry, double side) {
      const int moving = world.geometries[geometry].moving;
      if (moving < 0) return;
      const PatchState& s = step_.end[moving];
      const Vector3d v = s.v_WC + s.omega_W.cross(c.point_W - s.p_WC);
      c.slip += side * Vector3d(c.t_W.dot(v), c.o_W.dot(v), c.n_W.dot(s.omega_W));
    };
    add(p.a, 1);
    add(p.b, -1);
  }
  if (swapped_[pair]) out.contact = exchanged(out.contact);
  out.contact.pair = static_cast<int>(pair);
  answer.contacts.push_back(out);
}

void PatchProblemSolver::certify(PatchAnswer& answer) const {
  // From the problem's own data: m (v⁺ − v) − m g h − p_app = Σ p over the pairs.
  answer.balance_Ns = answer.complementarity_Js = 0;
  answer.penetration_m = std::max(0.0, step_.certificate.penetration_m);
  std::vector<Vector3d> left(problem_.bodies.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const PatchProblemBody& body = problem_.bodies[i];
    left[i] =
        body.mass * (answer.end[i].v_WC - body.start.v_WC - problem_.h * problem_.gravity_W) - body.impulse.linear_W;
  }
  for (std::size_t k = 0; k < answer.contacts.size(); ++k) {
    const PatchContact& c = answer.contacts[k].contact;
    const Vector3d p = c.p_n * c.n_W + c.p_f(0) * c.t_W + c.p_f(1) * c.o_W;
    left[problem_.pairs[k].a] -= p;
    left[problem_.pairs[k].b] += p;
    answer.complementarity_Js = std::max(answer.complementarity_Js, std::abs(c.p_n * c.gap));
    answer.penetration_m = std::max(answer.penetration_m, -c.gap);
  }
  for (std::size_t i = 0; i < left.size(); ++i)
    if (moving_[i] >= 0) answer.balance_Ns = std::max(answer.balance_Ns, left[i].norm());
  PatchCertificate patch = step_.certificate;
  patch.penetration_m = answer.penetration_m;
  answer.certificate = as_certificate(patch, stepper_->world().length);
}

PatchProblem make_patch_problem(const PatchWorld& world, std::span<const PatchState> start,
                                std::span<const PatchImpulse> impulses) {
  PatchProblem out;
  out.h = world.h;
  out.gravity_W = world.gravity_W;
  out.ellipsoid_axis = world.ellipsoid_axis;
  for (std::size_t i = 0; i < world.bodies.size(); ++i)
    out.bodies.push_back({.shapes = {},
                          .mass = world.bodies[i].mass,
                          .I_BCm_B = world.bodies[i].I_BCm_B,
                          .start = start[i],
                          .impulse = impulses[i]});
  std::vector<int> body_of(world.geometries.size(), -1), shape_of_geometry(world.geometries.size(), 0);
  for (std::size_t g = 0; g < world.geometries.size(); ++g) {
    const PatchGeometry& geometry = world.geometries[g];
    const bool touches = std::any_of(world.pairs.begin(), world.pairs.end(), [&](const PatchPair& pair) {
      return to_size(pair.a) == g || to_size(pair.b) == g;
    });
    if (!touches) continue;
    PatchShape shape = shape_of(geometry.set);
    if (geometry.moving < 0) {
      body_of[g] = static_cast<int>(out.bodies.size());
      out.bodies.emplace_back();
      out.bodies.back().start = {.quat_wxyz = quat_wxyz_from_rotation(geometry.X_BG.linear()),
                                 .p_WC = geometry.X_BG.translation()};
    } else {
      body_of[g] = geometry.moving;
      shape.X_CG = geometry.X_BG;
      shape.X_CG.translation() -= world.bodies[geometry.moving].p_BC;
    }
    std::vector<PatchShape>& shapes = out.bodies[body_of[g]].shapes;
    shape_of_geometry[g] = static_cast<int>(shapes.size());
    shapes.push_back(std::move(shape));
  }
  for (const PatchPair& pair : world.pairs)
    out.pairs.push_back({body_of[pair.a], body_of[pair.b], shape_of_geometry[pair.a], shape_of_geometry[pair.b],
                         pair.mu, pair.ellipsoid});
  return out;
}

}  // namespace deft::dynamics
