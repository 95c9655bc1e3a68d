#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/math/formula.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {
struct Robot;

/// The joint targets (or velocities) of all robots over time, every knot filled in: a missing joint keeps its last
/// value, before the first knot that names it its start (velocities and forces: 0); before the first and after the last
/// knot the value is held. Velocities may also be formulas of t, which are evaluated at the start of a step.
class CommandTable {
 public:
  CommandTable() = default;  // no robots: u of size 0
  /// Fills in the knots and reads the formulas; unknown names, wrong lengths and times that do not increase go to
  /// `diagnostics`. @param q_start  the joint targets before a knot names them, size nq.
  CommandTable(const CommandSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
               const Eigen::VectorXd& q_start, Diagnostics& diagnostics);
  /// Targets for the step [t, t + h]: `linear` at its end, `hold` the last knot at or before its start, formulas at its
  /// start. No allocation.
  void evaluate(double t, double h, Eigen::VectorXd& u) const;
  /// Time of the last knot [s]; 0 without knots.
  double last_time() const { return times_.empty() ? 0.0 : times_.back(); }

 private:
  Interpolation interpolation_ = Interpolation::kLinear;
  std::vector<double> times_;
  Eigen::MatrixXd targets_;  // nu × knots
  Eigen::VectorXd start_;    // nu
  /// A velocity that a formula of t gives.
  struct Driven {
    int u = 0;
    Formula rate;
  };
  std::vector<Driven> formulas_;
  void interpolate(double t, double h, Eigen::VectorXd& u) const;
  void read_formulas(const CommandSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
                     Diagnostics& diagnostics);
};

}  // namespace deft::scene
