#include "deft/scene/friction_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace deft::scene {
namespace {

std::uint64_t key(int a, int b) {
  return (static_cast<std::uint64_t>(std::min(a, b)) << 32) | static_cast<std::uint32_t>(std::max(a, b));
}

// Equal coefficients come out as they are, without rounding.
double combine(double mu_a, double mu_b) {
  if (mu_a == mu_b) return mu_a;
  return mu_a + mu_b > 0 ? 2 * mu_a * mu_b / (mu_a + mu_b) : 0.0;
}

double coefficient(const multibody::GeometrySpec& geometry, const std::string& name, const FrictionSpec& friction,
                   Diagnostics& diagnostics) {
  double mu = friction.fallback;
  if (geometry.mu_static || geometry.mu_dynamic) {
    const double mu_static = geometry.mu_static.value_or(geometry.mu_dynamic.value_or(0));
    const double mu_dynamic = geometry.mu_dynamic.value_or(mu_static);
    mu = friction.prefer_static ? mu_static : mu_dynamic;
    if (mu_static != mu_dynamic && friction.warn_missing) {
      diagnostics.warning(
          geometry.where,
          fmt::format("{}: static and dynamic friction differ ({} and {}); deft has one coefficient and takes {}", name,
                      mu_static, mu_dynamic, mu));
    }
  } else if (geometry.mu) {
    mu = *geometry.mu;
  } else if (friction.warn_missing) {
    diagnostics.warning(geometry.where, fmt::format("{} states no friction coefficient; {} is taken", name, mu),
                        fmt::format("geometries state no friction coefficient; {} is taken", mu));
  }
  if (!(mu >= 0) || !std::isfinite(mu)) {
    diagnostics.error(geometry.where,
                      fmt::format("{}: friction coefficient {} must be finite and not negative", name, mu));
    mu = 0;
  }
  return mu;
}

bool is_round(const multibody::ShapeSpec& shape) {
  return std::holds_alternative<multibody::SphereSpec>(shape) ||
         std::holds_alternative<multibody::EllipsoidSpec>(shape) ||
         std::holds_alternative<multibody::CapsuleSpec>(shape) ||
         std::holds_alternative<multibody::CylinderSpec>(shape);
}

/// Friction of turning as a model file states it. @param torsion  e_r [m]; 0: none.
void set_torsion(double torsion, PairFriction& value) {
  if (value.patch && !value.patch_of_file) return;
  value.patch = value.patch_of_file = torsion > 0;
  value.ellipsoid = {1, 1, torsion > 0 ? torsion : 1};
}

}  // namespace

std::map<std::string, int> geometries_by_name(const WorldSpec& spec) {
  std::map<std::string, int> indices;
  int next = 0;
  for (const multibody::ModelSpec& model : spec.world.models)
    for (const multibody::LinkSpec& link : model.links)
      for (const multibody::GeometrySpec& geometry : link.collisions)
        indices.emplace(model.name + "/" + geometry.name, next++);
  return indices;
}

bool matches_body(const std::string& pattern, const std::string& name) {
  if (pattern == "*" || pattern == name) return true;
  std::string slashed = pattern;
  if (const auto scope = slashed.rfind("::"); scope != std::string::npos) slashed.replace(scope, 2, "/");
  if (slashed == name) return true;
  if (slashed.ends_with("/*"))
    return name.rfind(slashed.substr(0, slashed.size() - 1), 0) == 0 || name == slashed.substr(0, slashed.size() - 2);
  return name.rfind(slashed + "/", 0) == 0;  // a model's name stands for all its links
}

FrictionTable::FrictionTable(const WorldSpec& spec, const multibody::Model& model,
                             std::span<const collision::GeometryDescription> geometries, Diagnostics& diagnostics) {
  ellipsoid_ = spec.friction.ellipsoid;
  rolling_ = spec.friction.rolling;
  // The same walk over the models that listed the geometries.
  for (const multibody::ModelSpec& model_spec : spec.world.models) {
    for (const multibody::LinkSpec& link : model_spec.links) {
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        mu_.push_back(coefficient(geometry, geometries[mu_.size()].name, spec.friction, diagnostics));
        torsion_.push_back(geometry.torsion.value_or(0));
        is_round_.push_back(is_round(geometry.shape));
      }
    }
  }
  add_file_pairs(spec);
  const int n = static_cast<int>(geometries.size());
  for (const FrictionPairSpec& pair : spec.friction.pairs) {
    std::array<std::vector<int>, 2> members;
    for (int side = 0; side < 2; ++side) {
      for (int g = 0; g < n; ++g) {
        if (matches_body(pair.between[side], model.bodies()[geometries[g].body].name)) members[side].push_back(g);
      }
      if (members[side].empty()) {
        std::vector<std::string> names;
        for (const auto& body : model.bodies()) names.push_back(body.name);
        diagnostics.error(pair.where, fmt::format("friction.pairs: '{}' matches no body with collision geometry{}",
                                                  pair.between[side], did_you_mean(pair.between[side], names)));
      }
    }
    if (pair.mu && !(*pair.mu >= 0 && std::isfinite(*pair.mu))) {
      diagnostics.error(pair.where, fmt::format("friction.pairs: mu {} must be finite and not negative", *pair.mu));
      continue;
    }
    if (pair.rolling && !(*pair.rolling >= 0 && std::isfinite(*pair.rolling))) {
      diagnostics.error(pair.where,
                        fmt::format("friction.pairs: rolling {} m must be finite and not negative", *pair.rolling));
      continue;
    }
    if (pair.frictionless && (pair.mu.value_or(0) > 0 || pair.ellipsoid)) {
      diagnostics.error(pair.where, "friction.pairs: a frictionless pair has neither mu nor ellipsoid");
      continue;
    }
    for (int a : members[0]) {
      for (int b : members[1]) {
        PairFriction value = this->pair(a, b);
        if (pair.mu) value.mu = *pair.mu;
        if (pair.ellipsoid) {
          value.patch = true;
          value.patch_of_file = false;
          value.ellipsoid = *pair.ellipsoid;
        }
        if (pair.mu || pair.ellipsoid) value.frictionless = false;
        if (pair.frictionless) value = {.frictionless = true, .rolling = value.rolling};
        if (pair.rolling && (is_round_[a] != 0 || is_round_[b] != 0)) value.rolling = *pair.rolling;
        overrides_[key(a, b)] = value;
      }
    }
  }
}

/// Coefficients of pairs of geometries that model files name; the scene's own pairs come after them.
void FrictionTable::add_file_pairs(const WorldSpec& spec) {
  const std::map<std::string, int> index = geometries_by_name(spec);
  for (const multibody::ModelSpec& model : spec.world.models) {
    for (const multibody::GeometryPairSpec& named : model.pairs) {
      const auto a = index.find(model.name + "/" + named.geometries[0]);
      const auto b = index.find(model.name + "/" + named.geometries[1]);
      if (!named.mu || a == index.end() || b == index.end()) continue;
      PairFriction value = pair(a->second, b->second);
      value.mu = *named.mu;
      value.frictionless = false;
      set_torsion(named.torsion.value_or(0), value);
      overrides_[key(a->second, b->second)] = value;
    }
  }
}

bool FrictionTable::has_torsion_of_files() const {
  return (!ellipsoid_ && std::any_of(torsion_.begin(), torsion_.end(), [](double e_r) { return e_r > 0; })) ||
         std::any_of(overrides_.begin(), overrides_.end(), [](const auto& pair) { return pair.second.patch_of_file; });
}

PairFriction FrictionTable::pair(int a, int b) const {
  if (!overrides_.empty()) {
    if (const auto found = overrides_.find(key(a, b)); found != overrides_.end()) return found->second;
  }
  PairFriction value;
  if (ellipsoid_) {
    value.patch = true;
    value.ellipsoid = *ellipsoid_;
  }
  value.mu = combine(mu_[a], mu_[b]);
  set_torsion(std::max(torsion_[a], torsion_[b]), value);
  if (is_round_[a] != 0 || is_round_[b] != 0) value.rolling = rolling_;
  return value;
}

}  // namespace deft::scene
