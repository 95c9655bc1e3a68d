#pragma once
// The flat features of a shape that face along a direction.

#include "deft/collision/distance/clip.hpp"

namespace deft::collision {

/// Cylinders as flat features: 16 rim points per cap fixed in the body, and the side line that is farthest along the
/// direction. Features: rim points 17 c + k (k = 16: the end of the side line), rim edges 34 + 16 c + k, the side line
/// 66, the caps 67 + c.
inline constexpr int kRimPoints = 16;
inline constexpr int kCapVertices = kRimPoints + 1;                        // rim points and the side line's end
inline constexpr int kRimEdgeFeature = 2 * kCapVertices;                   // the first rim edge
inline constexpr int kSideLineFeature = kRimEdgeFeature + 2 * kRimPoints;  // the side line
inline constexpr int kCapFeature = kSideLineFeature + 1;                   // the cap at −z

/// The ends of the cylinder's side line that is farthest along `direction`, at caps −z and +z. Below 0.5° between
/// direction and axis the radius shrinks smoothly to cos(π/16) r, so that the line stays inside the rim polygon while
/// its azimuth is undefined.
std::array<Vector3d, 2> side_line(const PosedShape& cylinder, const Vector3d& direction);
/// Radius of that line over the cylinder's, and its derivative, by the sine of the angle between direction and axis.
struct SideLine {
  double scale = 1, slope = 0;  // [-], and per unit of the sine
};
SideLine side_line_scale(double sine);  // sine ≥ 0
/// Point k of the rim of cap 0 (−z) or 1 (+z) at the azimuth 2π k/kRimPoints, in the world.
Vector3d rim_point(const PosedShape& cylinder, int cap, int k);

/// Sets `piece` to the rim polygon of cap 0 (−z) or 1 (+z), projected along frame.n.
void set_cap_piece(const PosedShape& cylinder, int cap, const TangentFrame& frame, Piece& piece);
/// A segment between two points; seen end-on it becomes the end that is farther along sign · n. `features`: of both
/// ends, of the whole.
void set_segment_piece(const Vector3d& from, const Vector3d& to, const std::array<int, 3>& features, double sign,
                       const TangentFrame& frame, Piece& piece);

/// Fills the first pieces of the pool with the faces, segments and points of the core that face along sign · n and end
/// at most `search_margin` [m] below `level`, both measured along sign · n. @returns their number. The pool grows as
/// needed.
int collect_pieces(const PosedShape& posed, double sign, const TangentFrame& frame, double level, double search_margin,
                   std::vector<Piece>& pool);

}  // namespace deft::collision
