#include "plan_report.hpp"

#include <fmt/format.h>

namespace deft::cli {

Json error_of(const planning::GoalError& error) {
  return {{"position_m", number(error.position_m)},
          {"rotation_rad", number(error.rotation_rad)},
          {"joint", number(error.joint)}};
}

Json verdict_row(const planning::Verdict& verdict) {
  Json row{{"judge", verdict.judge},
           {"success", verdict.success},
           {"goal_error", error_of(verdict.error)},
           {"time_s", number(verdict.time_s)}};
  if (verdict.share >= 0) row["share"] = number(verdict.share);
  if (!verdict.judged) row["judged"] = false;
  return row;
}

Json holds_of(const planning::Plan& plan) {
  Json rows = Json::array();
  rows.push_back({{"judge", "h"}, {"success", plan.success}, {"goal_error", error_of(plan.error)}, {"time_s", 0.0}});
  for (const planning::StepHalvingCheck& run : plan.step_halving)
    rows.push_back({{"judge", fmt::format("h/{}", run.substeps)},
                    {"success", run.success},
                    {"goal_error", error_of(run.error)},
                    {"time_s", 0.0}});
  for (const planning::Verdict& verdict : plan.verdicts) rows.push_back(verdict_row(verdict));
  return rows;
}

void print_verdicts(const Json& holds) {
  const auto value = [](const Json& number) {
    return number.is_number() ? fmt::format("{:.3g}", number.get<double>()) : std::string("–");
  };
  for (const Json& row : holds)
    fmt::print("  {:<13} {}, error {} m  {} rad  joint {}{}\n", row["judge"].get<std::string>(),
               row["success"].get<bool>()  ? "holds"
               : row.value("judged", true) ? "does not hold"
                                           : "is not judged",
               value(row["goal_error"]["position_m"]), value(row["goal_error"]["rotation_rad"]),
               value(row["goal_error"]["joint"]),
               row.contains("share") ? fmt::format(", in {} of the worlds", value(row["share"])) : "");
}

}  // namespace deft::cli
