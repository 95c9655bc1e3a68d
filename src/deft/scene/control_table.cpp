#include "deft/scene/control_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/scene/configuration.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {
namespace {

/// Entries of a vector of the controller that belong to one model: their first index and their names in it.
struct Part {
  int first = 0;
  std::vector<std::string> names;
};

/// The states or the inputs of the controller, by model.
struct Slots {
  int size = 0;
  std::map<std::string, Part> positions, velocities;  // inputs: `positions` alone
};

Slots state_slots(const multibody::Model& model) {
  Slots slots{.size = 2 * model.nv()};
  for (const multibody::ModelInfo& info : model.models()) {
    if (info.nv == 0) continue;
    Part positions{.first = info.first_v}, velocities{.first = model.nv() + info.first_v};
    for (int i = info.first_v; i < info.first_v + info.nv; ++i) {
      const multibody::VelocityInfo& velocity = model.velocities()[i];
      const std::string& at = velocity.q_index < 0 ? velocity.name : model.coordinates()[velocity.q_index].name;
      positions.names.push_back(at.substr(info.name.size() + 1));
      velocities.names.push_back(velocity.name.substr(info.name.size() + 1));
    }
    slots.positions[info.name] = std::move(positions);
    slots.velocities[info.name] = std::move(velocities);
  }
  return slots;
}

Slots input_slots(const multibody::Model& model, std::span<const Robot> robots) {
  Slots slots;
  for (const Robot& robot : robots) {
    slots.size += robot.nu;
    Part part{.first = robot.first_u};
    for (int i = 0; i < robot.nu; ++i)
      part.names.push_back(model.velocities()[robot.v(i)].name.substr(robot.name.size() + 1));
    slots.positions[robot.name] = std::move(part);
  }
  return slots;
}

void fill_part(const JointValues& values, const Part& part, const std::string& what, Eigen::VectorXd& out,
               Diagnostics& diagnostics) {
  const auto n = static_cast<Eigen::Index>(part.names.size());
  auto segment = out.segment(part.first, n);
  if (values.all) segment.setConstant(*values.all);
  if (!values.list.empty()) {
    if (static_cast<Eigen::Index>(values.list.size()) != n)
      diagnostics.error(values.where,
                        fmt::format("{}: expected {} numbers, the list has {}", what, n, values.list.size()));
    else
      segment = Eigen::Map<const Eigen::VectorXd>(values.list.data(), n);
  }
  for (const auto& [name, value] : values.by_name) {
    const auto found = std::find(part.names.begin(), part.names.end(), name);
    if (found == part.names.end())
      diagnostics.error(values.where,
                        fmt::format("{}: there is no '{}'{}", what, name, did_you_mean(name, part.names)));
    else
      segment(found - part.names.begin()) = value;
  }
}

/// A vector of the controller; what is not given has the value `missing`.
Eigen::VectorXd fill(const ControlValues& values, const Slots& slots, const std::string& what, double missing,
                     Diagnostics& diagnostics) {
  Eigen::VectorXd out = Eigen::VectorXd::Constant(slots.size, missing);
  if (values.all) out.setConstant(*values.all);
  if (!values.list.empty()) {
    if (static_cast<int>(values.list.size()) != slots.size)
      diagnostics.error(values.where, fmt::format("control.{}: expected {} numbers, the list has {}", what, slots.size,
                                                  values.list.size()));
    else
      out = Eigen::Map<const Eigen::VectorXd>(values.list.data(), slots.size);
  }
  for (const auto& [name, model] : values.models) {
    const std::string label = fmt::format("control.{} {}", what, name);
    const auto positions = slots.positions.find(name);
    if (positions == slots.positions.end()) {
      std::vector<std::string> names;
      for (const auto& [known, part] : slots.positions) names.push_back(known);
      diagnostics.error(model.where,
                        fmt::format("control.{}: '{}' {}{}", what, name,
                                    slots.velocities.empty() ? "is not among the robots" : "is no model that moves",
                                    did_you_mean(name, names)));
      continue;
    }
    fill_part(model.position, positions->second, label, out, diagnostics);
    const auto velocities = slots.velocities.find(name);
    if (velocities != slots.velocities.end())
      fill_part(model.velocity, velocities->second, label + " velocity", out, diagnostics);
  }
  return out;
}

/// A weight: diagonal, or the matrix that is given.
Eigen::MatrixXd weight(const ControlValues& values, const Slots& slots, const std::string& what,
                       Diagnostics& diagnostics) {
  if (!values.matrix) return fill(values, slots, what, 0, diagnostics).asDiagonal();
  const Eigen::MatrixXd& W = *values.matrix;
  if (W.rows() != slots.size || W.cols() != slots.size) {
    diagnostics.error(values.where, fmt::format("control.{}: expected {} rows of {} numbers, got {} of {}", what,
                                                slots.size, slots.size, W.rows(), W.cols()));
    return Eigen::MatrixXd::Zero(slots.size, slots.size);
  }
  if (!W.isApprox(W.transpose(), 1e-12))
    diagnostics.error(values.where, fmt::format("control.{}: must be symmetric", what));
  return 0.5 * (W + W.transpose());
}

void check_order(const Eigen::VectorXd& lower, const Eigen::VectorXd& upper, const char* what,
                 const ControlSettings& settings, Diagnostics& diagnostics) {
  for (Eigen::Index i = 0; i < lower.size(); ++i) {
    if (lower(i) <= upper(i)) continue;
    diagnostics.error(settings.where, fmt::format("control: {}_min {} is above {}_max {} (entry {})", what, lower(i),
                                                  what, upper(i), i));
    return;
  }
}

}  // namespace

ControlTable::ControlTable(const ControlSettings& settings, const multibody::Model& model,
                           std::span<const Robot> robots, const Eigen::VectorXd& q_start, Diagnostics& diagnostics) {
  const Slots states = state_slots(model), inputs = input_slots(model, robots);
  if (inputs.size == 0) diagnostics.error(settings.where, "control: the scene has no robots to command");
  if (settings.Q.empty()) diagnostics.error(settings.where, "control: needs 'Q', the weights of the states");
  if (settings.R.empty()) diagnostics.error(settings.where, "control: needs 'R', the weights of the inputs");
  Q = weight(settings.Q, states, "Q", diagnostics);
  R = weight(settings.R, inputs, "R", diagnostics);
  Qf = settings.Qf.empty() ? Q : weight(settings.Qf, states, "Qf", diagnostics);
  x_min = fill(settings.x_min, states, "x_min", -kInfinity, diagnostics);
  x_max = fill(settings.x_max, states, "x_max", kInfinity, diagnostics);
  if (!settings.x_price.empty()) x_price = fill(settings.x_price, states, "x_price", kInfinity, diagnostics);
  u_min = fill(settings.u_min, inputs, "u_min", -kInfinity, diagnostics);
  u_max = fill(settings.u_max, inputs, "u_max", kInfinity, diagnostics);
  check_order(x_min, x_max, "x", settings, diagnostics);
  check_order(u_min, u_max, "u", settings, diagnostics);
  read_reference(settings, model, q_start, diagnostics);
}

void ControlTable::read_reference(const ControlSettings& settings, const multibody::Model& model,
                                  const Eigen::VectorXd& q_start, Diagnostics& diagnostics) {
  if (settings.goal && !settings.path.empty())
    diagnostics.error(settings.where, "control: give either 'goal' or 'path', not both");
  if (!settings.goal && settings.path.empty())
    diagnostics.error(settings.where, "control: needs a 'goal', or a 'path' of knots in time");
  const auto add = [&](double t, const ConfigurationSpec& place, const Eigen::VectorXd& base) {
    if (!times_.empty() && !(t > times_.back()))
      diagnostics.error(place.where,
                        fmt::format("control.path: times must increase, {} s comes after {} s", t, times_.back()));
    for (const auto& [name, values] : place.models) states_velocity_ = states_velocity_ || values.velocity.has_value();
    times_.push_back(t);
    q_.push_back(make_configuration(place, model, base, diagnostics));
    v_.push_back(make_velocity(place, model, diagnostics));
  };
  if (settings.goal) add(0, *settings.goal, q_start);
  for (const ReferenceKnot& knot : settings.path) add(knot.t, knot.place, q_.empty() ? q_start : q_.back());
}

Eigen::VectorXd ControlTable::place(const multibody::Model& model, double t) const {
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  if (next == times_.begin()) return q_.front();
  const auto k = to_size(next - times_.begin()) - 1;
  if (next == times_.end()) return q_.back();
  Eigen::VectorXd q;
  const double s = (t - times_[k]) / (times_[k + 1] - times_[k]);
  model.integrate(q_[k], s * model.difference(q_[k], q_[k + 1]), q);
  return q;
}

void ControlTable::reference(const multibody::Model& model, double t, double h, Eigen::VectorXd& q,
                             Eigen::VectorXd& v) const {
  q = place(model, t);
  if (!states_velocity_) {
    v = model.difference(q, place(model, t + h)) / h;
    return;
  }
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  if (next == times_.begin() || next == times_.end()) {
    v = next == times_.begin() ? v_.front() : v_.back();
    return;
  }
  const auto k = to_size(next - times_.begin()) - 1;
  const double s = (t - times_[k]) / (times_[k + 1] - times_[k]);
  v = (1 - s) * v_[k] + s * v_[k + 1];
}

}  // namespace deft::scene
