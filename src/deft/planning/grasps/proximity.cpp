#include "deft/planning/grasps/proximity.hpp"

#include <algorithm>

#include "deft/core/index.hpp"

namespace deft::planning {
namespace {

constexpr double kTouches = 0.1;  // [standoff]

bool contains(const std::vector<int>& geometries, int geometry) {
  return std::find(geometries.begin(), geometries.end(), geometry) != geometries.end();
}

}  // namespace

Proximity::Proximity(const scene::Scene& scene) : scene_(&scene), state_(scene.make_state()) {
  movers_.resize(scene.model().bodies().size());
  for (std::size_t b = 1; b < movers_.size(); ++b) {
    for (const int v : scene.model().columns(static_cast<int>(b))) {
      if (scene.command_shares()[v].command >= 0) movers_[b].push_back(v);
    }
    std::sort(movers_[b].begin(), movers_[b].end());
  }
}

void Proximity::place(const Eigen::VectorXd& q) { scene_->update(q, state_); }

bool Proximity::concerns(const std::vector<char>& moves, int body_a, int body_b) const {
  // The joints that both hang on turn the pair as one; joints that follow one command do not.
  const std::vector<int>&a = movers_[body_a], &b = movers_[body_b];
  const auto is_alone = [&](const std::vector<int>& side, const std::vector<int>& other) {
    return std::any_of(side.begin(), side.end(), [&](int v) {
      return moves[scene_->command_shares()[v].command] && !std::binary_search(other.begin(), other.end(), v);
    });
  };
  return is_alone(a, b) || is_alone(b, a);
}

const std::vector<collision::ContactPair>& Proximity::contacts(double margin) {
  scene_->find_contacts(margin, state_);
  return state_.contacts;
}

const std::vector<collision::ContactPair>& Proximity::contacts_of(const std::vector<char>& moves, double margin) {
  scene_->find_contacts(margin, [&](int body_a, int body_b) { return concerns(moves, body_a, body_b); }, state_);
  return state_.contacts;
}

double Proximity::smallest_gap(const std::vector<char>& moves, double margin) {
  double smallest = margin;
  for (const collision::ContactPair& pair : contacts_of(moves, margin)) smallest = std::min(smallest, pair.gap);
  return smallest;
}

bool Proximity::is_free(const std::vector<char>& moves, double gap) {
  return !scene_->any_nearer(gap, [&](int body_a, int body_b) { return concerns(moves, body_a, body_b); }, state_);
}

void Proximity::point_rows(int body, const Eigen::Vector3d& p_W, Eigen::MatrixXd& J) {
  J.setZero(3, scene_->nu());
  const auto columns = scene_->model().columns(body);
  const auto count = static_cast<int>(columns.size());
  jacobian_.resize(6 * count);
  scene_->model().point_jacobian(state_.kinematics, body, p_W, jacobian_.data(), count);
  for (int i = 0; i < count; ++i) {
    const scene::CommandShare share = scene_->command_shares()[columns[i]];
    if (share.command < 0) continue;
    for (int k = 0; k < 3; ++k) J(k, share.command) += share.ratio * jacobian_[(3 + k) * count + i];
  }
}

std::vector<char> Proximity::without_carriers(const std::vector<char>& moves, const std::vector<int>& surfaces) {
  std::vector<char> others = moves;
  for (const collision::ContactPair& pair : contacts_of(moves, kTouches * scene_->settings().plan.standoff_m)) {
    const bool is_a = contains(surfaces, pair.geometry_a);
    if (is_a == contains(surfaces, pair.geometry_b)) continue;
    for (const int v : movers_[is_a ? pair.body_b : pair.body_a]) others[scene_->command_shares()[v].command] = 0;
  }
  return others;
}

int Proximity::touch_rows(const std::vector<char>& moves, const std::vector<int>& surfaces, double margin,
                          Eigen::MatrixXd& normal, Eigen::VectorXd& gaps) {
  touches_.clear();
  for (const collision::ContactPair& pair : contacts_of(moves, margin)) {
    const bool is_a = contains(surfaces, pair.geometry_a);
    if (is_a == contains(surfaces, pair.geometry_b)) continue;
    const int link = is_a ? pair.geometry_b : pair.geometry_a;
    const auto known = std::find_if(touches_.begin(), touches_.end(), [&](const auto& t) { return t.first == link; });
    if (known == touches_.end())
      touches_.emplace_back(link, &pair);
    else if (pair.gap < known->second->gap)
      known->second = &pair;
  }
  normal.resize(static_cast<Eigen::Index>(touches_.size()), scene_->nu());
  gaps.resize(normal.rows());
  for (Eigen::Index i = 0; i < normal.rows(); ++i) {
    const collision::ContactPair& pair = *touches_[i].second;
    point_rows(pair.body_a, pair.p_WA, J_a_);
    point_rows(pair.body_b, pair.p_WB, J_b_);
    normal.row(i) = pair.nhat_BA_W.transpose() * (J_a_ - J_b_);
    gaps(i) = pair.gap;
  }
  for (int u = 0; u < scene_->nu(); ++u) {
    if (!moves[u]) normal.col(u).setZero();
  }
  return static_cast<int>(normal.rows());
}

int Proximity::rows(const std::vector<char>& moves, double margin, Eigen::MatrixXd& normal, Eigen::MatrixXd& slide,
                    Eigen::VectorXd& gaps) {
  const std::vector<collision::ContactPair>& contacts = contacts_of(moves, margin);
  const auto count = static_cast<Eigen::Index>(contacts.size());
  normal.resize(count, scene_->nu());
  slide.resize(2 * count, scene_->nu());
  gaps.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const collision::ContactPair& pair = contacts[i];
    point_rows(pair.body_a, pair.p_WA, J_a_);
    point_rows(pair.body_b, pair.p_WB, J_b_);
    J_a_ -= J_b_;
    const Eigen::Vector3d n = pair.nhat_BA_W, t = n.unitOrthogonal();
    normal.row(i) = n.transpose() * J_a_;
    slide.row(2 * i) = t.transpose() * J_a_;
    slide.row(2 * i + 1) = n.cross(t).transpose() * J_a_;
    gaps(i) = pair.gap;
  }
  for (int u = 0; u < scene_->nu(); ++u) {
    if (moves[u]) continue;
    normal.col(u).setZero();
    slide.col(u).setZero();
  }
  return static_cast<int>(count);
}

}  // namespace deft::planning
