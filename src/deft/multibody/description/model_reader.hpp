#pragma once
// The skeleton of a model file, which URDF and SDFormat share: a file holds a model, a model links, joints and frames,
// a link an inertial, collisions and visuals. The formats differ in where numbers and poses stand. Private to
// load_*.cpp; shows tinyxml2.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "deft/multibody/description/xml_reader.hpp"

namespace deft::multibody {

/// SDFormat writes "no limit" as ±1e16; so may URDF, which wants a number.
inline constexpr double kNoLimit = 1e16;

/// The tags and names of a format.
struct ModelFormat {
  const char* name;                                                // with its article, for messages: "a URDF"
  const char* root;                                                // tag of a file's root element
  std::vector<const char*> model, link, collision, visual, joint;  // tags that are read inside each of these
  const char* geometries;                                          // those that are read, for messages
  const char* joint_types;                                         // likewise
};

/// Opens a model file and checks its root element. @param read  makes the model of the root element; mistakes go to the
/// XmlReader. @returns nothing after an error.
std::optional<ModelSpec> read_model_file(
    const std::string& path, const PackageMap& packages, Diagnostics& diagnostics, const ModelFormat& format,
    const std::function<std::optional<ModelSpec>(XmlReader& xml, const XMLElement& root)>& read);

/// Reads one model. A format's reader derives from it and adds where poses and numbers stand. Never stops at a mistake:
/// reports it and goes on.
class ModelReader {
 public:
  /// @param format, xml  must outlive this object.
  ModelReader(const ModelFormat& format, XmlReader& xml) : xml_(xml), format_(format) {}
  virtual ~ModelReader() = default;

  /// Reads the model that `model` describes, its parts in file order. Tags that are not read are warned of once.
  ModelSpec read(const XMLElement& model);

 protected:
  /// Red, green, blue and opacity, each 0 … 1.
  using Rgba = std::array<double, 4>;

  // What a format adds, in the order of the calls.

  /// What the model is called.
  virtual std::string model_name(const XMLElement& model) { return xml_.required_attribute(model, "name"); }
  /// Before anything of the model is read: warns of tags that are not.
  virtual void begin(const XMLElement& model) { xml_.warn_of_others(model, format_.model); }
  /// What the model has besides its name, links and joints.
  virtual void read_header(const XMLElement& model, ModelSpec& spec) = 0;
  /// X_ML of a link whose name and place are read.
  virtual RigidTransform link_pose(const XMLElement& element, const LinkSpec& link) = 0;
  /// Mass, centre of mass and moments of an `<inertial>`, in the link frame.
  virtual InertialSpec inertial(const XMLElement& element) = 0;
  /// X_LG of a collision or visual.
  virtual RigidTransform geometry_pose(const XMLElement& element, const LinkSpec& link) = 0;
  /// The coefficients of `<drake:proximity_properties>`, and what else the format has.
  virtual void friction(const XMLElement& collision, GeometrySpec& geometry);
  /// Nothing where the visual has no colour.
  virtual std::optional<Rgba> colour(const XMLElement& visual) = 0;
  /// Whether a link that was read is one of the model's.
  virtual bool is_kept(const XMLElement& /*element*/, const LinkSpec& /*link*/) { return true; }
  /// Parent, child, and the joint frame in both.
  virtual void connect(const XMLElement& element, JointSpec& joint) = 0;
  /// Kind and axes of a joint.
  virtual void set_motion(const XMLElement& element, const std::string& type, JointSpec& joint) = 0;
  /// Adds to `spec`, which has all joints, what this one follows.
  virtual void follow(const XMLElement& element, const JointSpec& joint, ModelSpec& spec) = 0;
  /// The model's frames, after its links and joints.
  virtual void read_frames(const XMLElement& /*model*/, ModelSpec& /*spec*/) {}

  // Where the numbers of an element stand.

  /// The only number that an element holds.
  virtual double value_of(const XMLElement& element) = 0;
  /// A length of a shape [m], which must be positive, or at least zero.
  virtual double length(const XMLElement& shape, const char* name, bool zero_allowed) = 0;
  /// Three lengths of a shape [m].
  virtual Eigen::Vector3d lengths(const XMLElement& shape, const char* name) = 0;
  /// Nothing after an error, or where the file of a visual is not found.
  virtual std::optional<MeshSpec> mesh(const XMLElement& element, bool is_collision) = 0;
  /// A shape that this format alone has; nothing if `type` is none.
  virtual std::optional<ShapeSpec> own_shape(const XMLElement& element, const std::string& type) = 0;

  /// A friction coefficient in the child element of that name; nothing without it.
  std::optional<double> coefficient(const XMLElement& owner, const char* tag);

  // Errors of joints.

  /// The joint type is not supported.
  void refuse_type(const XMLElement& element, const std::string& type, const JointSpec& joint);
  /// The joint has no child element `tag`.
  void refuse_missing(const XMLElement& element, const char* tag, const JointSpec& joint);
  /// An error if `axis`, read from `element`, is zero.
  void refuse_zero_axis(const XMLElement& element, const Eigen::Vector3d& axis, const std::string& joint);

  XmlReader& xml_;  // of the file

 private:
  LinkSpec link(const XMLElement& element);
  std::vector<GeometrySpec> geometries(const XMLElement& element, const char* tag, const LinkSpec& link);
  std::optional<GeometrySpec> geometry(const XMLElement& element, const LinkSpec& link, bool is_collision);
  std::optional<ShapeSpec> shape(const XMLElement& geometry, bool is_collision);
  Eigen::Vector3d positive_lengths(const XMLElement& shape, const char* name);
  JointSpec joint(const XMLElement& element);

  const ModelFormat& format_;
};

}  // namespace deft::multibody
