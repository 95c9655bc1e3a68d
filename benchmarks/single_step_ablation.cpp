// The ablation of the baseline, the single-step search of Pang et al. (2023), as numbers for docs/reproductions: JSON,
// one object per line.
//   single_step_ablation [--seeds N] [--nodes N] [--threads N] [--set key=YAML]… [--without-samples] [SYSTEM…]
//   single_step_ablation --trees N     small trees on the hand whose ball only rises and turns

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "support/baseline_search.hpp"

namespace {

using namespace deft;
using bench::BaselineSearch;
using bench::System;

/// The baseline search with one of its ideas left out, or with gradients that are averaged over samples.
struct Variant {
  const char* name;
  std::vector<std::string> settings;
  bool samples = false;
};
const std::vector<Variant> kVariants = {
    {"published", {}},
    {"global metric", {"plan.metric=global"}},
    {"no contact sampling", {"plan.grasp_share=0"}},
    {"no smoothing", {"plan.kappa=.inf"}},
    {"smoothed steps", {"plan.extend=smoothed"}},  // as the public code has it since
    {"first-order samples", {"plan.gradient=first-order"}, true},
    {"zero-order samples", {"plan.gradient=zero-order"}, true},
};

/// 1, 2, 5, 10, 20, 50, … and `last`.
std::vector<int> marks_until(int last) {
  std::vector<int> marks;
  for (int decade = 1; decade < last; decade *= 10) {
    for (const int digit : {1, 2, 5}) {
      if (digit * decade < last) marks.push_back(digit * decade);
    }
  }
  marks.push_back(last);
  return marks;
}

/// One search, as a line.
void print_run(const System& system, const Variant& variant, const BaselineSearch& search, std::uint64_t seed,
               int nodes, int threads) {
  planning::SingleStepRrt tree = search.tree(seed);
  const Stopwatch watch;
  BaselineSearch::grow_to(tree, nodes, threads);
  const double wall_s = watch.seconds();
  int regrasps = 0;
  for (const planning::Node& node : tree.nodes()) regrasps += node.kind == planning::NodeKind::kTransit;
  const std::vector<int> marks = marks_until(nodes);
  std::vector<double> closest, packing;
  for (const BaselineSearch::Measure& measure : search.measure(tree, marks)) {
    closest.push_back(measure.closest);
    packing.push_back(measure.packing);
  }
  fmt::print(
      R"({{"system": "{}", "variant": "{}", "seed": {}, "published_s": {}, "reach": {}, "wall_s": {:.6g}, "tried": {}, )"
      R"("nodes": {}, "regrasps": {}, "marks": [{}], "closest": [{:.6g}], "packing": [{:.4g}]}})"
      "\n",
      system.name, variant.name, seed, system.published_s, system.reach, wall_s, tree.tried(), tree.nodes().size() - 1,
      regrasps, fmt::join(marks, ", "), fmt::join(closest, ", "), fmt::join(packing, ", "));
  std::fflush(stdout);
}

/// The nodes of small trees, [parent, regrasped, coordinates of the goal…] each, and the packing ratio as they grow; a
/// line per metric and seed.
void print_trees(int nodes, int seeds) {
  for (const char* metric : {"local", "global"}) {
    const BaselineSearch search(std::string(DEFT_SCENES_DIR) + "/reproductions/planar_hand_fixed_y.deft.yaml",
                                bench::kSystems[1], {std::string("plan.metric=") + metric});
    for (int seed = 1; seed <= seeds; ++seed) {
      planning::SingleStepRrt tree = search.tree(static_cast<std::uint64_t>(seed));
      BaselineSearch::grow_to(tree, nodes, 1);
      std::vector<std::string> texts;
      for (const planning::Node& node : tree.nodes()) {
        std::vector<double> pose;
        for (const int row : search.goal().rows())
          pose.push_back(node.q(search.scene().model().velocities()[row].q_index));
        texts.push_back(fmt::format("[{}, {}, {:.6g}]", node.parent, node.kind == planning::NodeKind::kTransit ? 1 : 0,
                                    fmt::join(pose, ", ")));
      }
      const std::vector<int> marks = marks_until(nodes);
      std::vector<double> packing;
      for (const BaselineSearch::Measure& measure : search.measure(tree, marks)) packing.push_back(measure.packing);
      fmt::print(R"({{"metric": "{}", "seed": {}, "marks": [{}], "packing": [{:.4g}], "nodes": [{}]}})"
                 "\n",
                 metric, seed, fmt::join(marks, ", "), fmt::join(packing, ", "), fmt::join(texts, ", "));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 5, nodes = 1000, threads = 2, trees = 0;
  bool samples = true;
  std::vector<std::string> settings, scenes;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--seeds")
      seeds = std::max(1, std::atoi(value().c_str()));
    else if (word == "--nodes")
      nodes = std::max(1, std::atoi(value().c_str()));
    else if (word == "--trees")
      trees = std::max(1, std::atoi(value().c_str()));
    else if (word == "--threads")
      threads = std::max(1, std::atoi(value().c_str()));
    else if (word == "--without-samples")
      samples = false;
    else if (word == "--set")
      settings.push_back(value());
    else
      scenes.push_back(word);
  }
  try {
    if (trees > 0) {
      print_trees(trees, seeds);
      return 0;
    }
    for (const System& system : bench::chosen_systems(scenes)) {
      for (const Variant& variant : kVariants) {
        if (variant.samples && !samples) continue;
        std::vector<std::string> all = variant.settings;
        all.insert(all.end(), settings.begin(), settings.end());
        const BaselineSearch search(system, all);
        for (int seed = 1; seed <= seeds; ++seed)
          print_run(system, variant, search, static_cast<std::uint64_t>(seed), nodes, threads);
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
