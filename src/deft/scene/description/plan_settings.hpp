#pragma once
// `plan:` of a scene file: how the planners search. Every default holds for h = 0.1 s and bodies of some decimetres.

#include <limits>
#include <string_view>
#include <vector>

namespace deft::scene {

/// `plan.search`: a tree of greedy roll-outs, or of single steps (planning/search/README.md).
enum class Search { kRollout, kSingleStep };
/// `plan.metric`: distances by what the next command reaches from a node, or by the goal's weights.
enum class PlanMetric { kLocal, kGlobal };
/// `plan.extend`: exact steps, or smoothed ones, which do not hold when simulated.
enum class Extend { kExact, kSmoothed };
/// `plan.regrasp`: hands move to a new grasp by commands (planning/grasps/README.md), or are put there without any.
enum class Regrasp { kTransit, kTeleport };
/// `plan.command`: least squares within the bounds, or without them and then clipped (planning/feasibility/README.md).
enum class CommandRule { kBounded, kClipped };
/// `plan.sampler`: contacts from the scene alone, or for one kind of system: a robot of slides, two planar fingers, the
/// Allegro hand, two planar arms (planning/grasps/README.md).
enum class Sampler { kSurface, kPushing, kPlanarHand, kAllegroClosing, kBimanual };
/// Where the single-step tree has its gradients from: the step smoothed at κ, or exact steps under noise, by the mean
/// of their Jacobians (first order) or by a fit to their motions (zero order).
enum class TreeGradient { kAnalytic, kFirstOrder, kZeroOrder };
/// The words of scene files.
std::string_view to_string(Search search);
std::string_view to_string(PlanMetric metric);      // likewise
std::string_view to_string(Extend extend);          // likewise
std::string_view to_string(Regrasp regrasp);        // likewise
std::string_view to_string(CommandRule rule);       // likewise
std::string_view to_string(Sampler sampler);        // likewise
std::string_view to_string(TreeGradient gradient);  // likewise

/// Settings of the searches (planning/README.md, planning/search/README.md, planning/grasps/README.md). Read by io,
/// listed by `deft info --settings`.
struct PlanSettings {
  Search search = Search::kRollout;  // which tree grows
  // The roll-out towards a target.
  double kappa = 300;            // [1/J] > 0, smoothing of the gradients; inf: exact ones
  double step_norm = 0.3;        // ε > 0, longest change of the joint targets per step [rad, m]
  double regularization = 1e-4;  // ≥ 0, of the least-squares command, on ‖δu‖² beside ‖error‖² [m²]
  double max_target_offset = std::numeric_limits<double>::infinity();  // > 0, most that a roll-out's joint targets lead
                                                                       // the joints [rad, m]
  int rollout_steps = 40;                                              // ≥ 1, most steps of a roll-out
  double progress = 0.02;       // in [0, 1]: a step that comes nearer by this share of the distance is taken at once
  double progress_min = 0.002;  // in [0, 1]: less than this share is no progress
  double goal_bias = 0.8;    // in [0, 1]: share of roll-outs that aim at the goal and not at a random pose on the way
  bool wrap_angles = false;  // planar angles count modulo 2π
  // The choice of nodes.
  double greed = 0.9;           // in [0, 1]: share of choices of the most promising node; the others are uniform
  double tries_weight = 0.2;    // ≥ 0: a node's distance counts as distance · (1 + tries_weight · tries)
  double regrasp_weight = 0.2;  // [m] ≥ 0, per regrasp on the way, once there is a plan
  int batch = 4;                // ≥ 1, nodes chosen at a time and grown in parallel; unlike threads part of the result
  // Regrasps.
  Sampler sampler = Sampler::kSurface;  // how contacts are drawn: from the scene alone, or as published for one system
  int candidates = 1;  // ≥ 1, contacts sampled per regrasp, of which the one is taken whose first step comes nearest
  std::vector<double> palm_offset;  // [m], of allegro-closing: hand's slides beside the object; empty: as at the start
  int attempts = 20;                // ≥ 1, inverse kinematics per candidate
  double finger_share = 0.3;        // in [0, 1]: share of regrasps that move one finger only
  int closure_candidates = 1;       // ≥ 1, grasps sampled where one is to press, of which that is taken that resists
                                    // wrenches best with 0.8 of its friction
  double cone_share = 0.5;          // in (0, 1]: share of μ within which plans of one world keep forces of fingers
  double standoff_m = 1e-3;         // > 0, gap of a sampled contact
  double clearance_m = 0.02;        // > 0, gap that a retreat opens
  double transit_gap_m = 8e-3;      // > 0, gap that free motions keep where their ends leave it
  double drift_m = 0.01;            // > 0, a transit that moves the objects further (a radian counts 0.1 m) is rejected
  double joint_step = 0.3;          // > 0, longest change of a joint target per step of a transit [rad, m]
  int hold_steps = 3;               // ≥ 0, the goal must hold so long
  // The single-step tree; it also reads kappa, step_norm, regularization, goal_bias, wrap_angles, batch and hold_steps.
  PlanMetric metric = PlanMetric::kLocal;  // how far targets are from nodes
  std::vector<double> metric_weights;      // of the global metric, per entry of the goal's error; empty: the goal's
  double metric_gamma = 1e-4;              // γ > 0 [m², rad²]: no target is further than ‖e‖²/γ
  double metric_limit = std::numeric_limits<double>::infinity();  // > 0, targets further than it from every node are
                                                                  // dropped
  TreeGradient gradient = TreeGradient::kAnalytic;                // of smoothed steps, or averaged over samples
  int gradient_samples = 100;   // exact steps per node that are averaged; first order: ≥ 2, zero order: ≥ nu + 2
  double gradient_sigma = 0.1;  // > 0, standard deviation of their joint targets [rad, m]
  CommandRule command = CommandRule::kBounded;     // least squares within their bounds, or clipped to them
  bool start_grasp = false;                        // the tree grows from a sampled contact, not from the start
  Extend extend = Extend::kExact;                  // the dynamics of its steps
  Regrasp regrasp = Regrasp::kTransit;             // how hands come to a new grasp: teleported ones are no commands
  double grasp_share = 0.2;                        // in [0, 1]: share of extensions that are regrasps
  bool goal_once = false;                          // a node is extended to the goal once; then a random target is drawn
  std::vector<double> sample_lower, sample_upper;  // box of random poses, as the goal's error is ordered
                                                   // (planning/feasibility/README.md)
  // The end.
  int nodes = 100000;        // ≥ 1, most roll-outs, or single steps
  double time_limit_s = 60;  // > 0 [s], wall time of a run
  double improve_s = 0;      // ≥ 0 [s], how long a plan is improved, within the time limit
  std::vector<std::string> judges{"h", "h/2", "h/5", "second-order", "worlds"};  // in which a plan has to hold
  bool first = false;         // the first plan at h is the result, whatever other judges say
  double joint_speed = 0.5;   // > 0 [rad/s], of hinges in plans that hold; where a limit is stated, only beside objects
  double slide_speed = 0.5;   // > 0 [m/s], the same of slides
  std::vector<int> refine;    // 2 … 1000 each: another word for the judges h and h divided by each of them
  double regrasp_cost_s = 5;  // ≥ 0 [s], cost of a regrasp, beside the duration of the plan
};

}  // namespace deft::scene
