#pragma once
// The contact samplers of the baseline (Pang, Suh, Yang and Tedrake, IEEE T-RO 2023), one per kind of system.

#include <optional>
#include <vector>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/feasibility/random_stream.hpp"
#include "deft/planning/grasps/contact_sampler.hpp"
#include "deft/planning/grasps/proximity.hpp"

namespace deft::planning {

/// The sampler that `plan.sampler` names, for one kind of system each:
///   pushing          a robot of slides: its tip on a random point of the object, straight above the surface there;
///   planar-hand      two fingers of two joints: half of the grasps envelop (joint after joint closes from 0 until
///                    something touches), half pinch (each tip on a random point of a round object, on its side);
///   bimanual         two planar arms of three joints, bases left (y > 0) and right of the object: random second and
///                    third joint, the first sweeps inwards until something touches, then the second closes;
///   allegro-closing  the hand of sixteen joints: open, on slides settings.palm_offset from the object, then steps with
///                    frozen objects along a random mix of four closing motions.
/// All fingers move. One per thread, because it has steps.
///
/// Source: Pang, Suh, Yang and Tedrake, IEEE T-RO 2023, and the code beside it (the samplers of the examples). What
/// differs: joint limits of the scene hold; gaps are settings.standoff_m; points beyond a corner of the pushed box,
/// which touch nothing, are not drawn.
class BaselineSampler {
 public:
  /// @param deadline  of PlanningSteps. @throws InputError if the scene is no system of that kind.
  BaselineSampler(const scene::Scene& scene, const Hand& hand, const Deadline* deadline = nullptr);

  /// A grasp of the objects as they lie in q. @returns nothing after settings.attempts without one.
  std::optional<Grasp> sample(const Eigen::VectorXd& q, RandomStream& draw, Proximity& proximity);

 private:
  using Joints = Eigen::VectorXd;
  bool push(RandomStream& draw, Joints& joints);
  bool envelop(Joints& joints);
  bool pinch(RandomStream& draw, Joints& joints);
  bool pinch_with(const Finger& finger, const Finger& other, double distance, const Eigen::Vector3d& p_WO,
                  RandomStream& draw, Joints& joints);
  bool sweep(RandomStream& draw, Joints& joints);
  bool close(RandomStream& draw, Joints& joints);
  void place_palm();

  /// Puts the robots at `joints`, the objects as they lie.
  void place(const Joints& joints);
  /// The gap between a finger's tip and the object, at most `margin` [m].
  collision::ContactPair tip_to_object(const Finger& finger) const;
  bool touches(const Joints& joints);
  /// Moves one joint from `from` to `to` as far as nothing touches, to 1e-3. @returns false if it touches at `from`.
  bool close_joint(int joint, double from, double to, Joints& joints);
  /// The position of the objects' last body that can be touched.
  Eigen::Vector3d object_position() const;
  Eigen::Vector3d origin(int geometry) const;
  Joints clamped(Joints joints) const { return joints.cwiseMax(hand_->lower).cwiseMin(hand_->upper); }

  const scene::Scene* scene_;
  const Hand* hand_;
  Proximity* proximity_ = nullptr;                    // of the call
  Eigen::VectorXd q_;                                 // of the call
  std::vector<char> all_;                             // every command moves
  Eigen::Vector3d normal_;                            // of the plane of motion
  Eigen::Vector3d offset_ = Eigen::Vector3d::Zero();  // of the hand's slides from the object
  std::optional<scene::Scene> frozen_;                // objects do not move
  std::unique_ptr<PlanningSteps> steps_;              // of frozen_
};

}  // namespace deft::planning
