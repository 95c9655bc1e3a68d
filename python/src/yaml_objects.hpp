#pragma once
// YAML trees as Python objects.

#include <nanobind/nanobind.h>

#include "deft/io/text/yaml_node.hpp"

namespace deft::python {

/// None, bool, int, float, str, list or dict; rotations with a tag (`!Rpy {deg: …}`) as {"quat_wxyz": […]}.
nanobind::object to_object(const io::YamlNode& node);
void bind_yaml(nanobind::module_& module);

}  // namespace deft::python
