#pragma once
// A contact of the equivalent-contact-point model in plain data.

#include <Eigen/Core>
#include <vector>

namespace deft::dynamics {

/// One contact at the end of a step, in the frame (n, t, o): n from B to A, t along the ellipsoid's axis, o = n × t.
struct PatchContact {
  int pair = -1;
  int body_a = -1, body_b = -1;  // of the scene, 0: the world; −1: of no scene
  double mu = 0;
  Eigen::Vector3d point_W = Eigen::Vector3d::Zero();  // the equivalent contact point [m]
  Eigen::Vector3d n_W = Eigen::Vector3d::UnitZ(), t_W = Eigen::Vector3d::UnitX(), o_W = Eigen::Vector3d::UnitY();
  double gap = 0;                                  // [m]
  double p_n = 0;                                  // [N s] ≥ 0
  Eigen::Vector3d p_f = Eigen::Vector3d::Zero();   // p_t, p_o [N s], p_r [N m s], on A
  Eigen::Vector3d slip = Eigen::Vector3d::Zero();  // v_t, v_o [m/s], v_r [rad/s], of A against B at the point
  double sigma = 0;                                // multiplier of the friction ellipsoid [m/s]
  std::vector<double> l_a, l_b;                    // multipliers of the inequalities of A and B
};

}  // namespace deft::dynamics
