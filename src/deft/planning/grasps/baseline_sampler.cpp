#include "deft/planning/grasps/baseline_sampler.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/math/dense.hpp"
#include "deft/scene/motion_plane.hpp"

namespace deft::planning {
namespace {

using Eigen::Vector3d;
using std::numbers::pi;

constexpr double kPinchShare = 0.5;
constexpr int kPinchPoints = 50;       // drawn per finger
constexpr double kBisection = 1e-3;    // [rad]
constexpr double kTouch = 1e-6;        // [m], what counts as touching at most
constexpr double kPenetration = 2e-3;  // [m], of a grasp at most: linearised steps leave some
constexpr double kApart = 1.0;         // [m], from where a tip comes down on a face
constexpr int kSweep = 10, kSwept = 20;
constexpr double kFlatFace = 0.5;  // as in contact_sampler.cpp
constexpr int kMostPoints = 200;
constexpr int kFingerJoints = 16, kClosingSteps = 12, kClosingStepsOnSlides = 20;
constexpr double kPalm = 0.01;  // [m], how far the palm is off its place beside the object

double wrap(double angle) { return std::remainder(angle, 2 * pi); }

/// The radius of a sphere geometry [m].
double radius_of(const scene::Scene& scene, int geometry) {
  return std::sqrt(scene.collision_world().surface_area(geometry) / (4 * pi));
}

/// What `sampler` asks of a scene, in words; nothing if it is there.
const char* missing(const scene::Scene& scene, const Hand& hand) {
  const auto fingers_of = [&](std::size_t count, std::size_t joints) {
    return hand.fingers.size() == count && std::all_of(hand.fingers.begin(), hand.fingers.end(),
                                                       [&](const Finger& f) { return f.commands.size() == joints; });
  };
  const bool planar = scene.plane() != scene::Plane::kSpace;
  const auto slides = [&](int first, int count) {
    for (int u = first; u < first + count; ++u) {
      if (scene.model().velocities()[scene.actuated()[u]].unit != "m") return false;
    }
    return true;
  };
  switch (scene.settings().plan.sampler) {
    case scene::Sampler::kPushing:
      return hand.fingers.size() == 1 && slides(0, scene.nu()) ? nullptr : "one robot of slides only";
    case scene::Sampler::kPlanarHand: {
      if (!planar || !fingers_of(2, 2)) return "two fingers of two joints in a plane";
      std::vector<int> geometries{hand.fingers[0].geometries.front(), hand.fingers[1].geometries.front()};
      geometries.insert(geometries.end(), hand.surfaces.begin(), hand.surfaces.end());
      const bool round = hand.surfaces.size() == 1 && std::all_of(geometries.begin(), geometries.end(), [&](int g) {
                           return scene.collision_world().geometries()[g].kind == "sphere";
                         });
      return round ? nullptr : "spheres at the tips and a sphere as object";
    }
    case scene::Sampler::kBimanual:
      return planar && fingers_of(2, 3) ? nullptr : "two arms of three joints in a plane";
    case scene::Sampler::kAllegroClosing:
      return hand.fingers.size() == 4 &&
                     (scene.nu() == kFingerJoints || (scene.nu() == kFingerJoints + 3 && slides(0, 3)))
                 ? nullptr
                 : "the Allegro hand, sixteen joints in four fingers, perhaps on three slides";
    default:
      return nullptr;
  }
}

/// One random closing motion of the sixteen joints per step [rad]: a hand on slides closes slower, and longer.
Eigen::VectorXd closing_motion(bool on_slides, RandomStream& draw) {
  const double torsion = draw.uniform(-0.015, 0.015), opposed = draw.uniform(-0.015, 0.015),
               enveloping = on_slides ? draw.uniform(0.03, 0.05) : draw.uniform(0.035, 0.065),
               pinching = draw.uniform(-0.005, 0.025);
  Eigen::VectorXd motion = Eigen::VectorXd::Zero(kFingerJoints);
  for (const int joint : {0, 4, 8, 13}) motion(joint) += torsion;
  motion(0) -= opposed;
  motion(8) += opposed;
  for (const int joint : {1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 15}) motion(joint) += enveloping;
  for (const int joint : {3, 7, 11, 15}) motion(joint) += pinching;
  return on_slides ? motion : Eigen::VectorXd(2 * motion);
}

}  // namespace

BaselineSampler::BaselineSampler(const scene::Scene& scene, const Hand& hand, const Deadline* deadline)
    : scene_(&scene),
      hand_(&hand),
      all_(to_size(scene.nu()), 1),
      normal_(scene.plane() == scene::Plane::kSpace ? Vector3d::Zero() : scene::plane_normal(scene.plane())) {
  const scene::Sampler sampler = scene.settings().plan.sampler;
  if (const char* what = missing(scene, hand))
    throw InputError({scene.spec().file, 0, 0}, fmt::format("plan.sampler: {} needs {}; valid everywhere: surface",
                                                            scene::to_string(sampler), what));
  Proximity proximity(scene);
  proximity_ = &proximity;
  proximity.place(scene.initial_configuration());
  if (sampler == scene::Sampler::kAllegroClosing) place_palm();
  proximity_ = nullptr;
  if (sampler != scene::Sampler::kAllegroClosing) return;
  frozen_.emplace(scene.with([](scene::SceneSettings& settings) { settings.step.objects_move = false; }));
  steps_ = std::make_unique<PlanningSteps>(*frozen_, deadline);
}

void BaselineSampler::place_palm() {
  const std::vector<double>& offset = scene_->settings().plan.palm_offset;
  if (!offset.empty() && offset.size() != 3)
    throw InputError({scene_->spec().file, 0, 0},
                     fmt::format("plan.palm_offset: must have 3 numbers, got {}", offset.size()));
  if (offset.empty() && scene_->nu() > kFingerJoints) {
    const int tip = hand_->fingers.front().geometries.front();
    Eigen::MatrixXd J;
    proximity_->point_rows(scene_->collision_world().geometries()[tip].body, origin(tip), J);
    offset_ = J.leftCols(3) * hand_->home.head(3) - object_position();
  } else if (!offset.empty()) {
    offset_ = Vector3d(offset[0], offset[1], offset[2]);
  }
}

std::optional<Grasp> BaselineSampler::sample(const Eigen::VectorXd& q, RandomStream& draw, Proximity& proximity) {
  q_ = q;
  proximity_ = &proximity;
  const scene::PlanSettings& settings = scene_->settings().plan;
  for (int attempt = 0; attempt < settings.attempts; ++attempt) {
    Joints joints = joint_positions(*scene_, q);
    bool found = false;
    switch (settings.sampler) {
      case scene::Sampler::kPushing:
        found = push(draw, joints);
        break;
      case scene::Sampler::kPlanarHand:
        // An object that the tips do not reach is enveloped, as in the baseline.
        found = (draw.chance(kPinchShare) && pinch(draw, joints)) || envelop(joints);
        break;
      case scene::Sampler::kBimanual:
        found = sweep(draw, joints);
        break;
      default:
        found = close(draw, joints);
    }
    if (!found) continue;
    place(joints);
    if (proximity.smallest_gap(all_, kTouch) >= -kPenetration) return Grasp{joints, all_};
  }
  return std::nullopt;
}

void BaselineSampler::place(const Joints& joints) {
  set_joint_positions(*scene_, joints, q_);
  proximity_->place(q_);
}

bool BaselineSampler::touches(const Joints& joints) {
  place(joints);
  return proximity_->smallest_gap(all_, kTouch) <= 0;
}

Vector3d BaselineSampler::origin(int geometry) const {
  return proximity_->state().X_WB()[scene_->collision_world().geometries()[geometry].body].translation();
}

Vector3d BaselineSampler::object_position() const {
  const auto& geometries = scene_->collision_world().geometries();
  return origin(*std::max_element(hand_->surfaces.begin(), hand_->surfaces.end(),
                                  [&](int a, int b) { return geometries[a].body < geometries[b].body; }));
}

collision::ContactPair BaselineSampler::tip_to_object(const Finger& finger) const {
  collision::ContactPair nearest;
  nearest.gap = std::numeric_limits<double>::infinity();
  for (const int surface : hand_->surfaces) {
    const collision::ContactPair pair =
        scene_->collision_world().signed_distance(finger.geometries.front(), surface, proximity_->state().X_WB());
    if (pair.gap < nearest.gap) nearest = pair;
  }
  return nearest;
}

bool BaselineSampler::push(RandomStream& draw, Joints& joints) {
  const Finger& robot = hand_->fingers.front();
  const int tip = robot.geometries.front(), body = scene_->collision_world().geometries()[tip].body;
  proximity_->place(q_);
  // A point of a face in the plane of motion, and the tip straight above it, far off.
  Vector3d p_W = Vector3d::Zero(), n_W = Vector3d::Zero();
  for (int k = 0; k < kMostPoints; ++k) {
    const int surface = hand_->draw_surface(draw);
    const collision::SurfacePoint point =
        scene_->collision_world().surface_point(surface, {draw.uniform(), draw.uniform(), draw.uniform()});
    const RigidTransform& X_WB = proximity_->state().X_WB()[scene_->collision_world().geometries()[surface].body];
    p_W = X_WB * point.p;
    n_W = X_WB.linear() * point.n;
    if (std::abs(n_W.dot(normal_)) <= kFlatFace) break;
  }
  Eigen::MatrixXd J;
  proximity_->point_rows(body, origin(tip), J);
  const auto shift = [&](const Vector3d& way) -> Joints { return least_norm_solve(J, way); };
  Joints there = joints + shift(p_W + kApart * n_W - origin(tip));
  place(there);
  // Then down to the standoff.
  there -= shift((tip_to_object(robot).gap - scene_->settings().plan.standoff_m) * n_W);
  if (!there.isApprox(clamped(there))) return false;
  joints = there;
  return true;
}

bool BaselineSampler::close_joint(int joint, double from, double to, Joints& joints) {
  joints(joint) = from;
  if (touches(joints)) return false;
  while (std::abs(to - from) > kBisection) {
    joints(joint) = (from + to) / 2;
    (touches(joints) ? to : from) = joints(joint);
  }
  joints(joint) = from;
  return true;
}

bool BaselineSampler::envelop(Joints& joints) {
  joints = clamped(Joints::Zero(joints.size()));
  for (const Finger& finger : hand_->fingers) {
    for (const int joint : finger.commands) {
      // Closing is turning towards the limit that is further from 0.
      const double limit =
          std::abs(hand_->lower(joint)) > std::abs(hand_->upper(joint)) ? hand_->lower(joint) : hand_->upper(joint);
      if (!close_joint(joint, joints(joint), std::clamp(limit, -pi / 2, pi / 2), joints)) return false;
    }
  }
  return true;
}

bool BaselineSampler::pinch(RandomStream& draw, Joints& joints) {
  proximity_->place(q_);
  const Finger &first = hand_->fingers[0], &second = hand_->fingers[1];
  const collision::ContactPair pair = tip_to_object(first);
  const double r_object = radius_of(*scene_, hand_->surfaces.front()),
               r_tip = radius_of(*scene_, first.geometries.front());
  const Vector3d p_WO = pair.p_WB - r_object * pair.nhat_BA_W;
  const double distance = r_object + r_tip + scene_->settings().plan.standoff_m;
  // Each finger is chosen with the other one open.
  Joints a = clamped(Joints::Zero(joints.size())), b = a;
  if (!pinch_with(first, second, distance, p_WO, draw, a) || !pinch_with(second, first, distance, p_WO, draw, b))
    return false;
  joints = a;
  for (const int joint : second.commands) joints(joint) = b(joint);
  return !touches(joints);
}

bool BaselineSampler::pinch_with(const Finger& finger, const Finger& other, double distance, const Vector3d& p_WO,
                                 RandomStream& draw, Joints& joints) {
  const Joints open = joints;
  place(open);
  // The chain: its two joints' origins, and the centre of its tip, beyond the second.
  const int tip = finger.geometries.front(), body = scene_->collision_world().geometries()[tip].body;
  const Vector3d p_1 = origin(finger.geometries.back()), p_2 = origin(tip);
  const collision::ContactPair pair = tip_to_object(finger);
  const Vector3d p_3 = pair.p_WA + radius_of(*scene_, tip) * pair.nhat_BA_W;
  const Vector3d e_1 = normal_.unitOrthogonal(), e_2 = normal_.cross(e_1);
  const auto angle = [&](const Vector3d& way) { return std::atan2(way.dot(e_2), way.dot(e_1)); };
  const double l_1 = (p_2 - p_1).norm(), l_2 = (p_3 - p_2).norm();
  Eigen::MatrixXd J;
  proximity_->point_rows(body, p_3, J);
  const auto sign = [&](int joint, const Vector3d& pivot) {
    return normal_.cross(p_3 - pivot).dot(J.col(joint)) < 0 ? -1.0 : 1.0;
  };
  const int upper = finger.commands[0], lower = finger.commands[1];
  const double sign_1 = sign(upper, p_1), sign_2 = sign(lower, p_2);
  const Vector3d other_base = origin(other.geometries.back());
  for (int k = 0; k < kPinchPoints; ++k) {
    const double at = draw.uniform(0, 2 * pi);
    const Vector3d p = p_WO + distance * (std::cos(at) * e_1 + std::sin(at) * e_2);
    if ((p - p_1).norm() > (p - other_base).norm()) continue;  // the other finger's side
    const double cosine = ((p - p_1).squaredNorm() - l_1 * l_1 - l_2 * l_2) / (2 * l_1 * l_2);
    if (std::abs(cosine) > 1) continue;
    for (const double elbow : {1.0, -1.0}) {
      const double bend = elbow * std::acos(cosine);
      const double turn = angle(p - p_1) - std::atan2(l_2 * std::sin(bend), l_1 + l_2 * std::cos(bend));
      joints = open;
      joints(upper) += sign_1 * wrap(turn - angle(p_2 - p_1));
      joints(lower) += sign_2 * wrap(bend - (angle(p_3 - p_2) - angle(p_2 - p_1)));
      if (joints == clamped(joints) && !touches(joints)) return true;
    }
  }
  return false;
}

bool BaselineSampler::sweep(RandomStream& draw, Joints& joints) {
  proximity_->place(q_);
  Joints grasp = joints;
  std::vector<double> side;
  for (const Finger& arm : hand_->fingers) {
    // Mirrored: what follows is for the left one.
    side.push_back(origin(arm.geometries.back()).y() > object_position().y() ? 1.0 : -1.0);
    grasp(arm.commands[0]) = side.back() * pi / 2;
    grasp(arm.commands[1]) = grasp(arm.commands[2]) = 0;
  }
  const Joints open = clamped(grasp);
  for (std::size_t f = 0; f < hand_->fingers.size(); ++f) {
    const std::vector<int>& joint = hand_->fingers[f].commands;
    bool found = false;
    for (int k = 0; k < kSwept && !found; ++k) {
      Joints arm = open;
      arm(joint[1]) = side[f] * draw.uniform(-pi / 2, pi / 2);
      arm(joint[2]) = -side[f] * draw.uniform(0, pi / 2);
      if (touches(clamped(arm))) continue;
      // The first joint sweeps inwards in tenths, until something touches.
      const double first = arm(joint[0]), last = -side[f] * pi / 2;
      for (int step = 1; step <= kSweep && !found; ++step) {
        const double before = arm(joint[0]);
        arm(joint[0]) = first + (last - first) * step / kSweep;
        if (!touches(arm)) continue;
        found = close_joint(joint[0], before, arm(joint[0]), arm) &&
                close_joint(joint[1], arm(joint[1]), side[f] * pi / 2, arm);
        break;
      }
      for (const int u : joint) grasp(u) = arm(u);
    }
    if (!found) return false;
  }
  if (grasp != clamped(grasp) || touches(grasp)) return false;
  joints = grasp;
  return true;
}

bool BaselineSampler::close(RandomStream& draw, Joints& joints) {
  const Eigen::Index slides = joints.size() - kFingerJoints;
  joints.tail(kFingerJoints).setZero();
  joints(slides + 13) = pi / 2;
  if (slides > 0) {
    proximity_->place(q_);
    const int tip = hand_->fingers.front().geometries.front();
    Eigen::MatrixXd J;
    proximity_->point_rows(scene_->collision_world().geometries()[tip].body, origin(tip), J);
    Vector3d way = object_position() + offset_;
    for (double& entry : way) entry += draw.uniform(-kPalm, kPalm);
    joints.head(slides) = least_norm_solve(J.leftCols(slides), way);
  }
  joints = clamped(joints);
  Eigen::VectorXd motion = Eigen::VectorXd::Zero(joints.size()), q_next;
  motion.tail(kFingerJoints) = closing_motion(slides > 0, draw);
  set_joint_positions(*scene_, joints, q_);
  steps_->reset();
  for (int k = 0; k < (slides > 0 ? kClosingStepsOnSlides : kClosingSteps); ++k) {
    if (!steps_->step(q_, clamped(joint_positions(*scene_, q_) + motion), q_next)) return false;
    q_ = q_next;
  }
  joints = joint_positions(*scene_, q_);
  return true;
}

}  // namespace deft::planning
