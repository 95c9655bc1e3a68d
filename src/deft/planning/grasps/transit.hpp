#pragma once
// Motions between contacts: let go, go round, come near. Planned without contact and simulated exactly.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/grasps/contact_sampler.hpp"

namespace deft::planning {

/// Plans and simulates transits. One per thread.
class Transit {
 public:
  /// @param hand, steps, proximity  of one scene; must outlive this object.
  Transit(const Hand& hand, PlanningSteps& steps, Proximity& proximity);

  /// Opens every near contact of what `moves`, by steps along the gaps' gradients that do not slide, then waits until
  /// the objects rest (10 steps at most). @returns false if a step failed.
  bool release(const std::vector<char>& moves, Motion& motion);
  /// Why the last `reach` ended.
  enum class End { kThere, kBlocked, kDrifted };
  /// Of the last `reach`: there, no way free of collision (or none of bearable length), or the objects moved too far.
  End end() const { return end_; }
  /// Brings the joints to the grasp, free of collision: straight, by the joints of the scene's start, or by a
  /// bidirectional tree; simulated exactly. @returns false if there is no way, or the simulation moved the objects
  /// further than settings.drift_m.
  bool reach(const Grasp& grasp, RandomStream& draw, Motion& motion);
  /// Closes what `moves` and is near the objects, and loads the springs so that every link presses on them with this
  /// force, as far as something holds against it:  u = q + K⁻¹ Σ J_nᵀ f.  Friction then carries from the first step of
  /// a roll-out on, which by itself sees no gain in pressing. @returns false if nothing is near, or a step failed.
  bool press(const std::vector<char>& moves, double force_N, Motion& motion);
  /// The same with targets that lie this far inside what is touched, depth_m > 0.
  bool squeeze(const std::vector<char>& moves, double depth_m, Motion& motion);

 private:
  using Path = std::vector<Eigen::VectorXd>;
  /// Joint motion that changes the gaps of the last touch rows by as much, in least squares.
  Eigen::VectorXd closing(const Eigen::VectorXd& gaps) const;
  /// Closes near gaps; then `load(k)` is what the targets of the k-th step lie further.
  bool close(const std::vector<char>& moves, const std::function<Eigen::VectorXd(int k)>& load, Motion& motion);
  /// How many pieces lie between two commands on the way to a grasp, none longer than `longest` per entry (empty: any).
  int pieces_between(const Eigen::VectorXd& from, const Eigen::VectorXd& to, const Eigen::VectorXd& longest) const;
  /// Moves to commands within the joints' limits; commands that do not move stay. @returns false if it failed.
  bool step_towards(Eigen::VectorXd target, const std::vector<char>& moves, const Eigen::VectorXd& longest,
                    Motion& motion);
  /// One step that opens the near gaps, in joints; nothing when all are open.
  std::optional<Eigen::VectorXd> opening(const Eigen::VectorXd& q, const std::vector<char>& moves);
  /// From a grasp backwards to where it is open; at least the grasp itself.
  Path retreat(const Grasp& grasp, Eigen::VectorXd q);
  /// Commands go to where the joints of what `moves` are. @returns false if a step failed.
  bool unload(const std::vector<char>& moves, Motion& motion);
  /// The smallest gap of what moves at these joints, at most `margin` [m].
  double gap_at(const Eigen::VectorXd& joints, double margin);
  /// Whether what moves keeps the margin at these joints, or near an end of the way that of the end.
  bool is_free(const Eigen::VectorXd& joints);
  bool is_free_between(const Eigen::VectorXd& from, const Eigen::VectorXd& to);
  /// A path free of collision: with settings.transit_gap_m, less near narrow ends, or else with what these leave.
  std::optional<Path> connect(const Eigen::VectorXd& from, const Eigen::VectorXd& to, RandomStream& draw);
  /// With margin_: straight, by the joints of the scene's start, or by two trees.
  std::optional<Path> connect_free(const Eigen::VectorXd& from, const Eigen::VectorXd& to, RandomStream& draw);
  struct Tree;
  /// Two trees that grow towards each other (RRT-Connect; Kuffner and LaValle, ICRA 2000).
  std::optional<Path> connect_by_trees(const Eigen::VectorXd& from, const Eigen::VectorXd& to, RandomStream& draw);
  /// One edge towards x, if it is free. @returns the new node, or −1.
  int extend(Tree& tree, const Eigen::VectorXd& x);
  /// Edges towards x until it is met. @returns the node there; −1 if something is in the way.
  int extend_to(Tree& tree, const Eigen::VectorXd& x);
  /// Joints about those of both ends and of the scene's start.
  Eigen::VectorXd draw_joints(const Eigen::VectorXd& from, const Eigen::VectorXd& to, RandomStream& draw) const;
  void shorten(Path& path, RandomStream& draw);
  /// Steps to a waypoint, none longer than settings.joint_step and, per entry, `longest` (empty: any); shorter ones
  /// where a step would drag an object. Joints with damping are waited for there: they would cut the corners of the
  /// way.
  bool follow(const Eigen::VectorXd& waypoint, const Eigen::VectorXd& longest, Motion& motion);

  const Hand* hand_;
  PlanningSteps* steps_;
  Proximity* proximity_;
  const scene::PlanSettings* settings_;
  Eigen::VectorXd q_;                                     // of the checks: objects where they lie
  std::vector<char> moves_;                               // of the checks
  double margin_ = 0;                                     // [m], of the checks
  std::vector<std::pair<Eigen::VectorXd, double>> ends_;  // of the way that is looked for, and their margins [m]
  End end_ = End::kThere;                                 // of the last reach
  std::size_t waited_ = 0;                                // steps of this motion in which joints with damping arrived
  Eigen::MatrixXd normal_, slide_;
  Eigen::VectorXd gaps_;
};

}  // namespace deft::planning
