#include "deft/planning/search/search_tree.hpp"

#include <algorithm>

#include "deft/planning/search/rollout_tree.hpp"
#include "deft/planning/search/single_step_rrt.hpp"

namespace deft::planning {
namespace {

[[noreturn]] void refuse_journal() {
  throw InputError({}, "the journal of the run does not fit this search: another version of deft wrote it");
}

}  // namespace

std::vector<int> chain_to(const std::vector<Node>& nodes, int node) {
  std::vector<int> chain;
  for (; node > 0; node = nodes[node].parent) chain.push_back(node);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

Instant instant_of(const Node& node) { return {node.q, node.u, node.q_worlds, node.v_worlds}; }

int SearchTree::add(Node node) {
  nodes_.push_back(std::move(node));
  const auto added = static_cast<int>(nodes_.size()) - 1;
  if (nodes_.back().distance < nodes_[best_node_].distance) best_node_ = added;
  return added;
}

SearchEnd SearchTree::grow_in_batches(const SearchLimits& limits, int batch, const BatchParts& parts) {
  // Choose, grow in parallel (or repeat what the journal has), append: until the goal is held or a limit is met.
  RunClock own;
  RunClock& clock = limits.clock != nullptr ? *limits.clock : own;
  const double until_s = clock.seconds() + limits.time_limit_s;
  for (int begun = 0; begun < limits.nodes; begun += batch) {
    if (goal_node_ >= 0 && !limits.past_goal) return SearchEnd::kFound;
    if (!clock.repeats() && limits.is_stopped()) return SearchEnd::kStopped;
    if (clock.is_up(until_s)) return SearchEnd::kTime;
    const int count = std::min(batch, limits.nodes - begun);
    parts.choose(count);
    std::optional<double> time_s;
    if (clock.repeats()) {
      time_s = repeat_batch(count, parts, clock);
    } else {
      deadline_.set(clock, until_s, limits.stop);
      time_s = grow_batch(count, parts, clock);
    }
    if (!time_s) {
      parts.unchoose(count);
      return clock.is_up(until_s) ? SearchEnd::kTime : SearchEnd::kStopped;
    }
    tried_ += count;
    for (int k = 0; k < count; ++k) parts.append(k, *time_s);
    if (limits.on_progress) limits.on_progress(tried_, nodes_[best_node_].distance);
  }
  return goal_node_ >= 0 ? SearchEnd::kFound : SearchEnd::kNodes;
}

/// @returns when it was grown [s]; nothing if it was not grown to its end.
std::optional<double> SearchTree::grow_batch(int count, const BatchParts& parts, RunClock& clock) {
  const long before = solves();
  parts.grow(count);
  const bool cut_short = deadline_.was_due();
  deadline_.clear();
  if (cut_short) return std::nullopt;
  return clock.keep([&](Packer& out) {
    out(std::int32_t{count}, std::int64_t{solves() - before});
    for (int k = 0; k < count; ++k) parts.pack(k, out);
  });
}

double SearchTree::repeat_batch(int count, const BatchParts& parts, RunClock& clock) {
  return clock.repeat([&](Unpacker& in) {
    std::int32_t kept = 0;
    std::int64_t steps = 0;
    in(kept, steps);
    if (kept != count) refuse_journal();
    for (int k = 0; k < count; ++k) parts.unpack(k, in);
    solves_before_ += steps;
  });
}

void SearchTree::check_choice(int kept, int chosen) const {
  if (kept != chosen || kept >= static_cast<int>(nodes_.size())) refuse_journal();
}

void SearchTree::mark_goal(int node) {
  nodes_[node].holds_goal = true;
  if (goal_node_ < 0) goal_node_ = node;
}

void SearchTree::reject_goal() {
  if (goal_node_ < 0) return;
  nodes_[goal_node_].rejected = true;
  look_again();
}

void SearchTree::look_again() {
  goal_node_ = -1;
  best_node_ = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].rejected) continue;
    if (nodes_[i].holds_goal && goal_node_ < 0) goal_node_ = static_cast<int>(i);
    if (nodes_[i].distance < nodes_[best_node_].distance) best_node_ = static_cast<int>(i);
  }
}

std::unique_ptr<SearchTree> make_search_tree(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                                             const Eigen::VectorXd& u, std::uint64_t seed) {
  if (scene.settings().plan.search == scene::Search::kSingleStep)
    return std::make_unique<SingleStepRrt>(scene, goal, q, u, seed);
  return std::make_unique<RolloutTree>(scene, goal, q, u, seed);
}

}  // namespace deft::planning
