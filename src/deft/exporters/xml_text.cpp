#include "deft/exporters/xml_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

namespace deft::exporters {

void set(tinyxml2::XMLElement& element, const char* name, double value) {
  element.SetAttribute(name, fmt::format("{}", value).c_str());
}

void set_numbers(tinyxml2::XMLElement& element, const char* name, std::span<const double> values) {
  element.SetAttribute(name, fmt::format("{}", fmt::join(values.begin(), values.end(), " ")).c_str());
}

void set_pose(tinyxml2::XMLElement& element, const RigidTransform& X) {
  const Eigen::Vector3d p = X.translation();
  if (!p.isZero(0)) set(element, "pos", p);
  if (!X.linear().isIdentity(0)) set(element, "quat", quat_wxyz_from_rotation(X.linear()));
}

}  // namespace deft::exporters
