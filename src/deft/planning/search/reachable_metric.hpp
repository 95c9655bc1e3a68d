#pragma once
// How far poses are from what nodes of a tree reach in one step.

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "deft/planning/feasibility/goal.hpp"
#include "deft/solvers/kernels/ellipsoid_kernels.hpp"

namespace deft::planning {

/// The metric of the baseline search (Pang, Suh, Yang and Tedrake), one per node, asymmetric:
///   local   d(q; node) = eᵀ (B_u B_uᵀ + γ I)⁻¹ e,  e = q ⊖ c on the velocities that the goal names [m, rad],
/// c and B_u = ∂c/∂u the node's linearised step: the commands ‖δu‖ ≤ ε reach about d ≤ ε². Rotations by Log(R R_cᵀ).
///   global  d(q; node) = Σ w_i (q ⊖ q_node)_i², w of plan.metric_weights, or else the squares of the goal's weights
///   [m²].
///
/// A query is one pass of fused multiply-adds over all nodes (solvers/kernels/ellipsoid_kernels.hpp): each stores its
/// centre and L⁻¹ of its matrix L Lᵀ, eight nodes side by side. Adding a node touches nothing else.
/// Source: Pang, Suh, Yang and Tedrake, IEEE T-RO 2023, eq. 47; they subtract quaternions.
class ReachableMetric {
 public:
  /// A node and its distance.
  struct Nearest {
    int node = -1;                                              // in the order of `add`; −1: there is none
    double distance = std::numeric_limits<double>::infinity();  // d
  };

  /// @param gamma  γ > 0. @throws InputError if the goal names ball joints, or more than 48 coordinates, or if there
  /// are more or fewer weights than coordinates.
  ReachableMetric(const scene::Scene& scene, const Goal& goal, scene::PlanMetric metric, double gamma);

  /// Nodes that were added, removed ones included.
  int size() const { return size_; }
  /// Adds a node at q, with its linearised step c (size nq) and the goal's rows of B [goal.size() × nu].
  void add(const Eigen::VectorXd& q, const Eigen::VectorXd& c, const Eigen::MatrixXd& B);
  /// No query finds the node any more.
  void remove(int node);
  /// The nearest node to the pose in q_target, the first of equals. Safe to call from many threads, as the next.
  Nearest nearest(const Eigen::VectorXd& q_target) const { return nearest(q_target, 0, Nearest{}); }
  /// The same if `found` is the nearest among the nodes before `first`: looks only at what was added since.
  Nearest nearest(const Eigen::VectorXd& q_target, int first, Nearest found) const;

 private:
  Eigen::VectorXd entries_of(const Eigen::VectorXd& q) const;

  const Goal* goal_;
  scene::PlanMetric metric_;
  double gamma_;
  solvers::kernels::EllipsoidShape shape_;
  std::vector<int> entries_;  // indices in q, in the order of the shape
  std::vector<int> errors_;   // index in the goal's e of each error
  Eigen::VectorXd weights_;   // of the global metric, in the order of the shape
  std::vector<double> data_;  // blocks of kLane nodes
  int size_ = 0;
};

}  // namespace deft::planning
