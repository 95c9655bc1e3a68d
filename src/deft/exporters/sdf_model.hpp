#pragma once
// Models of a scene in SDFormat.

#include <string>
#include <vector>

#include "deft/exporters/assets.hpp"
#include "deft/exporters/model_parts.hpp"

namespace tinyxml2 {
class XMLElement;
}

namespace deft::exporters {

/// Who is to read the files. For Drake friction stands in drake:proximity_properties and not in surface/friction/ode
/// (it warns where both do), with stiffness and damping of contacts, and half spaces are boxes, since planes on links
/// bring it down.
enum class SdfReader { kAny, kDrake };

/// Writes `<model>` elements: links in the scene's frames, `<pose>` of roots where they start, of others against what
/// carries them with joints at zero; a joint of several axes as a chain with links of 1e-9 kg between; friction of
/// each geometry; gains of position drives as drake:controller_gains; `effort` 0 of
/// joints that nothing drives.
class SdfModels {
 public:
  /// Keeps references to tree, assets and notes.
  SdfModels(const LinkTree& links, SdfReader reader, Assets& assets, std::vector<std::string>& notes)
      : links_(links), reader_(reader), assets_(assets), notes_(notes) {}

  /// Appends the model of an index of KinematicTree::models.
  void write(int model, tinyxml2::XMLElement& parent);

 private:
  void write_link(const PartLink& part, tinyxml2::XMLElement& model);
  void write_inertial(const multibody::InertialSpec& inertial, tinyxml2::XMLElement& link) const;
  void write_geometry(const multibody::GeometrySpec& geometry, tinyxml2::XMLElement& element, const std::string& file);
  void write_visual(const multibody::GeometrySpec& geometry, const DrawnPart& part, const std::string& name,
                    tinyxml2::XMLElement& link);
  void write_joint(const PartJoint& joint, tinyxml2::XMLElement& model);
  void write_axis(const PartJoint& joint, tinyxml2::XMLElement& element);

  const LinkTree& links_;
  const SdfReader reader_;
  Assets& assets_;
  std::vector<std::string>& notes_;
};

}  // namespace deft::exporters
