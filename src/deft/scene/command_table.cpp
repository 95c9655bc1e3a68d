#include "deft/scene/command_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "deft/scene/configuration.hpp"
#include "deft/scene/scene.hpp"

namespace deft::scene {

CommandTable::CommandTable(const CommandSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
                           const Eigen::VectorXd& q_start, Diagnostics& diagnostics)
    : interpolation_(spec.interpolation) {
  int nu = 0;
  for (const Robot& robot : robots) nu += robot.nu;
  start_.resize(nu);
  for (const Robot& robot : robots) {
    for (int i = 0; i < robot.nu; ++i)
      start_(robot.first_u + i) = robot.drive == Drive::kForce ? 0.0 : q_start(robot.q(i));
  }
  if (spec.velocity) start_.setZero();

  targets_.resize(nu, static_cast<Eigen::Index>(spec.knots.size()));
  Eigen::VectorXd last = start_;
  std::vector<std::string> names;
  for (const Robot& robot : robots) names.push_back(robot.name);
  for (std::size_t k = 0; k < spec.knots.size(); ++k) {
    const KnotSpec& knot = spec.knots[k];
    if (!times_.empty() && !(knot.t > times_.back())) {
      diagnostics.error(
          knot.where, fmt::format("commands: knot times must increase, {} s comes after {} s", knot.t, times_.back()));
    }
    for (const auto& [name, values] : knot.robots) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        diagnostics.error(knot.where,
                          fmt::format("commands: there is no robot '{}'{}", name, did_you_mean(name, names)));
        continue;
      }
      const Robot& robot = robots[found - names.begin()];
      last.segment(robot.first_u, robot.nu) =
          resolve_joint_values(values, model, robot.model, last.segment(robot.first_u, robot.nu),
                               fmt::format("command of '{}' at {} s", name, knot.t), diagnostics);
    }
    times_.push_back(knot.t);
    targets_.col(static_cast<Eigen::Index>(k)) = last;
  }
  read_formulas(spec, model, robots, diagnostics);
}

void CommandTable::read_formulas(const CommandSpec& spec, const multibody::Model& model, std::span<const Robot> robots,
                                 Diagnostics& diagnostics) {
  for (const auto& [name, formulas] : spec.formulas) {
    const auto robot =
        std::find_if(robots.begin(), robots.end(), [&, &wanted = name](const Robot& r) { return r.name == wanted; });
    if (robot == robots.end()) {
      std::vector<std::string> names;
      for (const Robot& r : robots) names.push_back(r.name);
      diagnostics.error(formulas.where,
                        fmt::format("commands.formulas: there is no robot '{}'{}", name, did_you_mean(name, names)));
      continue;
    }
    std::vector<std::string> joints;
    for (int i = 0; i < robot->nu; ++i) joints.push_back(model.velocities()[robot->v(i)].name.substr(name.size() + 1));
    const auto add = [&, &name = name, &where = formulas.where](int joint, const std::string& text) {
      try {
        formulas_.push_back({robot->first_u + joint, Formula(text)});
      } catch (const std::invalid_argument& error) {
        diagnostics.error(where, fmt::format("commands.formulas {}: {}", name, error.what()));
      }
    };
    if (!formulas.list.empty() && static_cast<int>(formulas.list.size()) != robot->nu)
      diagnostics.error(formulas.where,
                        fmt::format("commands.formulas {}: {} expected (one per joint), the list has {}", name,
                                    robot->nu, formulas.list.size()));
    else
      for (std::size_t i = 0; i < formulas.list.size(); ++i) add(static_cast<int>(i), formulas.list[i]);
    for (const auto& [joint, text] : formulas.by_name) {
      const auto found = std::find(joints.begin(), joints.end(), joint);
      if (found == joints.end())
        diagnostics.error(formulas.where, fmt::format("commands.formulas: '{}' has no joint '{}'{}", name, joint,
                                                      did_you_mean(joint, joints)));
      else
        add(static_cast<int>(found - joints.begin()), text);
    }
  }
}

void CommandTable::evaluate(double t, double h, Eigen::VectorXd& u) const {
  interpolate(t, h, u);
  for (const Driven& driven : formulas_) u(driven.u) = driven.rate(t);
}

void CommandTable::interpolate(double t, double h, Eigen::VectorXd& u) const {
  // Times that are equal but for rounding count as equal.
  const double tolerance = 1e-9 * std::max({1.0, std::abs(t), h});
  const double at = interpolation_ == Interpolation::kLinear ? t + h : t;
  if (times_.empty()) {
    u = start_;
    return;
  }
  const auto next = std::upper_bound(times_.begin(), times_.end(), at + tolerance);
  if (next == times_.begin()) {
    u = targets_.col(0);  // before the first knot its value is held
    return;
  }
  const Eigen::Index k = next - times_.begin() - 1;
  if (interpolation_ == Interpolation::kHold || next == times_.end()) {
    u = targets_.col(k);
    return;
  }
  const double s = std::clamp((at - times_[k]) / (times_[k + 1] - times_[k]), 0.0, 1.0);
  u = (1 - s) * targets_.col(k) + s * targets_.col(k + 1);
}

}  // namespace deft::scene
