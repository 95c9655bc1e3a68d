#pragma once
// The frames of one SDFormat model: links, `<frame>`s, joints and `__model__`, each posed relative to another.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/math/rotation.hpp"

namespace deft::multibody {

/// Collects the frames of a model, then finds their poses; each reference is followed once.
class SdfFrames {
 public:
  /// @param diagnostics  must outlive this object.
  explicit SdfFrames(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// Adds a frame at the pose X_RF in the frame `relative_to`; the first of a name counts. Either may come later.
  /// @param attached_to  the frame on whose link this one sits, the child for a joint; empty for a link.
  void add(const std::string& name, const std::string& relative_to, const RigidTransform& X_RF,
           const std::string& attached_to, const SourceLocation& where);
  /// Pose X_MF in the model frame at zero joint angles. Unknown frames are reported once per name at `where`, the place
  /// of the reference, circular poses at the frame; identity then.
  RigidTransform pose(const std::string& name, const SourceLocation& where);
  /// The link on which a frame sits, "world" for the world; "" after an error.
  std::string link(const std::string& name, const SourceLocation& where);

 private:
  struct Frame {
    std::string relative_to, attached_to;
    RigidTransform X_RF;
    SourceLocation where;
    bool on_path = false;
    std::optional<RigidTransform> X_MF;
  };
  Frame* find(const std::string& name, const SourceLocation& where);

  Diagnostics& diagnostics_;
  std::map<std::string, Frame> frames_;
  std::vector<std::string> reported_;
};

}  // namespace deft::multibody
