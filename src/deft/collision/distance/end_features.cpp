#include "deft/collision/distance/end_features.hpp"

#include <algorithm>
#include <cmath>

#include "deft/collision/distance/pieces.hpp"

namespace deft::collision {
namespace {

constexpr double kSlabs[] = {1e-10, 1e-8, 1e-6, 1e-4};  // [m] depths of an end, the least that will do

int set_polytope_end(const PosedShape& s, const Vector3d& down, double slab, const TangentFrame& frame, Piece& piece) {
  const Polytope& core = s.shape->core;
  const double limit = support_core(s, down).dot(down) - slab;
  const auto is_in = [&](int v) { return s.vertices[v].dot(down) >= limit; };
  int best = -1;
  for (int f = 0; f < static_cast<int>(core.faces.size()); ++f) {
    if (best >= 0 && s.normals[f].dot(down) <= s.normals[best].dot(down)) continue;
    const auto corners = core.corners.begin() + core.faces[f].first;
    if (std::all_of(corners, corners + core.faces[f].count, is_in)) best = f;
  }
  if (best >= 0) {
    set_face_piece(s, best, frame, piece);
    return best;
  }
  for (int e = 0; e < static_cast<int>(core.edges.size()); ++e) {
    if (is_in(core.edges[e].from) && is_in(core.edges[e].to)) {
      set_edge_piece(s, e, frame, piece);
      return -1;
    }
  }
  int vertex = 0;
  for (int v = 1; v < static_cast<int>(s.vertices.size()); ++v) {
    if (s.vertices[v].dot(down) > s.vertices[vertex].dot(down)) vertex = v;
  }
  set_vertex_piece(s, vertex, frame, piece);
  return -1;
}

void set_point(const Vector3d& x, const TangentFrame& frame, Piece& piece) {
  piece.clear();
  piece.add(frame.across(x), 0, 0);
  piece.height_at_0 = frame.height(x);
}

int set_cylinder_end(const PosedShape& s, const Vector3d& down, double slab, const TangentFrame& frame, Piece& piece) {
  const Vector3d axis = s.R_WG.col(2);
  const double along = axis.dot(down), across = axis.cross(down).norm(), r = s.shape->half.x(), h = s.shape->half.z();
  if (2 * r * across < slab) {
    const int cap = along > 0 ? 1 : 0;
    set_cap_piece(s, cap, frame, piece);
    return cap;
  }
  const Vector3d end = support_core(s, down);
  if (2 * h * std::abs(along) >= slab) return set_point(end, frame, piece), -1;
  const Vector3d foot = end - axis.dot(end - s.p_WG) * axis;
  set_segment_piece(foot - h * axis, foot + h * axis, {0, 1, 2}, 1, frame, piece);
  return -1;
}

bool is_cap(const PosedShape& s, const Piece& piece) {
  return s.shape->kind == Kind::kCylinder && piece.corners.size() >= 3;
}

Vector2d centre_of(const Piece& piece) {
  Vector2d sum = Vector2d::Zero();
  for (const auto& x : piece.corners) sum += x;
  return sum / static_cast<double>(piece.corners.size());
}

/// The middle of the overlap along the line of the centres.
bool find_common_point_of_discs(const Vector2d& centre_a, double r_a, const Vector2d& centre_b, double r_b,
                                Vector2d& x) {
  const Vector2d offset = centre_b - centre_a;
  const double distance = offset.norm();
  if (distance > r_a + r_b) return false;
  const double middle = 0.5 * (std::max(-r_a, distance - r_b) + std::min(r_a, distance + r_b));
  x = centre_a + (distance > 0 ? Vector2d(middle / distance * offset) : Vector2d::Zero());
  return true;
}

/// Makes the polygon of a cap reach its rim wherever the other piece may touch it: at the azimuths of its corners, of
/// its middle and of the points of its sides nearest to the cap's centre.
void refine_cap(const PosedShape& s, const Piece& other, std::vector<double>& azimuths, Piece& cap) {
  const Vector2d centre = centre_of(cap);
  azimuths.clear();
  const auto add = [&](const Vector2d& x) { azimuths.push_back(std::atan2(x.y() - centre.y(), x.x() - centre.x())); };
  for (const auto& x : cap.corners) add(x);
  const std::size_t n = other.corners.size();
  for (std::size_t k = 0; k < n; ++k) {
    const Vector2d &p = other.corners[k], side = other.corners[(k + 1) % n] - p;
    const double length2 = side.squaredNorm();
    add(p);
    if (length2 > 0) add(p + std::clamp(side.dot(centre - p) / length2, 0.0, 1.0) * side);
  }
  add(centre_of(other));
  std::sort(azimuths.begin(), azimuths.end());
  const auto is_twin = [](double p, double q) { return q - p < 1e-6; };
  azimuths.erase(std::unique(azimuths.begin(), azimuths.end(), is_twin), azimuths.end());
  // Corners in the frame's plane: the cap is parallel to it but for the slab.
  const double r = s.shape->half.x(), height = cap.height(centre);
  const Vector2d slope = cap.slope;
  cap.clear();
  for (const double azimuth : azimuths) cap.add(centre + r * Vector2d(std::cos(azimuth), std::sin(azimuth)), 0, 0);
  cap.slope = slope;
  cap.height_at_0 = height - slope.dot(centre);
}

}  // namespace

int set_end_piece(const PosedShape& s, bool lowest_end, double slab, const TangentFrame& frame, Piece& piece) {
  const Vector3d down = lowest_end ? Vector3d(-frame.n) : frame.n;
  if (has_polytope_core(s.shape->kind)) return set_polytope_end(s, down, slab, frame, piece);
  if (s.shape->kind == Kind::kCylinder) return set_cylinder_end(s, down, slab, frame, piece);
  set_point(support_core(s, down), frame, piece);
  return -1;
}

bool find_common_point(const PosedShape& a, const PosedShape& b, const TangentFrame& frame, double slab,
                       EndScratch& scratch, Vector2d& x) {
  set_end_piece(a, true, slab, frame, scratch.a);
  set_end_piece(b, false, slab, frame, scratch.b);
  if (is_cap(a, scratch.a) && is_cap(b, scratch.b)) {
    return find_common_point_of_discs(centre_of(scratch.a), a.shape->half.x(), centre_of(scratch.b), b.shape->half.x(),
                                      x);
  }
  if (is_cap(a, scratch.a)) refine_cap(a, scratch.b, scratch.azimuths, scratch.a);
  if (is_cap(b, scratch.b)) refine_cap(b, scratch.a, scratch.azimuths, scratch.b);
  clip(scratch.a, scratch.b, scratch.clip, scratch.corners);
  if (scratch.corners.empty()) return false;
  x.setZero();
  for (const auto& c : scratch.corners) x += c.x;
  x /= static_cast<double>(scratch.corners.size());
  return true;
}

namespace {

/// The place where two ends that miss each other, because they meet in a vertex, are nearest: of the corners of either
/// and the sides of the other.
Vector2d nearest_point(const Piece& a, const Piece& b) {
  double least = INFINITY;
  Vector2d nearest = b.corners[0];
  const auto look = [&](const Piece& at, const Piece& sides) {
    const std::size_t n = sides.corners.size();
    for (const Vector2d& corner : at.corners) {
      for (std::size_t k = 0; k < n; ++k) {
        const Vector2d &p = sides.corners[k], side = sides.corners[(k + 1) % n] - p;
        const double length2 = side.squaredNorm();
        const double along = length2 > 0 ? std::clamp(side.dot(corner - p) / length2, 0.0, 1.0) : 0.0;
        const Vector2d apart = p + along * side - corner;
        if (apart.squaredNorm() < least) least = apart.squaredNorm(), nearest = corner + 0.5 * apart;
      }
    }
  };
  look(a, b);
  look(b, a);
  return nearest;
}

}  // namespace

Proximity proximity_along(const PosedShape& a, const PosedShape& b, const Vector3d& n, double s, EndScratch& scratch) {
  const TangentFrame frame(b.centre_W(), n);
  const Vector3d end_b = support_core(b, n);
  Proximity p{.distance = s, .n = n};
  Vector2d x;
  bool is_common = false;
  for (const double slab : kSlabs) {
    is_common = find_common_point(a, b, frame, slab, scratch, x);
    if (is_common) break;
  }
  if (!is_common) {
    set_end_piece(a, true, kSlabs[0], frame, scratch.a);
    set_end_piece(b, false, kSlabs[0], frame, scratch.b);
    x = nearest_point(scratch.a, scratch.b);
  }
  p.p_B = frame.at(x, frame.height(end_b));
  p.p_A = p.p_B + s * n;
  return p;
}

}  // namespace deft::collision
