#pragma once
// The lists of `control:`, which is no flat section: reading it (io/scene) and its page are made of them. Internal to
// io.

#include <limits>
#include <string_view>

#include "deft/io/text/yaml_reader.hpp"
#include "deft/scene/description/scene_spec.hpp"

/// The lists of `control:`.
namespace deft::io::control_list {

/// Bounds may be infinite.
inline constexpr NumberRange kBound{-std::numeric_limits<double>::infinity(), true, true, "a number, inf or -inf"};

/// A key that takes one value, or a placement.
struct NumberInfo { std::string_view name, unit, doc, range, initial; };  // all but `name` as the page prints them

/// These keys, in the order of the page.
inline constexpr NumberInfo kNumbers[] = {
    {"type", "", "the controller", "mixed-integer", "mixed-integer"},
    {"N", "1", "horizon, in steps of step.h", "an integer >= 1", "5"},
    {"goal", "", "where to be: a placement as in `configurations`, or the name of one", "", "none"},
    {"path", "", "instead: knots [{t, …placement}], linear in between", "", "none"},
    {"gap", "1", "relative gap at which a plan counts as optimal", ">= 0", "1e-07"},
    {"time_limit_s", "s", "wall time per period; then the best plan so far is used", "> 0 or inf", "inf"},
    {"threads", "1", "of the search", "an integer >= 1", "1"},
    {"contact_margin", "m", "contacts further away are no pairs of the system", ">= 0 or inf", "inf"},
    {"fallback", "", "command without a plan: no effort, or the last one again", "zero, hold", "zero"},
};

/// A key that takes a number per state or input.
struct ValuesInfo {
  std::string_view name, doc;                            // the key; its meaning
  scene::ControlValues scene::ControlSettings::* field;  // where it goes
  NumberRange range;                                     // of each number
  bool matrix;                                           // a list of rows may stand for it
  bool states;                                           // per state, or per input
};

/// These keys, in the order of the page.
inline constexpr ValuesInfo kValues[] = {
    {"Q", "weights of the states' distance from the reference at steps 0 … N−1; what is not named weighs 0",
     &scene::ControlSettings::Q, kNotNegative, true, true},
    {"R", "weights of the inputs", &scene::ControlSettings::R, kNotNegative, true, false},
    {"Qf", "weights at step N; missing: those of Q", &scene::ControlSettings::Qf, kNotNegative, true, true},
    {"x_min", "lower bounds of the states at steps 1 … N", &scene::ControlSettings::x_min, kBound, false, true},
    {"x_max", "upper bounds", &scene::ControlSettings::x_max, kBound, false, true},
    {"x_price", "price per unit of violation that makes bounds soft; inf: hard", &scene::ControlSettings::x_price,
     kNotNegativeOrInfinite, false, true},
    {"u_min", "lower bounds of the inputs", &scene::ControlSettings::u_min, kBound, false, false},
    {"u_max", "upper bounds", &scene::ControlSettings::u_max, kBound, false, false},
};

}  // namespace deft::io::control_list
