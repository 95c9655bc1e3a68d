#include "deft/multibody/mjcf/load_mjcf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "deft/multibody/mjcf/mjcf_model_reader.hpp"

namespace deft::multibody {
namespace mjcf {
namespace {

/// Sections that are read, and those that only concern how MuJoCo computes or draws.
constexpr std::array<std::string_view, 12> kSections{"compiler", "default", "asset",    "worldbody",
                                                     "contact",  "option",  "size",     "statistic",
                                                     "visual",   "custom",  "actuator", "keyframe"};
/// What a body or frame holds that is read.
constexpr std::array<std::string_view, 9> kParts{"body",      "frame", "replicate", "attach",  "joint",
                                                 "freejoint", "geom",  "site",      "inertial"};
/// What cannot be left out without a contact or a constraint missing.
constexpr std::array<std::string_view, 3> kRefused{"flexcomp", "flex", "composite"};

bool among(std::string_view tag, const auto& tags) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); }

void note(const Element& element, const Values& values) {
  values.warning(element, fmt::format("<{}> is not read", element.tag),
                 fmt::format("<{}> elements are not read", element.tag));
}

void note_parts(const Element& holder, const Values& values) {
  for (const Element& child : holder.children) {
    if (among(child.tag, kRefused))
      values.error(child, fmt::format("<{}> is not read: what it holds would be missing", child.tag));
    else if (!among(child.tag, kParts))
      note(child, values);
    else if (child.tag == "body" || child.tag == "frame" || child.tag == "replicate")
      note_parts(child, values);
  }
}

/// Constraints between bodies that move would be missing; those with a body of which the user of MuJoCo sets the pose
/// pull at nothing here.
void note_equality(const Element& equality, const std::set<std::string>& mocap, const Values& values) {
  for (const Element& child : equality.children) {
    const std::string a = values.text(child, "body1"), b = values.text(child, "body2");
    if (child.tag == "weld" && (mocap.contains(a) || mocap.contains(b)))
      note(child, values);
    else if (child.tag == "connect" || child.tag == "weld" || child.tag == "flex")
      values.error(child, fmt::format("<equality>: <{}> is not read: a constraint would be missing", child.tag));
    else if (child.tag != "joint")
      note(child, values);
  }
}

void list_mocap(const Element& holder, std::set<std::string>& names, const Values& values) {
  for (const Element& child : holder.children) {
    if (child.tag == "body" && values.text(child, "mocap") == "true") names.insert(values.text(child, "name"));
    list_mocap(child, names, values);
  }
}

}  // namespace

void ModelReader::note_option(const Element& option) const {
  const Eigen::Vector3d gravity = values_.vector(option, "gravity", {0, 0, -9.81});
  if (gravity != Eigen::Vector3d(0, 0, -9.81))
    values_.warning(option, fmt::format("gravity {} {} {} is not taken: the scene states it", gravity.x(), gravity.y(),
                                        gravity.z()));
}

void ModelReader::note_unread() {
  std::set<std::string> mocap;
  list_mocap(root_, mocap, values_);
  for (const Element& section : root_.children) {
    if (section.tag == "worldbody") note_parts(section, values_);
    if (section.tag == "option") note_option(section);
    if (section.tag == "equality") {
      note_equality(section, mocap, values_);
    } else if (section.tag == "deformable") {
      values_.error(section, "<deformable> is not read: what it holds would be missing");
    } else if (section.tag == "tendon" || section.tag == "sensor") {
      for (const Element& child : section.children) note(child, values_);
    } else if (!among(section.tag, kSections)) {
      note(section, values_);
    }
  }
}

}  // namespace mjcf

std::optional<ModelSpec> load_mjcf(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<mjcf::Element> root = mjcf::read_elements(path, diagnostics);
  if (!root) return std::nullopt;
  const mjcf::Values values(diagnostics);
  mjcf::Attachments attachments{.open = {std::filesystem::path(path).lexically_normal().string()}};
  ModelSpec model = mjcf::ModelReader(path, *root, values, attachments).read();
  if (values.has_errors()) return std::nullopt;
  return model;
}

}  // namespace deft::multibody
