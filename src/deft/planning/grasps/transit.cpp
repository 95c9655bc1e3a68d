#include "deft/planning/grasps/transit.hpp"

#include "deft/math/dense.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace deft::planning {
namespace {

constexpr int kReleaseSteps = 12;
constexpr int kUnloadSteps = 5;           // before that: commands that go to where the joints are
constexpr double kNearlyUnloaded = 1e-4;  // [rad, m], between joint and target then
constexpr double kUnloaded = 1e-6;        // [rad, m], between joint and target of a spring without load
constexpr double kDrag_m = 2e-4;          // motion per step of a transit above which the step is halved
constexpr double kShortest = 1.0 / 16;    // of a step
constexpr double kShareOfGap = 0.4;       // a path keeps this share of the gaps of its ends, near them
constexpr double kNearEnd = 0.05;         // [rad, m], of any joint: that near
constexpr double kSlideWeight = 0.3;      // of sliding beside opening, when a retreat chooses its direction
constexpr double kCheckStep = 0.02;       // [rad, m], between checks of a path
constexpr int kPressSteps = 3;            // the first closes, the others close what is left and load
constexpr double kNear = 3;               // [standoff], gaps that pressing closes
constexpr double kTreeStep = 0.3;         // [rad, m], edges of the bidirectional tree
constexpr int kTreeNodes = 400;           // tried, of both trees
constexpr double kAround = 1;             // [rad, m], how far beyond the ends and the start joints are drawn
constexpr int kShortcuts = 20;
constexpr int kMostSteps = 300, kMostSlowSteps = 1000;  // of a transit; with limits of speed

/// How many pieces with joint steps of at most `longest` lie between two configurations.
int pieces(const Eigen::VectorXd& from, const Eigen::VectorXd& to, double longest) {
  return std::max(1, static_cast<int>(std::ceil((to - from).cwiseAbs().maxCoeff() / longest - 1e-9)));
}

}  // namespace

Transit::Transit(const Hand& hand, PlanningSteps& steps, Proximity& proximity)
    : hand_(&hand), steps_(&steps), proximity_(&proximity), settings_(&steps.scene().settings().plan) {}

std::optional<Eigen::VectorXd> Transit::opening(const Eigen::VectorXd& q, const std::vector<char>& moves) {
  proximity_->place(q);
  const int count = proximity_->rows(moves, settings_->clearance_m, normal_, slide_, gaps_);
  if (count == 0) return std::nullopt;
  // Least squares: every near gap to the clearance, no sliding.
  Eigen::MatrixXd H = normal_.transpose() * normal_ + kSlideWeight * kSlideWeight * slide_.transpose() * slide_;
  H.diagonal().array() += 1e-4;
  const Eigen::VectorXd wanted = (1.5 * settings_->clearance_m - gaps_.array()).matrix();
  Eigen::VectorXd step = llt_solve(H, normal_.transpose() * wanted);
  const double longest = step.cwiseAbs().maxCoeff();
  if (longest > settings_->joint_step) step *= settings_->joint_step / longest;
  return step;
}

bool Transit::step_towards(Eigen::VectorXd target, const std::vector<char>& moves, const Eigen::VectorXd& longest,
                           Motion& motion) {
  Eigen::VectorXd lowest = hand_->lower, highest = hand_->upper;
  steps_->drive_limits().narrow(motion.q, lowest, highest);
  target = target.cwiseMax(lowest).cwiseMin(highest);
  for (Eigen::Index u = 0; u < target.size(); ++u) {
    if (!moves[u]) target(u) = motion.u(u);
  }
  return steps_->move_to(target, longest, motion);
}

bool Transit::unload(const std::vector<char>& moves, Motion& motion) {
  for (int k = 0; k < kUnloadSteps; ++k) {
    const Eigen::VectorXd joints = joint_positions(steps_->scene(), motion.q);
    bool loaded = false;
    for (Eigen::Index u = 0; u < joints.size(); ++u)
      loaded = loaded || (moves[u] != 0 && std::abs(joints(u) - motion.u(u)) > kNearlyUnloaded);
    if (!loaded) return true;
    if (!step_towards(joints, moves, steps_->ensemble().longest_step, motion)) return false;
  }
  return true;
}

bool Transit::release(const std::vector<char>& moves, Motion& motion) {
  const scene::Scene& scene = steps_->scene();
  if (steps_->ensemble().presses && !unload(moves, motion)) return false;
  for (int k = 0; k < kReleaseSteps; ++k) {
    // From where the joints are, not from where their targets are: that unloads the springs. They may be loaded
    // although all gaps are wide: a step that slides fast opens the gap that it pushes against.
    const std::optional<Eigen::VectorXd> step = opening(motion.q, moves);
    Eigen::VectorXd target = joint_positions(scene, motion.q);
    if (!step && (k > 0 || (target - motion.u).cwiseAbs().maxCoeff() < kUnloaded)) break;
    if (step) target += *step;
    const Ensemble& pace = steps_->ensemble();
    if (!step_towards(std::move(target), moves, k == 0 ? pace.longest_step : pace.longest_reach, motion)) return false;
  }
  return steps_->rest(motion);
}

Eigen::VectorXd Transit::closing(const Eigen::VectorXd& gaps) const {
  Eigen::MatrixXd H = normal_.transpose() * normal_;
  H.diagonal().array() += 1e-6;
  return llt_solve(H, Eigen::VectorXd(normal_.transpose() * gaps));
}

bool Transit::close(const std::vector<char>& moves, const std::function<Eigen::VectorXd(int)>& load, Motion& motion) {
  for (int k = 0; k < kPressSteps; ++k) {
    proximity_->place(motion.q);
    if (proximity_->touch_rows(moves, hand_->surfaces, kNear * settings_->standoff_m, normal_, gaps_) == 0)
      return false;
    Eigen::VectorXd target = joint_positions(steps_->scene(), motion.q) - closing(gaps_);
    if (k > 0) target -= load(k);
    if (!step_towards(std::move(target), moves, steps_->ensemble().longest_step, motion)) return false;
  }
  return true;
}

bool Transit::press(const std::vector<char>& moves, double force_N, Motion& motion) {
  return close(
      moves,
      [&](int) -> Eigen::VectorXd {
        return (normal_.transpose() * Eigen::VectorXd::Constant(gaps_.size(), force_N)).cwiseQuotient(hand_->stiffness);
      },
      motion);
}

bool Transit::squeeze(const std::vector<char>& moves, double depth_m, Motion& motion) {
  const auto load = [&](int k) -> Eigen::VectorXd {
    const double depth = depth_m * k / (kPressSteps - 1);
    return closing(Eigen::VectorXd::Constant(gaps_.size(), depth));
  };
  return close(moves, load, motion) && steps_->rest(motion);
}

Transit::Path Transit::retreat(const Grasp& grasp, Eigen::VectorXd q) {
  Path path{grasp.joints};
  for (int k = 0; k < kReleaseSteps; ++k) {
    const std::optional<Eigen::VectorXd> step = opening(q, grasp.moves);
    if (!step) break;
    const Eigen::VectorXd next = (path.back() + *step).cwiseMax(hand_->lower).cwiseMin(hand_->upper);
    if (!is_free_between(path.back(), next)) break;
    path.push_back(next);
    set_joint_positions(steps_->scene(), next, q);
  }
  return path;
}

double Transit::gap_at(const Eigen::VectorXd& joints, double margin) {
  set_joint_positions(steps_->scene(), joints, q_);
  proximity_->place(q_);
  return proximity_->smallest_gap(moves_, margin);
}

bool Transit::is_free(const Eigen::VectorXd& joints) {
  double needed = margin_;
  for (const auto& [end, margin] : ends_)
    if ((joints - end).cwiseAbs().maxCoeff() < kNearEnd) needed = std::min(needed, margin);
  set_joint_positions(steps_->scene(), joints, q_);
  proximity_->place(q_);
  return proximity_->is_free(moves_, needed);
}

bool Transit::is_free_between(const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
  const int count = pieces(from, to, kCheckStep);
  for (int k = 1; k <= count; ++k) {
    if (!is_free(from + (to - from) * (double(k) / count))) return false;
  }
  return true;
}

/// A tree of joint positions, joined by free edges.
struct Transit::Tree {
  explicit Tree(const Eigen::VectorXd& root) : points{root}, parents{-1} {}

  int nearest(const Eigen::VectorXd& x) const {
    int best = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if ((points[i] - x).squaredNorm() < (points[best] - x).squaredNorm()) best = static_cast<int>(i);
    }
    return best;
  }
  /// From a node to the root.
  Path branch(int node) const {
    Path path;
    for (; node >= 0; node = parents[node]) path.push_back(points[node]);
    return path;
  }

  Path points;
  std::vector<int> parents;
};

std::optional<Transit::Path> Transit::connect(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                                              RandomStream& draw) {
  // Near a surface even a step along it drags; near an end the way is only as free as the end itself.
  const double wanted = settings_->transit_gap_m, seen = wanted / kShareOfGap;
  const double at_from = kShareOfGap * gap_at(from, seen), at_to = kShareOfGap * gap_at(to, seen);
  if (std::min(at_from, at_to) <= 0) return std::nullopt;
  margin_ = wanted;
  ends_ = {{from, at_from}, {to, at_to}};
  std::optional<Path> path = connect_free(from, to, draw);
  ends_.clear();
  if (path || std::min(at_from, at_to) >= wanted) return path;
  // Where the ends are narrow the whole way may have to be.
  margin_ = std::min(at_from, at_to);
  return connect_free(from, to, draw);
}

std::optional<Transit::Path> Transit::connect_free(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                                                   RandomStream& draw) {
  if (is_free_between(from, to)) return Path{from, to};
  Eigen::VectorXd home = from;
  for (Eigen::Index u = 0; u < home.size(); ++u) {
    if (moves_[u]) home(u) = hand_->home(u);
  }
  if (is_free(home) && is_free_between(from, home) && is_free_between(home, to)) return Path{from, home, to};

  return connect_by_trees(from, to, draw);
}

std::optional<Transit::Path> Transit::connect_by_trees(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                                                       RandomStream& draw) {
  Tree trees[2] = {Tree(from), Tree(to)};
  for (int k = 0; k < kTreeNodes && !steps_->is_over(); ++k) {
    Tree &growing = trees[k % 2], &other = trees[1 - k % 2];
    const int added = extend(growing, draw_joints(from, to, draw));
    if (added < 0) continue;
    const int reached = extend_to(other, growing.points[added]);
    if (reached < 0) continue;
    Path path = trees[0].branch(k % 2 == 0 ? added : reached);
    const Path end = trees[1].branch(k % 2 == 0 ? reached : added);
    std::reverse(path.begin(), path.end());
    path.insert(path.end(), end.begin() + 1, end.end());
    shorten(path, draw);
    return path;
  }
  return std::nullopt;
}

Eigen::VectorXd Transit::draw_joints(const Eigen::VectorXd& from, const Eigen::VectorXd& to, RandomStream& draw) const {
  Eigen::VectorXd joints = from;
  for (Eigen::Index u = 0; u < joints.size(); ++u) {
    if (!moves_[u]) continue;
    const double low = std::min({from(u), to(u), hand_->home(u)}) - kAround,
                 high = std::max({from(u), to(u), hand_->home(u)}) + kAround;
    joints(u) = draw.uniform(std::max(low, hand_->lower(u)), std::min(high, hand_->upper(u)));
  }
  return joints;
}

int Transit::extend(Tree& tree, const Eigen::VectorXd& x) {
  const int near = tree.nearest(x);
  const Eigen::VectorXd& at = tree.points[near];
  const double length = (x - at).norm();
  const Eigen::VectorXd next = length <= kTreeStep ? x : Eigen::VectorXd(at + (x - at) * (kTreeStep / length));
  if (!is_free_between(at, next)) return -1;
  tree.points.push_back(next);
  tree.parents.push_back(near);
  return static_cast<int>(tree.points.size()) - 1;
}

int Transit::extend_to(Tree& tree, const Eigen::VectorXd& x) {
  int added = -1;
  do {
    added = extend(tree, x);
  } while (added >= 0 && tree.points[added] != x);
  return added;
}

void Transit::shorten(Path& path, RandomStream& draw) {
  for (int k = 0; k < kShortcuts && path.size() > 2; ++k) {
    const int a = draw.index(static_cast<int>(path.size()) - 2);
    const int b = a + 2 + draw.index(static_cast<int>(path.size()) - a - 2);
    if (is_free_between(path[a], path[b])) path.erase(path.begin() + a + 1, path.begin() + b);
  }
}

int Transit::pieces_between(const Eigen::VectorXd& from, const Eigen::VectorXd& to,
                            const Eigen::VectorXd& longest) const {
  const int count = pieces(from, to, settings_->joint_step);
  if (longest.size() == 0) return count;
  return std::max(count, static_cast<int>(std::ceil((to - from).cwiseAbs().cwiseQuotient(longest).maxCoeff() - 1e-9)));
}

bool Transit::follow(const Eigen::VectorXd& waypoint, const Eigen::VectorXd& longest, Motion& motion) {
  Instant next;
  const std::size_t most = longest.size() == 0 ? kMostSteps : kMostSlowSteps;
  while ((waypoint - motion.u).cwiseAbs().maxCoeff() > 1e-12) {
    if (motion.commands.size() > most + waited_) return false;
    const int count = pieces_between(motion.u, waypoint, longest);
    const Eigen::VectorXd step = (waypoint - motion.u) / count;
    for (double scale = 1;; scale /= 2) {
      const Eigen::VectorXd target = scale == 1 && count == 1 ? waypoint : Eigen::VectorXd(motion.u + scale * step);
      if (!steps_->advance(motion, target, next)) return false;
      const bool too_much = steps_->exceeds_limits(motion, target, next);
      if (scale > kShortest && (too_much || object_motion(steps_->scene(), motion, next) > kDrag_m)) continue;
      if (too_much) return false;
      motion.commands.push_back(target);
      static_cast<Instant&>(motion) = next;
      break;
    }
  }
  if (!steps_->follows_late()) return true;
  const std::size_t before = motion.commands.size();
  const bool rests = steps_->rest(motion);
  waited_ += motion.commands.size() - before;
  return rests;
}

bool Transit::reach(const Grasp& grasp, RandomStream& draw, Motion& motion) {
  const scene::Scene& scene = steps_->scene();
  const Instant start = motion;
  end_ = End::kBlocked;
  q_ = motion.q;
  waited_ = steps_->follows_late() ? motion.commands.size() : 0;
  moves_ = grasp.moves;
  margin_ = kShareOfGap * settings_->standoff_m;

  // The way: to where the grasp is open, then closing.
  Eigen::VectorXd q_grasp = motion.q;
  set_joint_positions(scene, grasp.joints, q_grasp);
  Path closing = retreat(grasp, q_grasp);
  std::optional<Path> path = connect(joint_positions(scene, motion.q), closing.back(), draw);
  if (!path) return false;
  const std::size_t open = path->size();  // from there on the way closes
  path->insert(path->end(), closing.rbegin() + 1, closing.rend());

  // Fingers that stay keep their command.
  for (std::size_t k = 1; k < path->size(); ++k) {
    Eigen::VectorXd waypoint = (*path)[k];
    for (Eigen::Index u = 0; u < waypoint.size(); ++u) {
      if (!moves_[u]) waypoint(u) = motion.u(u);
    }
    const Ensemble& ensemble = steps_->ensemble();
    if (!follow(waypoint, k < open ? ensemble.longest_free : ensemble.longest_reach, motion)) return false;
  }
  end_ = End::kDrifted;
  if (object_motion(scene, start, motion) > settings_->drift_m) return false;
  end_ = End::kBlocked;
  const Eigen::VectorXd missing = grasp.joints - joint_positions(scene, motion.q);
  for (Eigen::Index u = 0; u < missing.size(); ++u) {
    if (moves_[u] && std::abs(missing(u)) > kCheckStep) return false;
  }
  end_ = End::kThere;
  return true;
}

}  // namespace deft::planning
