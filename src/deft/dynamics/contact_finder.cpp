#include "deft/dynamics/contact_finder.hpp"

#include "deft/core/index.hpp"

namespace deft::dynamics {

ContactFinder::ContactFinder(const scene::Scene& scene)
    : scene_(&scene), assembler_(scene), state_(scene.make_state()) {}

void ContactFinder::find(const Eigen::VectorXd& q, contact::ContactProblem& problem) {
  const scene::StepSettings& settings = scene_->settings().step;
  if (!has_contacts_ || state_.q != q) {
    const bool is_placed = has_kinematics_ && state_.q == q;
    forget();
    if (!is_placed) scene_->update(q, state_);
    has_kinematics_ = true;
    scene_->find_contacts(settings.contact_margin, state_);
    has_contacts_ = true;
  }
  assembler_.assemble(state_, contact::assemble_options(settings), problem);
}

void ContactsAfter::find(const scene::Scene& scene, const scene::SceneState& start, double margin,
                         scene::SceneState& end) {
  const auto X_start = start.X_WB(), X_end = end.X_WB();
  ways_.resize(X_start.size());
  stays_.resize(X_start.size());
  for (std::size_t b = 0; b < ways_.size(); ++b) {
    BodyWay& way = ways_[b];
    way = {X_end[b].linear() * X_start[b].linear().transpose(), X_start[b].translation(), X_end[b].translation()};
    const Eigen::Matrix3d turned = way.turn - Eigen::Matrix3d::Identity();
    stays_[b] = (way.p_end - way.p_start).squaredNorm() < kStays * kStays && turned.squaredNorm() < kStays * kStays;
  }
  scene.find_contacts_again(margin, start.contacts, stays_, end);
  for (collision::ContactPair& contact : end.contacts) {
    const auto a = to_size(contact.body_a), b = to_size(contact.body_b);
    if (stays_[a] == 0 || stays_[b] == 0) continue;
    const Eigen::Vector3d p_WA = ways_[a].forth(contact.p_WA);
    contact.gap = contact.nhat_BA_W.dot(p_WA - ways_[b].forth(contact.p_WB));
    contact.p_WA = p_WA;
    contact.p_WB = p_WA - contact.gap * contact.nhat_BA_W;  // witness points lie along the normal
  }
}

}  // namespace deft::dynamics
