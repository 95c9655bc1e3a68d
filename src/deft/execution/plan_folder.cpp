#include "deft/execution/plan_folder.hpp"

#include <limits>

#include "deft/core/hash.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/planning/search/reachable_set.hpp"
#include "deft/viewer/visual_json.hpp"

namespace deft::execution {
namespace {

constexpr int kMostReachable = 500;  // nodes; each costs a smoothed step and its derivative

}  // namespace

PlanFolder::PlanFolder(const std::string& folder, const scene::Scene& scene, const std::string& goal,
                       const std::string& version)
    : folder_(folder),
      scene_(scene),
      run_{scene.spec().name, scene.spec().merged_yaml, viewer::visual_json(scene), version},
      header_{goal, std::string(to_string(scene.settings().step.model)), hash_text(fnv1a(scene.spec().merged_yaml)), 0,
              scene.settings().plan.kappa},
      model_(dynamics::make_step_model(scene)),
      state_(scene.make_state()) {
  model_->set_kappa(std::numeric_limits<double>::infinity());
  start_ = dynamics::start_trajectory(*model_, dynamics::initial_state(*model_));
}

PlanFolder::~PlanFolder() = default;

void PlanFolder::begin(std::uint64_t seed) {
  header_.seed = seed;
  X_WB_.clear();
  writer_.reset();
  writer_ = std::make_unique<io::SearchWriter>(folder_, run_, header_, start_);
}

void PlanFolder::grow(const std::vector<planning::Node>& nodes) {
  const std::size_t row = 7 * start_.names_bodies.size(), before = X_WB_.size() / row;
  place(nodes);
  if (before < nodes.size())
    writer_->append({std::span(nodes).subspan(before), std::span(X_WB_).subspan(before * row)});
}

void PlanFolder::finish(const planning::Plan& plan, const std::vector<planning::Node>& nodes, int threads) {
  const scene::Scene exact = planning::planning_scene(scene_);
  write(plan, nodes, planning::reachable_sets(exact, plan, nodes, kMostReachable, threads));
}

void PlanFolder::write(const planning::Plan& plan, const std::vector<planning::Node>& nodes,
                       const planning::ReachableSets& reachable) {
  X_WB_.clear();  // nodes may have been corrected since they were first kept
  place(nodes);
  dynamics::Trajectory motion = start_;
  model_->reset();  // the same digits however often plans were written before
  dynamics::rollout(*model_, dynamics::initial_state(*model_),
                    {.steps = static_cast<int>(plan.commands.size()), .on_step = {}, .commands = plan.commands},
                    motion);
  writer_->publish(motion, {nodes, X_WB_}, plan, reachable);
}

/// Poses at the nodes that have none yet.
void PlanFolder::place(const std::vector<planning::Node>& nodes) {
  const std::size_t row = 7 * start_.names_bodies.size();
  for (std::size_t i = X_WB_.size() / row; i < nodes.size(); ++i) {
    scene_.update(nodes[i].q, state_);
    for (const RigidTransform& X : state_.X_WB()) {
      const Eigen::Vector4d quat_wxyz = quat_wxyz_from_rotation(X.linear());
      for (const double x : quat_wxyz) X_WB_.push_back(static_cast<float>(x));
      for (const double x : X.translation()) X_WB_.push_back(static_cast<float>(x));
    }
  }
}

}  // namespace deft::execution
