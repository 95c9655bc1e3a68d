#pragma once
// The file of `deft track --disturb`: what may go wrong, one number per key.

#include <string>

#include "deft/scene/description/disturbance_spec.hpp"

namespace deft::io {

/// Reads a YAML map of the fields of scene::DisturbanceSpec; what is missing does not go wrong. @throws InputError with
/// file, line, field, value and valid values.
scene::DisturbanceSpec read_disturbance(const std::string& path);
/// The keys with units, ranges and meaning, a line each.
std::string disturbance_help();

}  // namespace deft::io
