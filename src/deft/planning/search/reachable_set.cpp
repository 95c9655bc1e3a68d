#include "deft/planning/search/reachable_set.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "deft/core/index.hpp"
#include "deft/core/thread_pool.hpp"
#include "deft/dynamics/batch/batch.hpp"
#include "deft/math/dense.hpp"
#include "deft/planning/feasibility/fingers.hpp"

namespace deft::planning {
namespace {

using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

/// The semi-axes of { T x : ‖x‖ ≤ radius }, T 3 × n, as columns, longest first.
Eigen::Matrix3d semi_axes(const Eigen::MatrixXd& T, double radius) {
  const SymmetricEigen3 eigen = symmetric_eigen(Eigen::Matrix3d(T * T.transpose()));
  Eigen::Matrix3d axes;
  for (int k = 0; k < 3; ++k)
    axes.col(k) = radius * std::sqrt(std::max(eigen.values(2 - k), 0.0)) * eigen.vectors.col(2 - k);
  return axes;
}

/// Whether nodes are looked at: those on the plan and their ancestors, then the earliest.
std::vector<char> chosen_nodes(const Plan& plan, const std::vector<Node>& nodes, int most) {
  std::vector<char> chosen(nodes.size(), 0);
  int count = 0;
  const auto choose = [&](int node) {
    for (; node >= 0 && chosen[node] == 0 && count < most; ++count) {
      chosen[node] = 1;
      node = nodes[node].parent;
    }
  };
  for (const Segment& segment : plan.segments) choose(segment.node);
  for (std::size_t i = 0; i < nodes.size() && count < most; ++i) choose(static_cast<int>(i));
  return chosen;
}

void append(const Eigen::Ref<const Eigen::Matrix3Xd>& columns, std::vector<float>& flat) {
  for (const double x : columns.reshaped()) flat.push_back(static_cast<float>(x));
}

}  // namespace

ReachableSetFinder::ReachableSetFinder(const scene::Scene& scene)
    : scene_(&scene), steps_(scene), state_(scene.make_state()) {
  const auto bodies = scene.model().bodies();
  std::vector<int> groups;
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) continue;
    for (const int body : object.bodies) {
      const auto& info = bodies[body];
      if (info.weld_group == 0 || std::find(groups.begin(), groups.end(), info.weld_group) != groups.end()) continue;
      const auto& links = scene.spec().world.models[info.model].links;
      const auto link = std::find_if(links.begin(), links.end(), [&](const auto& l) { return l.name == info.link; });
      if (link == links.end() || (link->visuals.empty() && link->collisions.empty())) continue;
      groups.push_back(info.weld_group);
      bodies_.push_back(body);
      p_BCom_.push_back(link->inertial ? link->inertial->p_LCom : Eigen::Vector3d(Eigen::Vector3d::Zero()));
    }
  }
}

bool ReachableSetFinder::find(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::vector<ReachableSet>& sets) {
  const scene::PlanSettings& settings = scene_->settings().plan;
  const auto com = [this](std::size_t i) { return Eigen::Vector3d(state_.X_WB()[bodies_[i]] * p_BCom_[i]); };
  const bool about_joints = settings.search == scene::Search::kSingleStep;
  steps_.reset();
  if (!steps_.linearize(q, about_joints ? joint_positions(*scene_, q) : u, settings.kappa, c_, B_)) return false;

  sets.resize(bodies_.size());
  scene_->update(q, state_);
  for (std::size_t i = 0; i < bodies_.size(); ++i) sets[i].com_W = com(i);
  scene_->update(c_, state_);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const auto columns = scene_->model().columns(bodies_[i]);
    const Eigen::Vector3d p_WCom = com(i);
    Matrix6X J(6, static_cast<Eigen::Index>(columns.size()));
    scene_->model().point_jacobian(state_.kinematics, bodies_[i], p_WCom, J.data(), static_cast<int>(columns.size()));
    Eigen::MatrixXd T = Eigen::MatrixXd::Zero(6, B_.cols());
    for (std::size_t k = 0; k < columns.size(); ++k) T += J.col(static_cast<Eigen::Index>(k)) * B_.row(columns[k]);
    sets[i].center_W = p_WCom;
    sets[i].shift_axes_W = semi_axes(T.bottomRows(3), settings.step_norm);
    sets[i].turn_axes_W = semi_axes(T.topRows(3), settings.step_norm);
  }
  return true;
}

ReachableSets reachable_sets(const scene::Scene& planning_scene, const Plan& plan, const std::vector<Node>& nodes,
                             int most_nodes, int threads) {
  std::vector<ReachableSets::Place> places;
  for (int k = 0; k < static_cast<int>(plan.q.size()); ++k) places.push_back({.frame = k});
  const std::vector<char> chosen = chosen_nodes(plan, nodes, most_nodes);
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    if (chosen[i]) places.push_back({.node = i});
  }

  const int count = static_cast<int>(places.size());
  const int workers = std::clamp(dynamics::thread_count(threads), 1, std::max(count, 1));
  std::vector<std::unique_ptr<ReachableSetFinder>> finders;
  for (int w = 0; w < workers; ++w) finders.push_back(std::make_unique<ReachableSetFinder>(planning_scene));
  std::vector<std::vector<ReachableSet>> found(places.size());
  ThreadPool(workers, [&](int worker, int item) {
    const auto k = to_size(item);
    const auto [frame, node] = places[k];
    const Eigen::VectorXd& q = frame >= 0 ? plan.q[frame] : nodes[node].q;  // the other of the two is -1
    const Eigen::VectorXd& u = frame < 0 ? nodes[node].u : frame == 0 ? plan.u_start : plan.commands[frame - 1];
    if (!finders[worker]->find(q, u, found[k])) found[k].clear();
  }).run(count);

  const scene::PlanSettings& settings = planning_scene.settings().plan;
  ReachableSets sets{.radius = settings.step_norm, .kappa = settings.kappa, .bodies = finders.front()->bodies()};
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (found[k].empty()) continue;
    sets.places.push_back(places[k]);
    for (const ReachableSet& set : found[k]) {
      append(set.com_W, sets.ellipsoids);
      append(set.center_W, sets.ellipsoids);
      append(set.shift_axes_W, sets.ellipsoids);
      append(set.turn_axes_W, sets.ellipsoids);
    }
  }
  return sets;
}

}  // namespace deft::planning
