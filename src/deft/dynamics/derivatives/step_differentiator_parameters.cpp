// Derivatives of a step by numbers of the scene.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/derivatives/step_directions.hpp"

namespace deft::dynamics {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// The mass of an object that is carried by, or carries, other models moves them too. @throws InputError for it.
void refuse_carried(const scene::Scene& scene, int index) {
  const scene::Object& object = scene.objects()[index];
  const auto is_own = [&](int column) { return column >= object.first_v && column < object.first_v + object.nv; };
  for (std::size_t body = 0; body < scene.model().bodies().size(); ++body) {
    const auto columns = scene.model().columns(static_cast<int>(body));
    const auto own = std::count_if(columns.begin(), columns.end(), is_own);
    if (own > 0 && own < static_cast<std::ptrdiff_t>(columns.size()))
      throw InputError({scene.spec().file, 0, 0},
                       fmt::format("not available yet: derivatives by the mass of '{}', which other models carry or "
                                   "which carries them",
                                   object.name));
  }
}

}  // namespace

/// Motion of one shape of a contact at its witness point: a rotation about the body's origin, or a translation.
Eigen::Matrix<double, 12, 1> StepDifferentiator::offset_of_shape(const contact::Contact& contact, int side, int axis) {
  Eigen::Matrix<double, 12, 1> zeta = Eigen::Matrix<double, 12, 1>::Zero();
  zeta(6 * side + axis) = 1;
  if (axis >= 3) return zeta;
  // Forces at the midpoint hide the witness point, which is half a gap away.
  Vector3d p = side == 0 ? contact.p_WA : contact.p_WB;
  if (scene_->settings().step.midpoint_forces) p += (side == 0 ? 0.5 : -0.5) * contact.gap * contact.n_W;
  const Vector3d origin = place(false).X_WB()[side == 0 ? contact.body_a : contact.body_b].translation();
  zeta.segment<3>(6 * side + 3) = Vector3d::Unit(axis).cross(p - origin);
  return zeta;
}

void StepDifferentiator::add_parameter(const Parameter& parameter, Eigen::Index column,
                                       solvers::contact::ProgramChange& change, MatrixXd& direct) {
  const auto& program = this->program();
  const EnergyPoint at = energy_point(false);
  auto gradient = change.gradient.col(column);
  const auto first_row = [&](std::size_t i) { return directions_->first_row(static_cast<int>(i)); };
  // A force that changes at fixed rows, df, adds −Jᵀdf to the gradient and is part of the answer.
  const auto add_force = [&](int i, const Eigen::Vector4d& df) {
    const auto block = program.J.block(i);
    const auto cols = program.J.cols(i);
    for (std::size_t c = 0; c < cols.size(); ++c) gradient(cols[c]) -= block.col(c).dot(df.head(block.rows()));
    direct.col(column).segment(first_row(i), block.rows()) += df.head(block.rows());
  };
  const auto force = [&](std::size_t i) { return Eigen::Map<const Eigen::Vector4d>(solution().force[i].data()); };
  switch (parameter.kind) {
    case Parameter::Kind::kStepLength:
      gradient.head(scene_->nv()) += energy_step_length_rate(at);
      break;
    case Parameter::Kind::kMass:
      refuse_carried(*scene_, parameter.index);
      gradient.head(scene_->nv()) += energy_mass_rate(at, parameter.index);
      break;
    case Parameter::Kind::kStiffness:
      gradient.head(scene_->nv()) += energy_stiffness_rate(at, parameter.index);
      for (const auto& s : directions_->saturations()) {
        if (s.command != parameter.index) continue;
        const double e = u_(s.command) - at.state.q(scene_->command_coordinates()[s.command]);
        gradient(s.velocity) -= delta_(s.velocity) - e;
        gradient(s.variable) += solution().delta(s.variable) - e;
      }
      break;
    case Parameter::Kind::kKappa:
      // f = … /κ at fixed slack; with compliance the slack holds R f too, and C takes that along.
      if (!std::isfinite(program.kappa)) break;
      if (program.linear.rows.size() > 0)
        throw std::invalid_argument("step derivative: not available yet: kappa with springs that saturate");
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        if (program.contacts[i].compliance > 0)
          throw std::invalid_argument("step derivative: kappa of contacts with compliance is not available");
        add_force(static_cast<int>(i), -force(i) / program.kappa);
      }
      if (solution().bound_multipliers.size() > 0) gradient += solution().bound_multipliers / program.kappa;
      break;
    case Parameter::Kind::kFriction:
      // The law sees μ J_tδ and gives f_t = μ(…): the rows and the force scale by dμ/μ.
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        const contact::Contact& contact = result_->problem.contacts[i];
        const bool is_pair = (contact.geometry_a == parameter.index && contact.geometry_b == parameter.second) ||
                             (contact.geometry_a == parameter.second && contact.geometry_b == parameter.index);
        if (!is_pair || contact.mu == 0) continue;
        Eigen::Vector4d df = force(i) / contact.mu;
        df(0) = 0;
        add_force(static_cast<int>(i), df);
        const auto block = program.J.block(static_cast<int>(i));
        const auto cols = program.J.cols(static_cast<int>(i));
        auto ds = change.rows.col(column).segment(first_row(i), block.rows());
        for (Eigen::Index r = 1; r < block.rows(); ++r) {
          double slide = program.contacts[i].offset[r - 1];
          for (std::size_t c = 0; c < cols.size(); ++c) slide += block(r, c) * delta_(cols[c]);
          ds(r) += slide / contact.mu;
        }
      }
      break;
    case Parameter::Kind::kOffset:
      if (!options_.configuration)
        throw std::invalid_argument("step derivative: linearize with options.configuration for offsets of geometries");
      if (options_.motion_only)
        throw std::invalid_argument("step derivative: linearize without options.motion_only for offsets of geometries");
      for (std::size_t i = 0; i < program.contacts.size(); ++i) {
        const contact::Contact& contact = result_->problem.contacts[i];
        const int rows = program.J.rows(static_cast<int>(i));
        for (int side = 0; side < 2; ++side) {
          if ((side == 0 ? contact.geometry_a : contact.geometry_b) != parameter.index) continue;
          const Eigen::Matrix<double, 12, 1> zeta = offset_of_shape(contact, side, parameter.second);
          change.rows.col(column).segment(first_row(i), rows) +=
              directions_->contacts().shape[i].ds.topRows(rows) * zeta;
          const auto cols = directions_->contacts().dtau_shape.cols(static_cast<int>(i));
          const VectorXd tau = directions_->contacts().dtau_shape.block(static_cast<int>(i)).transpose() * zeta;
          for (std::size_t c = 0; c < cols.size(); ++c) gradient(cols[c]) -= tau(c);
        }
      }
      break;
  }
}

void StepDifferentiator::parameters(std::span<const Parameter> list, MatrixXd& dq_next, MatrixXd& dforce) {
  if (is_relinearized_)
    throw InputError({scene_->spec().file, 0, 0},
                     fmt::format("not available yet: derivatives by parameters with step.relinearize: {}; available: 0",
                                 scene_->settings().step.relinearize));
  refuse_what_is_left_out(*result_);
  const Eigen::Index k = static_cast<Eigen::Index>(list.size());
  MatrixXd direct;
  Rates rates;
  do {
    directions_->clear(k, rates.change);
    direct = MatrixXd::Zero(sensitivity_.num_rows(), k);
    for (Eigen::Index i = 0; i < k; ++i) add_parameter(list[i], i, rates.change, direct);
  } while (!solve_change(rates));
  advance(rates.moved.delta);
  dq_next = rates.moved.delta.topRows(scene_->nv());
  dforce = rates.moved.force + direct;
}

}  // namespace deft::dynamics
