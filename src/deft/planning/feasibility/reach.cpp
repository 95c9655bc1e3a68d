#include "deft/planning/feasibility/reach.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "deft/core/index.hpp"

namespace deft::planning {
namespace {

using Eigen::Vector3d;

constexpr double kParallel = 1e-9;  // components of unit vectors below it are rounding

/// {outer, inner} radius about the origin of a shape's frame.
struct Radii {
  double operator()(const multibody::SphereSpec& s) const { return s.radius; }
  double operator()(const multibody::BoxSpec& s) const { return inner ? s.size.minCoeff() / 2 : s.size.norm() / 2; }
  double operator()(const multibody::CapsuleSpec& s) const { return inner ? s.radius : s.radius + s.length / 2; }
  double operator()(const multibody::CylinderSpec& s) const {
    return inner ? std::min(s.radius, s.length / 2) : std::hypot(s.radius, s.length / 2);
  }
  double operator()(const multibody::EllipsoidSpec& s) const { return inner ? s.radii.minCoeff() : s.radii.maxCoeff(); }
  double operator()(const multibody::HalfSpaceSpec&) const { return inner ? 0 : kInfinity; }
  double operator()(const multibody::PrismSpec& s) const {
    double furthest = 0;
    for (const Eigen::Vector2d& vertex : s.vertices) furthest = std::max(furthest, vertex.norm());
    return inner ? 0 : std::hypot(furthest, s.height / 2);
  }
  double operator()(const multibody::MeshSpec&) const { return inner ? 0 : kInfinity; }
  bool inner;
};

/// One joint axis of a chain at the scene's start.
struct Link {
  bool turns = false;
  Vector3d direction, point;  // unit; a point of the axis [m]
  double low = 0, high = 0;   // of a slide: how far it may go from here [m]
};

/// The axes that move a body, from the world outwards; none if one of them is no single axis of a robot.
std::vector<Link> chain_of(const scene::Scene& scene, const scene::SceneState& state, int body) {
  const multibody::Model& model = scene.model();
  const auto moving = model.columns(body);
  std::vector<int> columns(moving.begin(), moving.end());
  // The bodies that carry this one move with fewer and fewer of them.
  std::vector<std::size_t> depth(columns.size(), columns.size());
  for (int at = body; at > 0; at = model.bodies()[to_size(at)].parent) {
    const auto own = model.columns(at);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (std::find(own.begin(), own.end(), moving[i]) != own.end()) depth[i] = std::min(depth[i], own.size());
  }
  std::stable_sort(columns.begin(), columns.end(), [&](int a, int b) {
    const auto place = [&](int c) { return to_size(std::find(moving.begin(), moving.end(), c) - moving.begin()); };
    return depth[place(a)] < depth[place(b)];
  });
  const auto& S = model.spatial_columns(state.kinematics);
  const auto actuated = scene.actuated();
  std::vector<Link> chain;
  for (const int c : columns) {
    const multibody::VelocityInfo& info = model.velocities()[c];
    if (info.q_index < 0 || std::find(actuated.begin(), actuated.end(), c) == actuated.end()) return {};
    Link link;
    const Vector3d turn = S.col(c).head<3>(), slide = S.col(c).tail<3>();
    link.turns = turn.norm() > 0.5;
    link.direction = link.turns ? turn : slide;
    link.point = turn.cross(slide);  // ω × (p × ω), the axis' point nearest to the origin
    const bool bounded = scene.settings().step.joint_limits;
    link.low = bounded ? info.lower - state.q(info.q_index) : -kInfinity;
    link.high = bounded ? info.upper - state.q(info.q_index) : kInfinity;
    chain.push_back(link);
  }
  return chain;
}

/// Whether all turning joints before chain[end] keep the k-th world coordinate of what they carry.
bool keeps_axis(const std::vector<Link>& chain, std::size_t end, int k) {
  return std::all_of(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(end), [k](const Link& link) {
    return !link.turns || std::abs(std::abs(link.direction(k)) - 1) < kParallel;
  });
}

/// The reach of a ball at the end of a chain, which is at `tip` now.
Reach reach_of_chain(const std::vector<Link>& chain, const Ball& tip) {
  Reach reach{.geometry = -1, .ball = tip, .lower = Vector3d::Zero(), .upper = Vector3d::Zero()};
  Vector3d& p = reach.ball.centre;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const Link& link = chain[i];
    const double range = std::max(std::abs(link.low), std::abs(link.high));
    const Vector3d foot = link.point + link.direction * link.direction.dot(p - link.point);
    const double length = link.turns ? (p - foot).norm() : range;
    reach.ball.radius += length;
    if (link.turns) reach.arm += length;
    for (int k = 0; k < 3; ++k) {
      double low = -length, high = length;
      if (keeps_axis(chain, link.turns ? i + 1 : i, k)) {
        const double part = link.turns ? 0 : link.direction(k);
        low = std::abs(part) < kParallel ? 0 : std::min(part * link.low, part * link.high);
        high = std::abs(part) < kParallel ? 0 : std::max(part * link.low, part * link.high);
      }
      reach.lower(k) += low;
      reach.upper(k) += high;
    }
    if (link.turns) p = foot;
  }
  reach.lower += p - Vector3d::Constant(tip.radius);
  reach.upper += p + Vector3d::Constant(tip.radius);
  return reach;
}

}  // namespace

std::vector<Extent> extents_of(const scene::Scene& scene) {
  // The geometries of the collision world stand in the order of the files.
  std::vector<Extent> extents;
  for (const multibody::ModelSpec& model : scene.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        Extent extent;
        extent.outer = {geometry.X_LG.translation(), std::visit(Radii{false}, geometry.shape)};
        extent.inner_radius = std::visit(Radii{true}, geometry.shape);
        if (std::holds_alternative<multibody::MeshSpec>(geometry.shape)) {
          const auto set = scene.collision_world().convex_set(static_cast<int>(extents.size()));
          if (set) extent.outer.radius = set->radius;
        }
        extents.push_back(extent);
      }
    }
  }
  return extents;
}

double Reach::distance(const Ball& other, const std::array<bool, 3>& known) const {
  double round = 0, square = 0;
  for (int k = 0; k < 3; ++k) {
    if (!known[to_size(k)]) continue;
    const double off = other.centre(k) - ball.centre(k);
    const double beside = std::max({lower(k) - other.centre(k), other.centre(k) - upper(k), 0.0});
    round += off * off;
    square += beside * beside;
  }
  return std::max({std::sqrt(round) - ball.radius, std::sqrt(square), 0.0}) - other.radius;
}

std::vector<Reach> reaches_of(const scene::Scene& scene) {
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  const std::vector<Extent> extents = extents_of(scene);
  const auto geometries = scene.collision_world().geometries();
  const std::span<const scene::Robot> robots = scene.robots();
  std::vector<Reach> reaches;
  for (std::size_t g = 0; g < geometries.size(); ++g) {
    const int body = geometries[g].body;
    if (body <= 0 || scene.model().columns(body).empty()) continue;
    const int model = scene.model().bodies()[to_size(body)].model;
    const scene::Object* const object = scene.object_of(body);
    if (object != nullptr && !object->is_base) continue;
    if (std::none_of(robots.begin(), robots.end(), [model](const scene::Robot& r) { return r.model == model; }))
      continue;
    const Ball& own = extents[g].outer;
    const Ball tip{state.X_WB()[to_size(body)] * own.centre, own.radius};
    const std::vector<Link> chain = chain_of(scene, state, body);
    Reach reach = reach_of_chain(chain, chain.empty() ? Ball{tip.centre, kInfinity} : tip);
    reach.geometry = static_cast<int>(g);
    reaches.push_back(reach);
  }
  return reaches;
}

}  // namespace deft::planning
