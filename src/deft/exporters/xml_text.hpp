#pragma once
// Attributes of XML elements: numbers with the shortest digits that read back.

#include <iterator>
#include <span>

#include "deft/math/rotation.hpp"

namespace tinyxml2 {
class XMLElement;
}

namespace deft::exporters {

/// name="value".
void set(tinyxml2::XMLElement& element, const char* name, double value);
/// name="v1 v2 …".
void set_numbers(tinyxml2::XMLElement& element, const char* name, std::span<const double> values);
/// The same of what lies in a row: arrays, vectors, Eigen's.
template <typename Values>
void set(tinyxml2::XMLElement& element, const char* name, const Values& values) {
  set_numbers(element, name, {std::data(values), static_cast<std::size_t>(std::size(values))});
}
/// pos and quat (w x y z), where they are not those of the parent.
void set_pose(tinyxml2::XMLElement& element, const RigidTransform& X);

}  // namespace deft::exporters
