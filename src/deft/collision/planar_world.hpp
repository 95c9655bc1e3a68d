#pragma once
// Contacts of bodies that move in one plane, between their outlines: discs, convex polygons, half-planes.

#include <Eigen/Core>
#include <array>
#include <span>
#include <vector>

#include "deft/collision/collision_world.hpp"
#include "deft/collision/patches/contact_pair.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"

namespace deft::collision {

/// Scratch of PlanarWorld::find_contacts; one per thread.
class PlanarWorkspace {
 private:
  friend class PlanarWorld;
  std::vector<Eigen::Vector2d> points;   // of all outlines, in the plane
  std::vector<Eigen::Vector2d> normals;  // of the edges behind them
};

/// The outlines of a scene's geometries, seen along the normal of the plane of motion; immutable, shared by threads.
///
/// Contacts: disc with disc, half-plane, polygon (its nearest edge or corner; a disc of radius 0, a point, its
/// separating edge), and every vertex of a polygon with every half-plane and every other polygon, by the **separating
/// edge**: φ = max_e n_e·(p − p_e), n = n_e of the first edge that attains it. φ is the distance to the extended edge,
/// at most the distance to the polygon, and ≤ 0 exactly inside it. Two points never touch. Geometries whose extents
/// along the normal do not overlap never touch, nor do half-spaces along it (floors).
class PlanarWorld {
 public:
  /// @param geometries, allowed  as of CollisionWorld::build.  @param X_WB  body poses in which extents along the
  /// normal are taken.
  /// @param normal_W  unit normal of the plane, one of the world's axes.
  /// Shapes without such an outline (ellipsoids and capsules that lie in the plane, tilted half-spaces) go to
  /// `diagnostics`; the result is unusable if there are errors.
  static PlanarWorld build(std::span<const GeometryDescription> geometries, std::span<const unsigned char> allowed,
                           std::span<const RigidTransform> X_WB, const Eigen::Vector3d& normal_W,
                           Diagnostics& diagnostics);

  /// All contacts with gap < margin [m] at body poses X_WB, ordered by pair and vertex: A owns the vertex (or the
  /// second disc), B the edge; n points from B to A. `contacts` is cleared. No allocation once the workspace has grown.
  void find_contacts(std::span<const RigidTransform> X_WB, double margin, PlanarWorkspace& workspace,
                     std::vector<ContactPair>& contacts) const;

 private:
  enum class Kind { kDisc, kPolygon, kHalfPlane };
  struct Outline {
    Kind kind = Kind::kDisc;
    int geometry = -1, body = -1;
    double radius = 0;                      // disc
    std::vector<Eigen::Vector3d> vertices;  // body frame: centre, or corners counter-clockwise about the normal;
                                            // half-plane: a border point
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();  // half-plane, body frame
    double low = 0, high = 0;                          // extent along the plane's normal in the world
    double bounding_radius = 0;                        // of the circle about `centre` that contains the outline
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  // mean of the vertices, body frame
    int first = 0;                                     // of its points in the workspace
  };
  struct Pair {
    int a = 0, b = 0;   // outlines, kind(a) ≤ kind(b)
    double height = 0;  // along the normal, where contacts are drawn
  };
  struct Touch;  // a contact in plane coordinates
  struct Silhouette;
  struct Builder;
  void place(std::span<const RigidTransform> X_WB, PlanarWorkspace& workspace) const;
  Eigen::Vector2d in_plane(const Eigen::Vector3d& p_W) const { return {axes_[0].dot(p_W), axes_[1].dot(p_W)}; }
  Touch disc_polygon(const Outline& disc, const Outline& polygon, const PlanarWorkspace& workspace) const;
  Touch vertex_polygon(const Eigen::Vector2d& p, const Outline& polygon, const PlanarWorkspace& workspace) const;
  Touch point_half_plane(const Eigen::Vector2d& p, double radius, const Outline& half_plane,
                         const PlanarWorkspace& workspace) const;

  std::array<Eigen::Vector3d, 3> axes_;  // of the plane, right-handed; the last is the normal
  std::vector<Outline> outlines_;
  std::vector<Pair> pairs_;
};

}  // namespace deft::collision
