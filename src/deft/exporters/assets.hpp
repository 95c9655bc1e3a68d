#pragma once
// Mesh files beside an exported model.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::exporters {

/// FOLDER/assets, made with the first file that is put there.
class Assets {
 public:
  /// Of an existing folder.
  explicit Assets(std::string folder) : folder_(std::move(folder)) {}

  /// Writes mesh_N.obj. @returns its name in assets. @throws std::runtime_error naming a file that cannot be written.
  std::string add(const collision::TriangleMesh& mesh);
  std::span<const std::string> files() const { return files_; }  // written, with their folders

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

/// One colour of what is drawn.
struct DrawnPart {
  std::string name;                             // of the geometry, numbered where it is a mesh
  std::optional<std::array<double, 4>> rgba;    // the model's, else the file's
  std::optional<collision::TriangleMesh> mesh;  // nothing: the shape itself
};
/// A mesh in parts of one colour each (collision::read_painted_mesh); a mesh that cannot be read is none, and a note.
std::vector<DrawnPart> drawn_parts(const multibody::GeometrySpec& visual, std::vector<std::string>& notes);

/// Where the plane z = 0 bounds the half-space, in the geometry's frame, with z outwards.
RigidTransform plane_pose(const multibody::HalfSpaceSpec& half_space);

/// Width of the box that stands for a half space where a program has none [m].
inline constexpr double kGroundWidth_m = 100;
/// Its depth [m].
inline constexpr double kGroundDepth_m = 1;
/// That box.
multibody::BoxSpec ground_box();
/// Its pose in the link: the middle of one face on the plane.
RigidTransform ground_pose(const multibody::HalfSpaceSpec& half_space);

/// The convex hull with which a mesh or prism collides, in the geometry's frame.
collision::TriangleMesh hull_of(const multibody::GeometrySpec& geometry);

}  // namespace deft::exporters
