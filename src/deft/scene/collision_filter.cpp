#include "deft/scene/collision_filter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "deft/scene/friction_table.hpp"

namespace deft::scene {
namespace {

/// Body indices of every filter group, groups of groups resolved.
std::map<std::string, std::set<int>> resolve_groups(const WorldSpec& spec, const multibody::Model& model,
                                                    Diagnostics& diagnostics) {
  std::vector<std::string> body_names, group_names;
  for (const auto& body : model.bodies()) body_names.push_back(body.name);
  for (const auto& group : spec.filter_groups) group_names.push_back(group.name);

  std::map<std::string, std::set<int>> bodies;
  for (const FilterGroupSpec& group : spec.filter_groups) {
    std::set<int>& members = bodies[group.name];
    for (const std::string& member : group.members) {
      const int body = model.find_body(member);
      if (body < 0) {
        diagnostics.error(group.where, fmt::format("add_collision_filter_group '{}': there is no body '{}'{}",
                                                   group.name, member, did_you_mean(member, body_names)));
      } else {
        members.insert(body);
      }
    }
  }
  // Groups of groups: as many passes as there are groups reach a fixed point.
  for (std::size_t pass = 0; pass < spec.filter_groups.size(); ++pass) {
    for (const FilterGroupSpec& group : spec.filter_groups) {
      for (const std::string& other : group.member_groups) {
        if (!bodies.count(other)) {
          if (pass == 0) {
            diagnostics.error(group.where, fmt::format("add_collision_filter_group '{}': there is no group '{}'{}",
                                                       group.name, other, did_you_mean(other, group_names)));
          }
          continue;
        }
        bodies[group.name].insert(bodies[other].begin(), bodies[other].end());
      }
    }
  }
  return bodies;
}

}  // namespace

std::vector<unsigned char> allowed_pairs(const WorldSpec& spec, const multibody::Model& model,
                                         std::span<const collision::GeometryDescription> geometries,
                                         Diagnostics& diagnostics) {
  const auto bodies = model.bodies();
  const std::size_t nb = bodies.size();
  std::vector<unsigned char> bodies_allowed(nb * nb, 1);
  const auto forbid = [&](int a, int b) { bodies_allowed[a * nb + b] = bodies_allowed[b * nb + a] = 0; };

  std::vector<char> keeps_to_itself(model.models().size(), 0);
  for (const RobotSpec& robot : spec.robots) {
    for (std::size_t m = 0; m < model.models().size(); ++m) {
      if (model.models()[m].name == robot.name && !robot.self_collision) keeps_to_itself[m] = 1;
    }
  }
  std::map<int, std::vector<int>> groups;
  for (std::size_t i = 0; i < nb; ++i) groups[bodies[i].weld_group].push_back(static_cast<int>(i));
  for (std::size_t a = 0; a < nb; ++a) {
    for (std::size_t b = a; b < nb; ++b) {
      const bool same_group = bodies[a].weld_group == bodies[b].weld_group;
      const bool same_robot =
          bodies[a].model >= 0 && bodies[a].model == bodies[b].model && keeps_to_itself[bodies[a].model];
      if (same_group || same_robot) forbid(static_cast<int>(a), static_cast<int>(b));
    }
    // Bodies joined by one joint, with what is welded to them; the world itself is not a neighbour.
    const int parent = bodies[a].parent;
    if (parent > 0 && bodies[parent].weld_group != bodies[a].weld_group) {
      forbid(static_cast<int>(a), parent);
      if (bodies[parent].weld_group == 0) continue;
      for (int own : groups[bodies[a].weld_group]) {
        for (int other : groups[bodies[parent].weld_group]) forbid(own, other);
      }
    }
  }
  const auto filter_groups = resolve_groups(spec, model, diagnostics);
  for (const FilterGroupSpec& group : spec.filter_groups) {
    for (const std::string& ignored : group.ignored) {
      const auto other = filter_groups.find(ignored);
      if (other == filter_groups.end()) {
        std::vector<std::string> names;
        for (const auto& [name, members] : filter_groups) names.push_back(name);
        diagnostics.error(group.where, fmt::format("add_collision_filter_group '{}': ignored group '{}' not found{}",
                                                   group.name, ignored, did_you_mean(ignored, names)));
        continue;
      }
      for (int a : filter_groups.at(group.name)) {
        for (int b : other->second) forbid(a, b);
      }
    }
  }

  const std::size_t n = geometries.size();
  std::vector<unsigned char> allowed(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      allowed[i * n + j] = i != j && bodies_allowed[geometries[i].body * nb + geometries[j].body];
  }
  return allowed;
}

}  // namespace deft::scene
