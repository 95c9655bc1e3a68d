#pragma once
// `control:` of a scene in vectors and matrices: weights, bounds, the reference over time.

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/control_settings.hpp"

namespace deft::scene {
struct Robot;

/// The settings of a controller whose state is (positions, velocities), size nx = 2 nv, positions by velocity index:
/// the coordinate of a joint of one axis, a displacement elsewhere. Immutable.
class ControlTable {
 public:
  ControlTable() = default;
  /// Resolves the names of `settings`; every problem goes to `diagnostics`. @param q_start  what the reference does not
  /// name stays there.
  ControlTable(const ControlSettings& settings, const multibody::Model& model, std::span<const Robot> robots,
               const Eigen::VectorXd& q_start, Diagnostics& diagnostics);

  Eigen::MatrixXd Q, R, Qf;      // weights of x [nx × nx], u [nu × nu] and the last x [nx × nx]
  Eigen::VectorXd x_min, x_max;  // bounds of the state, size nx; ±infinity: none
  Eigen::VectorXd x_price;       // cost per unit of violation of these, size nx; infinity: hard; empty: all hard
  Eigen::VectorXd u_min, u_max;  // bounds of the input, size nu; ±infinity: none

  /// Where the reference is at time t [s]: linear between knots (rotations along the shortest turn), held before and
  /// after. Velocities are those of the knots where any of them states one, otherwise those of the motion from `t` to
  /// `t + h` over h: 0 at a goal.
  void reference(const multibody::Model& model, double t, double h, Eigen::VectorXd& q, Eigen::VectorXd& v) const;
  /// When the reference ends [s]: the last knot of a path; 0 for a goal.
  double last_time() const { return times_.empty() ? 0.0 : times_.back(); }

 private:
  Eigen::VectorXd place(const multibody::Model& model, double t) const;
  void read_reference(const ControlSettings& settings, const multibody::Model& model, const Eigen::VectorXd& q_start,
                      Diagnostics& diagnostics);

  std::vector<double> times_;
  std::vector<Eigen::VectorXd> q_, v_;  // per knot
  bool states_velocity_ = false;
};

}  // namespace deft::scene
