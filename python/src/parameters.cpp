#include "parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "deft/core/index.hpp"

namespace deft::python {
namespace {

using Kind = dynamics::Parameter::Kind;

void add_friction(const scene::Scene& scene, std::vector<NamedParameter>& out) {
  const auto& world = scene.collision_world();
  const auto geometries = world.geometries();
  std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> pairs;  // of geometries, by bodies
  const auto count = static_cast<int>(geometries.size());
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      if (!world.may_touch(a, b) || scene.friction(a, b).frictionless) continue;
      const int body_a = geometries[to_size(a)].body, body_b = geometries[to_size(b)].body;
      pairs[std::minmax(body_a, body_b)].emplace_back(a, b);
    }
  }
  const std::vector<std::string> bodies = scene.names_bodies();
  const auto parameter = [](const std::pair<int, int>& pair) {
    return dynamics::Parameter{Kind::kFriction, pair.first, pair.second};
  };
  for (const auto& [of, shapes] : pairs) {
    const double mu = scene.friction(shapes.front().first, shapes.front().second).mu;
    const bool is_one = std::all_of(shapes.begin(), shapes.end(), [&](const std::pair<int, int>& pair) {
      return scene.friction(pair.first, pair.second).mu == mu;
    });
    if (is_one) {
      NamedParameter one{"mu:" + bodies[to_size(of.first)] + "|" + bodies[to_size(of.second)], mu, {}};
      for (const auto& pair : shapes) one.of.push_back(parameter(pair));
      out.push_back(std::move(one));
      continue;
    }
    for (const auto& pair : shapes)
      out.push_back({"mu:" + geometries[to_size(pair.first)].name + "|" + geometries[to_size(pair.second)].name,
                     scene.friction(pair.first, pair.second).mu,
                     {parameter(pair)}});
  }
}

/// The name of a body in `friction: pairs:`.
std::string pattern(const scene::Scene& scene, int body) {
  const multibody::BodyInfo& info = scene.model().bodies()[to_size(body)];
  if (info.model < 0 || scene.model().models()[to_size(info.model)].inline_body) return info.name;
  return scene.model().models()[to_size(info.model)].name + "::" + info.link;
}

void set_friction(const scene::Scene& scene, const NamedParameter& parameter, double mu, scene::SceneSpec& spec) {
  if (!(mu >= 0))
    throw InputError({}, fmt::format("{}: {} is no coefficient of friction; valid: 0 or more", parameter.name, mu));
  const auto geometries = scene.collision_world().geometries();
  const dynamics::Parameter& first = parameter.of.front();
  const int a = geometries[to_size(first.index)].body, b = geometries[to_size(first.second)].body;
  if (parameter.name !=
      "mu:" + scene.names_bodies()[to_size(std::min(a, b))] + "|" + scene.names_bodies()[to_size(std::max(a, b))])
    throw InputError(
        {}, fmt::format("{}: the shapes of these two bodies differ in friction; it can be changed in the scene only",
                        parameter.name));
  spec.friction.pairs.push_back({.between = {pattern(scene, a), pattern(scene, b)}, .mu = mu});
}

void set_mass(const scene::Scene& scene, const NamedParameter& parameter, double mass, scene::SceneSpec& spec) {
  if (!(mass > 0)) throw InputError({}, fmt::format("{}: {} kg is no mass; valid: above 0", parameter.name, mass));
  const scene::Object& object = scene.objects()[to_size(parameter.of.front().index)];
  const double scale = mass / object.mass;
  for (const int body : object.bodies) {
    for (multibody::LinkSpec& link : spec.world.models[to_size(object.model)].links) {
      if (link.name != scene.model().bodies()[to_size(body)].link || !link.inertial) continue;
      link.inertial->mass *= scale;
      link.inertial->I_Com_L *= scale;
    }
  }
}

void set_stiffness(const scene::Scene& scene, const NamedParameter& parameter, double stiffness,
                   scene::SceneSpec& spec) {
  const int command = parameter.of.front().index;
  for (const scene::Robot& robot : scene.robots()) {
    if (command < robot.first_u || command >= robot.first_u + robot.nu) continue;
    for (scene::RobotSpec& stated : spec.robots) {
      if (stated.name != robot.name) continue;
      if (stated.stiffness.list.empty()) {
        stated.stiffness = {.list = {robot.stiffness.begin(), robot.stiffness.end()}, .where = stated.where};
      }
      stated.stiffness.list[to_size(command - robot.first_u)] = stiffness;
    }
  }
}

}  // namespace

std::vector<NamedParameter> parameters_of(const scene::Scene& scene) {
  std::vector<NamedParameter> out;
  add_friction(scene, out);
  for (std::size_t i = 0; i < scene.objects().size(); ++i) {
    const scene::Object& object = scene.objects()[i];
    if (!object.frozen && !object.is_base)
      out.push_back({"mass:" + object.name, object.mass, {{Kind::kMass, static_cast<int>(i)}}});
  }
  const std::vector<std::string> joints = scene.names_u();
  for (const scene::Robot& robot : scene.robots()) {
    if (robot.drive != scene::Drive::kPosition) continue;
    for (int i = 0; i < robot.nu; ++i)
      if (robot.stiffness(i) > 0)
        out.push_back({"stiffness:" + joints[to_size(robot.first_u + i)],
                       robot.stiffness(i),
                       {{Kind::kStiffness, robot.first_u + i}}});
  }
  out.push_back({"h", scene.settings().step.h.value_or(0), {{Kind::kStepLength}}});
  out.push_back({"kappa", scene.settings().step.kappa, {{Kind::kKappa}}});
  return out;
}

namespace {

/// The friction of the same pair: "mu:b|a" of "mu:a|b"; other names as they are.
std::string swapped(const std::string& name) {
  const std::size_t bar = name.find('|');
  if (!name.starts_with("mu:") || bar == std::string::npos) return name;
  return "mu:" + name.substr(bar + 1) + "|" + name.substr(3, bar - 3);
}

}  // namespace

scene::Scene with_parameters(const scene::Scene& scene, const std::map<std::string, double>& values) {
  const std::vector<NamedParameter> all = parameters_of(scene);
  scene::SceneSpec spec = scene.description();
  for (const auto& [name, value] : values) {
    const std::string other = swapped(name);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const NamedParameter& p) { return p.name == name || p.name == other; });
    if (found == all.end()) {
      std::vector<std::string> names;
      for (const NamedParameter& parameter : all) names.push_back(parameter.name);
      throw InputError({}, fmt::format("params: there is no '{}'{}", name, did_you_mean(name, names)));
    }
    if (other != name && values.contains(other))
      throw InputError({}, fmt::format("params: '{}' and '{}' are the same pair", name, other));
    switch (found->of.front().kind) {
      case Kind::kFriction:
        set_friction(scene, *found, value, spec);
        break;
      case Kind::kMass:
        set_mass(scene, *found, value, spec);
        break;
      case Kind::kStiffness:
        set_stiffness(scene, *found, value, spec);
        break;
      case Kind::kStepLength:
        spec.step.h = value;
        break;
      default:
        spec.step.kappa = value;
    }
  }
  Diagnostics repeated;  // was said when the scene was built
  return scene::Scene::build(std::move(spec), repeated);
}

}  // namespace deft::python
