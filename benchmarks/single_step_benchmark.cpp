// P4: iterations of the baseline search (Pang et al. 2023) at its published settings, and a large tree.
//   single_step_benchmark [--rounds N] [--iterations N] [--threads N] [--growth N] [--set key=YAML]… [SYSTEM…]

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "support/baseline_search.hpp"

namespace {

using namespace deft;
using bench::BaselineSearch;
using bench::kProbes;
using bench::kSystems;
using bench::System;

struct Arguments {
  int rounds = 3, iterations = 1000, threads = 2, growth = 0;
  std::vector<std::string> settings, scenes;
};

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string error_text(const planning::GoalError& error) {
  return fmt::format("{:.3g} m {:.3g} rad {:.3g}", error.position_m, error.rotation_rad, error.joint);
}

/// What one search did.
struct Run {
  double wall_s, processor_s, distance, packing;
  int tried;
  std::size_t nodes;
  planning::GoalError error;
};

Run run(const BaselineSearch& search, std::uint64_t seed, const Arguments& arguments) {
  planning::SingleStepRrt tree = search.tree(seed);
  const double before = processor_seconds();
  const Stopwatch watch;
  BaselineSearch::grow_to(tree, arguments.iterations, arguments.threads);
  const double wall_s = watch.seconds(), processor_s = processor_seconds() - before;
  const planning::Node& best = tree.nodes()[tree.best_node()];
  return {wall_s,
          processor_s,
          best.distance,
          search.measure(tree, {arguments.iterations}).back().packing,
          tree.tried(),
          tree.nodes().size() - 1,
          search.goal().error(best.q)};
}

/// The middle one by some number.
Run middle(std::vector<Run> runs, double Run::* by) {
  std::sort(runs.begin(), runs.end(), [by](const Run& a, const Run& b) { return a.*by < b.*by; });
  return runs[runs.size() / 2];
}

void measure(const Arguments& arguments) {
  fmt::print(
      "P4: the single-step search to {} nodes on {} threads, the least times of {} seeds; teleported regrasps; nearest "
      "node and packing (share of {} poses of the box in reach of a node) in the median\n"
      "| scene | steps | nodes | tries | time [s] | processor [s] | bar [s] | published [s] | nearest | packing |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      arguments.iterations, arguments.threads, arguments.rounds, kProbes);
  for (const System& system : bench::chosen_systems(arguments.scenes)) {
    for (const char* extend : {"smoothed", "exact"}) {
      std::vector<std::string> settings{std::string("plan.extend=") + extend};
      settings.insert(settings.end(), arguments.settings.begin(), arguments.settings.end());
      const BaselineSearch search(system, settings);
      std::vector<Run> runs;
      double wall_s = 1e300, processor_s = 1e300;
      for (int round = 0; round < arguments.rounds; ++round) {
        runs.push_back(run(search, static_cast<std::uint64_t>(round + 1), arguments));
        wall_s = std::min(wall_s, runs.back().wall_s);
        processor_s = std::min(processor_s, runs.back().processor_s);
      }
      const Run near = middle(runs, &Run::distance);
      fmt::print("| {} | {} | {} | {} | {:.3f} | {:.3f} | {} | {} | {} | {:.3f} |\n", system.name, extend, near.nodes,
                 near.tried, wall_s, processor_s, system.bar_s, system.published_s, error_text(near.error),
                 middle(runs, &Run::packing).packing);
      std::fflush(stdout);
    }
  }
}

/// Memory of this process [B].
double resident() {
  std::ifstream file("/proc/self/statm");
  double total = 0, pages = 0;
  file >> total >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Time per node against the size of the tree, on the planar hand.
void grow(const Arguments& arguments) {
  const BaselineSearch search(kSystems[1], {"plan.extend=exact", "plan.regrasp=transit", "plan.grasp_share=0.02"});
  planning::SingleStepRrt tree = search.tree(1);
  const double memory = resident();
  fmt::print(
      "A tree of {} iterations on the planar hand, exact steps, {} threads; times per iteration since the last row\n"
      "| iterations | nodes | wall [µs] | processor [µs] | memory per node with its matrices [B] |\n"
      "|---|---|---|---|---|\n",
      arguments.growth, arguments.threads);
  std::vector<double> sizes, times;
  for (double mark = 1000; tree.tried() < arguments.growth; mark *= std::sqrt(10.0)) {
    const int count = std::min(arguments.growth, static_cast<int>(mark + 0.5)) - tree.tried();
    const double start = static_cast<double>(tree.nodes().size()), before = processor_seconds();
    const Stopwatch watch;
    tree.search({.nodes = count, .time_limit_s = 1e9, .threads = arguments.threads, .past_goal = true});
    const double wall = 1e6 * watch.seconds() / count, nodes = static_cast<double>(tree.nodes().size());
    times.push_back(1e6 * (processor_seconds() - before) / count);
    sizes.push_back((start + nodes) / 2);
    fmt::print("| {} | {:.0f} | {:.1f} | {:.1f} | {:.0f} |\n", tree.tried(), nodes, wall, times.back(),
               (resident() - memory) / nodes);
    std::fflush(stdout);
  }
  const auto slope = [&](std::size_t a, std::size_t b) {
    return std::log(times[b] / times[a]) / std::log(sizes[b] / sizes[a]);
  };
  if (const std::size_t last = sizes.size() - 1; last > 0)
    fmt::print("processor time grows as size^{:.2f} from the first row to the last, ^{:.2f} between the last two\n",
               slope(0, last), slope(last - 1, last));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto count = [&] { return std::max(1, std::atoi(i + 1 < argc ? argv[++i] : "1")); };
    if (word == "--rounds")
      arguments.rounds = count();
    else if (word == "--iterations")
      arguments.iterations = count();
    else if (word == "--threads")
      arguments.threads = count();
    else if (word == "--growth")
      arguments.growth = count();
    else if (word == "--set")
      arguments.settings.emplace_back(i + 1 < argc ? argv[++i] : "");
    else
      arguments.scenes.push_back(word);
  }
  try {
    if (arguments.growth > 0)
      grow(arguments);
    else
      measure(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
