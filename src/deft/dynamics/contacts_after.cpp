#include "deft/dynamics/contacts_after.hpp"

#include "deft/core/index.hpp"

namespace deft::dynamics {

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
