// `control:` on the page of `deft info --settings`; io/scene reads it.

#include <fmt/format.h>

#include "deft/io/settings/control_setting_list.hpp"
#include "deft/io/settings/settings_file.hpp"

namespace deft::io {

std::string control_settings_help() {
  std::string text;
  for (const control_list::NumberInfo& info : control_list::kNumbers)
    text += fmt::format("control.{:<19} {}{}\n  default {}{}{}\n", info.name, info.doc,
                        info.unit.empty() ? "" : fmt::format(" [{}]", info.unit), info.initial,
                        info.range.empty() ? "" : "; range: ", info.range);
  for (const control_list::ValuesInfo& info : control_list::kValues)
    text += fmt::format("control.{:<19} {}\n  a number, a list{} or a map by model{}; range: {}\n", info.name, info.doc,
                        info.matrix ? ", a list of rows" : "", info.states ? ", velocities under 'velocity'" : "",
                        info.range.text);
  return text;
}

}  // namespace deft::io
