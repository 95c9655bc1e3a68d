#include "deft/planning/search/reachable_metric.hpp"

#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::planning {
namespace {

constexpr int kLane = solvers::kernels::kLane;
constexpr int kBlocks = 64;  // looked at together: their distances stay on the stack

}  // namespace

ReachableMetric::ReachableMetric(const scene::Scene& scene, const Goal& goal, scene::PlanMetric metric, double gamma)
    : goal_(&goal), metric_(metric), gamma_(gamma) {
  const auto is_in = [](const std::vector<int>& list, int i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  };
  std::vector<int> turning;
  for (const Goal::FreeRotation& rotation : goal.free_rotations()) {
    for (int k = 0; k < 4; ++k) entries_.push_back(rotation.quaternion + k);
    for (int k = 0; k < 3; ++k) turning.push_back(rotation.entry + k);
    ++shape_.quaternions;
  }
  errors_ = turning;
  for (const bool angle : {true, false}) {
    for (int i = 0; i < goal.size(); ++i) {
      if (is_in(turning, i) || is_in(goal.wrapped(), i) != angle) continue;
      const int entry = scene.model().velocities()[goal.rows()[i]].q_index;
      if (entry < 0)
        throw InputError({scene.spec().file, 0, 0}, "plan.search: single-step knows no objects with ball joints");
      entries_.push_back(entry);
      errors_.push_back(i);
      ++(angle ? shape_.angles : shape_.numbers);
    }
  }
  if (shape_.errors() > solvers::kernels::EllipsoidShape::kMostErrors)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("plan.search: single-step takes goals of at most {} coordinates, not {}",
                                 solvers::kernels::EllipsoidShape::kMostErrors, shape_.errors()));
  const std::vector<double>& weights = scene.settings().plan.metric_weights;
  if (!weights.empty() && static_cast<int>(weights.size()) != goal.size())
    throw InputError({scene.spec().file, 0, 0}, fmt::format("plan.metric_weights: the goal has {} coordinates, got {}",
                                                            goal.size(), weights.size()));
  weights_ = goal.weights()(errors_);
  for (Eigen::Index i = 0; i < weights_.size() && !weights.empty(); ++i) weights_(i) = std::sqrt(weights[errors_[i]]);
}

Eigen::VectorXd ReachableMetric::entries_of(const Eigen::VectorXd& q) const {
  Eigen::VectorXd x = q(entries_);
  for (int k = 0; k < shape_.quaternions; ++k) x.segment<4>(4 * k).normalize();
  return x;
}

void ReachableMetric::add(const Eigen::VectorXd& q, const Eigen::VectorXd& c, const Eigen::MatrixXd& B) {
  const int n = shape_.errors();
  Eigen::MatrixXd factor;
  if (metric_ == scene::PlanMetric::kLocal) {
    const Eigen::MatrixXd rows = B(errors_, Eigen::all);
    Eigen::MatrixXd G = rows * rows.transpose();
    G.diagonal().array() += gamma_;
    factor = G.llt().matrixL().solve(Eigen::MatrixXd::Identity(n, n));
  } else {
    factor = weights_.asDiagonal();
  }

  // What no node fills is not a number, which no query finds.
  const auto block = to_size(shape_.stride() * kLane);
  if (size_ % kLane == 0) data_.resize(data_.size() + block, std::numeric_limits<double>::quiet_NaN());
  double* at = data_.data() + data_.size() - block + size_ % kLane;
  const auto put = [&at](double value) {
    *at = value;
    at += kLane;
  };
  for (const double entry : entries_of(metric_ == scene::PlanMetric::kLocal ? c : q)) put(entry);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) put(factor(i, j));
  }
  ++size_;
}

void ReachableMetric::remove(int node) {
  const auto block = to_size(shape_.stride() * kLane), lane = to_size(node % kLane);
  double* at = data_.data() + to_size(node / kLane) * block;
  for (std::size_t k = lane; k < block; k += kLane) at[k] = std::numeric_limits<double>::quiet_NaN();
}

ReachableMetric::Nearest ReachableMetric::nearest(const Eigen::VectorXd& q_target, int first, Nearest found) const {
  const Eigen::VectorXd x = entries_of(q_target);
  const auto& kernels = solvers::kernels::ellipsoid_kernels();
  const int blocks = (size_ + kLane - 1) / kLane;
  double d[kBlocks * kLane];
  for (int b = first / kLane; b < blocks; b += kBlocks) {
    const int count = std::min(kBlocks, blocks - b);
    const double* data = data_.data() + to_size(b) * to_size(shape_.stride() * kLane);
    const double least = kernels.distances(shape_, count, data, x.data(), d);
    if (!(least < found.distance)) continue;
    found = {b * kLane + static_cast<int>(std::find(d, d + count * kLane, least) - d), least};
  }
  return found;
}

}  // namespace deft::planning
