#pragma once
// Bodies, joints, sites and contacts of an MJCF file. Private to load_mjcf.cpp and mjcf_*.cpp.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "deft/multibody/mjcf/mjcf_attach.hpp"
#include "deft/multibody/mjcf/mjcf_geometry.hpp"

namespace deft::multibody::mjcf {

/// Reads one file into a ModelSpec.
class ModelReader {
 public:
  /// @param path  of the main file;  @param root  its elements;  @param attachments  what is being read;  all and
  /// `values` must outlive this object.
  ModelReader(const std::string& path, const Element& root, const Values& values, Attachments& attachments);

  /// The model. Mistakes went to the values' diagnostics.
  ModelSpec read();

 private:
  /// An element with the frames between it and the body that it stands in, and the class that holds there.
  struct Placed {
    const Element* element = nullptr;
    RigidTransform X_BF = RigidTransform::Identity();
    std::string childclass;
  };
  /// Joints of a body that become one joint of the model.
  struct Segment {
    JointSpec joint;
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero();  // of its rotations, in the body
    bool has_anchor = false;
    RigidTransform X_reference = RigidTransform::Identity();  // of the last axis at its reference value
    bool is_closed = false;                                   // no further axis fits
  };

  void gather(const Element& element, const RigidTransform& X_BF, const std::string& childclass,
              std::vector<Placed>& parts) const;
  void read_attachments(const std::vector<Placed>& parts);
  std::optional<ModelSpec> read_attachment(const Element& element);
  std::optional<Element> find_model(const Element& element, std::string& file) const;
  bool brings_world(const Element& element) const;
  void take_world(const Placed& part, LinkSpec& link);
  void append_attached(const Placed& part, const std::string& parent, const RigidTransform& X_ML);
  void read_world(const Element& worldbody);
  void read_body(const Placed& body, const std::string& parent, const RigidTransform& X_MParent);
  void read_parts(const std::vector<Placed>& parts, LinkSpec& link);
  void read_geometry(const Placed& part, LinkSpec& link);
  void read_site(const Placed& part, const LinkSpec& link);
  void name_sites_apart();
  void read_inertial(const Element& element, LinkSpec& link) const;
  void hang(const std::vector<Placed>& parts, const std::string& parent, const RigidTransform& X_PB,
            const Element& body, const LinkSpec& link);
  std::vector<Segment> segments(const std::vector<Placed>& parts, const std::string& body);
  void add_axis(const Placed& part, const Element& joint, const std::string& name, bool is_hinge,
                std::vector<Segment>& segments);
  void read_limits(const Element& joint, bool is_hinge, JointAxisSpec& axis) const;
  void read_spring(const Element& joint, const std::string& name, bool is_hinge, JointAxisSpec& axis) const;
  void warn_of_unread(const Element& joint, const std::string& name, const char* attribute) const;
  void read_contacts();
  void read_actuators();
  void read_actuator(const Element& element);
  void read_couplings();
  void read_coupling(const Element& element);
  void read_keyframes();
  void read_keyframe(const Element& element);
  JointAxisSpec* find_axis(const std::string& joint);
  void list_paired();
  void note_unread();
  void note_option(const Element& option) const;

  const Element& root_;
  const Values& values_;
  Attachments& attachments_;
  Compiler compiler_;
  Defaults defaults_;
  Assets assets_;
  GeometryReader geometries_;
  ModelSpec model_;
  std::set<std::string> paired_;  // geometries that `<pair>` names
  int bodies_ = 0;                // read so far
  bool is_attached_ = false;      // to another model
  std::string detached_;          // the body that an attachment takes alone: frames around it do not count
  std::map<const Element*, ModelSpec> attached_;  // by `<attach>`, until their bodies are appended
  KeyframeSpec references_;                       // reference values of joints that have one
};

}  // namespace deft::multibody::mjcf
