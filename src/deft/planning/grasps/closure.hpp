#pragma once
// How well a grasp resists wrenches on what it holds.

#include <Eigen/Core>
#include <vector>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/grasps/proximity.hpp"

namespace deft::planning {

/// A point in which something pushes on a body.
struct Push {
  Eigen::Vector3d p_W;     // where [m]
  Eigen::Vector3d nhat_W;  // into the body, unit
  double mu = 0;           // [-] ≥ 0
};

/// What a set of pushes resists. Numbers are per newton of all normal forces together: 0.2 means that 10 N of normal
/// forces, shared out as is best, hold a force of 2 N or a torque of 2 N·ℓ.
struct Closure {
  double least = 0;  // the wrench that is resisted in any direction, in the 1-norm; 0: there is no force closure
  double mean = 0;   // of what is resisted along each axis of wrenches, both ways: orders grasps without closure
};

/// With the edges w_k = (d_k, (p − c) × d_k / ℓ) of all friction cones, d_k = n̂ + μ t_k (8 edges in space, 2 in a
/// plane),
///
///   s(e) = max { s : s e = Σ λ_k w_k, λ ≥ 0, Σ λ_k ≤ 1 },   least = min s(±e_i),   mean = mean s(±e_i),
///
/// e_i the axes of wrenches: three forces and three torques; in a plane the two forces in it and the torque about its
/// normal. Since the set of resisted wrenches is convex, it contains the cross-polytope of radius `least`: that is the
/// largest one around zero, and force closure is `least` > 0. By linear programming (the simplex method with Bland's
/// rule). @param c_W  where torques are taken about [m]. @param length_m  ℓ > 0, which makes torques forces. @param
/// plane_normal_W  unit; zero in space.   Source: C. Ferrari, J. Canny, Planning optimal grasps, ICRA 1992, there with
/// the 2-norm.
Closure closure_of(const std::vector<Push>& pushes, const Eigen::Vector3d& c_W, double length_m,
                   const Eigen::Vector3d& plane_normal_W);

/// The closure of every object of the goal that something touches at q, the least of them: with coefficients of
/// friction times `friction_share`, pushes of fingers and of what is fixed within `reach_m` [m] of it, and its weight
/// as one more push in its centre. Torques are taken about the centre of the body, ℓ is the largest distance of a push
/// from it. Objects on joints that hold them (a door) are left out. @param proximity  scratch. @returns zeros where
/// nothing touches an object.
Closure closure_at(const scene::Scene& scene, const Hand& hand, const Eigen::VectorXd& q, double friction_share,
                   double reach_m, Proximity& proximity);

}  // namespace deft::planning
