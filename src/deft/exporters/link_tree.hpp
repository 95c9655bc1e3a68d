#pragma once
// The bodies of a scene link by link, as files of models state them.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "deft/multibody/kinematic_tree.hpp"
#include "deft/scene/scene.hpp"

namespace deft::exporters {

/// A collision geometry of the scene, in the scene's order.
struct LinkGeometry {
  std::string name;                               // unique: "hand/link_3#collision_0"
  std::string own;                                // unique on its link: "collision_0"
  int body = 0;                                   // of the scene
  const multibody::GeometrySpec* spec = nullptr;  // as the scene holds it
};

/// Links with their joints. Each group of welded links has one main body, which carries the group's joint; the others
/// hang on it.
class LinkTree {
 public:
  /// Keeps a reference to `scene`.
  explicit LinkTree(const scene::Scene& scene);

  const scene::Scene& scene() const { return scene_; }                      // that it is of
  const multibody::KinematicTree& tree() const { return tree_; }            // of the scene's world
  const scene::SceneState& start() const { return start_; }                 // at the scene's start
  std::span<const LinkGeometry> geometries() const { return geometries_; }  // that collide

  /// Indices of those of a body.
  std::span<const int> geometries_of(int body) const { return geometries_of_[static_cast<std::size_t>(body)]; }

  /// The link of a body; null for the world.
  const multibody::LinkSpec* link(int body) const { return links_[static_cast<std::size_t>(body)]; }
  /// Group of a body.
  int group(int body) const { return group_of_[static_cast<std::size_t>(body)]; }
  /// The body that carries the joint of a group; the world of group 0.
  int main_body(int group) const { return main_[static_cast<std::size_t>(group)]; }
  /// The body of a model that stands for a group there: its main body if that is of the model, else the model's first;
  /// −1: it has none in the group.
  int body_in(int group, int model) const;
  /// The coefficient of friction that a geometry states.
  double mu(int geometry) const;
  /// A link's name in SDFormat and URDF, where joints and links of a model need different names: with `_link` where a
  /// coordinate has it.
  const std::string& link_name(int body) const { return names_[static_cast<std::size_t>(body)]; }
  /// Damping of a command of the scene that moves a joint to a position (plant::inner_loop_damping).
  double damping(int command) const { return damping_(command); }
  /// Whether two geometries may touch.
  bool may_touch(int a, int b) const;
  /// Whether other programs would let geometries of two bodies collide: neither welded together nor, but for the world,
  /// carried by each other.
  bool may_collide_by_default(int body_a, int body_b) const;
  /// Whether it is the joint of an object that does not move.
  bool is_frozen(const multibody::TreeJoint& joint) const;
  /// Coordinates of a model's joints where the scene starts, in the order of its joints; without ball joints.
  std::vector<std::pair<std::string, double>> joints_at_start(int model) const;
  /// Whether a body moves freely and carries its group.
  bool is_free(int body) const;
  /// The robot of a model; null if it is none.
  const scene::Robot* robot(int model) const;
  /// Mass, centre of mass and inertia of each body in its link frame: as stated where every simulator takes them, else
  /// the group's on its main body and nothing on the others; then a note says what was raised.
  const multibody::InertialSpec& inertial(int body) const { return inertials_[static_cast<std::size_t>(body)]; }
  const std::vector<std::string>& notes() const { return notes_; }  // of inertias
  /// First index in q of a joint of the tree.
  int first_q(int joint) const { return first_q_[static_cast<std::size_t>(joint)]; }
  /// The same in v.
  int first_v(int joint) const { return first_v_[static_cast<std::size_t>(joint)]; }

 private:
  void find_links();
  void find_names();
  void find_inertials();

  const scene::Scene& scene_;
  Diagnostics repeated_;  // what it warns of was said when the scene was built
  multibody::KinematicTree tree_;
  scene::SceneState start_;
  std::vector<LinkGeometry> geometries_;
  std::vector<std::vector<int>> geometries_of_;  // per body
  std::vector<const multibody::LinkSpec*> links_;
  std::vector<int> group_of_, main_, first_q_, first_v_;
  std::vector<multibody::InertialSpec> inertials_;
  std::vector<std::string> notes_, names_;
  Eigen::VectorXd damping_;
};

/// The name, or with the first number that makes it one that is not used yet; it is used then.
std::string unused(const std::string& name, std::set<std::string>& used);

}  // namespace deft::exporters
