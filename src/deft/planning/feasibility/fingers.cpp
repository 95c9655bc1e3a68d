#include "deft/planning/feasibility/fingers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace deft::planning {
namespace {

/// Σ |m g| over the objects of the goal; where joints carry an object, nothing.
double weight_of(const scene::Scene& scene, const Goal& goal) {
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  Eigen::VectorXd force;
  scene.model().gravity_force(state.kinematics, scene.spec().gravity_W, force);
  double sum = 0;
  for (const scene::Object& object : scene.objects()) {
    const int last = object.first_v + object.nv;
    const auto is_of_it = [&](int row) { return row >= object.first_v && row < last; };
    if (std::none_of(goal.rows().begin(), goal.rows().end(), is_of_it)) continue;
    double squared = 0;
    for (int v = object.first_v; v < last; ++v)
      squared += scene.model().velocities()[v].unit == "m" ? force(v) * force(v) : 0;
    sum += std::sqrt(squared);
  }
  return sum;
}

/// The commands that move each geometry, ascending; none for geometries of objects and of the world.
std::vector<std::vector<int>> commands_of_geometries(const scene::Scene& scene) {
  const auto geometries = scene.collision_world().geometries();
  const auto shares = scene.command_shares();
  std::vector<std::vector<int>> movers(geometries.size());
  for (std::size_t g = 0; g < geometries.size(); ++g) {
    if (geometries[g].body <= 0) continue;
    for (const int v : scene.model().columns(geometries[g].body)) {
      if (shares[v].command >= 0) movers[g].push_back(shares[v].command);
    }
    std::sort(movers[g].begin(), movers[g].end());
    movers[g].erase(std::unique(movers[g].begin(), movers[g].end()), movers[g].end());
  }
  return movers;
}

/// The fingers: sets of commands that move a geometry and are in no larger one.
std::vector<Finger> find_fingers(const std::vector<std::vector<int>>& movers) {
  const auto contains = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::includes(a.begin(), a.end(), b.begin(), b.end());
  };
  std::vector<Finger> fingers;
  for (const std::vector<int>& chain : movers) {
    const bool is_finger = !chain.empty() && std::none_of(movers.begin(), movers.end(), [&](const auto& other) {
      return other != chain && contains(other, chain);
    });
    const bool is_known =
        std::any_of(fingers.begin(), fingers.end(), [&](const Finger& f) { return f.commands == chain; });
    if (is_finger && !is_known) fingers.push_back({chain, {}});
  }
  for (Finger& finger : fingers) {
    for (std::size_t g = 0; g < movers.size(); ++g) {
      if (!movers[g].empty() && contains(finger.commands, movers[g])) finger.geometries.push_back(static_cast<int>(g));
    }
    // The more joints move it, the nearer to the tip; of one link the last in the file first.
    std::stable_sort(finger.geometries.begin(), finger.geometries.end(), [&](int a, int b) {
      return movers[a].size() != movers[b].size() ? movers[a].size() > movers[b].size() : a > b;
    });
  }
  return fingers;
}

/// Geometries that can be touched, and the share of their area up to each of them.
struct Surfaces {
  std::vector<int> geometries;
  std::vector<double> share;  // ascending to 1
};

/// The surfaces of the objects that the goal names.
Surfaces find_surfaces(const scene::Scene& scene, const Goal& goal) {
  std::vector<char> is_goal(scene.nv(), 0);
  for (const int row : goal.rows()) is_goal[row] = 1;
  const auto geometries = scene.collision_world().geometries();
  Surfaces found;
  double area = 0;
  for (std::size_t g = 0; g < geometries.size(); ++g) {
    if (geometries[g].body <= 0) continue;
    const auto columns = scene.model().columns(geometries[g].body);
    const bool is_object = std::any_of(columns.begin(), columns.end(), [&](int v) { return is_goal[v] != 0; });
    const double its = scene.collision_world().surface_area(static_cast<int>(g));
    if (!is_object || !std::isfinite(its)) continue;
    area += its;
    found.geometries.push_back(static_cast<int>(g));
    found.share.push_back(area);
  }
  // Points have no area: each as likely as the others.
  for (std::size_t i = 0; i < found.share.size(); ++i)
    found.share[i] = area > 0 ? found.share[i] / area : double(i + 1) / double(found.share.size());
  return found;
}

/// @throws InputError for the first joint that does not stand within its limits, up to rounding, at the scene's start.
void require_within_limits(const scene::Scene& scene, const Hand& hand) {
  constexpr double kRounding = 1e-9;
  for (int u = 0; u < scene.nu(); ++u) {
    if (hand.home(u) >= hand.lower(u) - kRounding && hand.home(u) <= hand.upper(u) + kRounding) continue;
    const multibody::VelocityInfo& joint = scene.model().velocities()[scene.actuated()[u]];
    const std::string model = joint.name.substr(0, joint.name.find('/'));
    const scene::ConfigurationSpec* start = scene.start();
    SourceLocation where{scene.spec().file, 0, 0};
    if (start != nullptr && start->models.contains(model)) where = start->models.at(model).where;
    throw InputError(
        where,
        fmt::format("{}.{}.{}: must be within the limits of the joint, {} to {} {}, for planning; got {}",
                    start == nullptr ? "default configuration" : "configurations." + start->name, model,
                    joint.name.substr(model.size() + 1), hand.lower(u), hand.upper(u), joint.unit, hand.home(u)));
  }
}

}  // namespace

Hand::Hand(const scene::Scene& scene, const Goal& goal) {
  movers = commands_of_geometries(scene);
  fingers = find_fingers(movers);
  if (fingers.empty())
    throw InputError({scene.spec().file, 0, 0}, "planning needs a robot whose joints move a collision geometry");
  Surfaces found = find_surfaces(scene, goal);
  if (found.geometries.empty())
    throw InputError({scene.spec().file, 0, 0}, "no object of the goal has a collision geometry that can be touched");
  surfaces = std::move(found.geometries);
  share = std::move(found.share);

  // The limits of joint targets are those of the joints.
  lower.resize(scene.nu());
  upper.resize(scene.nu());
  for (int u = 0; u < scene.nu(); ++u) {
    const multibody::VelocityInfo& joint = scene.model().velocities()[scene.actuated()[u]];
    lower(u) = joint.lower;
    upper(u) = joint.upper;
  }
  for (const multibody::Coupling& coupling : scene.model().couplings()) {
    const int u = scene.command_shares()[coupling.v].command;
    if (u < 0 || coupling.ratio == 0) continue;
    const multibody::VelocityInfo& joint = scene.model().velocities()[coupling.v];
    const double a = (joint.lower - coupling.offset) / coupling.ratio;
    const double b = (joint.upper - coupling.offset) / coupling.ratio;
    lower(u) = std::max(lower(u), std::min(a, b));
    upper(u) = std::min(upper(u), std::max(a, b));
  }
  home = joint_positions(scene, scene.initial_configuration());
  stiffness.resize(scene.nu());
  for (const scene::Robot& robot : scene.robots()) stiffness.segment(robot.first_u, robot.nu) = robot.stiffness;
  weight_N = weight_of(scene, goal);
  require_within_limits(scene, *this);
}

int Hand::draw_surface(RandomStream& draw) const {
  const auto it = std::lower_bound(share.begin(), share.end(), draw.uniform());
  return surfaces[std::min(it, share.end() - 1) - share.begin()];
}

std::vector<int> Hand::all_fingers() const {
  std::vector<int> all(fingers.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<char> Hand::commands_of(const std::vector<int>& chosen) const {
  std::vector<char> moves(home.size(), 0);
  for (const int f : chosen) {
    for (const int u : fingers[f].commands) moves[u] = 1;
  }
  for (std::size_t f = 0; f < fingers.size(); ++f) {
    if (std::find(chosen.begin(), chosen.end(), static_cast<int>(f)) != chosen.end()) continue;
    for (const int u : fingers[f].commands) moves[u] = 0;
  }
  return moves;
}

Eigen::VectorXd joint_positions(const scene::Scene& scene, const Eigen::VectorXd& q) {
  Eigen::VectorXd joints(scene.nu());
  for (int u = 0; u < scene.nu(); ++u) joints(u) = q(scene.command_coordinates()[u]);
  return joints;
}

void set_joint_positions(const scene::Scene& scene, const Eigen::VectorXd& joints, Eigen::VectorXd& q) {
  for (int u = 0; u < scene.nu(); ++u) q(scene.command_coordinates()[u]) = joints(u);
  for (const multibody::Coupling& coupling : scene.model().couplings())
    if (scene.command_shares()[coupling.v].command >= 0) q(coupling.q) = coupling.at(q);
}

}  // namespace deft::planning
