#include "deft/collision/distance/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deft::collision {
namespace {

constexpr double kEdgeOn = 1e-6;  // faces steeper than this against n are seen as lines, which their neighbours contain

Piece& next_piece(std::vector<Piece>& pool, int& count) {
  if (count == static_cast<int>(pool.size())) pool.emplace_back();
  return pool[count++];
}

/// Height along sign · n of the corner that is farthest along it.
double highest_end(const Piece& piece, double sign) {
  double best = -INFINITY;
  for (const auto& x : piece.corners) best = std::max(best, sign * piece.height(x));
  return best;
}

}  // namespace

void set_cap_piece(const PosedShape& s, int cap, const TangentFrame& frame, Piece& piece) {
  const Vector3d axis = s.R_WG.col(2);
  const double facing = axis.dot(frame.n);
  piece.clear();
  piece.feature = kCapFeature + cap;
  for (int i = 0; i < kRimPoints; ++i) {
    const int k = facing > 0 ? i : kRimPoints - 1 - i;
    const int side = facing > 0 ? k : (k + kRimPoints - 1) % kRimPoints;
    piece.add(frame.across(rim_point(s, cap, k)), kCapVertices * cap + k, kRimEdgeFeature + kRimPoints * cap + side);
  }
  piece.slope = Vector2d(-axis.dot(frame.t1) / facing, -axis.dot(frame.t2) / facing);
  piece.height_at_0 = frame.height(rim_point(s, cap, 0)) - piece.slope.dot(frame.across(rim_point(s, cap, 0)));
}

void set_segment_piece(const Vector3d& from, const Vector3d& to, const std::array<int, 3>& features, double sign,
                       const TangentFrame& frame, Piece& piece) {
  piece.clear();
  const Vector2d p = frame.across(from), q = frame.across(to);
  const double run2 = (q - p).squaredNorm(), rise = frame.height(to) - frame.height(from);
  if (run2 < 1e-18) {  // seen end-on: the nearer end
    const bool takes_to = sign * rise > 0;
    piece.feature = features[takes_to ? 1 : 0];
    piece.add(takes_to ? q : p, piece.feature, piece.feature);
    piece.height_at_0 = frame.height(takes_to ? to : from);
    return;
  }
  piece.feature = features[2];
  piece.add(p, features[0], features[2]);
  piece.add(q, features[1], features[2]);
  piece.slope = rise / run2 * (q - p);
  piece.height_at_0 = frame.height(from) - piece.slope.dot(p);
}

Vector3d rim_point(const PosedShape& s, int cap, int k) {
  static const auto kCircle = [] {
    std::array<Vector2d, kRimPoints> circle;
    for (int i = 0; i < kRimPoints; ++i) {
      const double angle = 2 * std::numbers::pi * i / kRimPoints;
      circle[i] = {std::cos(angle), std::sin(angle)};
    }
    return circle;
  }();
  const double r = s.shape->half.x(), h = s.shape->half.z();
  return s.p_WG + s.R_WG * Vector3d(r * kCircle[k].x(), r * kCircle[k].y(), cap == 0 ? -h : h);
}

SideLine side_line_scale(double sine) {
  static const double kFull = std::sin(0.5 * std::numbers::pi / 180), kInner = std::cos(std::numbers::pi / kRimPoints);
  const double t = std::min(sine / kFull, 1.0);
  return {kInner + (1 - kInner) * t * t * (3 - 2 * t), (1 - kInner) * 6 * t * (1 - t) / kFull};
}

std::array<Vector3d, 2> side_line(const PosedShape& s, const Vector3d& direction) {
  const Vector3d local = s.R_WG.transpose() * direction;
  const double tilt = std::hypot(local.x(), local.y());
  const double scale = s.shape->half.x() * side_line_scale(tilt).scale;
  const Vector2d u = tilt > 0 ? Vector2d(local.x() / tilt, local.y() / tilt) : Vector2d(1, 0);
  const double h = s.shape->half.z();
  return {s.p_WG + s.R_WG * Vector3d(scale * u.x(), scale * u.y(), -h),
          s.p_WG + s.R_WG * Vector3d(scale * u.x(), scale * u.y(), h)};
}

int collect_pieces(const PosedShape& s, double sign, const TangentFrame& frame, double level, double search_margin,
                   std::vector<Piece>& pool) {
  int count = 0;
  const auto drop_if_far = [&] {
    if (highest_end(pool[count - 1], sign) < level - search_margin) --count;
  };
  switch (s.shape->kind) {
    case Kind::kSphere:
      set_vertex_piece(s, 0, frame, next_piece(pool, count));
      break;
    case Kind::kCapsule:
      set_segment_piece(s.vertices[0], s.vertices[1], {0, 1, 2}, sign, frame, next_piece(pool, count));
      break;
    case Kind::kBox:
    case Kind::kHull:
      for (int f = 0; f < static_cast<int>(s.normals.size()); ++f) {
        if (sign * s.normals[f].dot(frame.n) < kEdgeOn) continue;
        set_face_piece(s, f, frame, next_piece(pool, count));
        drop_if_far();
      }
      break;
    case Kind::kCylinder: {
      const double facing = sign * s.R_WG.col(2).dot(frame.n);
      if (std::abs(facing) > kEdgeOn) {
        set_cap_piece(s, facing > 0 ? 1 : 0, frame, next_piece(pool, count));
        drop_if_far();
      }
      const auto line = side_line(s, sign * frame.n);
      set_segment_piece(line[0], line[1], {kRimPoints, kCapVertices + kRimPoints, kSideLineFeature}, sign, frame,
                        next_piece(pool, count));
      drop_if_far();
      break;
    }
    case Kind::kEllipsoid:
    case Kind::kHalfSpace:
      break;
  }
  return count;
}

}  // namespace deft::collision
