// `plan:` of a scene file: one list of settings serves reading and the page of `deft info --settings`.

#include <fmt/format.h>

#include <cmath>

#include "deft/io/scene_file_settings.hpp"

namespace deft::io {
namespace {

using scene::PlanSettings;

constexpr NumberRange kShare{0, true, false, "from 0 to 1"};
constexpr NumberRange kCount{1, true, false, "an integer >= 1"};

/// Enumerations: two words, but of samplers there are five.
template <typename Enum>
concept Word = std::is_enum_v<Enum>;
template <Word Enum>
std::vector<std::string_view> words_of() {
  std::vector<std::string_view> words;
  for (int k = 0; k < (std::is_same_v<Enum, scene::Sampler> ? 5 : 2); ++k)
    words.push_back(scene::to_string(static_cast<Enum>(k)));
  return words;
}

struct PlanSettingInfo {
  std::string_view name, unit, doc;
  NumberRange range = kPositive;
};

/// The one list: visit(info, field) for each. `Settings` is PlanSettings, const or not.
template <typename Settings, typename Visitor>
void visit_plan_settings(Settings& s, Visitor&& visit) {
  visit(PlanSettingInfo{"search", "", "a tree of greedy roll-outs, or of single steps as published"}, s.search);
  visit(PlanSettingInfo{"kappa", "1/J", "smoothing of the gradients; inf: exact ones", kPositiveOrInfinite}, s.kappa);
  visit(PlanSettingInfo{"step_norm", "rad, m", "longest change of the joint targets in a step of a roll-out"},
        s.step_norm);
  visit(PlanSettingInfo{"regularization", "m^2", "weight of the change of the joint targets beside the squared error",
                        kNotNegative},
        s.regularization);
  visit(PlanSettingInfo{"rollout_steps", "1", "most steps of a roll-out", kCount}, s.rollout_steps);
  visit(PlanSettingInfo{"progress", "1", "share of the distance that a step must gain to be taken at once", kShare},
        s.progress);
  visit(PlanSettingInfo{"progress_min", "1", "share of the distance below which a step is no progress", kShare},
        s.progress_min);
  visit(PlanSettingInfo{"goal_bias", "1", "share of roll-outs that aim at the goal", kShare}, s.goal_bias);
  visit(PlanSettingInfo{"wrap_angles", "", "angles of planar bodies count modulo a full turn"}, s.wrap_angles);
  visit(PlanSettingInfo{"greed", "1", "share of choices of the most promising node", kShare}, s.greed);
  visit(PlanSettingInfo{"tries_weight", "1", "how much a try makes a node less promising", kNotNegative},
        s.tries_weight);
  visit(PlanSettingInfo{"regrasp_weight", "m", "distance that a regrasp counts as, when a plan is improved",
                        kNotNegative},
        s.regrasp_weight);
  visit(PlanSettingInfo{"batch", "1",
                        "nodes chosen at a time and grown in parallel; part of the result, unlike --threads", kCount},
        s.batch);
  visit(PlanSettingInfo{"candidates", "1", "contacts sampled per regrasp, of which the one is taken that reaches best",
                        kCount},
        s.candidates);
  visit(PlanSettingInfo{"sampler", "",
                        "contacts from the scene alone, or as published for one kind of system: a robot of slides that "
                        "pushes, two planar fingers, the Allegro hand, two planar arms"},
        s.sampler);
  visit(
      PlanSettingInfo{
          "palm_offset", "m",
          "of allegro-closing: where the slides of the hand stand before it closes, from the object; empty: "
          "as at the start",
          kFinite},
      s.palm_offset);
  visit(PlanSettingInfo{"attempts", "1", "inverse kinematics per sampled contact", kCount}, s.attempts);
  visit(PlanSettingInfo{"finger_share", "1", "share of regrasps that move one finger only", kShare}, s.finger_share);
  visit(PlanSettingInfo{"standoff_m", "m", "gap of a sampled contact"}, s.standoff_m);
  visit(PlanSettingInfo{"clearance_m", "m", "gap that letting go opens"}, s.clearance_m);
  visit(PlanSettingInfo{"drift_m", "m", "motion of the objects above which a transfer is rejected"}, s.drift_m);
  visit(PlanSettingInfo{"joint_step", "rad, m", "longest change of a joint target in a step of a transfer"},
        s.joint_step);
  visit(PlanSettingInfo{"hold_steps", "1", "steps for which the goal must hold", kNotNegative}, s.hold_steps);
  visit(
      PlanSettingInfo{"metric", "", "single-step: distance by what a node reaches in a step, or by the goal's weights"},
      s.metric);
  visit(PlanSettingInfo{"metric_weights", "1",
                        "single-step: squared weights of the global metric, ordered as sample_lower; empty: the goal's",
                        kNotNegative},
        s.metric_weights);
  visit(PlanSettingInfo{"metric_gamma", "m^2", "single-step: regularization of the local metric"}, s.metric_gamma);
  visit(PlanSettingInfo{"metric_limit", "1", "single-step: targets further from every node are dropped",
                        kPositiveOrInfinite},
        s.metric_limit);
  visit(
      PlanSettingInfo{"command", "",
                      "single-step: least squares within step norm and joint limits, or in metres and radians and then "
                      "clipped to them, as published"},
      s.command);
  visit(PlanSettingInfo{"start_grasp", "", "single-step: the tree grows from a sampled contact, not from the start"},
        s.start_grasp);
  visit(
      PlanSettingInfo{"extend", "", "single-step: the dynamics of its steps; smoothed ones do not hold when simulated"},
      s.extend);
  visit(PlanSettingInfo{"regrasp", "", "single-step: a motion to the new grasp, or none, as published"}, s.regrasp);
  visit(PlanSettingInfo{"grasp_share", "1", "single-step: share of extensions that are regrasps", kShare},
        s.grasp_share);
  visit(PlanSettingInfo{"goal_once", "", "single-step: no node is extended to the goal twice"}, s.goal_once);
  visit(PlanSettingInfo{"sample_lower", "m, rad",
                        "single-step: box of random poses: position, then angle or roll, pitch, yaw, then joints, per "
                        "object; empty: between start and goal",
                        kFinite},
        s.sample_lower);
  visit(PlanSettingInfo{"sample_upper", "m, rad", "single-step: upper corner of that box", kFinite}, s.sample_upper);
  visit(PlanSettingInfo{"nodes", "1", "most roll-outs, or single steps (--nodes)", kCount}, s.nodes);
  visit(PlanSettingInfo{"time_limit_s", "s", "wall time of a search (--time-limit)"}, s.time_limit_s);
  visit(PlanSettingInfo{"improve_s", "s", "wall time for improving the first plan", kNotNegative}, s.improve_s);
  visit(PlanSettingInfo{"refine",
                        "1",
                        "the plan shall also hold at h divided by each of these; empty: at h alone",
                        {2, true, false, "integers >= 2"}},
        s.refine);
  visit(PlanSettingInfo{"regrasp_cost_s", "s", "cost of a regrasp beside the duration of the plan", kNotNegative},
        s.regrasp_cost_s);
}

/// Reads one value into its field.
struct ReadPlanSetting {
  const YamlNode& node;
  const YamlReader& read;

  void operator()(const PlanSettingInfo& info, double& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    const auto number = read.number(*value, label(info), info.range);
    if (number && info.range.text == kShare.text && *number > 1)
      read.error(*value, fmt::format("{}: must be {}, got {}", label(info), kShare.text, *number));
    else if (number)
      field = *number;
  }
  void operator()(const PlanSettingInfo& info, int& field) const {
    if (const YamlNode* value = node.find(info.name))
      field = read.integer(*value, label(info), static_cast<int>(info.range.lower)).value_or(field);
  }
  void operator()(const PlanSettingInfo& info, bool& field) const {
    if (const YamlNode* value = node.find(info.name)) field = read.boolean(*value, label(info)).value_or(field);
  }
  void operator()(const PlanSettingInfo& info, std::vector<double>& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (auto numbers = read.numbers(*value, label(info), -1, info.range)) field = std::move(*numbers);
  }
  void operator()(const PlanSettingInfo& info, std::vector<int>& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    const auto numbers = read.numbers(*value, label(info), -1, info.range);
    if (!numbers) return;
    field.clear();
    for (const double number : *numbers) {
      if (number != std::floor(number) || number > 1000)
        read.error(*value, fmt::format("{}: must be integers from 2 to 1000, got {}", label(info), number));
      field.push_back(static_cast<int>(number));
    }
  }
  template <Word Enum>
  void operator()(const PlanSettingInfo& info, Enum& field) const {
    const YamlNode* value = node.find(info.name);
    if (value == nullptr) return;
    if (const auto index = read.word(*value, label(info), words_of<Enum>())) field = static_cast<Enum>(*index);
  }
  static std::string label(const PlanSettingInfo& info) { return fmt::format("plan.{}", info.name); }
};

template <typename Number>
std::string text_of(const std::vector<Number>& field) {
  return fmt::format("[{}]", fmt::join(field, ", "));
}
template <typename T>
std::string text_of(const T& field) {
  if constexpr (Word<T>)
    return std::string(scene::to_string(field));
  else
    return fmt::format("{}", field);
}
template <typename T>
std::string range_of(const PlanSettingInfo& info, const T&) {
  if constexpr (Word<T>) return fmt::format("{}", fmt::join(words_of<T>(), ", "));
  return std::is_same_v<T, bool> ? "true, false" : std::string(info.range.text);
}

}  // namespace

void read_plan_settings(const YamlNode& node, const YamlReader& read, PlanSettings& settings) {
  std::vector<std::string_view> names;
  visit_plan_settings(settings, [&](const PlanSettingInfo& info, const auto&) { names.push_back(info.name); });
  if (read.map(node, "plan", names)) visit_plan_settings(settings, ReadPlanSetting{node, read});
}

std::string plan_settings_help() {
  std::string text;
  const PlanSettings defaults;
  visit_plan_settings(defaults, [&](const PlanSettingInfo& info, const auto& field) {
    text +=
        fmt::format("plan.{:<22} {}{}\n  default {}; range: {}\n", info.name, info.doc,
                    info.unit.empty() ? "" : fmt::format(" [{}]", info.unit), text_of(field), range_of(info, field));
  });
  return text;
}

}  // namespace deft::io
