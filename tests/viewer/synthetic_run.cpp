#include "synthetic_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synthetic_patches.hpp"
#include "synthetic_supports.hpp"
#include "synthetic_tracks.hpp"

namespace deft::viewer {
namespace {

using dynamics::ContactRecord;
using dynamics::ContactState;
using dynamics::StepRecord;
using nlohmann::json;

constexpr double kHalf = 0.05;    // half the edge of a box [m]
constexpr double kRadius = 0.02;  // of the fingertip [m]
constexpr double kStep = 0.05;    // h [s]
constexpr double kWeight = 4.9;   // of a box [N]
constexpr double kFriction = 0.5;

struct Box { double x, y, yaw; };

/// The finger comes nearer, touches at 0.3 of the motion, then pushes the first box 0.12 m; the other boxes stand
/// still.
double finger_x(double part) { return -0.2 + 0.25 * part; }
double push(double part) { return std::max(0.0, finger_x(part) + kRadius + kHalf); }

Box box_at(int i, double part) {
  if (i == 0) return {push(part), 0, 1.5 * push(part)};
  return {-0.12 + 0.13 * (i % 4), 0.16 + 0.14 * (i / 4), 0.3 * i};
}

std::array<double, 7> pose_of(const Box& box) {
  return {std::cos(box.yaw / 2), 0, 0, std::sin(box.yaw / 2), box.x, box.y, kHalf};
}

json scene_of(const SyntheticOptions& options) {
  const json identity = {1, 0, 0, 0, 0, 0, 0};
  auto shape = [&](json s, json extra = json::object()) {
    json g = {{"X_BG", identity}, {"shape", std::move(s)}};
    g.update(extra);
    return json::array({g});
  };
  json bodies = json::array();
  const json plane = shape({{"type", "half_space"}, {"normal", {0, 0, 1}}, {"offset", 0}});
  bodies.push_back({{"name", "world"}, {"role", "world"}, {"visuals", plane}, {"collisions", plane}});
  const json tip = shape({{"type", "capsule"}, {"radius", kRadius}, {"length", 0.12}});
  bodies.push_back({{"name", "finger"}, {"role", "robot"}, {"visuals", tip}, {"collisions", tip}});
  for (int i = 0; i < options.boxes; ++i) {
    const json cube = options.ball && i == 0
                          ? shape({{"type", "sphere"}, {"radius", kHalf}}, {{"rgba", {1, 0.5, 0, 1}}})
                          : shape({{"type", "box"}, {"size", {2 * kHalf, 2 * kHalf, 2 * kHalf}}});
    const std::string name = i == 0 ? options.box_name : fmt::format("{}_{}", options.box_name, i);
    bodies.push_back({{"name", name}, {"role", "object"}, {"visuals", cube}, {"collisions", cube}});
    if (options.supports) bodies.back()["limit_surface"] = limit_surface_of(i);
  }
  if (options.wall && options.supports) {
    const json side = shape({{"type", "half_space"}, {"normal", {0, 2, 0}}, {"offset", -0.14}});
    for (const char* part : {"visuals", "collisions"}) bodies[0][part] = side;
  } else if (options.wall) {
    json wall = shape({{"type", "box"}, {"size", {1.2, 0.02, 0.8}}}, {{"rgba", {0, 0.4, 0, 1}}});
    wall[0]["X_BG"] = {1, 0, 0, 0, 0.1, -0.3, 0.4};
    for (const char* part : {"visuals", "collisions"}) bodies[0][part].push_back(wall[0]);
  }
  json settings = {{"h", kStep}, {"model", "convex"},       {"cone", "cone"},
                   {"rays", 4},  {"contact_margin", 0.025}, {"kappa", nullptr}};
  if (options.smoothed) settings["kappa"] = 100;
  if (options.supports) settings["model"] = "limit-surface";
  if (options.patches) settings["model"] = "equivalent-contact-point";
  if (options.tracked) settings.update(json{{"replan", {0.01, 0.05}}, {"tolerance", {0.01, 0.1}}});
  const json goal = {{"name", "aside"}, {"bodies", {{{"body", 2}, {"X_WB", {0.92, 0, 0, 0.39, 0.2, 0, kHalf}}}}}};
  const json plane_of_motion = options.supports ? json("xy") : json(nullptr);
  return {
      {"name", "synthetic"}, {"plane", plane_of_motion}, {"settings", settings}, {"bodies", bodies}, {"goals", {goal}}};
}

ContactRecord table_contact(const SyntheticOptions& options, int i, int corner, const Box& box, bool slides) {
  const double sx = corner & 1 ? 1 : -1, sy = corner & 2 ? 1 : -1;
  const double c = std::cos(box.yaw), s = std::sin(box.yaw);
  ContactRecord contact{.a = 2 + i, .b = 0};
  contact.point_W = {box.x + kHalf * (c * sx - s * sy), box.y + kHalf * (s * sx + c * sy), 0};
  contact.normal_W = {0, 0, 1};
  contact.mu = kFriction;
  const double fn = kWeight / 4 * (1 - 0.3 * sx * slides);
  if (options.forces) contact.force_W = {slides ? -kFriction * fn : 0.1 * fn * sx, slides ? 0 : 0.1 * fn * sy, fn};
  contact.state = slides ? ContactState::kSlide : ContactState::kStick;
  return contact;
}

ContactRecord finger_contact(const SyntheticOptions& options, const Box& box, double gap) {
  ContactRecord contact{.a = 2, .b = 1};
  contact.point_W = {box.x - kHalf - gap / 2, 0, kHalf};
  contact.normal_W = {1, 0, 0};
  contact.gap = gap;
  contact.mu = kFriction;
  const bool touches = gap <= 1e-9;
  const double fn = touches ? 2.5 : options.smoothed ? 0.01 / gap : 0.0;
  if (options.forces) contact.force_W = {fn, touches ? 0.4 * kFriction * fn : 0, 0};
  contact.state = touches ? ContactState::kStick : ContactState::kOpen;
  return contact;
}

void add_contacts(const SyntheticOptions& options, double part, dynamics::Trajectory& run) {
  if (options.contacts) {
    for (int i = 0; i < options.boxes; ++i) {
      const Box box = box_at(i, part);
      for (int corner = 0; corner < 4; ++corner) {
        run.contacts.push_back(table_contact(options, i, corner, box, i == 0 && push(part) > 0));
      }
    }
    const Box box = box_at(0, part);
    // While pushing, a penetration of 0.2 mm now and then, as a linearised step leaves it.
    const double gap =
        push(part) > 0 ? (run.steps.size() % 10 == 9 ? -2e-4 : 0.0) : box.x - kHalf - kRadius - finger_x(part);
    if (gap < 0.025) run.contacts.push_back(finger_contact(options, box, gap));
  }
  run.contact_offset.push_back(run.contacts.size());
}

void add_frame(const SyntheticOptions& options, double t, double part, dynamics::Trajectory& run) {
  run.t.push_back(t);
  std::vector<std::array<double, 7>> poses = {{1, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, finger_x(part), 0, kHalf + 0.04}};
  for (int i = 0; i < options.boxes; ++i) poses.push_back(pose_of(box_at(i, part)));
  run.q.push_back({finger_x(part)});
  for (std::size_t b = 2; b < poses.size(); ++b)
    run.q.back().insert(run.q.back().end(), poses[b].begin(), poses[b].end());
  run.X_WB.push_back(std::move(poses));
}

/// At frame k the first box goes 2 cm + 1 mm k along x and half of it along y, and turns by 0.2 rad about z; at node n
/// it goes 5 cm along all axes and turns about none.
SearchTree::Reachable reachable_of(const SearchTree& tree, const SyntheticOptions& options) {
  SearchTree::Reachable sets{.radius = 0.3, .kappa = 100, .bodies = {2}};
  const auto add = [&](int frame, int node, const std::array<double, 7>& X_WB, double x, double y, double z,
                       double turn) {
    sets.places.push_back({frame, node});
    for (int point = 0; point < 2; ++point) {
      for (std::size_t i = 4; i < 7; ++i) sets.ellipsoids.push_back(static_cast<float>(X_WB[i]));
    }
    for (const double number : {x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z, 0.0, 0.0, turn, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0})
      sets.ellipsoids.push_back(static_cast<float>(number));
  };
  for (int k = 0; k <= options.steps; ++k) {
    const double reach = 0.02 + 1e-3 * k;
    add(k, -1, pose_of(box_at(0, options.steps == 0 ? 0 : static_cast<double>(k) / options.steps)), reach, reach / 2, 0,
        0.2);
  }
  const std::size_t row = tree.X_WB.size() / tree.nodes.size();
  for (std::size_t n = 0; n + 1 < tree.nodes.size(); ++n) {
    std::array<double, 7> X_WB{};
    for (std::size_t i = 0; i < 7; ++i) X_WB[i] = tree.X_WB[n * row + 14 + i];
    add(-1, static_cast<int>(n), X_WB, 0.05, 0.05, 0.05, 0);
  }
  return sets;
}

/// Transit, roll-out, transit, roll-out along the motion are the plan; the other nodes push the first box aside, from
/// the first roll-out or from the root in turn.
SearchTree tree_of(const SyntheticOptions& options, std::size_t bodies) {
  SearchTree tree{.goal = "aside", .success = {}};
  const auto add = [&](int parent, int kind, Box box, double part) {
    const std::array<double, 7> finger = {1, 0, 0, 0, finger_x(part), box.y, kHalf + 0.04};
    const SearchTree::Node from = parent < 0 ? SearchTree::Node{} : tree.nodes[parent];
    tree.nodes.push_back({.parent = parent,
                          .kind = static_cast<std::uint8_t>(kind),
                          .regrasps = from.regrasps + (kind == 1),
                          .distance_m = std::hypot(0.2 - box.x, box.y),
                          .cost_s = from.cost_s + (kind != 0) + (kind == 1),
                          .time_s = 0.01 * static_cast<double>(tree.nodes.size())});
    for (std::size_t b = 0; b < bodies; ++b) {
      const int i = static_cast<int>(b) - 2;
      const std::array<double, 7> pose = b == 0   ? std::array<double, 7>{1, 0, 0, 0, 0, 0, 0}
                                         : b == 1 ? finger
                                                  : pose_of(i == 0 ? box : box_at(i, part));
      tree.X_WB.insert(tree.X_WB.end(), pose.begin(), pose.end());
    }
    return static_cast<int>(tree.nodes.size()) - 1;
  };
  add(-1, 0, box_at(0, 0), 0);
  for (int k = 1; k <= 4; ++k) add(k - 1, k % 2 == 1 ? 1 : 2, box_at(0, k / 4.0), k / 4.0);
  for (int k = 0; k < options.twigs; ++k) {
    const int parent = k % 2 == 0 ? 2 : 0;
    const double part = k % 2 == 0 ? 0.5 : 0, angle = 2.4 * k;
    const int grasp = add(parent, 1, box_at(0, part), part);
    add(grasp, 2, {push(part) + 0.08 * std::cos(angle), 0.08 * std::sin(angle), 0.3 * angle}, part);
  }
  const int steps = options.steps;
  if (options.reachable) tree.reachable = reachable_of(tree, options);
  if (!options.planned) return tree;
  tree.success = true;
  for (int k = 1; k <= 4; ++k) tree.segments.push_back({steps * (k - 1) / 4, steps * k / 4, k % 2 == 1, k});
  return tree;
}

/// Plans over 4 stages: the finger goes 2 cm along x per stage, the first box too once it is touched. Rows: box –
/// finger, which opens at stage 1, sticks at 2, slides at 3 and 4, and a limit of the finger, open. Steps 20 to 22 have
/// no plan; step 30 hit its time limit.
void add_plans(dynamics::Trajectory& run) {
  using Kind = dynamics::HorizonPair::Kind;
  run.horizon = 4;
  run.names_x = {"finger/x", "finger/x rate"};
  run.names_v = {"finger/x"};
  const std::size_t bodies = run.names_bodies.size();
  for (int k = 0; k < run.num_steps(); ++k) {
    const bool lost = k >= 20 && k < 23;
    const double nothing = std::nan("");
    dynamics::HorizonRecord plan{.cost = lost ? HUGE_VAL : 100.0 - k,
                                 .bound = k == 30 ? 50.0 : 100.0 - k,
                                 .gap = lost      ? HUGE_VAL
                                        : k == 30 ? 0.3
                                                  : 1e-9,
                                 .nodes = 7,
                                 .time_s = 0.002,
                                 .status = lost      ? 2
                                           : k == 30 ? 3
                                                     : 0,
                                 .fallback = lost};
    for (int stage = 0; stage <= 4; ++stage) {
      for (std::size_t b = 0; b < bodies; ++b) {
        std::array<double, 7> X = run.X_WB[k][b];
        if (b == 1 || (b == 2 && k >= 18)) X[4] += 0.02 * stage;
        for (const double x : X) plan.X_WB.push_back(lost ? nothing : x);
      }
    }
    plan.x.assign(10, lost ? nothing : 0.1);
    plan.u.assign(4, lost ? nothing : 0.2);
    plan.pairs = {{Kind::kNormal, 2, 1, 0},
                  {Kind::kFriction, 2, 1, 0},
                  {Kind::kFriction, 2, 1, 1},
                  {Kind::kSlip, 2, 1, 0},
                  {Kind::kLimit, 0, -1, 1}};
    plan.gamma = {0, 1, 1, 1, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 0.1, 0.1, 0, 0, 0, 0};
    plan.slack = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.2, 0, 0, 1, 1, 1, 1};
    if (lost) plan.gamma.assign(20, nothing);
    if (lost) plan.slack.assign(20, nothing);
    run.horizons.push_back(plan);
  }
}

}  // namespace

SyntheticRun make_synthetic_run(const SyntheticOptions& options) {
  SyntheticRun made{.scene_json = scene_of(options).dump(), .trajectory = {}, .tree = {}};
  dynamics::Trajectory& run = made.trajectory;
  run.names_q = {"finger/x"};
  run.names_u = {"finger/x"};
  if (!options.supports) run.u_index_q = {0};
  run.names_bodies = {"world", "finger"};
  for (int i = 0; i < options.boxes; ++i) {
    const std::string name = i == 0 ? options.box_name : fmt::format("{}_{}", options.box_name, i);
    run.names_bodies.push_back(name);
    for (const char* c : {"qw", "qx", "qy", "qz", "x", "y", "z"}) run.names_q.push_back(name + "/" + c);
  }
  run.status_words = {"Solved", "NotUnique", "Infeasible", "IterationLimit", "RayTermination"};
  add_frame(options, 0, 0, run);
  for (int k = 0; k < options.steps; ++k) {
    const double part = (k + 1.0) / options.steps;
    add_frame(options, (k + 1) * kStep, part, run);
    run.u.push_back({options.supports ? 0.1 : finger_x(part) + 0.01 * part});  // [m/s], or [m]
    StepRecord step{.residual = std::pow(10.0, -10 + std::sin(0.7 * k)),
                    .iterations = 8 + k % 5,
                    .solve_us = 80 + 20 * std::sin(0.3 * k)};
    if (options.failed_step >= 0 && (k == options.failed_step || k == options.failed_step + 1)) {
      step.status = 3;
      step.residual = 1e-3;
    }
    add_contacts(options, part, run);
    run.steps.push_back(step);
  }
  if (options.supports) add_supports(18, run);
  if (options.patches) add_patches(run);
  if (options.control) add_plans(run);
  if (options.tracked) add_tracks(run);
  if (options.twigs >= 0) made.tree = tree_of(options, run.names_bodies.size());
  return made;
}

Explanation synthetic_explanation(const dynamics::Trajectory& run) {
  Explanation explanation{.status = "TimeLimit",
                          .reasons = {{"drift", 30, 0.75, "objects moved by more than 0.001 m", "plan.drift_m"},
                                      {"time", 40, 0.25, "60 s are over", "plan.time_limit_s (--time-limit)"}},
                          .tries = {"drift", "drift"},
                          .X_WB = {}};
  for (const double lift : {0.1, 0.2}) {
    for (std::array<double, 7> pose : run.X_WB.front()) {
      pose[6] += lift;
      for (const double x : pose) explanation.X_WB.push_back(static_cast<float>(x));
    }
  }
  return explanation;
}

}  // namespace deft::viewer
