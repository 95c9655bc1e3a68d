#pragma once
// `plan:` of a scene file: how the planners search. Every default holds for h = 0.1 s and bodies of some decimetres.

#include <limits>
#include <string_view>
#include <vector>

namespace deft::scene {

/// Words of `plan:`.
enum class Search { kRollout, kSingleStep };
enum class PlanMetric { kLocal, kGlobal };
enum class Extend { kExact, kSmoothed };
enum class Regrasp { kTransit, kTeleport };
enum class CommandRule { kBounded, kClipped };
enum class Sampler { kSurface, kPushing, kPlanarHand, kAllegroClosing, kBimanual };
std::string_view to_string(Search search);
std::string_view to_string(PlanMetric metric);
std::string_view to_string(Extend extend);
std::string_view to_string(Regrasp regrasp);
std::string_view to_string(CommandRule rule);
std::string_view to_string(Sampler sampler);

/// Settings of the searches (planning/README.md). Read by io, listed by `deft info --settings`.
struct PlanSettings {
  Search search = Search::kRollout;
  // The roll-out towards a target.
  double kappa = 300;            // [1/J] > 0, smoothing of the gradients; inf: exact ones
  double step_norm = 0.3;        // ε > 0, longest change of the joint targets per step [rad, m]
  double regularization = 1e-4;  // ≥ 0, of the least-squares command, on ‖δu‖² beside ‖error‖² [m²]
  double max_target_offset = std::numeric_limits<double>::infinity();  // > 0, most that a roll-out's joint targets lead
                                                                       // the joints [rad, m]
  int rollout_steps = 40;                                              // ≥ 1
  double progress = 0.02;       // a step that comes nearer by this share of the distance is taken at once
  double progress_min = 0.002;  // less than this share is no progress
  double goal_bias = 0.8;       // share of roll-outs that aim at the goal and not at a random pose on the way
  bool wrap_angles = false;     // planar angles count modulo 2π
  // The choice of nodes.
  double greed = 0.9;           // share of choices of the most promising node; the others are uniform
  double tries_weight = 0.2;    // distance · (1 + tries_weight · tries)
  double regrasp_weight = 0.2;  // [m] per regrasp on the way, once there is a plan
  int batch = 4;                // ≥ 1, nodes chosen at a time and grown in parallel; unlike threads part of the result
  // Regrasps.
  Sampler sampler = Sampler::kSurface;  // how contacts are drawn: from the scene alone, or as published for one system
  int candidates = 1;  // ≥ 1, contacts sampled per regrasp, of which the one is taken whose first step comes nearest
  std::vector<double> palm_offset;  // [m], of allegro-closing: hand's slides beside the object; empty: as at the start
  int attempts = 20;                // ≥ 1, inverse kinematics per candidate
  double finger_share = 0.3;        // share of regrasps that move one finger only
  double standoff_m = 1e-3;         // > 0, gap of a sampled contact
  double clearance_m = 0.02;        // > 0, gap that a retreat opens
  double drift_m = 0.01;            // a transit that moves the objects further (a radian counts 0.1 m) is rejected
  double joint_step = 0.3;          // > 0, longest change of a joint target per step of a transit [rad, m]
  int hold_steps = 3;               // ≥ 0, the goal must hold so long
  // The single-step tree; it also reads kappa, step_norm, regularization, goal_bias, wrap_angles, batch and hold_steps.
  PlanMetric metric = PlanMetric::kLocal;  // how far targets are from nodes
  std::vector<double> metric_weights;      // of the global metric, per entry of the goal's error; empty: the goal's
  double metric_gamma = 1e-4;              // γ > 0 [m², rad²]: no target is further than ‖e‖²/γ
  double metric_limit = std::numeric_limits<double>::infinity();  // > 0, targets further than it from every node are
                                                                  // dropped
  CommandRule command = CommandRule::kBounded;     // least squares within their bounds, or clipped to them
  bool start_grasp = false;                        // the tree grows from a sampled contact, not from the start
  Extend extend = Extend::kExact;                  // the dynamics of its steps
  Regrasp regrasp = Regrasp::kTransit;             // how hands come to a new grasp: teleported ones are no commands
  double grasp_share = 0.2;                        // share of extensions that are regrasps
  bool goal_once = false;                          // a node is extended to the goal once; then a random target is drawn
  std::vector<double> sample_lower, sample_upper;  // box of random poses, as the goal's error is ordered (README.md)
  // The end.
  int nodes = 100000;         // ≥ 1
  double time_limit_s = 60;   // > 0
  double improve_s = 0;       // ≥ 0, how long a plan is improved, within the time limit
  std::vector<int> refine;    // ≥ 2 each: a plan is made that holds at h and at h divided by each of them
  double regrasp_cost_s = 5;  // of a regrasp, beside the duration of the plan [s]
};

}  // namespace deft::scene
