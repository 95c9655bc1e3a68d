#include "deft/authoring/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "deft/authoring/object_places.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/math/random.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::authoring {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using scene::Scene;

constexpr int kSettlingSteps = 30;
constexpr double kStill = 1e-3;                           // [m] that an object may move over the last five of them
constexpr double kTiltCost = 0.1;                         // [m/rad] that an object turned since it was let down
constexpr double kOffCost = 0.5;                          // of an object that lies aside of the middle of the tips
constexpr double kMaySink = 0.04;                         // [m] that it may go down into the hand
constexpr double kMayTilt = 0.25;                         // [rad] of a goal, to lie in the hand
constexpr double kGoalTiltCost = 0.3, kNoRestCost = 0.2;  // [m/rad] of such a tilt; [m] of a start whose goal is none
constexpr int kClosingSteps = 20;
constexpr double kNearAxis = 0.9;  // cosine
constexpr double kBeside = 0.05;   // [m] between objects, and between the tip of an arm and the first
constexpr double kReachShare = 0.6;
constexpr int kReachSamples = 500, kArmStarts = 40, kArmIterations = 200;
constexpr double kClear = 2e-3;  // [m] of a start against everything

VectorXd commands_at(const Scene& scene, const VectorXd& q) {
  VectorXd u(scene.nu());
  for (int i = 0; i < scene.nu(); ++i) u[i] = q[scene.command_coordinates()[to_size(i)]];
  return u;
}

/// The middle of the tips.
Vector3d middle_of_tips(const Scene& scene, scene::SceneState& state, const RobotFacts& facts, const VectorXd& q) {
  scene.update(q, state);
  Vector3d sum = Vector3d::Zero();
  for (const int tip : facts.tips) sum += middle_of(facts, state, tip);
  return sum / static_cast<double>(facts.tips.size());
}

/// All objects stand on the ground in a row along y from (x, y), far enough from each other.
/// @throws InputError for one that cannot be put down.
void stand_beside(const Scene& scene, scene::SceneState& state, double x, double y, VectorXd& q) {
  for (int object = first_placed(scene); object < static_cast<int>(scene.objects().size()); ++object) {
    place(scene, object, RigidTransform::Identity(), q);
    const Extent extent = extent_in_place(scene, state, object, q);
    y += extent.half.y();
    const Vector3d middle(x, y, extent.half.z() + kBeside);
    place(scene, object, make_transform(Matrix3d::Identity(), middle - extent.middle_B), q);
    if (!let_down(scene, state, object, true, q))
      throw InputError({},
                       fmt::format("object '{}' cannot be put on the ground: it meets nothing, or overlaps with what "
                                   "is fixed (has it a collision geometry?)",
                                   scene.objects()[to_size(object)].name));
    y += extent.half.y() + kBeside;
  }
}

/// Steps with the commands held. @returns how far the first object moved over the last five; infinity after a failure.
double settle(const Scene& scene, dynamics::StepModel& model, int steps, const VectorXd& u, VectorXd& q) {
  model.reset();
  dynamics::StepResult result;
  const int first = first_placed(scene);
  double moved = INFINITY;
  Vector3d before = Vector3d::Zero();
  for (int k = 0; k < steps; ++k) {
    if (k == steps - 5) before = place_of(scene, first, q).translation();
    model.step(q, u, result);
    if (!solvers::usable(result.status)) return INFINITY;
    q = result.q_next;
    moved = (place_of(scene, first, q).translation() - before).norm();
  }
  return moved;
}

/// Commands the fingers from straight to a share of the way to the middle of their limits; they stop where they touch.
/// @returns whether all steps could be made.
bool close_fingers(dynamics::StepModel& model, const Scene& scene, const RobotFacts& facts, double closed,
                   VectorXd& q) {
  model.reset();
  dynamics::StepResult result;
  for (int k = 1; k <= kClosingSteps; ++k) {
    const double share = closed * k / kClosingSteps;
    model.step(q, commands_at(scene, facts.q_straight + share * (facts.q_middle - facts.q_straight)), result);
    if (!solvers::usable(result.status)) return false;
    q = result.q_next;
  }
  return true;
}

/// Mean distance of the fingertips from the first object.
double distance_of_tips(const Scene& scene, scene::SceneState& state, const RobotFacts& facts, const VectorXd& q) {
  scene.update(q, state);
  const auto geometries = scene.collision_world().geometries();
  const std::vector<int>& object = scene.objects()[to_size(first_placed(scene))].bodies;
  double sum = 0;
  for (const int tip : facts.tips) {
    double least = INFINITY;
    for (std::size_t a = 0; a < geometries.size(); ++a)
      for (std::size_t b = 0; b < geometries.size(); ++b)
        if (geometries[a].body == tip && geometries[b].body == object.front())
          least = std::min(
              least,
              scene.collision_world().signed_distance(static_cast<int>(a), static_cast<int>(b), state.X_WB()).gap);
    sum += least;
  }
  return sum / static_cast<double>(facts.tips.size());
}

/// The joints of an arm with which its tip is at `target`, from q; clamped to the limits.
void reach_for(const Scene& scene, scene::SceneState& state, const RobotFacts& facts, const Vector3d& target,
               VectorXd& q) {
  const multibody::Model& model = scene.model();
  const scene::Robot& robot = scene.robots()[0];
  for (int k = 0; k < kArmIterations; ++k) {
    const Vector3d error = target - middle_of_tips(scene, state, facts, q);
    if (error.norm() < 1e-4) return;
    Eigen::Matrix<double, 3, Eigen::Dynamic> J = Eigen::MatrixXd::Zero(3, robot.nu);
    for (const int tip : facts.tips) {
      const std::span<const int> columns = model.columns(tip);
      Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> rows(6, columns.size());
      model.point_jacobian(state.kinematics, tip, middle_of(facts, state, tip), rows.data(),
                           static_cast<int>(rows.cols()));
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (const int i = robot.command_of(columns[c]); i >= 0)
          J.col(i) += rows.col(static_cast<int>(c)).tail<3>() / static_cast<double>(facts.tips.size());
    }
    const Vector3d step = error * std::min(1.0, 0.1 / error.norm());
    const VectorXd dq = J.transpose() * ldlt_solve(Matrix3d(J * J.transpose() + 1e-4 * Matrix3d::Identity()), step);
    for (int i = 0; i < robot.nu; ++i) {
      const multibody::CoordinateInfo& joint = model.coordinates()[to_size(robot.q(i))];
      q[robot.q(i)] = std::clamp(q[robot.q(i)] + dq[i], joint.lower, joint.upper);
    }
    keep_couplings(model, q);
  }
}

/// The objects of q are where they are in `q_objects`.
void keep_objects(const Scene& scene, const VectorXd& q_objects, VectorXd& q) {
  for (const scene::Object& object : scene.objects())
    q.segment(object.first_q, object.nq) = q_objects.segment(object.first_q, object.nq);
}

/// Joints drawn evenly between their limits, at most half a turn from the middle.
VectorXd random_joints(const Scene& scene, const RobotFacts& facts, std::uint64_t item) {
  const scene::Robot& robot = scene.robots()[0];
  VectorXd q = facts.q_middle;
  for (int i = 0; i < robot.nu; ++i) {
    const multibody::CoordinateInfo& joint = scene.model().coordinates()[to_size(robot.q(i))];
    const double middle = facts.q_middle[robot.q(i)];
    const double lower = std::max(joint.lower, middle - std::numbers::pi),
                 upper = std::min(joint.upper, middle + std::numbers::pi);
    q[robot.q(i)] = lower + (upper - lower) * random_uniform(0, item, static_cast<std::uint32_t>(i));
  }
  keep_couplings(scene.model(), q);
  return q;
}

/// Where the base of the robot is, in the world.
Vector3d base_of(const Scene& scene, const scene::SceneState& state) {
  return state.X_WB()[to_size(scene.model().models()[to_size(scene.robots()[0].model)].bodies.front())].translation();
}

/// The farthest that the tip of an arm gets from its base in random configurations [m].
double reach_of(const Scene& scene, scene::SceneState& state, const RobotFacts& facts) {
  double reach = 0;
  for (int k = 0; k < kReachSamples; ++k) {
    const VectorXd q = random_joints(scene, facts, static_cast<std::uint64_t>(k));
    reach = std::max(reach, (middle_of_tips(scene, state, facts, q) - base_of(scene, state)).norm());
  }
  return reach;
}

/// Joints nearest to the middle with which the robot touches nothing, of random ones; nothing if all do.
std::optional<VectorXd> clear_posture(const Scene& scene, scene::SceneState& state, const RobotFacts& facts,
                                      const VectorXd& q_objects) {
  std::optional<VectorXd> best;
  for (int k = 0; k < kReachSamples; ++k) {
    VectorXd q = k == 0 ? q_objects : random_joints(scene, facts, to_size(kReachSamples + kArmStarts + k));
    keep_objects(scene, q_objects, q);
    if (best && (q - facts.q_middle).norm() >= (*best - facts.q_middle).norm()) continue;
    scene.update(q, state);
    if (gap_of_bodies(scene, state, facts.bodies, 2 * kClear) >= kClear) best = q;
  }
  return best;
}

/// The hand open, with all objects beside it.
VectorXd beside_hand(const Scene& scene, scene::SceneState& state, const RobotFacts& facts) {
  VectorXd q = facts.q_straight;
  scene.update(q, state);
  double far = 0;
  for (const int body : facts.bodies) far = std::max(far, middle_of(facts, state, body).head<2>().norm());
  stand_beside(scene, state, far + 0.2, 0, q);
  return q;
}

/// How the first object lies in the hand.
struct Lying {
  VectorXd q;
  RigidTransform X_WB;
};

/// Lets the first object down onto the open hand in orientation R, at several places between palm and fingertips, and
/// closes the fingers about it more or less. @returns what then lies still in the hand.
std::vector<Lying> lay_in_hand(const Scene& scene, scene::SceneState& state, const RobotFacts& facts,
                               const VectorXd& q_beside, const Matrix3d& R) {
  const int first = first_placed(scene);
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(scene);
  const Vector3d tips = middle_of_tips(scene, state, facts, q_beside);
  const Vector3d palm = middle_of(facts, state, facts.palm >= 0 ? facts.palm : facts.bodies.front());
  const Extent extent = extent_of(scene, body_of(scene, first), R);
  std::vector<Lying> found;
  for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8}) {
    VectorXd q_open = q_beside;
    Vector3d middle = palm + share * (tips - palm);
    middle.z() = std::max(tips.z(), palm.z()) + 0.1 + extent.half.z();
    place(scene, first, make_transform(R, middle - R * extent.middle_B), q_open);
    if (!let_down(scene, state, first, false, q_open)) continue;
    const double landed = place_of(scene, first, q_open).translation().z();
    for (const double closed : {0.5, 0.75, 1.0}) {
      VectorXd q = q_open;
      if (!close_fingers(*model, scene, facts, closed, q)) continue;
      const VectorXd u = commands_at(scene, q);
      if (!(settle(scene, *model, kSettlingSteps, u, q) < kStill)) continue;
      const RigidTransform rests = place_of(scene, first, q);
      const Extent lying = extent_of(scene, body_of(scene, first), rests.linear());
      const bool is_on_ground = (rests * lying.middle_B).z() - lying.half.z() < kClear;
      if (!is_on_ground && rests.translation().z() >= landed - kMaySink) found.push_back({std::move(q), rests});
    }
  }
  return found;
}

/// How good a start is [m]: the fingertips near, little tilt since the object was let down, in the middle of the tips.
double cost_of_start(const Scene& scene, scene::SceneState& state, const RobotFacts& facts, const Lying& lying,
                     const Matrix3d& R) {
  const Extent extent = extent_of(scene, body_of(scene, first_placed(scene)), lying.X_WB.linear());
  const double tilt = log_so3(lying.X_WB.linear() * R.transpose()).norm();
  const double off = (lying.X_WB * extent.middle_B - middle_of_tips(scene, state, facts, lying.q)).head<2>().norm();
  return distance_of_tips(scene, state, facts, lying.q) + kOffCost * off + kTiltCost * tilt;
}

/// Of the ways of lying in the hand the nearest to X_WGoal: R_way = swing · twist · R_goal with the twist about the
/// axis of the goal, which is undone, so that the object is turned as far as the goal says and leans as it lies. Both
/// at most kMayTilt, or none.
std::optional<RigidTransform> rest_near(const RigidTransform& X_WGoal, const Vector3d& axis_W,
                                        const std::vector<Lying>& ways) {
  std::optional<RigidTransform> best;
  double least = INFINITY;
  for (const Lying& way : ways) {
    const Eigen::Quaterniond d(Matrix3d(way.X_WB.linear() * X_WGoal.linear().transpose()));
    const double twist = std::remainder(2 * std::atan2(axis_W.dot(d.vec()), d.w()), 2 * std::numbers::pi);
    const Matrix3d swing = d.toRotationMatrix() * exp_so3(Vector3d(-twist * axis_W));
    const double tilt = log_so3(swing).norm(), off = (way.X_WB.translation() - X_WGoal.translation()).norm();
    const double cost = off + kGoalTiltCost * (tilt + std::abs(twist));
    if (tilt > kMayTilt || std::abs(twist) > kMayTilt || cost >= least) continue;
    least = cost;
    best = make_transform(swing * X_WGoal.linear(), way.X_WB.translation());
  }
  return best;
}

}  // namespace

Matrix3d palm_up(const Scene& scene, const RobotFacts& facts) {
  scene::SceneState state = scene.make_state();
  const Vector3d closed = middle_of_tips(scene, state, facts, facts.q_middle);
  const Vector3d straight = middle_of_tips(scene, state, facts, facts.q_straight);
  const Vector3d along = straight.norm() > 0 ? Vector3d(straight.normalized()) : Vector3d(0, 0, 0);
  const Vector3d moved = closed - straight;
  const Vector3d normal = moved - along * along.dot(moved);
  if (normal.norm() < 1e-3 * straight.norm()) return Matrix3d::Identity();
  // Models have their palm along an axis: the thumb moves aside and tilts the mean.
  Eigen::Index axis = 0;
  normal.cwiseAbs().maxCoeff(&axis);
  const Vector3d along_axis = Vector3d::Unit(axis) * (normal[axis] > 0 ? 1.0 : -1.0);
  const bool is_near = normal.normalized().dot(along_axis) > kNearAxis;
  return rotation_between(is_near ? along_axis : normal, Vector3d::UnitZ());
}

Start start_in_hand(const Scene& scene, const RobotFacts& facts, const Displacement& goal) {
  scene::SceneState state = scene.make_state();
  const int first = first_placed(scene);
  const VectorXd q_beside = beside_hand(scene, state, facts);
  Start best{.q = facts.q_middle,
             .found = false,
             .why = "no place was found in the hand where the object stays; it starts beside it"};
  keep_objects(scene, q_beside, best.q);
  const double quarter = std::numbers::pi / 2;
  const bool turns = !goal.rotation_W.isZero() && goal.translation_W.isZero();
  double least = INFINITY;
  for (const Vector3d& turned : {Vector3d(0, 0, 0), Vector3d(quarter, 0, 0), Vector3d(0, quarter, 0)}) {
    const Matrix3d R = exp_so3(turned);
    const std::vector<Lying> starts = lay_in_hand(scene, state, facts, q_beside, R);
    std::vector<Lying> ends;
    if (turns && !starts.empty()) ends = lay_in_hand(scene, state, facts, q_beside, exp_so3(goal.rotation_W) * R);
    for (const Lying& start : starts) {
      const std::optional<RigidTransform> end =
          turns ? rest_near(goal.of(start.X_WB), goal.rotation_W.normalized(), ends) : std::nullopt;
      const double cost = cost_of_start(scene, state, facts, start, R) + (turns && !end ? kNoRestCost : 0);
      if (cost >= least) continue;
      scene.update(start.q, state);
      if (gap_around(scene, state, first, kClear, false) < -kStill) continue;
      least = cost;
      best = {.q = start.q, .found = true, .why = {}, .X_WGoal = end};
    }
  }
  return best;
}

Start start_of_arm(const Scene& scene, const RobotFacts& facts, const Displacement& goal) {
  scene::SceneState state = scene.make_state();
  const int first = first_placed(scene);
  const bool has_objects = first < static_cast<int>(scene.objects().size());
  const double distance = kReachShare * reach_of(scene, state, facts);
  const Vector3d base = base_of(scene, state);
  VectorXd q_objects = facts.q_middle;
  Extent extent;
  if (has_objects) {
    place(scene, first, RigidTransform::Identity(), q_objects);
    const double half_y = extent_in_place(scene, state, first, q_objects).half.y();
    stand_beside(scene, state, base.x() + distance, base.y() - half_y, q_objects);
    extent = extent_in_place(scene, state, first, q_objects);
  }
  const std::optional<VectorXd> clear = clear_posture(scene, state, facts, q_objects);
  if (!clear)
    return {.q = q_objects,
            .found = false,
            .why = "no posture was found in which the robot touches nothing; it starts in the middle of its limits"};
  if (!has_objects) return {.q = *clear, .found = true, .why = {}};
  Start best{.q = *clear,
             .found = false,
             .why = "the arm finds no place behind the object without touching anything; it starts aside"};

  // Behind the object as seen in the direction in which it goes; beside it to be turned, before it to be lifted.
  Vector3d towards(goal.translation_W.x(), goal.translation_W.y(), 0);
  if (towards.norm() > 0)
    towards.normalize();
  else
    towards = goal.rotation_W.norm() > 0 ? Vector3d::UnitY() : Vector3d::UnitX();
  const double away = extent.half.head<2>().norm() + kBeside;
  double least = INFINITY;
  for (int attempt = 0; attempt < kArmStarts; ++attempt) {
    VectorXd q = attempt == 0 ? *clear : random_joints(scene, facts, to_size(kReachSamples + attempt));
    keep_objects(scene, q_objects, q);
    const double height = std::max(extent.middle_B.z(), 0.05) + 0.03 * (attempt % 4);  // its links need room above the
                                                                                       // ground
    Vector3d target = extent.middle_B - (away + 0.02 * (attempt / 4 % 3)) * towards;
    target.z() = height;
    reach_for(scene, state, facts, target, q);
    const double off = (middle_of_tips(scene, state, facts, q) - target).norm();
    if (off > 5e-3 || gap_of_bodies(scene, state, facts.bodies, 2 * kClear) < kClear) continue;
    const double score = (q - facts.q_middle).norm();
    if (score >= least) continue;
    least = score;
    best = {.q = q, .found = true, .why = {}};
  }
  return best;
}

}  // namespace deft::authoring
