#pragma once
// `<compiler>`: how a file is to be read, and the poses that depend on it.

#include <string>

#include "deft/math/rotation.hpp"
#include "deft/multibody/mjcf/mjcf_values.hpp"

namespace deft::multibody::mjcf {

/// Where the masses of bodies come from.
enum class InertiaFrom { kInertial, kGeometries, kInertialIfAny };

/// The settings of one file, MuJoCo's defaults first.
struct Compiler {
  bool degrees = true;                                // angles of the file; else radians
  bool autolimits = true;                             // a range limits unless `limited` says no
  bool strip_path = false;                            // files are named by the last part of their path alone
  bool balance_inertia = false;                       // moments that no body has become their mean
  std::string euler = "xyz";                          // axes: small letters turn with the body, large ones do not
  std::string mesh_folder;                            // relative to the file
  InertiaFrom inertia = InertiaFrom::kInertialIfAny;  // where masses come from
  int first_group = 0, last_group = 5;                // geometries that weigh something
  double bound_mass = 0, bound_inertia = 0;           // least mass [kg] and moments [kg m²] of what moves
  double total_mass = -1;                             // [kg], what all bodies are scaled to, if > 0

  /// An angle of the file in radians.
  double angle(double value) const;
};

/// Reads every `<compiler>` of the root element; later ones win.
Compiler read_compiler(const Element& root, const Values& values);

/// Orientation of an element: quat, axisangle, euler, xyaxes, zaxis or none. A second way to say it is an error.
Eigen::Matrix3d read_orientation(const Element& element, const Compiler& compiler, const Values& values);
/// Position and orientation of an element in what it stands in.
RigidTransform read_pose(const Element& element, const Compiler& compiler, const Values& values);
/// The smallest turn that takes the z axis to `direction` (any length > 0); about x where it is opposite.
Eigen::Matrix3d rotation_from_z_to(const Eigen::Vector3d& direction);
/// The frame between two different points: in their middle, z from `to` to `from`, as `fromto` means it.
RigidTransform pose_between(const Eigen::Vector3d& from, const Eigen::Vector3d& to);

}  // namespace deft::multibody::mjcf
