#pragma once
// What improves a plan segment by segment: `optimize:` of a scene file.

#include <limits>

namespace deft::scene {

/// Settings of `deft optimize` (planning/trajectory/README.md). Read by io, listed by `deft info --settings`.
struct OptimizeSettings {
  bool stage = false;        // whether `deft plan` improves its first plan so before it searches for one that holds
  double time_limit_s = 10;  // > 0 [s], wall time of a run
  int iterations = 6;        // ≥ 1, linearisations of a segment in one pass over the plan
  int knots = 8;             // ≥ 1, most commands of a segment that are decided on; it goes linearly between them
  double kappa_first = 300;  // [1/J] > 0, smoothing of the gradients in the first iteration
  double kappa_last = 3000;  // [1/J] > 0, and in the last one
  double radius = 0.1;       // > 0, trust region: most that an iteration changes a command, at first [rad, m]
  double cone_share = 0.5;   // in (0, 1]: share of μ within which forces of fingers keep
  double force_weight = 10;  // ≥ 0, of what leaves these cones, in shares of the largest force [squared tolerances]
  double normal_force = std::numeric_limits<double>::infinity();  // > 0 [N], most of every finger's contact
  double spread_weight = 2;    // ≥ 0, of what worlds differ in beside what they have in common
  double change_weight = 0.1;  // > 0, of changes of commands [squared tolerances per rad², m²]
  int corners = 2;             // 0 to 3, drawn worlds in which commands are tried beside those of the judges
  double speed_share = 0.8;    // in (0, 1]: of plan.joint_speed and plan.slide_speed, while objects are moved
  int patience = 20;           // ≥ 1, tries in a row that come no nearer: the plan is begun anew
};

}  // namespace deft::scene
