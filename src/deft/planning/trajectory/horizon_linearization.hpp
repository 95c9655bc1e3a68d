#pragma once
// The steps of a horizon, linearised:  q_{t+1} ⊕ (A_t δq_t + B_t δu_t), by the means that the field compares.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::planning {

/// Where gradients come from: the step smoothed at κ; exact steps averaged over noise, by their Jacobians or by their
/// motions; the exact step itself.
enum class GradientKind { kAnalytic, kBundledFirst, kBundledZero, kExact };

/// How steps are linearised.
struct LinearizationOptions {
  GradientKind kind = GradientKind::kAnalytic;  // where gradients come from
  double kappa = 300;                           // [1/J] > 0, of kAnalytic
  /// false: objects stay and joints are at their commands, A = I on objects and 0 on joints, rows of B of joints = I
  /// (as the examples of Pang et al.); only what commands do to objects is taken from the step.
  bool use_A = true;
  double sigma_u = 0.1;    // > 0, of bundles [rad, m]
  double sigma_q = 0;      // of bundles; > 0 if use_A [rad, m]
  int samples = 100;       // of bundles, ≥ 1
  std::uint64_t seed = 0;  // of bundles: step t draws with seed + t
  bool forces = false;     // with the normal forces; not for bundles
  bool grips = false;      // with the forces of fingers on objects, the tangential ones too; not for bundles
  int threads = 0;         // 0: one per core; the result does not depend on it
};

/// The force of a contact, linearised.
struct LinearForce {
  double mu = 0;                                    // [-]
  Eigen::Vector3d force = Eigen::Vector3d::Zero();  // (f_n, f_t1, f_t2) [N]
  Eigen::MatrixXd by_q, by_u;                       // ∂force/∂q, 3 × nv, and ∂force/∂u, 3 × nu
};

/// One step, linearised.
struct LinearStep {
  bool ok = false;                   // the step and its derivative exist
  Eigen::MatrixXd A, B;              // nv × nv, nv × nu, world tangents at q_t and at the end of the step
  Eigen::VectorXd q_next;            // the end of the step that was linearised (of bundles: of the step without noise)
  Eigen::VectorXd force;             // normal forces of the contacts [N]
  Eigen::MatrixXd force_q;           // their derivatives by q, contacts × nv,
  Eigen::MatrixXd force_u;           // and by u, contacts × nu
  std::vector<LinearForce> grips{};  // those between fingers and objects that are not far off
};

/// Linearises many steps of one scene in parallel. Keeps models and scratch per thread.
class HorizonLinearizer {
 public:
  /// @param scene  of planning_scene; must outlive this object.
  explicit HorizonLinearizer(const scene::Scene& scene);
  ~HorizonLinearizer();

  /// steps[t] is the step from q[t] under u[t]. Chunks of fixed length begin without memory of others, so that the
  /// numbers do not depend on the threads.
  /// @throws std::invalid_argument on options that contradict each other; InputError as StepDifferentiator.
  void run(std::span<const Eigen::VectorXd> q, std::span<const Eigen::VectorXd> u, const LinearizationOptions& options,
           std::vector<LinearStep>& steps);
  /// Steps solved so far.
  long solves() const;

 private:
  struct Worker;
  const scene::Scene* scene_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace deft::planning
