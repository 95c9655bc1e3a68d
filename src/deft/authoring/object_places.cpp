#include "deft/authoring/object_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::authoring {
namespace {

using scene::Scene;

constexpr double kNearly = 1e-4;     // [m]
constexpr double kFarthest = 10;     // [m] that an object is let down
constexpr int kSurfacePoints = 200;  // of each geometry

const std::vector<int>& bodies_of(const Scene& scene, int object) { return scene.objects()[to_size(object)].bodies; }

bool is_in(int body, const std::vector<int>& bodies) {
  return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
}

/// The least gap of contacts with one side in `bodies` that `counts(other side)` counts.
template <typename Counts>
double least_gap(const Scene& scene, scene::SceneState& state, const std::vector<int>& bodies, double limit,
                 Counts counts) {
  scene.find_contacts(limit, state);
  double least = limit;
  for (const collision::ContactPair& contact : state.contacts) {
    const bool a = is_in(contact.body_a, bodies), b = is_in(contact.body_b, bodies);
    if (a != b && counts(a ? contact.body_b : contact.body_a)) least = std::min(least, contact.gap);
  }
  return least;
}

}  // namespace

int first_placed(const Scene& scene) {
  const auto objects = scene.objects();
  const auto is_brought = [&](const scene::Object& object) {
    return std::any_of(scene.robots().begin(), scene.robots().end(),
                       [&](const scene::Robot& robot) { return robot.model == object.model; });
  };
  return static_cast<int>(std::find_if_not(objects.begin(), objects.end(), is_brought) - objects.begin());
}

void place(const Scene& scene, int object, const RigidTransform& X_WB, Eigen::VectorXd& q) {
  const int first = scene.objects()[to_size(object)].first_q;
  q.segment<4>(first) = quat_wxyz_from_rotation(X_WB.linear());
  q.segment<3>(first + 4) = X_WB.translation();
}

RigidTransform place_of(const Scene& scene, int object, const Eigen::VectorXd& q) {
  const int first = scene.objects()[to_size(object)].first_q;
  return make_transform(rotation_from_quat_wxyz(q.segment<4>(first)), q.segment<3>(first + 4));
}

double gap_around(const Scene& scene, scene::SceneState& state, int object, double limit, bool ground_only) {
  return least_gap(scene, state, bodies_of(scene, object), limit,
                   [&](int other) { return !ground_only || scene.model().bodies()[to_size(other)].weld_group == 0; });
}

double gap_of_bodies(const Scene& scene, scene::SceneState& state, const std::vector<int>& bodies, double limit) {
  return least_gap(scene, state, bodies, limit, [](int) { return true; });
}

bool let_down(const Scene& scene, scene::SceneState& state, int object, bool ground_only, Eigen::VectorXd& q) {
  constexpr double kStride = 0.05;  // [m] of a step: distances are looked for so far
  for (double fallen = 0; fallen < kFarthest;) {
    scene.update(q, state);
    const double gap = gap_around(scene, state, object, kStride, ground_only);
    if (gap <= kNearly) return gap > -kNearly;
    const double step = gap - kNearly / 2;  // no point moves farther than the distance of the two solids
    RigidTransform X = place_of(scene, object, q);
    X.translation().z() -= step;
    place(scene, object, X, q);
    fallen += step;
  }
  return false;
}

int body_of(const Scene& scene, int object) { return bodies_of(scene, object).front(); }

Extent extent_of(const Scene& scene, int body, const Eigen::Matrix3d& R_WB) {
  const collision::CollisionWorld& world = scene.collision_world();
  Eigen::Vector3d low = Eigen::Vector3d::Constant(INFINITY), high = -low;
  for (std::size_t g = 0; g < world.geometries().size(); ++g) {
    if (world.geometries()[g].body != body || !std::isfinite(world.surface_area(static_cast<int>(g)))) continue;
    for (int i = 0; i < kSurfacePoints; ++i) {
      const std::array<double, 3> uniform{(i + 0.5) / kSurfacePoints, std::fmod(0.7548776662466927 * i, 1.0),
                                          std::fmod(0.5698402909980532 * i, 1.0)};
      const Eigen::Vector3d p = R_WB * world.surface_point(static_cast<int>(g), uniform).p;
      low = low.cwiseMin(p);
      high = high.cwiseMax(p);
    }
  }
  if (!low.allFinite()) return {};
  return {.middle_B = R_WB.transpose() * (low + high) / 2, .half = (high - low) / 2};
}

Extent extent_in_place(const Scene& scene, scene::SceneState& state, int object, const Eigen::VectorXd& q) {
  scene.update(q, state);
  Eigen::Vector3d low = Eigen::Vector3d::Constant(INFINITY), high = -low;
  for (const int body : bodies_of(scene, object)) {
    const RigidTransform& X = state.X_WB()[to_size(body)];
    const Extent extent = extent_of(scene, body, X.linear());
    if (extent.half.isZero(0)) continue;
    low = low.cwiseMin(X * extent.middle_B - extent.half);
    high = high.cwiseMax(X * extent.middle_B + extent.half);
  }
  if (!low.allFinite()) return {};
  return {.middle_B = (low + high) / 2, .half = (high - low) / 2};
}

}  // namespace deft::authoring
