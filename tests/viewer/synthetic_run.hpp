#pragma once
// Motions made up for tests of the page: a fingertip pushes boxes over a table. Kinematics by formula, forces
// plausible, no solver.

#include <optional>
#include <string>

#include "deft/dynamics/trajectory.hpp"
#include "deft/viewer/explanation.hpp"
#include "deft/viewer/search_tree.hpp"

namespace deft::viewer {

struct SyntheticRun {
  std::string scene_json;
  dynamics::Trajectory trajectory;
  std::optional<SearchTree> tree;
};

struct SyntheticOptions {
  int steps = 60;
  int boxes = 2;
  bool forces = true;     // false: contacts keep their gaps and lose their forces
  bool contacts = true;   // false: no pair came near another
  bool smoothed = false;  // finite kappa: force at a distance
  int failed_step = -1;   // this step and the next are marked as failed
  std::string box_name = "box";
  int twigs = -1;          // ≥ 0: a tree with the plan and so many pairs of transit and roll-out besides
  bool planned = true;     // false: the search of the tree was cut short
  bool reachable = false;  // with the tree: what is reached at every frame and at all nodes but the last
  bool ball = false;       // the first box is a ball
  bool wall = false;  // a wall stands between the usual camera and the boxes; with supports: a half-space at y = −0.07
  bool control = false;   // a controller: see add_plans
  bool patches = false;   // model equivalent-contact-point: see synthetic_patches.hpp
  bool tracked = false;   // follows a plan: see synthetic_tracks.hpp
  bool supports = false;  // model limit-surface: see synthetic_supports.hpp
};

/// Bodies: world (half-space table), finger (robot: capsule), boxes; four contacts per box with the table, one with the
/// finger.
SyntheticRun make_synthetic_run(const SyntheticOptions& options);

/// Two causes, and two failed tries of the first: all bodies 0.1 m and 0.2 m above where they start.
Explanation synthetic_explanation(const dynamics::Trajectory& run);

}  // namespace deft::viewer
