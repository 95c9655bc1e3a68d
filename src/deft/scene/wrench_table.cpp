#include "deft/scene/wrench_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/math/rotation.hpp"

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

bool has_velocities(ModelKind kind) {
  return kind == ModelKind::kStewartTrinkle || kind == ModelKind::kConvexSecondOrder ||
         kind == ModelKind::kEquivalentContactPoint;
}

/// The condition of a wrench; none after an error.
std::optional<Condition> read_condition(const WhenSpec& when, ModelKind kind, Diagnostics& diagnostics) {
  try {
    const Condition condition(when.text, kBodyVariables);
    for (std::size_t i = kFirstRate; i < kBodyVariables.size() && !has_velocities(kind); ++i) {
      if (condition.depends_on(i))
        diagnostics.error(
            when.where,
            fmt::format(
                "wrenches: 'when' names {}, but step.model: {} has no velocities; valid: {}, or a model of second "
                "order (stewart-trinkle, convex-second-order, equivalent-contact-point)",
                kBodyVariables[i], to_string(kind),
                fmt::join(kBodyVariables.begin(), kBodyVariables.begin() + kFirstRate, ", ")));
    }
    return condition;
  } catch (const std::invalid_argument& error) {
    diagnostics.error(when.where, fmt::format("wrenches: 'when': {}", error.what()));
    return std::nullopt;
  }
}

}  // namespace

double Wrench::share(double t, double h) const {
  // A time that equals the start of a step but for rounding is that start.
  const double tolerance = 1e-9 * std::max({1.0, std::abs(t), h});
  if (impulse) return (when || from >= t - tolerance) && from < t + h - tolerance ? 1 / h : 0.0;
  return std::max(0.0, std::min(to, t + h) - std::max(from, t)) / h;
}

double Wrench::share(double t, double h, const BodyState& at) const {
  const double by_time = share(t, h);
  if (by_time == 0 || !when) return by_time;
  const Eigen::Vector4d& quat = at.quat_wxyz;
  const std::array<double, kBodyVariables.size()> values{
      t,       at.p_WB[0],    at.p_WB[1],    at.p_WB[2],    quat[0],   quat[1],   quat[2],
      quat[3], at.omega_W[0], at.omega_W[1], at.omega_W[2], at.v_W[0], at.v_W[1], at.v_W[2]};
  return (*when)(values) ? by_time : 0.0;
}

BodyState body_state(const multibody::Model& model, const multibody::Kinematics& kinematics, const Eigen::VectorXd& v,
                     int body) {
  const RigidTransform& X_WB = kinematics.X_WB[body];
  BodyState at{X_WB.translation(), quat_wxyz_from_rotation(X_WB.linear()), Eigen::Vector3d::Zero(),
               Eigen::Vector3d::Zero()};
  if (v.size() == 0) return at;
  const auto& S = model.spatial_columns(kinematics);
  for (const int c : model.columns(body)) {
    at.omega_W += v(c) * S.col(c).head<3>();
    at.v_W += v(c) * S.col(c).tail<3>();
  }
  at.v_W += at.omega_W.cross(at.p_WB);
  return at;
}

double wrench_share(const Wrench& wrench, double t, double h, const multibody::Model& model,
                    const multibody::Kinematics& kinematics, const Eigen::VectorXd& v) {
  if (!wrench.when || wrench.share(t, h) == 0) return wrench.share(t, h);
  return wrench.share(t, h, body_state(model, kinematics, v, wrench.body));
}

std::vector<Wrench> resolve_wrenches(std::span<const WrenchSpec> specs, const multibody::Model& model,
                                     std::span<const Object> objects, ModelKind kind, Diagnostics& diagnostics) {
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
      const bool is_part = std::find(o.bodies.begin(), o.bodies.end(), body) != o.bodies.end();
      return o.frozen && is_part && (cols.empty() || cols.back() < o.first_v + o.nv);
    });
    if (cols.empty()) diagnostics.error(spec.where, fmt::format("wrenches: body '{}' cannot move", spec.body));
    if (frozen != objects.end())
      diagnostics.error(spec.where,
                        fmt::format("wrenches: body '{}' belongs to the frozen object '{}'", spec.body, frozen->name));
    if (!(spec.to >= spec.from))
      diagnostics.error(spec.where,
                        fmt::format("wrenches: 'to' ({} s) comes before 'from' ({} s)", spec.to, spec.from));
    wrenches.push_back({body, spec.force_W, spec.torque_W, spec.from, spec.to, spec.impulse,
                        spec.when ? read_condition(*spec.when, kind, diagnostics) : std::nullopt});
  }
  return wrenches;
}

}  // namespace deft::scene
