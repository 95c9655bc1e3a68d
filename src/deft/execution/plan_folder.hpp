#pragma once
// What a planner leaves in its run folder.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "deft/dynamics/trajectory.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/scene/scene.hpp"

namespace deft::dynamics {
class StepModel;
}

namespace deft::execution {

/// run.h5 of a planner: follows a search and takes its plan.
class PlanFolder {
 public:
  /// @param folder  that exists.  @param scene  must outlive this object.  @param goal  name of the goal, recorded in
  /// /plan.  @param version  of deft, recorded in the file.
  PlanFolder(const std::string& folder, const scene::Scene& scene, const std::string& goal, const std::string& version);
  ~PlanFolder();
  PlanFolder(const PlanFolder&) = delete;
  PlanFolder& operator=(const PlanFolder&) = delete;

  /// A search begins; what the folder held of another one goes.
  void begin(std::uint64_t seed);
  /// The tree so far.
  void grow(const std::vector<planning::Node>& nodes);
  /// Writes the plan, simulated again with exact contact (kappa = inf) to record contacts and forces, and the whole
  /// tree.
  void write(const planning::Plan& plan, const std::vector<planning::Node>& nodes) { write(plan, nodes, {}); }
  /// The same for the final plan, with the reachable sets (planning::reachable_sets) along it and at the first nodes.
  void finish(const planning::Plan& plan, const std::vector<planning::Node>& nodes, int threads);

 private:
  void write(const planning::Plan& plan, const std::vector<planning::Node>& nodes,
             const planning::ReachableSets& reachable);
  void place(const std::vector<planning::Node>& nodes);

  std::string folder_;
  const scene::Scene& scene_;
  io::RunHeader run_;
  io::PlanHeader header_;
  std::unique_ptr<dynamics::StepModel> model_;
  dynamics::Trajectory start_;
  scene::SceneState state_;
  std::vector<float> X_WB_;  // poses at the nodes placed so far
  std::unique_ptr<io::SearchWriter> writer_;
};

}  // namespace deft::execution
