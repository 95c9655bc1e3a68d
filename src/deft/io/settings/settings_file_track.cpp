// `track:` of a scene file: one list of settings serves reading and the page of `deft info --settings`.

#include "deft/io/settings/setting_list.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {

template <>
inline constexpr int setting_list::kWords<scene::TrackPrediction> = 4;

namespace {

using scene::TrackSettings;
using setting_list::kCount;
using setting_list::kCountOrNone;
using setting_list::kShare;
using setting_list::SettingInfo;

/// The one list: visit(info, field) for each setting of TrackSettings `s`, const or not. One table is clearer than
/// parts.
constexpr auto kVisitTrackSettings = [](auto& s, auto&& visit) {
  visit(SettingInfo{"period", "s", "of the control loop"}, s.period);
  visit(SettingInfo{"horizon", "1", "of the controller, in steps of the plan", kCount}, s.horizon);
  visit(SettingInfo{"linearization", "", "about the motion predicted from the measured state, or about the plan"},
        s.linearization);
  visit(SettingInfo{"prediction", "",
                    "by the scene's steps; by steps of second order, which have momentum; plant: by these where the "
                    "plant has velocities and the horizon is linearised about the measured motion; corrected: by the "
                    "first and what objects did beside them lately"},
        s.prediction);
  visit(
      SettingInfo{"reference", "", "the point of the plan that is due: by the clock, or nearest to the measured state"},
      s.reference);
  visit(SettingInfo{"kappa", "1/J", "smoothing of the controller's steps"}, s.kappa);
  visit(SettingInfo{"position_weight", "1/m^2", "of the objects' positions beside the plan's; sliding joints too",
                    kNotNegative},
        s.position_weight);
  visit(SettingInfo{"rotation_weight", "1/rad^2", "of the objects' turns beside the plan's; turning joints too",
                    kNotNegative},
        s.rotation_weight);
  visit(SettingInfo{"terminal_factor", "1", "of both weights at the end of the horizon", kNotNegative},
        s.terminal_factor);
  visit(SettingInfo{"joint_weight", "1/rad^2, 1/m^2", "of the robots' joints beside the plan's", kNotNegative},
        s.joint_weight);
  visit(SettingInfo{"command_weight", "1/rad^2, 1/m^2", "of commands beside the plan's"}, s.command_weight);
  visit(SettingInfo{"change_weight", "1/rad^2, 1/m^2", "of the change of commands beside the plan's", kNotNegative},
        s.change_weight);
  visit(SettingInfo{"command_offset", "rad, m", "most that a command may differ from the plan's"}, s.command_offset);
  visit(SettingInfo{"speed", "rad/s, m/s",
                    "most of joint targets: the plan is slowed down until it holds; none: the limits that plans keep "
                    "to; inf: never",
                    kPositiveOrInfinite},
        s.speed);
  visit(SettingInfo{"normal_force", "N", "most of every contact, as predicted", kPositiveOrInfinite}, s.normal_force);
  visit(SettingInfo{"kept_force", "", "least of every contact, as a share of what the plan's command would press with",
                    kShare},
        s.kept_force);
  visit(SettingInfo{"delay_compensation", "", "the state is predicted for the time when the command acts"},
        s.delay_compensation);
  visit(SettingInfo{"filter_time", "s", "of the estimate of objects' poses: older measurements hardly count",
                    kNotNegative},
        s.filter_time);
  visit(SettingInfo{"settle", "s", "how long the last command is held", kNotNegative}, s.settle);
  visit(SettingInfo{"tolerance_position", "m", "of objects beside the plan's end, at the end"}, s.tolerance_position);
  visit(SettingInfo{"tolerance_rotation", "rad", "of objects beside the plan's end, at the end"}, s.tolerance_rotation);
  visit(SettingInfo{"replan", "", "a new plan is made when the objects are too far off"}, s.replan);
  visit(SettingInfo{"replan_position", "m", "off the plan, above which a new one is made"}, s.replan_position);
  visit(SettingInfo{"replan_rotation", "rad", "off the plan, above which a new one is made"}, s.replan_rotation);
  visit(SettingInfo{"replans", "1", "most searches for new plans", kCountOrNone}, s.replans);
  visit(SettingInfo{"replan_step_norm", "rad, m", "of new plans, if plan.step_norm is more"}, s.replan_step_norm);
  visit(SettingInfo{"replan_max_target_offset", "rad, m", "of new plans, if plan.max_target_offset is more",
                    kPositiveOrInfinite, "replan_stretch"},
        s.replan_max_target_offset);
  visit(SettingInfo{"replan_time", "s", "a new plan begins where the plant is expected to be after it", kNotNegative},
        s.replan_time);
  visit(SettingInfo{"replan_budget", "1/s", "step solves of a search for a new plan per second of the plant's time"},
        s.replan_budget);
  visit(SettingInfo{"plant_step", "s", "step of plants of second order"}, s.plant_step);
  visit(SettingInfo{"mujoco_step", "s", "step of MuJoCo, if plant_step is more"}, s.mujoco_step);
  visit(SettingInfo{"damping_ratio", "1", "zeta of the joints' springs: D = max(2 zeta sqrt(K M_ii), K joint_lag)",
                    kNotNegative},
        s.damping_ratio);
  visit(SettingInfo{"joint_lag", "s", "least lag of the joints behind their targets, see damping_ratio", kNotNegative},
        s.joint_lag);
  visit(SettingInfo{"object_damping", "1/s",
                    "gamma of the force -gamma M v on objects; null: 1/h, as the plan's steps amount to, on objects "
                    "that gravity does not act on, else 0; 0 if the plan's steps are of second order",
                    kNotNegative},
        s.object_damping);
};

}  // namespace

void read_track_settings(const YamlNode& node, const YamlReader& read, TrackSettings& settings) {
  setting_list::read_all("track", node, read, settings, kVisitTrackSettings);
}

std::string track_settings_help() { return setting_list::help_of("track", TrackSettings{}, kVisitTrackSettings); }

}  // namespace deft::io
