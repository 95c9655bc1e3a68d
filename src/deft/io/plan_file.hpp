#pragma once
// What a planner adds to a run folder: the tree and the plan in run.h5, and the plan's commands as an overlay.

#include <string>
#include <vector>

#include "deft/planning/plan.hpp"

namespace deft::io {

/// How a plan was made and judged: attributes of /plan.
struct PlanHeader {
  std::string goal, model, scene_hash;  // of the merged scene
  std::uint64_t seed = 0;
  double kappa = 0;  // [1/J], of the gradients; the states are exact
};

/// Adds to DIR/run.h5, published whole or not at all:
///   /tree/{q [N, nq], u [N, nu], parent [N], kind [N] (0 root, 1 transfer, 2 roll-out), cost [N] (s), distance [N]
///   (m), regrasps [N], time [N] (s)},  /tree/commands [Σ, nu] with /tree/commands_offset [N + 1], /plan/segments [S,
///   3] (first step, last step + 1, 1 = transfer), and attributes of /plan.
/// @throws std::runtime_error with the reason.
void write_plan(const std::string& folder, const PlanHeader& header, const std::vector<planning::Node>& nodes,
                const planning::Plan& plan);

/// The plan's commands as a scene overlay: `deft sim SCENE --with plan.yaml` simulates it. @param names_u
/// "robot/joint".
std::string plan_overlay(const planning::Plan& plan, const std::vector<std::string>& names_u);

/// FNV-1a of a text, 16 hexadecimal digits.
std::string text_hash(const std::string& text);

}  // namespace deft::io
