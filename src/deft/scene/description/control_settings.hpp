#pragma once
// `control:` of a scene file: the controller of `deft sim --controller mixed-integer`. Names are resolved where it is
// built.

#include <Eigen/Core>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/scene/description/configuration_spec.hpp"

namespace deft::scene {

/// Numbers per state (positions, then velocities) or per input: one for all, a list, a matrix (weights), or by model.
struct ControlValues {
  /// Of one model: its positions (inputs: its joints) and its velocities.
  struct OfModel {
    JointValues position, velocity;
    SourceLocation where;
  };
  std::optional<double> all;
  std::vector<double> list;
  std::optional<Eigen::MatrixXd> matrix;
  std::map<std::string, OfModel> models;
  SourceLocation where;
  bool empty() const { return !all && list.empty() && !matrix && models.empty(); }
};

/// A place to be at time t [s]: a configuration, with velocities if it states them.
struct ReferenceKnot {
  double t = 0;
  ConfigurationSpec place;
};

/// What the controller gives where it has no plan: no effort (forces 0, springs where the joints are), or the last
/// command again.
enum class Fallback { kZero, kHold };
std::string_view to_string(Fallback fallback);

/// Settings of the mixed-integer controller (control/README.md).
struct ControlSettings {
  int N = 5;                                          // ≥ 1, horizon in steps
  ControlValues Q, R, Qf;                             // weights; empty: Q, R 0 where nothing is said, Qf = Q
  ControlValues x_min, x_max, x_price, u_min, u_max;  // bounds; empty: none, hard
  std::optional<ConfigurationSpec> goal;              // constant reference
  std::vector<ReferenceKnot> path;                    // or one over time, linear between knots
  double gap = 1e-7;                                  // relative, at which a plan counts as optimal
  double time_limit_s = std::numeric_limits<double>::infinity();  // per period
  int threads = 1;                                                // ≥ 1
  double contact_margin = kInfinity;  // [m], contacts further away are no pairs of the system
  Fallback fallback = Fallback::kZero;
  SourceLocation where;
};

}  // namespace deft::scene
