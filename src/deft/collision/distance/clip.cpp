#include "deft/collision/distance/clip.hpp"

#include <algorithm>
#include <cmath>

namespace deft::collision {
namespace {

constexpr double kSideTolerance = 1e-12;  // [m] sides closer than this count as touching

double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

/// Signed distance to the left of the side from p to q.
double left_of(const Vector2d& p, const Vector2d& q, const Vector2d& x) {
  const Vector2d side = q - p;
  const double length = side.norm();
  return length > kSideTolerance ? cross(side, x - p) / length : 0.0;  // a side that short has no direction
}

bool contains(const Piece& polygon, const Vector2d& x) {
  const std::size_t n = polygon.corners.size();
  for (std::size_t k = 0; k < n; ++k) {
    if (left_of(polygon.corners[k], polygon.corners[(k + 1) % n], x) < -kSideTolerance) return false;
  }
  return true;
}

/// a is a segment, b a polygon; `swapped`: the names of the features are exchanged.
void clip_segment(const Piece& a, const Piece& b, bool swapped, std::vector<ClippedCorner>& corners) {
  double first = 0, last = 1;
  int first_side = -1, last_side = -1;
  const Vector2d &p = a.corners[0], &q = a.corners[1];
  const std::size_t n = b.corners.size();
  for (std::size_t k = 0; k < n; ++k) {
    const double at_p = left_of(b.corners[k], b.corners[(k + 1) % n], p),
                 at_q = left_of(b.corners[k], b.corners[(k + 1) % n], q);
    if (at_p < -kSideTolerance && at_q < -kSideTolerance) return;
    if (at_p >= -kSideTolerance && at_q >= -kSideTolerance) continue;
    const double t = at_p / (at_p - at_q);
    if (at_p < at_q && t > first) first = t, first_side = static_cast<int>(k);
    if (at_p > at_q && t < last) last = t, last_side = static_cast<int>(k);
  }
  const double length = (q - p).norm();
  if (first > last + kSideTolerance / std::max(length, kSideTolerance)) return;
  const auto emit = [&](double t, int side, int vertex) {
    const int on_a = side < 0 ? a.corner_feature[vertex] : a.feature;
    const int on_b = side < 0 ? b.feature : b.edge_feature[side];
    corners.push_back({p + t * (q - p), swapped ? on_b : on_a, swapped ? on_a : on_b});
  };
  emit(first, first_side, 0);
  emit(last, last_side, 1);
}

void clip_segments(const Piece& a, const Piece& b, std::vector<ClippedCorner>& corners) {
  const Vector2d u = a.corners[1] - a.corners[0], v = b.corners[1] - b.corners[0], offset = b.corners[0] - a.corners[0];
  const double area = cross(u, v), lengths = u.norm() * v.norm();
  const double slack = kSideTolerance;
  if (std::abs(area) > 1e-9 * lengths) {
    const double s = cross(offset, v) / area, t = cross(offset, u) / area;
    if (s < -slack / u.norm() || s > 1 + slack / u.norm() || t < -slack / v.norm() || t > 1 + slack / v.norm()) return;
    corners.push_back({a.corners[0] + s * u, a.feature, b.feature});
    return;
  }
  // Parallel: the ends of one that lie on the other.
  const auto emit_ends = [&](const Piece& from, const Piece& on, bool swapped) {
    const Vector2d direction = on.corners[1] - on.corners[0];
    const double length = direction.norm();
    for (int k = 0; k < 2; ++k) {
      const Vector2d x = from.corners[k] - on.corners[0];
      if (length == 0 ? x.norm() > 1e-9 : std::abs(cross(direction, x)) / length > 1e-9) continue;
      const double along = length > 0 ? direction.dot(x) / length : 0.0;
      if (along < -slack || along > length + slack) continue;
      corners.push_back({from.corners[k], swapped ? on.feature : from.corner_feature[k],
                         swapped ? from.corner_feature[k] : on.feature});
    }
  };
  emit_ends(a, b, false);
  emit_ends(b, a, true);
}

void clip_polygons(const Piece& a, const Piece& b, ClipScratch& scratch, std::vector<ClippedCorner>& corners) {
  const int n_a = static_cast<int>(a.corners.size()), n_b = static_cast<int>(b.corners.size());
  auto& now = scratch.now;
  auto& next = scratch.next;
  now.clear();
  for (int i = 0; i < n_a; ++i) now.push_back({.x = a.corners[i], .vertex_a = i, .edge_a = i});
  for (int k = 0; k < n_b && !now.empty(); ++k) {
    const Vector2d &p = b.corners[k], &q = b.corners[(k + 1) % n_b];
    next.clear();
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto& here = now[i];
      const auto& there = now[(i + 1) % now.size()];
      const double at_here = left_of(p, q, here.x), at_there = left_of(p, q, there.x);
      const bool is_in = at_here >= -kSideTolerance, next_is_in = at_there >= -kSideTolerance;
      if (is_in) next.push_back(here);
      if (is_in == next_is_in) continue;
      ClipScratch::Corner corner{.x = here.x + at_here / (at_here - at_there) * (there.x - here.x)};
      if (here.edge_b >= 0 && ((here.edge_b + 1) % n_b == k || (k + 1) % n_b == here.edge_b)) {
        corner.vertex_b = (here.edge_b + 1) % n_b == k ? k : here.edge_b;  // two neighbouring sides of b meet in its
                                                                           // corner
        corner.x = b.corners[corner.vertex_b];
      } else {
        corner.crossing_a = here.edge_a;
        corner.crossing_b = k;
      }
      // Leaving the half-plane the outline continues on b's side, entering it goes on along the old one.
      if (is_in) {
        corner.edge_b = k;
      } else {
        corner.edge_a = here.edge_a;
        corner.edge_b = here.edge_b;
      }
      next.push_back(corner);
    }
    std::swap(now, next);
  }
  for (const auto& c : now) {
    ClippedCorner out{.x = c.x};
    if (c.vertex_a >= 0) {
      out.feature_a = a.corner_feature[c.vertex_a], out.feature_b = b.feature;
    } else if (c.vertex_b >= 0) {
      out.feature_a = a.feature, out.feature_b = b.corner_feature[c.vertex_b];
    } else {
      out.feature_a = c.crossing_a >= 0 ? a.edge_feature[c.crossing_a] : a.feature;
      out.feature_b = b.edge_feature[c.crossing_b];
    }
    corners.push_back(out);
  }
}

}  // namespace

TangentFrame::TangentFrame(const Vector3d& origin_W, const Vector3d& n_W) : origin(origin_W), n(n_W) {
  int axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  t1 = Vector3d::Unit(axis).cross(n).normalized();
  t2 = n.cross(t1);
}

void Piece::clear() {
  corners.clear();
  corner_feature.clear();
  edge_feature.clear();
  height_at_0 = 0;
  slope.setZero();
}

void Piece::add(const Vector2d& x, int vertex, int edge) {
  corners.push_back(x);
  corner_feature.push_back(vertex);
  edge_feature.push_back(edge);
}

int vertex_feature(const Polytope&, int vertex) { return vertex; }
int edge_feature(const Polytope& p, int edge) { return static_cast<int>(p.vertices.size()) + edge; }
int face_feature(const Polytope& p, int face) { return static_cast<int>(p.vertices.size() + p.edges.size()) + face; }

void set_vertex_piece(const PosedShape& posed, int vertex, const TangentFrame& frame, Piece& piece) {
  piece.clear();
  piece.feature = vertex;
  piece.add(frame.across(posed.vertices[vertex]), vertex, vertex);
  piece.height_at_0 = frame.height(posed.vertices[vertex]);
}

namespace {

void set_segment(const Vector3d& from, const Vector3d& to, const TangentFrame& frame, Piece& piece) {
  const Vector2d p = piece.corners[0], along = piece.corners[1] - p;
  const double rise = frame.height(to) - frame.height(from), run2 = along.squaredNorm();
  piece.slope = run2 > 1e-18 ? Vector2d(rise / run2 * along) : Vector2d::Zero();
  piece.height_at_0 = frame.height(from) - piece.slope.dot(p);
}

}  // namespace

void set_edge_piece(const PosedShape& posed, int edge, const TangentFrame& frame, Piece& piece) {
  const Polytope& core = posed.shape->core;
  const auto& e = core.edges[edge];
  piece.clear();
  piece.feature = edge_feature(core, edge);
  piece.add(frame.across(posed.vertices[e.from]), e.from, piece.feature);
  piece.add(frame.across(posed.vertices[e.to]), e.to, piece.feature);
  set_segment(posed.vertices[e.from], posed.vertices[e.to], frame, piece);
}

void set_face_piece(const PosedShape& posed, int face, const TangentFrame& frame, Piece& piece) {
  const Polytope& core = posed.shape->core;
  const auto& f = core.faces[face];
  const Vector3d& normal = posed.normals[face];
  const double facing = normal.dot(frame.n);
  piece.clear();
  piece.feature = face_feature(core, face);
  // Seen along −n a face that looks down is clockwise: turn it round.
  for (int k = 0; k < f.count; ++k) {
    const int here = facing > 0 ? k : f.count - 1 - k;
    const int side = facing > 0 ? k : (here + f.count - 1) % f.count;
    const int vertex = core.corners[f.first + here];
    piece.add(frame.across(posed.vertices[vertex]), vertex, edge_feature(core, core.corner_edges[f.first + side]));
  }
  piece.slope = Vector2d(-normal.dot(frame.t1) / facing, -normal.dot(frame.t2) / facing);
  piece.height_at_0 = frame.height(posed.vertices[piece.corner_feature[0]]) - piece.slope.dot(piece.corners[0]);
}

void clip(const Piece& a, const Piece& b, ClipScratch& scratch, std::vector<ClippedCorner>& corners) {
  corners.clear();
  const std::size_t n_a = a.corners.size(), n_b = b.corners.size();
  if (n_a == 1 && n_b >= 3) {
    if (contains(b, a.corners[0])) corners.push_back({a.corners[0], a.feature, b.feature});
  } else if (n_b == 1 && n_a >= 3) {
    if (contains(a, b.corners[0])) corners.push_back({b.corners[0], a.feature, b.feature});
  } else if (n_a == 1 || n_b == 1) {
    // A point meets a point or a segment only by coincidence; the contact normal then comes from the distance itself.
  } else if (n_a == 2 && n_b == 2) {
    clip_segments(a, b, corners);
  } else if (n_a == 2) {
    clip_segment(a, b, false, corners);
  } else if (n_b == 2) {
    clip_segment(b, a, true, corners);
  } else {
    clip_polygons(a, b, scratch, corners);
  }
}

}  // namespace deft::collision
