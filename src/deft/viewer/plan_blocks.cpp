#include "deft/viewer/plan_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/viewer/blocks.hpp"

namespace deft::viewer {
namespace {

using dynamics::HorizonPair;
using dynamics::HorizonRecord;
using dynamics::Trajectory;
using Kind = HorizonPair::Kind;

constexpr double kOpen = 1e-7;      // of the largest multiplier of the plan: below it a contact is open
constexpr double kSlip_m_s = 1e-6;  // below it a contact sticks

/// A contact or joint limit of a plan: its first pair, and how many it has.
struct Row { std::size_t first = 0, count = 1; };

std::vector<Row> rows_of(const HorizonRecord& plan) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
    const Kind kind = plan.pairs[i].kind;
    if (kind == Kind::kNormal || kind == Kind::kLimit || rows.empty())
      rows.push_back({i, 1});
    else
      ++rows.back().count;
  }
  return rows;
}

/// 0 open, 1 sticks, 2 slides (or holds without friction), 3 unknown, at the end of stage k.
int state_of(const HorizonRecord& plan, const Row& row, std::size_t N, std::size_t k, double largest) {
  const double load = plan.gamma[row.first * N + k];
  if (std::isnan(load)) return 3;
  if (!(load > kOpen * largest)) return 0;
  for (std::size_t i = row.first; i < row.first + row.count; ++i)
    if (plan.pairs[i].kind == Kind::kSlip) return plan.gamma[i * N + k] > kSlip_m_s ? 2 : 1;
  return 2;
}

/// Bodies that any kept plan moves by more than rounding, ascending.
std::vector<int> moving_bodies(const Trajectory& run) {
  const std::size_t bodies = run.names_bodies.size();
  std::vector<int> moving;
  for (std::size_t b = 0; b < bodies; ++b) {
    const auto moves = [&](const HorizonRecord& plan) {
      for (std::size_t at = 7 * (bodies + b); at + 7 <= plan.X_WB.size(); at += 7 * bodies)
        for (std::size_t i = 0; i < 7; ++i)
          if (std::abs(plan.X_WB[at + i] - plan.X_WB[7 * b + i]) > 1e-9) return true;
      return false;
    };
    if (std::any_of(run.horizons.begin(), run.horizons.end(), moves)) moving.push_back(static_cast<int>(b));
  }
  return moving;
}

}  // namespace

void add_plans(json& document, const Trajectory& run, std::span<const std::size_t> frames) {
  if (run.horizon <= 0) return;
  const auto N = to_size(run.horizon);
  const std::vector<int> bodies = moving_bodies(run);
  Reals X_WB, cost, bound, gap, time;
  Bytes status, fallback, states, limits;
  Indices offset;
  Shorts pairs;
  offset.add(0);
  for (const std::size_t k : frames) {
    if (k >= run.horizons.size()) continue;  // the last frame starts no step
    const HorizonRecord& plan = run.horizons[k];
    for (std::size_t stage = 0; stage <= N; ++stage)
      for (const int b : bodies)
        for (std::size_t i = 0; i < 7; ++i) X_WB.add(plan.X_WB[7 * (stage * run.names_bodies.size() + to_size(b)) + i]);
    cost.add(plan.cost);
    bound.add(plan.bound);
    gap.add(plan.gap);
    time.add(plan.time_s);
    status.add(plan.status);
    fallback.add(plan.fallback ? 1 : 0);
    double largest = 0;
    const std::vector<Row> rows = rows_of(plan);
    for (const Row& row : rows)
      for (std::size_t stage = 0; stage < N; ++stage) largest = std::fmax(largest, plan.gamma[row.first * N + stage]);
    for (const Row& row : rows) {
      const HorizonPair& pair = plan.pairs[row.first];
      pairs.add(pair.a);
      pairs.add(std::max(pair.b, 0));
      limits.add(pair.kind != Kind::kLimit ? 0 : pair.index > 0 ? 1 : 2);
      for (std::size_t stage = 0; stage < N; ++stage) states.add(state_of(plan, row, N, stage, largest));
    }
    offset.add(static_cast<double>(limits.values.size()));
  }
  document["control"] = {{"horizon", run.horizon}, {"bodies", bodies}, {"names_v", run.names_v}};
  const std::size_t n = cost.values.size(), rows = limits.values.size();
  json& blocks = document["blocks"];
  blocks["plan_X_WB"] = X_WB.block({n, N + 1, bodies.size(), 7});
  blocks["plan_cost"] = cost.block({n});
  blocks["plan_bound"] = bound.block({n});
  blocks["plan_gap"] = gap.block({n});
  blocks["plan_time"] = time.block({n});
  blocks["plan_status"] = status.block({n});
  blocks["plan_fallback"] = fallback.block({n});
  blocks["plan_offset"] = offset.block({n + 1});
  blocks["plan_pairs"] = pairs.block({rows, 2});
  blocks["plan_limits"] = limits.block({rows});
  blocks["plan_states"] = states.block({rows, N});
}

}  // namespace deft::viewer
