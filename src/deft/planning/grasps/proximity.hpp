#pragma once
// Which parts of the robots are near something, and which way they open.

#include <Eigen/Core>
#include <span>
#include <utility>
#include <vector>

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// Gaps between what a set of commands moves and everything else, with their gradients. One per thread.
class Proximity {
 public:
  /// @param scene  must outlive this object.
  explicit Proximity(const scene::Scene& scene);

  /// Updates poses to q; later calls are about them.
  void place(const Eigen::VectorXd& q);
  /// Poses at the placed q, and the pairs of the last search, which may be some of all.
  const scene::SceneState& state() const { return state_; }
  /// All pairs with a gap below `margin` [m] at the placed q, until the next call.
  const std::vector<collision::ContactPair>& contacts(double margin);
  /// The smallest gap below `margin` at the placed q among pairs of which one side, but not the other in the same way,
  /// is moved by a command of `moves` (per command); `margin` if there is none [m].
  double smallest_gap(const std::vector<char>& moves, double margin);
  /// Whether that gap is at least `gap` [m] > 0; faster.
  bool is_free(const std::vector<char>& moves, double gap);
  /// Gradients of such pairs nearer than `margin` [m] by commands: ∂gap in `normal` [pairs × nu], two directions of
  /// sliding in `slide` [2 pairs × nu]; `gaps` [m] beside them. @returns the number of pairs.
  int rows(const std::vector<char>& moves, double margin, Eigen::MatrixXd& normal, Eigen::MatrixXd& slide,
           Eigen::VectorXd& gaps);
  /// ∂gap of what `moves` against `surfaces` (geometries, none of which it moves) by commands, per link the nearest
  /// pair within `margin` [m]: `normal` [rows × nu], `gaps` [m] beside it. @returns the number of rows.
  int touch_rows(const std::vector<char>& moves, const std::vector<int>& surfaces, double margin,
                 Eigen::MatrixXd& normal, Eigen::VectorXd& gaps);
  /// `moves` without what moves links that touch one of `surfaces` (geometries, none of which it moves): where fingers
  /// have let go, these links carry it. They touch below a tenth of settings.plan.standoff_m.
  std::vector<char> without_carriers(const std::vector<char>& moves, const std::vector<int>& surfaces);
  /// J: the velocity of the point of `body` at p_W per unit of each command, 3 × nu.
  void point_rows(int body, const Eigen::Vector3d& p_W, Eigen::MatrixXd& J);

 private:
  /// Whether commands of `moves` change the pair's gap: they move one of its bodies, or both differently.
  bool concerns(const std::vector<char>& moves, int body_a, int body_b) const;
  /// Contacts of such pairs with a gap below `margin` [m], until the next search.
  const std::vector<collision::ContactPair>& contacts_of(const std::vector<char>& moves, double margin);

  const scene::Scene* scene_;
  scene::SceneState state_;
  std::vector<std::vector<int>> movers_;  // entries of v that commands move and each body hangs on
  std::vector<double> jacobian_;
  std::vector<std::pair<int, const collision::ContactPair*>> touches_;  // link, its nearest pair
  Eigen::MatrixXd J_a_, J_b_;
};

}  // namespace deft::planning
