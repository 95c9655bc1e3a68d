#include "deft/scene/collision_filter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "deft/scene/configuration.hpp"
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

/// What the files say of geometries, beside the bodies that they belong to.
class FileRules {
 public:
  /// Lists the geometries in the order of the models' links, as `geometries` are.
  explicit FileRules(const WorldSpec& spec) : index_(geometries_by_name(spec)) {
    for (const multibody::ModelSpec& model : spec.world.models)
      for (const multibody::LinkSpec& link : model.links)
        for (const multibody::GeometrySpec& geometry : link.collisions) geometries_.push_back(&geometry);
  }

  /// Whether a contact type of one is among the affinities of the other.
  bool may_touch(std::size_t a, std::size_t b) const {
    return (geometries_[a]->contact_type & geometries_[b]->contact_affinity) != 0 ||
           (geometries_[b]->contact_type & geometries_[a]->contact_affinity) != 0;
  }
  /// The geometry of a pair, or −1 after an error.
  int find(const multibody::ModelSpec& model, const multibody::GeometryPairSpec& pair, int side,
           Diagnostics& diagnostics) const {
    const auto found = index_.find(model.name + "/" + pair.geometries[side]);
    if (found != index_.end()) return found->second;
    diagnostics.error(pair.where,
                      fmt::format("<pair>: there is no geometry '{}' that collides", pair.geometries[side]));
    return -1;
  }

 private:
  std::map<std::string, int> index_;
  std::vector<const multibody::GeometrySpec*> geometries_;
};

/// Whether a free body of a model comes without joints: not of the robot, an object beside it.
bool is_brought_along(const multibody::Model& model, int body) {
  const auto columns = model.columns(body);
  const multibody::ModelInfo& info = model.models()[model.bodies()[body].model];
  const JointRange joints = joint_range(info);
  if (columns.empty() || columns.front() < info.first_v || columns.front() >= joints.first_v) return false;
  return std::none_of(info.bodies.begin(), info.bodies.end(), [&](int other) {
    const auto others = model.columns(other);
    return !others.empty() && others.front() == columns.front() && others.back() >= joints.first_v;
  });
}

/// The body that a model's file calls so: a link, or its worldbody; −1 if there is none.
int body_of(const multibody::ModelSpec& spec, const std::string& link, const multibody::Model& model) {
  return model.find_body(spec.name + "/" + (link == "world" ? "worldbody" : link));
}

}  // namespace

std::vector<unsigned char> allowed_pairs(const WorldSpec& spec, const multibody::Model& model,
                                         std::span<const collision::GeometryDescription> geometries,
                                         Diagnostics& diagnostics) {
  const auto bodies = model.bodies();
  const std::size_t nb = bodies.size();
  std::vector<unsigned char> bodies_allowed(nb * nb, 1);
  const auto forbid = [&](int a, int b) { bodies_allowed[a * nb + b] = bodies_allowed[b * nb + a] = 0; };

  std::vector<char> keeps_to_its_model(nb, 0);
  for (const RobotSpec& robot : spec.robots) {
    for (const multibody::ModelInfo& info : model.models()) {
      if (info.name != robot.name || robot.self_collision) continue;
      for (const int body : info.bodies) keeps_to_its_model[body] = !is_brought_along(model, body);
    }
  }
  std::map<int, std::vector<int>> groups;
  for (std::size_t i = 0; i < nb; ++i) groups[bodies[i].weld_group].push_back(static_cast<int>(i));
  for (std::size_t a = 0; a < nb; ++a) {
    for (std::size_t b = a; b < nb; ++b) {
      const bool same_group = bodies[a].weld_group == bodies[b].weld_group;
      const bool same_robot =
          bodies[a].model == bodies[b].model && keeps_to_its_model[a] != 0 && keeps_to_its_model[b] != 0;
      if (same_group || same_robot) forbid(static_cast<int>(a), static_cast<int>(b));
    }
    // Bodies joined by one joint, with what is welded to them; the world itself is not a neighbour.
    const int parent = bodies[a].parent;
    if (parent > 0 && bodies[parent].weld_group != bodies[a].weld_group) {
      const int m = bodies[a].model;
      const bool touches_base = m >= 0 && spec.world.models[m].collides_with_base && bodies[parent].model == m;
      if (bodies[parent].weld_group != 0 || !touches_base) forbid(static_cast<int>(a), parent);
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

  for (const multibody::ModelSpec& of : spec.world.models) {
    for (const multibody::ExcludedPairSpec& pair : of.excluded) {
      const int a = body_of(of, pair.links[0], model), b = body_of(of, pair.links[1], model);
      if (a >= 0 && b >= 0) forbid(a, b);
    }
  }

  const FileRules rules(spec);
  const std::size_t n = geometries.size();
  std::vector<unsigned char> allowed(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      allowed[i * n + j] =
          i != j && bodies_allowed[geometries[i].body * nb + geometries[j].body] && rules.may_touch(i, j);
  }
  for (const multibody::ModelSpec& of : spec.world.models) {
    for (const multibody::GeometryPairSpec& pair : of.pairs) {
      const int a = rules.find(of, pair, 0, diagnostics), b = rules.find(of, pair, 1, diagnostics);
      if (a < 0 || b < 0) continue;
      if (bodies[geometries[a].body].weld_group == bodies[geometries[b].body].weld_group) continue;
      allowed[a * n + b] = allowed[b * n + a] = 1;
    }
  }
  return allowed;
}

}  // namespace deft::scene
