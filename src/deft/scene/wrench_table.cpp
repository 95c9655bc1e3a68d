#include "deft/scene/wrench_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace deft::scene {
namespace {

/// A body by its name, "model::link" or "model/link"; of a model with one link its name alone. −1 if there is none.
int find_body(const std::string& name, const multibody::Model& model) {
  const int body = model.find_body(name);
  if (body >= 0) return body;
  for (const multibody::ModelInfo& info : model.models()) {
    if (info.name == name && info.bodies.size() == 1) return info.bodies.front();
  }
  return -1;
}

}  // namespace

double Wrench::share(double t, double h) const {
  // A time that equals the start of a step but for rounding is that start.
  const double tolerance = 1e-9 * std::max({1.0, std::abs(t), h});
  if (impulse) return from >= t - tolerance && from < t + h - tolerance ? 1 / h : 0.0;
  return std::max(0.0, std::min(to, t + h) - std::max(from, t)) / h;
}

std::vector<Wrench> resolve_wrenches(std::span<const WrenchSpec> specs, const multibody::Model& model,
                                     std::span<const Object> objects, Diagnostics& diagnostics) {
  std::vector<Wrench> wrenches;
  for (const WrenchSpec& spec : specs) {
    const int body = find_body(spec.body, model);
    if (body < 0) {
      std::vector<std::string> names;
      for (const multibody::BodyInfo& info : model.bodies()) names.push_back(info.name);
      diagnostics.error(spec.where,
                        fmt::format("wrenches: there is no body '{}'{}", spec.body, did_you_mean(spec.body, names)));
      continue;
    }
    const auto cols = model.columns(body);
    const auto frozen = std::find_if(objects.begin(), objects.end(), [&](const Object& o) {
      return o.frozen && o.model == model.bodies()[body].model;
    });
    if (cols.empty()) diagnostics.error(spec.where, fmt::format("wrenches: body '{}' cannot move", spec.body));
    if (frozen != objects.end())
      diagnostics.error(spec.where,
                        fmt::format("wrenches: body '{}' belongs to the frozen object '{}'", spec.body, frozen->name));
    if (!(spec.to >= spec.from))
      diagnostics.error(spec.where,
                        fmt::format("wrenches: 'to' ({} s) comes before 'from' ({} s)", spec.to, spec.from));
    wrenches.push_back({body, spec.force_W, spec.torque_W, spec.from, spec.to, spec.impulse});
  }
  return wrenches;
}

}  // namespace deft::scene
