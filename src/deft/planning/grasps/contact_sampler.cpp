#include "deft/planning/grasps/contact_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"
#include "deft/scene/motion_plane.hpp"

namespace deft::planning {
namespace {

constexpr int kIterations = 30, kGuided = 20;  // of which the first also draw the touching points together
constexpr double kHopeless = 20;               // [standoff], gap after that from which a link rarely arrives
constexpr double kGuide = 0.3;                 // weight of that beside the gap
constexpr double kDamping = 1e-4;              // [m²], of the Gauss–Newton step
constexpr double kLastDamping = 1e-8;          // [m²], once only the gaps remain
constexpr double kMet = 1e-3;                  // [rad, m], longest joint change at which the points count as met
constexpr int kMostDraws = 200;                // of a point that faces the plane of motion
constexpr int kPoints = 3;                     // drawn per touch, of which the nearest to the link is taken
constexpr int kOpposite = 30;                  // drawn for the second finger of a pinch
constexpr double kLongest = 0.3;               // [rad, m], joint change per iteration
constexpr double kCarryShare = 0.5;            // of grasps after which these links stay
constexpr double kTipShare = 0.5;              // of touches by the outermost geometry of a finger
constexpr double kFlat = 0.5;  // faces whose normal has more along the plane's normal cannot be touched in it

}  // namespace

ContactSampler::ContactSampler(const scene::Scene& scene, const Hand& hand)
    : scene_(&scene),
      hand_(&hand),
      plane_normal_(scene.plane() == scene::Plane::kSpace ? Eigen::Vector3d::Zero()
                                                          : scene::plane_normal(scene.plane())) {}

std::vector<int> ContactSampler::choose_fingers(RandomStream& draw) const {
  const auto count = static_cast<int>(hand_->fingers.size());
  if (draw.chance(scene_->settings().plan.finger_share)) {
    const std::vector<int> one{draw.index(count)};
    // A finger on the others' base has joints of its own, or it cannot move alone.
    const std::vector<char> moves = hand_->commands_of(one);
    if (std::any_of(moves.begin(), moves.end(), [](char m) { return m != 0; })) return one;
  }
  return hand_->all_fingers();
}

ContactSampler::Touch ContactSampler::draw_point(int geometry, const Proximity& proximity, RandomStream& draw) const {
  const auto& world = scene_->collision_world();
  Touch touch;
  touch.geometry = geometry;
  // What faces the plane of motion can be touched in it; if nothing does, any point must do.
  for (int k = 0; k < kMostDraws; ++k) {
    touch.surface = hand_->draw_surface(draw);
    const collision::SurfacePoint point =
        world.surface_point(touch.surface, {draw.uniform(), draw.uniform(), draw.uniform()});
    const RigidTransform& X_WB = proximity.state().X_WB()[world.geometries()[touch.surface].body];
    touch.p_W = X_WB * point.p;
    touch.n_W = X_WB.linear() * point.n;
    if (std::abs(touch.n_W.dot(plane_normal_)) <= kFlat) break;
  }
  return touch;
}

int ContactSampler::moved_links(const Finger& finger, const std::vector<char>& moves) const {
  const auto moved = [&](int geometry) {
    const std::vector<int>& movers = hand_->movers[geometry];
    return std::any_of(movers.begin(), movers.end(), [&](int u) { return moves[u] != 0; });
  };
  const auto end = std::find_if_not(finger.geometries.begin(), finger.geometries.end(), moved);
  return static_cast<int>(end - finger.geometries.begin());
}

int ContactSampler::draw_link(const Finger& finger, const std::vector<char>& moves, RandomStream& draw) const {
  return finger.geometries[draw.chance(kTipShare) ? 0 : draw.index(moved_links(finger, moves))];
}

ContactSampler::Touch ContactSampler::draw_touch(const Finger& finger, const std::vector<char>& moves,
                                                 const Proximity& proximity, RandomStream& draw) const {
  const int link = draw_link(finger, moves, draw);
  // Of a few points the nearest: far sides are mostly out of reach.
  const auto& world = scene_->collision_world();
  const RigidTransform& X_WL = proximity.state().X_WB()[world.geometries()[link].body];
  Touch touch;
  double nearest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kPoints; ++k) {
    const Touch candidate = draw_point(link, proximity, draw);
    const double distance = (candidate.p_W - X_WL.translation()).norm();
    if (distance >= nearest) continue;
    nearest = distance;
    touch = candidate;
  }
  return touch;
}

std::vector<ContactSampler::Touch> ContactSampler::draw_pinch(const std::vector<int>& fingers,
                                                              const std::vector<char>& moves,
                                                              const Proximity& proximity, RandomStream& draw) const {
  const auto count = static_cast<int>(fingers.size());
  const int first = draw.index(count), other = draw.index(count - 1), second = other + (other >= first);
  const auto finger = [&](int k) -> const Finger& { return hand_->fingers[fingers[k]]; };
  const Touch a = draw_touch(finger(first), moves, proximity, draw);
  const int link = draw_link(finger(second), moves, draw);
  const auto& geometries = scene_->collision_world().geometries();
  Touch b;
  double best = -std::numeric_limits<double>::infinity();
  for (int k = 0; k < kOpposite; ++k) {
    const Touch candidate = draw_point(link, proximity, draw);
    const Eigen::Vector3d way = a.p_W - candidate.p_W;
    if (geometries[candidate.surface].body != geometries[a.surface].body || way.isZero(0)) continue;
    // 2 where the line between the points is normal to both surfaces.
    const double opposed = (a.n_W - candidate.n_W).dot(way.normalized());
    if (opposed <= best) continue;
    best = opposed;
    b = candidate;
  }
  return b.surface < 0 ? std::vector<Touch>{a} : std::vector<Touch>{a, b};
}

Eigen::VectorXd ContactSampler::draw_start(const Eigen::VectorXd& joints, const std::vector<char>& moves,
                                           RandomStream& draw) const {
  // As it stands, as at the start of the scene, or anywhere between the limits.
  const double kind = draw.uniform();
  Eigen::VectorXd start = joints;
  for (Eigen::Index u = 0; u < start.size(); ++u) {
    const double anywhere = draw.uniform();
    if (!moves[u]) continue;
    const double lower = std::max(hand_->lower(u), hand_->home(u) - 1),
                 upper = std::min(hand_->upper(u), hand_->home(u) + 1);
    if (kind > 0.6)
      start(u) = lower + anywhere * (upper - lower);
    else if (kind > 0.3)
      start(u) = hand_->home(u);
  }
  return start;
}

bool ContactSampler::reach(const std::vector<Touch>& touches, const std::vector<char>& moves, Eigen::VectorXd& q,
                           Proximity& proximity) const {
  const double standoff = scene_->settings().plan.standoff_m;
  const auto n = static_cast<Eigen::Index>(touches.size()), nu = static_cast<Eigen::Index>(scene_->nu());
  Eigen::MatrixXd J, H(nu, nu), rows, normal, slide;
  Eigen::VectorXd r, gaps, step, joints = joint_positions(*scene_, q);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    proximity.place(q);
    const bool guided = iteration < kGuided;
    // Once the points have met, links in the way are pushed out too.
    const Eigen::Index others = guided ? 0 : proximity.rows(moves, standoff, normal, slide, gaps);
    const Eigen::Index per_touch = guided ? 4 : 1;
    J.resize(per_touch * n + others, nu);
    r.resize(per_touch * n + others);
    double worst = 0, furthest = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      const Touch& touch = touches[i];
      const collision::ContactPair pair =
          scene_->collision_world().signed_distance(touch.geometry, touch.surface, proximity.state().X_WB());
      const Eigen::Vector3d n_W = pair.nhat_BA_W;
      proximity.point_rows(pair.body_a, pair.p_WA, rows);
      r(per_touch * i) = standoff - pair.gap;
      J.row(per_touch * i) = n_W.transpose() * rows;
      worst = std::max(worst, std::abs(r(per_touch * i)));
      furthest = std::max(furthest, pair.gap);
      if (!guided) continue;
      Eigen::Matrix3d across = Eigen::Matrix3d::Identity() - n_W * n_W.transpose();
      across -= plane_normal_ * plane_normal_.transpose() * across;
      across *= kGuide;
      r.segment<3>(4 * i + 1) = across * (touch.p_W - pair.p_WA);
      J.middleRows<3>(4 * i + 1).noalias() = across * rows;
    }
    for (Eigen::Index i = 0; i < others; ++i) {
      r(n + i) = standoff - gaps(i);
      J.row(n + i) = normal.row(i);
      worst = std::max(worst, r(n + i) - 0.4 * standoff);
    }
    if (!guided && worst < 0.1 * standoff) return true;
    if (!guided && furthest > kHopeless * standoff) return false;
    for (Eigen::Index u = 0; u < nu; ++u) {
      if (!moves[u]) J.col(u).setZero();
    }
    H.setZero();
    H.selfadjointView<Eigen::Lower>().rankUpdate(J.transpose());
    H.diagonal().array() += guided ? kDamping : kLastDamping;
    step.noalias() = J.transpose() * r;
    llt_solve_in_place(H, step);
    const double longest = step.cwiseAbs().maxCoeff();
    if (longest > kLongest) step *= kLongest / longest;
    for (Eigen::Index u = 0; u < nu; ++u) {
      if (moves[u]) joints(u) = std::clamp(joints(u) + step(u), hand_->lower(u), hand_->upper(u));
    }
    set_joint_positions(*scene_, joints, q);
    // Where the points have met, the gaps alone remain.
    if (guided && longest < kMet) iteration = kGuided - 1;
  }
  return false;
}

std::vector<char> ContactSampler::choose_moves(const Eigen::VectorXd& q, const std::vector<int>& fingers,
                                               RandomStream& draw, Proximity& proximity) const {
  const std::vector<char> all = hand_->commands_of(fingers);
  proximity.place(q);
  const std::vector<char> others = proximity.without_carriers(all, hand_->surfaces);
  const bool can_stay =
      others != all && std::any_of(others.begin(), others.end(), [](char moves) { return moves != 0; });
  return can_stay && draw.chance(kCarryShare) ? others : all;
}

std::optional<Grasp> ContactSampler::sample(const Eigen::VectorXd& q, const std::vector<int>& fingers,
                                            RandomStream& draw, Proximity& proximity, bool pinches) const {
  return sample(q, fingers, hand_->commands_of(fingers), draw, proximity, pinches);
}

std::optional<Grasp> ContactSampler::sample(const Eigen::VectorXd& q, const std::vector<int>& fingers,
                                            const std::vector<char>& moves, RandomStream& draw, Proximity& proximity,
                                            bool pinches) const {
  std::vector<int> able;  // fingers with a link that moves
  std::copy_if(fingers.begin(), fingers.end(), std::back_inserter(able),
               [&](int f) { return moved_links(hand_->fingers[f], moves) > 0; });
  if (able.empty()) return std::nullopt;
  const Eigen::VectorXd joints = joint_positions(*scene_, q);
  const double standoff = scene_->settings().plan.standoff_m;
  for (int attempt = 0; attempt < scene_->settings().plan.attempts; ++attempt) {
    // Where the iteration starts; which of the moving fingers touch, and where. The others stay at the start.
    Eigen::VectorXd q_try = q;
    set_joint_positions(*scene_, draw_start(joints, moves, draw), q_try);
    proximity.place(q_try);
    std::vector<Touch> touches;
    if (pinches && able.size() > 1) {
      touches = draw_pinch(able, moves, proximity, draw);
    } else {
      const auto first = to_size(draw.index(static_cast<int>(able.size())));
      for (std::size_t k = 0; k < able.size(); ++k) {
        const bool touching = k == first || draw.chance(0.7);
        if (touching) touches.push_back(draw_touch(hand_->fingers[able[k]], moves, proximity, draw));
      }
    }
    if (!reach(touches, moves, q_try, proximity)) continue;
    proximity.place(q_try);
    if (proximity.is_free(moves, 0.5 * standoff)) return Grasp{joint_positions(*scene_, q_try), moves};
  }
  return std::nullopt;
}

}  // namespace deft::planning
