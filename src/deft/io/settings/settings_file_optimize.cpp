// `optimize:` of a scene file: one list of settings serves reading and the page of `deft info --settings`.

#include "deft/io/settings/setting_list.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {
namespace {

using scene::OptimizeSettings;
using setting_list::kCount;
using setting_list::kPositiveShare;
using setting_list::SettingInfo;

constexpr NumberRange kCorners{0, true, false, "an integer from 0 to 3", 3};

/// The one list: visit(info, field) for each setting of OptimizeSettings `s`, const or not. One table is clearer than
/// parts.
constexpr auto kVisitOptimizeSettings = [](auto& s, auto&& visit) {
  visit(SettingInfo{"stage", "", "deft plan improves its first plan so before it searches for one that holds"},
        s.stage);
  visit(SettingInfo{"time_limit_s", "s", "wall time of a run (--time-limit)"}, s.time_limit_s);
  visit(SettingInfo{"iterations", "1", "linearisations of a segment in one pass over the plan", kCount}, s.iterations);
  visit(SettingInfo{"knots", "1", "most commands of a segment that are decided on; it goes linearly between them",
                    kCount},
        s.knots);
  visit(SettingInfo{"kappa_first", "1/J", "smoothing of the gradients in the first iteration"}, s.kappa_first);
  visit(SettingInfo{"kappa_last", "1/J", "smoothing of the gradients in the last iteration"}, s.kappa_last);
  visit(SettingInfo{"radius", "rad, m", "trust region: most that an iteration changes a command, at first"}, s.radius);
  visit(SettingInfo{"cone_share", "1", "share of mu within which forces of fingers keep", kPositiveShare},
        s.cone_share);
  visit(SettingInfo{"force_weight", "1",
                    "of what leaves these cones, in shares of the largest force, beside squared tolerances",
                    kNotNegative},
        s.force_weight);
  visit(SettingInfo{"normal_force", "N", "most of every contact of a finger", kPositiveOrInfinite}, s.normal_force);
  visit(SettingInfo{"spread_weight", "1", "of what worlds differ in beside what they have in common", kNotNegative},
        s.spread_weight);
  visit(SettingInfo{"change_weight", "1/rad^2, 1/m^2", "of changes of commands, beside squared tolerances"},
        s.change_weight);
  visit(SettingInfo{"corners", "1", "drawn worlds (friction, mass, stiffness, places) beside those of the judges",
                    kCorners},
        s.corners);
  visit(SettingInfo{"speed_share", "1", "of plan.joint_speed and plan.slide_speed, while objects are moved",
                    kPositiveShare},
        s.speed_share);
  visit(SettingInfo{"patience", "1", "tries in a row that come no nearer after which the plan is begun anew", kCount},
        s.patience);
};

}  // namespace

void read_optimize_settings(const YamlNode& node, const YamlReader& read, OptimizeSettings& settings) {
  setting_list::read_all("optimize", node, read, settings, kVisitOptimizeSettings);
  const YamlNode* corners = node.is_map() ? node.find("corners") : nullptr;
  if (corners != nullptr && settings.corners > static_cast<int>(kCorners.upper))
    read.error(*corners, fmt::format("optimize.corners: must be {}, got {}", kCorners.text, settings.corners));
}

std::string optimize_settings_help() {
  return setting_list::help_of("optimize", OptimizeSettings{}, kVisitOptimizeSettings);
}

}  // namespace deft::io
