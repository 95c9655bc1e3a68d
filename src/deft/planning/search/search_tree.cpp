#include "deft/planning/search/search_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "deft/core/index.hpp"
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

void SearchTree::add_root(const Instant& at, double distance) {
  Node node;
  node.q = at.q;
  node.u = at.u;
  node.q_worlds = at.q_worlds;
  node.v_worlds = at.v_worlds;
  node.distance = distance;
  add(std::move(node));
}

int SearchTree::add_motion(int parent, NodeKind kind, Motion& motion, double distance, double duration_s,
                           double price_s) {
  const Node& from = nodes_[to_size(parent)];
  Node node;
  node.distance = distance;
  node.parent = parent;
  node.kind = kind;
  node.cost_s = from.cost_s + duration_s + price_s;
  node.regrasps = from.regrasps + (kind == NodeKind::kTransit);
  node.q = std::move(motion.q);
  node.u = std::move(motion.u);
  node.commands = std::move(motion.commands);
  node.q_worlds = std::move(motion.q_worlds);
  node.v_worlds = std::move(motion.v_worlds);
  return add(std::move(node));
}

int SearchTree::choose_node(RandomStream draw, double greed, const std::function<bool(const Node&)>& may_grow,
                            const std::function<double(const Node&)>& score_of) const {
  const bool greedy = draw.chance(greed);
  double best_score = std::numeric_limits<double>::infinity();
  int best = 0, seen = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!may_grow(nodes_[i])) continue;
    // Not greedy: every node with the same chance, so the k-th replaces the choice with probability 1/k.
    ++seen;
    const double score = greedy ? score_of(nodes_[i]) : 0;
    if (greedy ? score < best_score : draw.uniform() * seen < 1) {
      best_score = score;
      best = static_cast<int>(i);
    }
  }
  return best;
}

void SearchTree::place_nodes(const Plan& plan, const std::vector<Instant>& at,
                             const std::function<void(Node&, const Segment&)>& placed) {
  for (const Segment& segment : plan.segments) {
    const auto last = to_size(segment.last);
    if (segment.node < 0 || last >= at.size()) continue;
    Node& node = nodes_[to_size(segment.node)];
    node.q = at[last].q;
    node.q_worlds = at[last].q_worlds;
    node.v_worlds = at[last].v_worlds;
    placed(node, segment);
  }
  look_again();
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
