// `plan:` of a scene file: one list of settings serves reading and the page of `deft info --settings`.

#include <algorithm>
#include <charconv>

#include "deft/io/settings/setting_list.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {

template <>
inline constexpr int setting_list::kWords<scene::Sampler> = 5;
template <>
inline constexpr int setting_list::kWords<scene::TreeGradient> = 3;
template <>
inline constexpr std::pair<std::string_view, std::string_view> setting_list::kFormerWord<scene::Regrasp>{"transfer",
                                                                                                         "transit"};

namespace {

using scene::PlanSettings;
using setting_list::kCount;
using setting_list::kPositiveShare;
using setting_list::kShare;
using setting_list::SettingInfo;

constexpr NumberRange kJudges{0, true, false, "a list of h, h/2 … h/1000, second-order, worlds, mujoco"};
constexpr NumberRange kDivisors{2, true, false, "integers from 2 to 1000", 1000};

/// "h", "h/n" with n from 2 to 1000, or one of the other words.
bool is_judge(std::string_view word) {
  if (word == "h" || word == "second-order" || word == "worlds" || word == "mujoco") return true;
  if (!word.starts_with("h/")) return false;
  int n = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), n);
  return error == std::errc() && end == word.data() + word.size() && n >= 2 && n <= 1000 && word[2] != '0';
}

/// The one list: visit(info, field) for each setting of PlanSettings `s`, const or not. One table is clearer than
/// parts.
constexpr auto kVisitPlanSettings = [](auto& s, auto&& visit) {
  visit(SettingInfo{"search", "", "a tree of greedy roll-outs, or of single steps (the baseline)"}, s.search);
  visit(SettingInfo{"kappa", "1/J", "smoothing of the gradients; inf: exact ones", kPositiveOrInfinite}, s.kappa);
  visit(SettingInfo{"step_norm", "rad, m", "longest change of the joint targets in a step of a roll-out"}, s.step_norm);
  visit(SettingInfo{"regularization", "m^2", "weight of the change of the joint targets beside the squared error",
                    kNotNegative},
        s.regularization);
  visit(SettingInfo{"max_target_offset", "rad, m",
                    "how far joint targets may lead the joints in a roll-out: how hard fingers press",
                    kPositiveOrInfinite, "stretch"},
        s.max_target_offset);
  visit(SettingInfo{"rollout_steps", "1", "most steps of a roll-out", kCount}, s.rollout_steps);
  visit(SettingInfo{"progress", "1", "share of the distance that a step must gain to be taken at once", kShare},
        s.progress);
  visit(SettingInfo{"progress_min", "1", "share of the distance below which a step is no progress", kShare},
        s.progress_min);
  visit(SettingInfo{"goal_bias", "1", "share of roll-outs that aim at the goal", kShare}, s.goal_bias);
  visit(SettingInfo{"wrap_angles", "", "angles of planar bodies count modulo a full turn"}, s.wrap_angles);
  visit(SettingInfo{"greed", "1", "share of choices of the most promising node", kShare}, s.greed);
  visit(SettingInfo{"tries_weight", "1", "how much a try makes a node less promising", kNotNegative}, s.tries_weight);
  visit(SettingInfo{"regrasp_weight", "m", "distance that a regrasp counts as, when a plan is improved", kNotNegative},
        s.regrasp_weight);
  visit(SettingInfo{"batch", "1", "nodes chosen at a time and grown in parallel; part of the result, unlike --threads",
                    kCount},
        s.batch);
  visit(SettingInfo{"candidates", "1", "contacts sampled per regrasp, of which the one is taken that reaches best",
                    kCount},
        s.candidates);
  visit(SettingInfo{"sampler", "",
                    "contacts from the scene alone, or as published for one kind of system: a robot of slides that "
                    "pushes, two planar fingers, the Allegro hand, two planar arms"},
        s.sampler);
  visit(SettingInfo{"palm_offset", "m",
                    "of allegro-closing: where the slides of the hand stand before it closes, from the object; empty: "
                    "as at the start",
                    kFinite},
        s.palm_offset);
  visit(SettingInfo{"attempts", "1", "inverse kinematics per sampled contact", kCount}, s.attempts);
  visit(SettingInfo{"finger_share", "1", "share of regrasps that move one finger only", kShare}, s.finger_share);
  visit(SettingInfo{"closure_candidates", "1",
                    "grasps sampled where one is to press, of which the one is taken that resists wrenches best with "
                    "0.8 of its friction",
                    kCount},
        s.closure_candidates);
  visit(SettingInfo{"cone_share", "1", "share of mu within which plans that are made to hold keep forces of fingers",
                    kPositiveShare},
        s.cone_share);
  visit(SettingInfo{"standoff_m", "m", "gap of a sampled contact"}, s.standoff_m);
  visit(SettingInfo{"clearance_m", "m", "gap that letting go opens"}, s.clearance_m);
  visit(SettingInfo{"transit_gap_m", "m", "gap to everything that free motions keep, where their ends leave it"},
        s.transit_gap_m);
  visit(SettingInfo{"drift_m", "m", "motion of the objects above which a transit is rejected"}, s.drift_m);
  visit(SettingInfo{"joint_step", "rad, m", "longest change of a joint target in a step of a transit"}, s.joint_step);
  visit(SettingInfo{"hold_steps", "1", "steps for which the goal must hold", kNotNegative}, s.hold_steps);
  visit(SettingInfo{"metric", "", "single-step: distance by what a node reaches in a step, or by the goal's weights"},
        s.metric);
  visit(SettingInfo{"metric_weights", "1",
                    "single-step: squared weights of the global metric, ordered as sample_lower; empty: the goal's",
                    kNotNegative},
        s.metric_weights);
  visit(SettingInfo{"metric_gamma", "m^2", "single-step: regularization of the local metric"}, s.metric_gamma);
  visit(
      SettingInfo{"metric_limit", "1", "single-step: targets further from every node are dropped", kPositiveOrInfinite},
      s.metric_limit);
  visit(
      SettingInfo{"gradient", "",
                  "single-step: analytic: of the step smoothed at kappa; of exact steps under noise, first-order: the "
                  "mean of their Jacobians, zero-order: a fit to their motions"},
      s.gradient);
  visit(SettingInfo{"gradient_samples", "1", "single-step: exact steps per node that are averaged", kCount},
        s.gradient_samples);
  visit(SettingInfo{"gradient_sigma", "rad, m", "single-step: standard deviation of their joint targets"},
        s.gradient_sigma);
  visit(SettingInfo{"command", "",
                    "single-step: least squares within step norm and joint limits, or in metres and radians and then "
                    "clipped to them, as published"},
        s.command);
  visit(SettingInfo{"start_grasp", "", "single-step: the tree grows from a sampled contact, not from the start"},
        s.start_grasp);
  visit(SettingInfo{"extend", "", "single-step: the dynamics of its steps; smoothed ones do not hold when simulated"},
        s.extend);
  visit(SettingInfo{"regrasp", "", "single-step: a motion to the new grasp, or none, as published"}, s.regrasp);
  visit(SettingInfo{"grasp_share", "1", "single-step: share of extensions that are regrasps", kShare}, s.grasp_share);
  visit(SettingInfo{"goal_once", "", "single-step: no node is extended to the goal twice"}, s.goal_once);
  visit(SettingInfo{"sample_lower", "m, rad",
                    "single-step: box of random poses: position, then angle or roll, pitch, yaw, then joints, per "
                    "object; empty: between start and goal",
                    kFinite},
        s.sample_lower);
  visit(SettingInfo{"sample_upper", "m, rad", "single-step: upper corner of that box", kFinite}, s.sample_upper);
  visit(SettingInfo{"nodes", "1", "most roll-outs, or single steps (--nodes)", kCount}, s.nodes);
  visit(SettingInfo{"time_limit_s", "s", "wall time of a search (--time-limit)"}, s.time_limit_s);
  visit(SettingInfo{"improve_s", "s", "wall time for improving the first plan", kNotNegative}, s.improve_s);
  visit(SettingInfo{"judges", "",
                    "worlds in which the plan shall hold: steps of h and of parts of it, the second-order step, drawn "
                    "worlds (friction, mass, stiffness, places), MuJoCo",
                    kJudges},
        s.judges);
  visit(SettingInfo{"first", "", "the first plan that holds at h is the result (--first)"}, s.first);
  visit(
      SettingInfo{
          "joint_speed", "rad/s",
          "speed limit of hinges in plans that hold; away from objects only where neither scene nor model states one"},
      s.joint_speed);
  visit(SettingInfo{"slide_speed", "m/s", "the same of slides"}, s.slide_speed);
  visit(SettingInfo{"refine", "1", "the judges h and h divided by each of these; empty: plan.judges", kDivisors},
        s.refine);
  visit(SettingInfo{"regrasp_cost_s", "s", "cost of a regrasp beside the duration of the plan", kNotNegative},
        s.regrasp_cost_s);
};

}  // namespace

void read_plan_settings(const YamlNode& node, const YamlReader& read, PlanSettings& settings) {
  setting_list::read_all("plan", node, read, settings, kVisitPlanSettings);
  const YamlNode* judges = node.is_map() ? node.find("judges") : nullptr;
  if (judges == nullptr) return;
  for (std::size_t k = 0; k < settings.judges.size(); ++k) {
    const std::string& word = settings.judges[k];
    if (!is_judge(word))
      read.error(*judges, fmt::format("plan.judges: unknown judge '{}'; valid: {}", word, kJudges.text));
    else if (std::find(settings.judges.begin(), settings.judges.begin() + static_cast<std::ptrdiff_t>(k), word) !=
             settings.judges.begin() + static_cast<std::ptrdiff_t>(k))
      read.error(*judges, fmt::format("plan.judges: '{}' is named twice", word));
  }
  if (std::find(settings.judges.begin(), settings.judges.end(), "h") == settings.judges.end())
    read.error(*judges, "plan.judges: 'h' is missing: plans are made with steps of h");
}

std::string plan_settings_help() { return setting_list::help_of("plan", PlanSettings{}, kVisitPlanSettings); }

}  // namespace deft::io
