#pragma once
// Attributes of XML elements: numbers with the shortest digits that read back.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include "deft/math/rotation.hpp"

namespace deft::exporters {

/// name="value".
inline void set(tinyxml2::XMLElement& element, const char* name, double value) {
  element.SetAttribute(name, fmt::format("{}", value).c_str());
}
/// name="v1 v2 …", of what can be iterated.
template <typename Values>
void set(tinyxml2::XMLElement& element, const char* name, const Values& values) {
  element.SetAttribute(name, fmt::format("{}", fmt::join(std::begin(values), std::end(values), " ")).c_str());
}
/// pos and quat (w x y z), where they are not those of the parent.
inline void set_pose(tinyxml2::XMLElement& element, const RigidTransform& X) {
  const Eigen::Vector3d p = X.translation();
  if (!p.isZero(0)) set(element, "pos", p);
  if (!X.linear().isIdentity(0)) set(element, "quat", quat_wxyz_from_rotation(X.linear()));
}

}  // namespace deft::exporters
