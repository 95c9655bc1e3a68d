#include "yaml_objects.hpp"

#include <nanobind/stl/string.h>

#include <cmath>

#include "deft/core/diagnostics.hpp"
#include "deft/io/text/yaml_reader.hpp"

namespace deft::python {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

/// A scalar that is not in quotes, as YAML's core schema reads it.
nb::object plain(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return nb::bool_(true);
  if (text == "false" || text == "False" || text == "FALSE") return nb::bool_(false);
  const auto number = io::parse_number(text);
  if (!number) return nb::str(text.c_str());
  const bool whole = text.find_first_not_of("+-0123456789") == std::string::npos && std::abs(*number) < 1e15;
  return whole ? nb::object(nb::int_(static_cast<long>(*number))) : nb::object(nb::float_(*number));
}

nb::object rotation(const io::YamlNode& node) {
  Diagnostics diagnostics;
  const auto R = io::YamlReader(diagnostics).rotation(node);
  diagnostics.throw_if_errors();
  const Eigen::Quaterniond quat(*R);
  nb::list list;
  for (const double entry : {quat.w(), quat.x(), quat.y(), quat.z()}) list.append(entry);
  nb::dict map;
  map["quat_wxyz"] = list;
  return map;
}

}  // namespace

nb::object to_object(const io::YamlNode& node) {
  switch (node.kind) {
    case io::YamlNode::Kind::kNull:
      return nb::none();
    case io::YamlNode::Kind::kScalar:
      return node.quoted ? nb::object(nb::str(node.text.c_str())) : plain(node.text);
    case io::YamlNode::Kind::kList: {
      nb::list list;
      for (const io::YamlNode& item : node.items) list.append(to_object(item));
      return list;
    }
    case io::YamlNode::Kind::kMap:
      break;
  }
  if (!node.tag.empty()) return rotation(node);
  nb::dict map;
  for (const io::YamlEntry& entry : node.entries) map[entry.key.c_str()] = to_object(entry.value);
  return map;
}

void bind_yaml(nb::module_& module) {
  module.def(
      "yaml_to_objects",
      [](const std::string& text) {
        Diagnostics diagnostics;
        const auto root = io::parse_yaml(text, "", diagnostics);
        diagnostics.throw_if_errors();
        return to_object(*root);
      },
      "text"_a);
}

}  // namespace deft::python
