#pragma once
// Where the links of robots can come at all, whatever their joints do, and how large geometries are: bounds that hold
// for certain, for what is to be proven impossible.

#include <Eigen/Core>
#include <array>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::planning {

/// A ball.
struct Ball {
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();  // [m]
  double radius = 0;                                 // [m]; infinite: all of space
};

/// How large a geometry is.
struct Extent {
  Ball outer;               // contains it, in the frame of its body
  double inner_radius = 0;  // of a ball about the same centre that it contains [m]; 0: none is known
};
/// Of every geometry of scene.collision_world(), in its order; of half-spaces infinite.
std::vector<Extent> extents_of(const scene::Scene& scene);

/// A set that contains a link in every configuration of its robot: a ball and a box about it.
struct Reach {
  int geometry = -1;             // of the link
  Ball ball;                     // in the world
  Eigen::Vector3d lower, upper;  // of the box, in world axes [m]; may be infinite
  double arm = 0;                // Σ |p_i − p_{i−1}| [m]
  /// A lower bound of the distance to a ball [m], at least 0. @param known  per world axis whether the ball's place
  /// along it is known; the others count as if it were nowhere better.
  double distance(const Ball& other, const std::array<bool, 3>& known) const;
};

/// One per geometry that joints of robots move. With the chain of joints from the world to the geometry and p_n its
/// centre, p_{i−1} the foot of the perpendicular from p_i to the axis of the i-th turning joint (which neither this
/// joint nor those nearer to the world move against their links), and r the outer radius,
///     |p − p_0| ≤ Σ |p_i − p_{i−1}| + Σ (ranges of sliding joints) + r.
/// Along a world axis that all turning joints so far are parallel to, a piece counts nothing. Slides range within their
/// limits if `step.joint_limits` is on, else without end.
/// @param scene  at whose start the chain is measured.
std::vector<Reach> reaches_of(const scene::Scene& scene);

}  // namespace deft::planning
