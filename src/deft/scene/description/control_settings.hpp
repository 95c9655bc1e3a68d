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
    JointValues position, velocity;  // inputs: `position` alone
    SourceLocation where;            // in the file, for messages
  };
  std::optional<double> all;              // one number for all
  std::vector<double> list;               // in the order of the state, size nx, or of the input, size nu
  std::optional<Eigen::MatrixXd> matrix;  // weights only: [nx × nx] or [nu × nu]
  std::map<std::string, OfModel> models;  // by name of the model
  SourceLocation where;                   // in the file, for messages
  /// Whether the file said nothing.
  bool empty() const { return !all && list.empty() && !matrix && models.empty(); }
};

/// The reference at a time: a configuration, with velocities if it states them.
struct ReferenceKnot {
  double t = 0;             // [s]
  ConfigurationSpec place;  // what it does not name stays at the start
};

/// What the controller gives where it has no plan: no effort (forces 0, springs where the joints are), or the last
/// command again.
enum class Fallback { kZero, kHold };
std::string_view to_string(Fallback fallback);  // the word of scene files

/// Settings of the mixed-integer controller (control/README.md).
struct ControlSettings {
  int N = 5;                                          // ≥ 1, horizon in steps
  ControlValues Q, R, Qf;                             // weights; empty: Q, R 0 where nothing is said, Qf = Q
  ControlValues x_min, x_max, x_price, u_min, u_max;  // bounds; empty: none, hard
  std::optional<ConfigurationSpec> goal;              // constant reference
  std::vector<ReferenceKnot> path;                    // or one over time, linear between knots
  double gap = 1e-7;                                  // ≥ 0, relative, at which a plan counts as optimal
  double time_limit_s = std::numeric_limits<double>::infinity();  // > 0, wall time per period; infinity: none, so that
                                                                  // results are reproducible
  int threads = 1;                                                // ≥ 1, of the search
  double contact_margin = kInfinity;    // [m] ≥ 0, contacts further away are no pairs of the system
  Fallback fallback = Fallback::kZero;  // the command where there is no plan
  SourceLocation where;                 // in the file, for messages
};

}  // namespace deft::scene
