#pragma once
// Plans in JSON and in lines for people, as several commands print them.

#include "deft/planning/feasibility/plan.hpp"
#include "json.hpp"

namespace deft::cli {

/// {position_m, rotation_rad, joint}.
Json error_of(const planning::GoalError& error);
/// The row of a judge: {judge, success, goal_error, time_s, share}.
Json verdict_row(const planning::Verdict& verdict);
/// What every judge said of the plan, h first.
Json holds_of(const planning::Plan& plan);
/// A line per judge of holds_of.
void print_verdicts(const Json& holds);

}  // namespace deft::cli
