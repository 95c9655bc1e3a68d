#pragma once
// How a contact moves with its two shapes: the derivatives of normal, witness points and gap.

#include <Eigen/Core>
#include <cstdint>
#include <string_view>

namespace deft::collision {

/// Why a contact has only one-sided derivatives here.
enum class NonsmoothPoint : std::uint8_t {
  kNone,
  kParallel,    // flat features of both lie in each other: which one determines the normal depends on the direction
  kBorder,      // the witness point is on the border of its feature
  kDegenerate,  // the normal is undefined: cores meet in a point, or the curvatures cancel the gap
  kUpright,     // the nearest side line of a cylinder seen along its axis
};
/// One word: "none", "parallel", "border", "degenerate", "upright".
std::string_view to_string(NonsmoothPoint nonsmooth);

/// Linear maps from ζ = (θ_A, η_A, θ_B, η_B): angular velocity of A, velocity of A's material point at p_WA, the same
/// of B at p_WB, all in the world. Where `nonsmooth` is not kNone they are those of one side.
struct ContactMotion {
  using Map = Eigen::Matrix<double, 3, 12>;                      // ζ → the derivative of a vector in the world
  Map dn = Map::Zero(), dp_A = Map::Zero(), dp_B = Map::Zero();  // of nhat_BA_W, p_WA, p_WB
  Eigen::Matrix<double, 1, 12> dgap = Eigen::Matrix<double, 1, 12>::Zero();  // of the gap
  NonsmoothPoint nonsmooth = NonsmoothPoint::kNone;                          // why the maps are one-sided, if they are
};

}  // namespace deft::collision
