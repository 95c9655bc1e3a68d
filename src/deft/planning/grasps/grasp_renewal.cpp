#include "deft/planning/grasps/grasp_renewal.hpp"

#include <cmath>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"

namespace deft::planning {
namespace {

constexpr double kStays = 0.005;            // [rad, m]
constexpr int kRenewals = 25;               // steps
constexpr double kTouchReach = 15;          // [standoff], links nearer than that shall touch
constexpr double kRenewDamping = 1e-5;      // λ [m²]
constexpr double kRenewStep = 0.1;          // longest step [rad, m]
constexpr double kOpen = 0.6, kShut = 1.5;  // [standoff], between which the smallest gap may be at the end

}  // namespace

std::vector<char> moved_commands(const Plan& plan, const Segment& transit) {
  const auto first = to_size(transit.first), last = to_size(transit.last);
  const Eigen::VectorXd& before = first == 0 ? plan.u_start : plan.commands[first - 1];
  std::vector<char> moves(static_cast<std::size_t>(before.size()), 0);
  for (std::size_t k = first; k < last; ++k) {
    for (std::size_t u = 0; u < moves.size(); ++u) {
      const auto entry = static_cast<Eigen::Index>(u);
      moves[u] |= plan.commands[k](entry) != before(entry);
    }
  }
  return moves;
}

std::vector<char> moves_once_released(const scene::Scene& scene, const Hand& hand, const Grasp& grasp,
                                      const Eigen::VectorXd& q, Proximity& proximity) {
  proximity.place(q);
  std::vector<char> others = proximity.without_carriers(grasp.moves, hand.surfaces);
  const Eigen::VectorXd away = grasp.joints - joint_positions(scene, q);
  for (std::size_t u = 0; u < others.size(); ++u) {
    if (grasp.moves[u] != others[u] && std::abs(away(static_cast<Eigen::Index>(u))) > kStays) return grasp.moves;
  }
  return others;
}

std::optional<Grasp> renew_grasp(const scene::Scene& scene, const Hand& hand, const Grasp& grasp,
                                 const Eigen::VectorXd& q, Proximity& proximity) {
  const double standoff = scene.settings().plan.standoff_m;
  Eigen::VectorXd q_try = q, joints = grasp.joints, touch_gaps, gaps;
  Eigen::MatrixXd touch, normal, slide;
  for (int k = 0; k < kRenewals; ++k) {
    set_joint_positions(scene, joints, q_try);
    proximity.place(q_try);
    const double smallest = proximity.smallest_gap(grasp.moves, standoff);
    const int touching = proximity.touch_rows(grasp.moves, hand.surfaces, kTouchReach * standoff, touch, touch_gaps);
    if (touching == 0 && smallest >= standoff) return std::nullopt;
    if (smallest > kOpen * standoff && touching > 0 && touch_gaps.minCoeff() < kShut * standoff)
      return Grasp{joints, grasp.moves};
    proximity.rows(grasp.moves, standoff, normal, slide, gaps);
    Eigen::MatrixXd H = touch.transpose() * touch + normal.transpose() * normal;
    H.diagonal().array() += kRenewDamping;
    Eigen::VectorXd step = touch.transpose() * (standoff - touch_gaps.array()).matrix();
    step += normal.transpose() * (standoff - gaps.array()).matrix();
    step = llt_solve(H, step);
    const double longest = step.cwiseAbs().maxCoeff();
    if (longest > kRenewStep) step *= kRenewStep / longest;
    joints = (joints + step).cwiseMax(hand.lower).cwiseMin(hand.upper);
  }
  return std::nullopt;
}

}  // namespace deft::planning
