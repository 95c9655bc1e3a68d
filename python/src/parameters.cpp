#include "parameters.hpp"

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

}  // namespace deft::python
