#pragma once
// Worlds beside the search's own, in which the same commands are tried.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "deft/planning/feasibility/deadline.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// A world in which commands are tried beside the exact step of length h: shorter steps, a model of second order, other
/// friction, masses, springs.
struct World {
  std::string name;           // what it stands for: "h/2", "second-order", …
  scene::Scene scene;         // step.h: length of its inner steps [s]; step.model: its model
  int substeps = 1;           // inner steps in one step of length h; commands go linearly from one to the next
  bool second_order = false;  // its state has a velocity
  Eigen::VectorXd q_start{};  // where it starts if objects lie elsewhere there, size nq; empty: where the plan does
};

/// Worlds that a search moves all at once, and how it treats them.
struct Ensemble {
  std::vector<World> worlds;        // beside the exact step of length h
  double spread_weight = 12;        // w of the distance (README.md): what one command cannot bring together again
  double rest_m = 1e-4;             // objects that move less in a step rest [m]
  int longest_rest = 300;           // steps of length h that are waited for it
  int deciding = 1 << 30;           // how many of the worlds choose commands; the others take them
  bool presses = false;             // grasps also press on objects without weight
  double cone_share = 0;            // in [0, 1): commands keep forces of fingers within so much of μ; 0: they need not
  Eigen::VectorXd longest_step{};   // of a command per step of length h, size nu [rad, m]; empty: any
  Eigen::VectorXd longest_reach{};  // the same beside objects, on the way to a grasp and away from it
  Eigen::VectorXd longest_free{};   // the same away from objects
};

/// Exact steps of length h/n.
World halved_world(const scene::Scene& planning_scene, int n);
/// The worlds of settings.refine: exact steps of length h/n, one per n. Commands keep to the speeds that the scene or
/// its models state, but not to those of `plan:`.
Ensemble halved_ensemble(const scene::Scene& planning_scene);

/// Steps of one world, of one thread.
class WorldSteps {
 public:
  /// @param world  must outlive this object. @param deadline  when it is due every inner step fails at once; none:
  /// never. @throws InputError as make_step_model.
  explicit WorldSteps(const World& world, const Deadline* deadline = nullptr);
  /// One step of length h, by the world's inner steps: q and v (size nv, or empty in first order) become those at its
  /// end; the command goes linearly from `u_from` to `u_to`. @returns false if an inner step failed.
  bool advance(const Eigen::VectorXd& u_from, const Eigen::VectorXd& u_to, Eigen::VectorXd& q, Eigen::VectorXd& v);
  /// Forgets warm starts.
  void reset() { model_->reset(); }
  long solves() const { return solves_; }  // inner steps taken so far

 private:
  const World* world_;
  const Deadline* deadline_;
  long solves_ = 0;
  std::unique_ptr<dynamics::StepModel> model_;
  dynamics::State state_;
  dynamics::StepResult result_;
  Eigen::VectorXd u_;
};

}  // namespace deft::planning
