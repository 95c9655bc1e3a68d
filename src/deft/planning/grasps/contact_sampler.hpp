#pragma once
// Contacts to try next: which fingers, where on the object, and the joints that bring them there.

#include <optional>
#include <vector>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/planning/grasps/proximity.hpp"

namespace deft::planning {

/// Joint positions at which links all but touch the objects.
struct Grasp {
  Eigen::VectorXd joints;   // size nu [rad, m]
  std::vector<char> moves;  // per command: may move on the way to it
};

/// Samples grasps from the scene alone: points uniform on the objects' surfaces, links of the chosen fingers, damped
/// Gauss–Newton on the gaps (→ standoff) and, while it is far, on the distance of the touching points.
class ContactSampler {
 public:
  /// @param scene, hand  must outlive this object; the hand is of the scene.
  ContactSampler(const scene::Scene& scene, const Hand& hand);

  /// The fingers of the next regrasp: one with the share of the settings, otherwise all.
  std::vector<int> choose_fingers(RandomStream& draw) const;
  /// What the next grasp of these fingers may move once they have let go in q: all that moves them, and every other
  /// time not what moves links on which the objects still lie. Size nu.
  std::vector<char> choose_moves(const Eigen::VectorXd& q, const std::vector<int>& fingers, RandomStream& draw,
                                 Proximity& proximity) const;
  /// A grasp of the objects as they lie in q by fingers of which `moves` (per command) may move; the others stay.
  /// @param pinches  two of several fingers, on opposite sides of an object, instead of any number anywhere.
  /// @returns nothing after settings.attempts without one that is free of collision.
  std::optional<Grasp> sample(const Eigen::VectorXd& q, const std::vector<int>& fingers, const std::vector<char>& moves,
                              RandomStream& draw, Proximity& proximity, bool pinches = false) const;
  /// The same with all that moves these fingers and no others.
  std::optional<Grasp> sample(const Eigen::VectorXd& q, const std::vector<int>& fingers, RandomStream& draw,
                              Proximity& proximity, bool pinches = false) const;

 private:
  /// A link of a finger and the point where it shall touch.
  struct Touch {
    int geometry = -1, surface = -1;
    Eigen::Vector3d p_W = Eigen::Vector3d::Zero(), n_W = Eigen::Vector3d::Zero();  // outward normal
  };
  /// A point of the objects' surfaces that faces the plane of motion, for the link `geometry`.
  Touch draw_point(int geometry, const Proximity& proximity, RandomStream& draw) const;
  /// How many of the finger's geometries, from the tip inwards, some of `moves` moves.
  int moved_links(const Finger& finger, const std::vector<char>& moves) const;
  int draw_link(const Finger& finger, const std::vector<char>& moves, RandomStream& draw) const;
  Touch draw_touch(const Finger& finger, const std::vector<char>& moves, const Proximity& proximity,
                   RandomStream& draw) const;
  /// Two fingers: of some points for the second the one that the first sees most nearly through the object.
  std::vector<Touch> draw_pinch(const std::vector<int>& fingers, const std::vector<char>& moves,
                                const Proximity& proximity, RandomStream& draw) const;
  /// Joints from which the iteration starts.
  Eigen::VectorXd draw_start(const Eigen::VectorXd& joints, const std::vector<char>& moves, RandomStream& draw) const;
  bool reach(const std::vector<Touch>& touches, const std::vector<char>& moves, Eigen::VectorXd& q,
             Proximity& proximity) const;

  const scene::Scene* scene_;
  const Hand* hand_;
  Eigen::Vector3d plane_normal_;  // of a planar scene, zero in space
};

}  // namespace deft::planning
