#pragma once
// Models of a scene in SDFormat.

#include <tinyxml2.h>

#include <string>
#include <vector>

#include "deft/exporters/assets.hpp"
#include "deft/exporters/link_tree.hpp"

namespace deft::exporters {

/// A link of one model that is welded to a link of another.
struct Weld {
  int parent = 0, child = 0;  // bodies of the scene; 0: the world
  RigidTransform X_PC = RigidTransform::Identity();
};

/// Where friction stands: in surface/friction/ode, or in drake:proximity_properties (Drake warns where both do).
enum class SdfFriction { kOde, kDrake };

/// Writes `<model>` elements: links in the scene's frames, `<pose>` of roots where they start, of others against what
/// carries them with joints at zero; a joint of several axes as a chain with links of 1e-9 kg between; friction of
/// each geometry; gains of position drives as drake:controller_gains; `effort` 0 of
/// joints that nothing drives.
class SdfModels {
 public:
  /// Keeps references to tree, assets and notes.
  SdfModels(const LinkTree& links, SdfFriction friction, Assets& assets, std::vector<std::string>& notes);

  /// Appends the model of an index of KinematicTree::models.
  void write(int model, tinyxml2::XMLElement& parent);
  /// Between models, of what is welded.
  std::vector<Weld> welds() const;

 private:
  void write_link(int body, tinyxml2::XMLElement& model, int carrier, const RigidTransform& X_CB);
  void write_inertial(const multibody::InertialSpec& inertial, tinyxml2::XMLElement& link) const;
  void write_geometry(const multibody::GeometrySpec& geometry, tinyxml2::XMLElement& element, const std::string& file);
  void write_visual(const multibody::GeometrySpec& geometry, tinyxml2::XMLElement& link);
  void write_fixed(const std::string& name, const std::string& parent, const std::string& child,
                   tinyxml2::XMLElement& model) const;
  void write_joint(int joint, tinyxml2::XMLElement& model);
  void write_axis(int joint, int i, tinyxml2::XMLElement& element);

  const LinkTree& links_;
  const SdfFriction friction_;
  Assets& assets_;
  std::vector<std::string>& notes_;
  Eigen::VectorXd damping_;  // per command
};

}  // namespace deft::exporters
