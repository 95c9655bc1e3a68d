#pragma once
// The baseline of contact planning, the single-step search of Pang et al. (2023), on its six systems, as
// scenes/planning/single_step has it, and the measures of its ablation.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/search/single_step_rrt.hpp"

namespace deft::bench {

/// A scene of scenes/planning with its baseline search, the published time of 1000 nodes on sixteen cores, our bar on
/// two [s], and how the published ablation measures trees of it.
struct System {
  const char *name, *goal;
  double published_s, bar_s;
  double turn_weight;  // of a squared radian beside a squared metre, in the closest distance to the goal
  double reach;        // d up to which a node reaches a pose, in the packing ratio
};
// Two of the published reaches are not public: pushing has the limit of its search, the ball that of the planar hand.
inline constexpr System kSystems[] = {
    {"planar_pushing", "down", 3.25, 0.1, 1, 50},       {"planar_hand", "half_turn", 10.32, 0.2, 0.2, 3},
    {"allegro_ball", "half_turn", 31.01, 0.6, 0.25, 3}, {"allegro_plate", "lifted", 117.16, 2, 0.25, 40},
    {"allegro_pen", "turned", 24.84, 0.6, 0.25, 5},     {"allegro_door", "open", 12.42, 0.4, 1, 3}};

/// The systems of these names, all for none. @throws std::invalid_argument for an unknown name.
inline std::vector<System> chosen_systems(const std::vector<std::string>& names) {
  std::vector<System> chosen;
  std::string valid;
  for (const System& system : kSystems) {
    if (names.empty() || std::find(names.begin(), names.end(), system.name) != names.end()) chosen.push_back(system);
    valid += std::string(valid.empty() ? "" : ", ") + system.name;
  }
  for (const std::string& name : names) {
    if (std::none_of(chosen.begin(), chosen.end(), [&](const System& system) { return name == system.name; }))
      throw std::invalid_argument("unknown system '" + name + "'; there are " + valid);
  }
  return chosen;
}

constexpr int kProbes = 1000;        // random poses for the packing ratio
constexpr double kProbeKappa = 100;  // [1/J], of the metric that measures it, the same for all searches

/// One search.
class BaselineSearch {
 public:
  /// @param settings  beside those of scenes/planning/single_step.
  BaselineSearch(const System& system, std::vector<std::string> settings)
      : system_(&system),
        scene_(planning::planning_scene(load(system, std::move(settings)))),
        goal_(scene_, find(system), scene_.settings().plan.wrap_angles) {}

  /// Another scene, with its first goal; the system's weights and reach.
  BaselineSearch(const std::string& file, const System& like, std::vector<std::string> settings)
      : system_(&like),
        scene_(planning::planning_scene(load_file(file, {}, std::move(settings)))),
        goal_(scene_, scene_.spec().goals.front(), scene_.settings().plan.wrap_angles) {}

  planning::SingleStepRrt tree(std::uint64_t seed) const {
    const Eigen::VectorXd q = scene_.initial_configuration();
    return {scene_, goal_, q, planning::joint_positions(scene_, q), seed};
  }
  const scene::Scene& scene() const { return scene_; }
  const planning::Goal& goal() const { return goal_; }

  /// Grows a tree to so many nodes beside its root; an iteration that fails leaves none, as published.
  static void grow_to(planning::SingleStepRrt& tree, int nodes, int threads) {
    constexpr int kMostTries = 20;  // per node
    for (;;) {
      const int left = nodes + 1 - static_cast<int>(tree.nodes().size());
      if (left <= 0 || tree.tried() > kMostTries * nodes) return;
      tree.search({.nodes = left, .time_limit_s = 1e9, .threads = threads, .past_goal = true});
    }
  }

  /// The published distance from a pose to the goal:  Σ w e², e in metres and radians.
  double closeness(const Eigen::VectorXd& q) const {
    Eigen::VectorXd e;
    goal_.residual(q, goal_.q(), e);
    double sum = 0;
    for (int i = 0; i < goal_.size(); ++i) {
      const double entry = e(i) / goal_.weights()(i);
      const bool turns = scene_.model().velocities()[goal_.rows()[i]].unit != "m";
      sum += (turns ? system_->turn_weight : 1) * entry * entry;
    }
    return sum;
  }

  /// Closest distance to the goal, and packing ratio: the share of random poses of the box that some node reaches.
  struct Measure {
    int nodes = 0;
    double closest = 0, packing = 0;
  };
  /// After so many nodes each; ascending. A tree with fewer nodes stays as it ended.
  std::vector<Measure> measure(const planning::SingleStepRrt& tree, const std::vector<int>& marks) const {
    planning::ReachableMetric metric(scene_, goal_, scene::PlanMetric::kLocal, scene_.settings().plan.metric_gamma);
    planning::PlanningSteps steps(scene_);
    std::vector<Eigen::VectorXd> probes;
    for (int k = 0; k < kProbes; ++k) {
      planning::RandomStream draw(0x9acced, static_cast<std::uint64_t>(k));
      probes.push_back(tree.box().draw(draw));
    }
    std::vector<planning::ReachableMetric::Nearest> nearest(probes.size());
    std::vector<Measure> measures;
    Measure now{.closest = 1e300};
    Eigen::VectorXd c;
    Eigen::MatrixXd B;
    std::size_t next = 0;
    for (const int mark : marks) {
      const int seen = metric.size();
      for (; next < tree.nodes().size() && next < to_size(mark) + 1; ++next) {
        const planning::Node& node = tree.nodes()[next];
        now.closest = std::min(now.closest, closeness(node.q));
        if (steps.linearize(node.q, planning::joint_positions(scene_, node.q), kProbeKappa, c, B))
          metric.add(node.q, c, B(goal_.rows(), Eigen::all));
      }
      int reached = 0;
      for (std::size_t k = 0; k < probes.size(); ++k) {
        nearest[k] = metric.nearest(probes[k], seen, nearest[k]);
        reached += nearest[k].distance <= system_->reach;
      }
      now.nodes = mark;
      now.packing = double(reached) / kProbes;
      measures.push_back(now);
    }
    return measures;
  }

 private:
  static scene::Scene load(const System& system, std::vector<std::string> settings) {
    const std::string folder = std::string(DEFT_SCENES_DIR) + "/planning/";
    return load_file(folder + system.name + ".deft.yaml", {folder + "single_step/" + system.name + ".yaml"},
                     std::move(settings));
  }
  static scene::Scene load_file(const std::string& file, std::vector<std::string> overlays,
                                std::vector<std::string> settings) {
    Diagnostics diagnostics;
    return io::load_scene(file,
                          {.overlays = std::move(overlays),
                           .settings = std::move(settings),
                           .package_paths = {},
                           .bundled_scenes = DEFT_SCENES_DIR},
                          diagnostics);
  }
  const scene::GoalSpec& find(const System& system) const {
    const auto& goals = scene_.spec().goals;
    return *std::find_if(goals.begin(), goals.end(), [&](const auto& g) { return g.target.name == system.goal; });
  }

  const System* system_;
  scene::Scene scene_;
  planning::Goal goal_;
};

}  // namespace deft::bench
