#pragma once
// Shapes on bodies and what is near what: the interface of the collision family.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deft/collision/patches/contact_motion.hpp"
#include "deft/collision/patches/contact_pair.hpp"
#include "deft/collision/shapes/convex_set.hpp"
#include "deft/collision/shapes/geometry.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"

namespace deft::collision {

/// Scratch of `find_contacts`; one per thread. Keeps the broad phase's order between calls (results do not depend on
/// history).
class CollisionWorkspace {
 public:
  CollisionWorkspace();
  ~CollisionWorkspace();
  CollisionWorkspace(CollisionWorkspace&&) noexcept;
  CollisionWorkspace& operator=(CollisionWorkspace&&) noexcept;

 private:
  friend class CollisionWorld;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All collision geometries of a scene; immutable, shared by threads, each with a workspace of its own.
class CollisionWorld {
 public:
  /// @param allowed  allowed[i * n + j] != 0 when geometries i and j of n may touch (symmetric; the filter is made by
  /// `scene`). Bad shapes (negative sizes, unreadable or flat meshes, non-convex prisms) go to `diagnostics`; hulls
  /// that inflate a mesh (volume ratio > 1.25) are warned of. @throws InputError if there is any error.
  static CollisionWorld build(std::vector<GeometryDescription> geometries, std::vector<unsigned char> allowed,
                              Diagnostics& diagnostics);
  ~CollisionWorld();
  CollisionWorld(CollisionWorld&&) noexcept;
  CollisionWorld& operator=(CollisionWorld&&) noexcept;

  std::span<const GeometryInfo> geometries() const;  // in the order of `build`
  CollisionWorkspace make_workspace() const;         // sized for this world

  /// All contact points with gap < margin [m] at body poses X_WB, ordered by pair (geometry_a < geometry_b), points of
  /// a pair by the features of the shapes. `contacts` is cleared. Flat contacts give every vertex of the clipped face
  /// polygons. No allocation once the workspace has grown. @throws std::invalid_argument for too few or non-finite
  /// poses and for a margin that is not a number.
  void find_contacts(std::span<const RigidTransform> X_WB, double margin, CollisionWorkspace& workspace,
                     std::vector<ContactPair>& contacts) const;

  /// Of these contacts those of pairs of bodies that `concerns` (body_a, body_b); of the others no distance is
  /// computed.
  void find_contacts(std::span<const RigidTransform> X_WB, double margin, const std::function<bool(int, int)>& concerns,
                     CollisionWorkspace& workspace, std::vector<ContactPair>& contacts) const;

  /// The same after a motion in which some bodies have hardly moved: where both bodies of a pair stay, its contacts are
  /// those of `before` as they were, and nothing is computed. @param before  found with the same margin, in the order
  /// of find_contacts; must not be `contacts`. @param stay  per body, as many as the geometries' bodies.
  /// @throws std::invalid_argument for too few of these, and as find_contacts.
  void find_contacts_again(std::span<const RigidTransform> X_WB, double margin, std::span<const ContactPair> before,
                           std::span<const char> stay, CollisionWorkspace& workspace,
                           std::vector<ContactPair>& contacts) const;

  /// Whether geometries of some pair of bodies that `concerns` (body_a, body_b) are nearer than `gap` [m] > 0 at X_WB,
  /// as find_contacts would say: ends at the first, and how deep bodies overlap is not worked out. @throws
  /// std::invalid_argument for gap ≤ 0 or not a number, and as find_contacts.
  bool any_nearer(std::span<const RigidTransform> X_WB, double gap, const std::function<bool(int, int)>& concerns,
                  CollisionWorkspace& workspace) const;

  /// How each of `contacts`, found at the same poses, moves with its two geometries; `motions` is cleared. Costs about
  /// as much as finding them. Contacts of a pair must stand together, as find_contacts leaves them; all of a pair's
  /// should be given, or a parallel pair may be classified differently.
  void find_motions(std::span<const RigidTransform> X_WB, std::span<const ContactPair> contacts,
                    CollisionWorkspace& workspace, std::vector<ContactMotion>& motions) const;

  /// Signed distance of one pair with its witness points (one point, also for flat contacts), whatever the filter says.
  /// Needs no workspace: the scratch is the thread's. @throws std::invalid_argument for bad indices, two half-spaces
  /// and non-finite poses.
  ContactPair signed_distance(int geometry_a, int geometry_b, std::span<const RigidTransform> X_WB) const;

  /// A geometry as the intersection of convex inequalities, in its own frame; none for capsules and points.
  std::optional<ConvexSet> convex_set(int geometry) const;
  /// Pose of a geometry's frame in its body's.
  const RigidTransform& pose_in_body(int geometry) const;
  /// Whether two geometries may touch.
  bool may_touch(int geometry_a, int geometry_b) const;

  /// Area of a geometry's surface [m²]; infinity for a half-space.
  double surface_area(int geometry) const;
  /// A point of a geometry's surface in the frame of its body, for three uniform numbers in [0, 1): uniform by area.
  /// @throws std::invalid_argument for a half-space and for numbers outside [0, 1].
  SurfacePoint surface_point(int geometry, const std::array<double, 3>& uniform) const;

 private:
  CollisionWorld();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::collision
