#pragma once
// A contact of the equivalent-contact-point model in plain data.

#include <Eigen/Core>
#include <vector>

namespace deft::dynamics {

/// One contact at the end of a step, in the frame (n, t, o): n from B to A, t along the ellipsoid's axis, o = n × t.
struct PatchContact {
  int pair = -1;                 // index in PatchWorld::pairs
  int body_a = -1, body_b = -1;  // bodies of the scene, 0: the world; of a PatchProblem one more than their index
  double mu = 0;                 // coefficient of friction of the pair
  Eigen::Vector3d point_W = Eigen::Vector3d::Zero();  // the equivalent contact point [m]
  // Axes of the contact frame, unit.
  Eigen::Vector3d n_W = Eigen::Vector3d::UnitZ();  // normal, from B to A
  Eigen::Vector3d t_W = Eigen::Vector3d::UnitX();  // first tangent
  Eigen::Vector3d o_W = Eigen::Vector3d::UnitY();  // second tangent
  double gap = 0;                                  // distance of the bodies [m]
  double p_n = 0;                                  // normal impulse [N s] ≥ 0
  Eigen::Vector3d p_f = Eigen::Vector3d::Zero();   // friction impulse on A: p_t, p_o [N s], p_r [N m s]
  Eigen::Vector3d slip = Eigen::Vector3d::Zero();  // v_t, v_o [m/s], v_r [rad/s], of A against B at the point
  double sigma = 0;                                // multiplier of the friction ellipsoid [m/s]
  std::vector<double> l_a, l_b;                    // multipliers of the inequalities of A and B
};

}  // namespace deft::dynamics
