#pragma once
// Flat features seen along the contact normal: points, segments and convex polygons in the tangent plane, each with its
// height above it, and their intersections with the features that made each corner.

#include <Eigen/Core>
#include <vector>

#include "deft/collision/shapes/shape.hpp"

namespace deft::collision {

using Eigen::Vector2d;

/// A plane basis ⟂ n, the same for the same n, and coordinates (x, height) of points in it [m].
struct TangentFrame {
  Vector3d origin, n, t1, t2;  // in the world; n, t1, t2 unit and right-handed: t2 = n × t1
  TangentFrame(const Vector3d& origin_W, const Vector3d& n_W);  // n_W: unit
  /// Coordinates of a point along t1 and t2.
  Vector2d across(const Vector3d& x_W) const { return {t1.dot(x_W - origin), t2.dot(x_W - origin)}; }
  /// Its coordinate along n.
  double height(const Vector3d& x_W) const { return n.dot(x_W - origin); }
  /// The point with these coordinates, in the world.
  Vector3d at(const Vector2d& x, double height) const { return origin + x.x() * t1 + x.y() * t2 + height * n; }
};

/// A flat feature projected along n. Features are numbered per shape: vertices, then edges, then faces.
struct Piece {
  std::vector<Vector2d> corners;      // 1: point, 2: segment, ≥ 3: convex polygon, counter-clockwise
  std::vector<int> corner_feature;    // of each corner
  std::vector<int> edge_feature;      // from each corner to the next
  int feature = 0;                    // of the whole
  double height_at_0 = 0;             // height(x) = height_at_0 + slope · x
  Vector2d slope = Vector2d::Zero();  // [-]

  void clear();  // no corners, at height 0
  /// Appends corner x with its feature and that of the side towards the next corner.
  void add(const Vector2d& x, int vertex, int edge);
  /// Height above the frame at x [m].
  double height(const Vector2d& x) const { return height_at_0 + slope.dot(x); }
};

/// A corner of the intersection of two pieces.
struct ClippedCorner {
  Vector2d x;                        // in the tangent plane [m]
  int feature_a = 0, feature_b = 0;  // of each piece that meet there
};

/// Scratch of `clip`: the polygon before and after each cut. One per thread; grows, then allocates no more.
struct ClipScratch {
  /// A corner of the polygon that is being cut; −1: not so.
  struct Corner {
    Vector2d x;                            // in the tangent plane [m]
    int vertex_a = -1, vertex_b = -1;      // position in a's, b's corners where the corner is one of theirs
    int edge_a = -1, edge_b = -1;          // the edge towards the next corner: of a or of b
    int crossing_a = -1, crossing_b = -1;  // the sides of a and b that cross in it
  };
  std::vector<Corner> now, next;  // before and after a cut
};

/// Intersection of two convex pieces as a convex polygon, segment or point (no corners: they do not meet). Sides within
/// 1e-12 m of each other count as meeting. Method: Sutherland–Hodgman.
void clip(const Piece& a, const Piece& b, ClipScratch& scratch, std::vector<ClippedCorner>& corners);

/// Feature number of a vertex: the first ones of a polytope.
int vertex_feature(const Polytope&, int vertex);
int edge_feature(const Polytope& p, int edge);  // of an edge: behind those of the vertices
int face_feature(const Polytope& p, int face);  // of a face: behind those of the edges

/// Sets `piece` to a vertex of a posed core, projected along frame.n with its height above the frame.
/// `posed` needs its world vertices. No allocation once the piece has grown.
void set_vertex_piece(const PosedShape& posed, int vertex, const TangentFrame& frame, Piece& piece);
/// The same of an edge; one that is parallel to frame.n gets slope 0 and the height of its first vertex.
void set_edge_piece(const PosedShape& posed, int edge, const TangentFrame& frame, Piece& piece);
/// The same of a face, which must not be parallel to frame.n. `posed` needs its normals too.
void set_face_piece(const PosedShape& posed, int face, const TangentFrame& frame, Piece& piece);

}  // namespace deft::collision
