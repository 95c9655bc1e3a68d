#pragma once
// The contacts of one pair of geometries and how they move. README.md derives the formulas.

#include <span>

#include "deft/collision/patches/contact_pair.hpp"
#include "deft/collision/patches/curvature.hpp"
#include "deft/collision/patches/patch.hpp"

namespace deft::collision {

/// Motions of the points that find_patch made of a and b at the signed distance `witness`; b may be a half-space, a
/// not. `points` carry features, normal, gap and witness points. `a`, `b` need their vertices and normals.
void find_motions(const PosedShape& a, const PosedShape& b, const Proximity& witness,
                  std::span<const PatchPoint> points, std::vector<ContactMotion>& motions);

/// Derivatives of a pair of nearest points with curvatures A and B (radii included), from
///   (φP + R_A + R_B) dn = P(η_A − η_B) + R_A(θ_A × n) + R_B(θ_B × n),   e·dn = e·(θ_X × n) along flat directions e of
///   X, dp_A = η_A + R_A(θ_A × n − dn) + …,   dp_A − dp_B = dφ n + φ dn,   dφ = n·(η_A − η_B).
ContactMotion witness_motion(const Vector3d& n, double gap, const Curvature& a, const Curvature& b);

}  // namespace deft::collision
