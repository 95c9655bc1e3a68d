#include "deft/dynamics/patch/equivalent_contact_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kLoaded = 1e-9;  // a multiplier below counts as zero: a face tilted by less is flat
constexpr double kSlip_m = 1e-7;  // displacement over a step above which a loaded contact slides, as in roll-outs
constexpr double kFlat = 1e-7;    // singular values below, of rows of unit size, mean a flat direction

/// Model::difference of free bodies, without allocation.
void set_difference(const scene::Scene& scene, const Eigen::VectorXd& q0, const Eigen::VectorXd& q1,
                    Eigen::VectorXd& delta) {
  delta.resize(scene.nv());
  for (const multibody::ModelInfo& model : scene.model().models()) {
    if (model.nv == 0) continue;
    const Matrix3d R0 = rotation_from_quat_wxyz(q0.segment<4>(model.first_q)),
                   R1 = rotation_from_quat_wxyz(q1.segment<4>(model.first_q));
    delta.segment<3>(model.first_v) = log_so3(R1 * R0.transpose());
    delta.segment<3>(model.first_v + 3) = q1.segment<3>(model.first_q + 4) - q0.segment<3>(model.first_q + 4);
  }
}

std::array<double, 3> to_array(const Vector3d& v) { return {v.x(), v.y(), v.z()}; }

/// A contact of the model equivalent-contact-point, whose data are those of the end of the step.
ContactRecord record_patch(const PatchWorld& world, const PatchContact& contact, std::span<const PatchState> end,
                           double h) {
  const PatchPair& pair = world.pairs[contact.pair];
  ContactRecord record;
  record.a = world.geometries[pair.a].body;
  record.b = world.geometries[pair.b].body;
  record.point_W = to_array(contact.point_W);
  record.normal_W = to_array(contact.n_W);
  record.tangent_W = to_array(contact.t_W);
  record.gap = record.gap_start = contact.gap;
  record.force_W =
      to_array((contact.p_n * contact.n_W + contact.p_f(0) * contact.t_W + contact.p_f(1) * contact.o_W) / h);
  record.torque_W = to_array(contact.p_f(2) / h * contact.n_W);
  record.mu = pair.mu;
  record.ellipsoid = pair.ellipsoid;
  record.slip = to_array(contact.slip);
  record.kind = contact_kind(world, end, contact);
  record.state = contact_state(world, contact);
  return record;
}

}  // namespace

ContactKind contact_kind(const PatchWorld& world, std::span<const PatchState> end, const PatchContact& contact) {
  if (!(contact.p_n > 0)) return ContactKind::kUnknown;
  const PatchPair& pair = world.pairs[contact.pair];
  // Directions along which both sets keep their loaded inequalities: the null space of their gradients and curvatures.
  Matrix3d form = Matrix3d::Zero();
  const auto add = [&](const PatchGeometry& geometry, std::span<const double> l) {
    Matrix3d R = geometry.X_BG.linear();
    Vector3d p = geometry.X_BG.translation();
    if (geometry.moving >= 0) {
      const PatchState& s = end[geometry.moving];
      const Matrix3d R_WB = rotation_from_quat_wxyz(s.quat_wxyz);
      p = s.p_WC + R_WB * (p - world.bodies[geometry.moving].p_BC);
      R = R_WB * R;
    }
    const Vector3d x = R.transpose() * (contact.point_W - p);
    for (int i = 0; i < geometry.set.count(); ++i) {
      if (!(l[i] > kLoaded)) continue;
      const Vector3d g = R * geometry.set.gradient(i, x).normalized();
      form += g * g.transpose();
      if (geometry.set.is_quadric(i)) {
        const Matrix3d H =
            R * (geometry.set.curvature / geometry.set.curvature.maxCoeff()).asDiagonal() * R.transpose();
        form += H * H;
      }
    }
  };
  add(world.geometries[pair.a], contact.l_a);
  if (pair.plane)
    form += contact.n_W * contact.n_W.transpose();
  else
    add(world.geometries[pair.b], contact.l_b);
  switch (rank(form, kFlat)) {
    case 1:
      return ContactKind::kSurface;
    case 2:
      return ContactKind::kLine;
    default:
      return ContactKind::kPoint;
  }
}

ContactState contact_state(const PatchWorld& world, const PatchContact& contact) {
  if (!(contact.p_n > 0)) return ContactState::kOpen;
  const bool slides =
      world.h * contact.slip.head<2>().norm() > kSlip_m || world.h * std::abs(contact.slip(2)) * world.length > kSlip_m;
  return slides ? ContactState::kSlide : ContactState::kStick;
}

EquivalentContactPoint::EquivalentContactPoint(const scene::Scene& scene)
    : scene_(&scene), stepper_(make_patch_world(scene)), end_(scene.make_state()) {}

double EquivalentContactPoint::kappa() const { return std::numeric_limits<double>::infinity(); }

void EquivalentContactPoint::set_kappa(double kappa) { require_exact(*scene_, kappa); }

void EquivalentContactPoint::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  const PatchWorld& world = stepper_.world();
  read_states(*scene_, world, start.q, start.v, states_);
  add_wrench_impulses(*scene_, world, start.t, states_, impulses_);
  stepper_.step(states_, impulses_, step_);

  PatchDetail& detail = result.detail_of<PatchDetail>();
  result.de_saxce.clear();
  result.offending_contacts.clear();
  result.offending_limits.clear();
  result.problem.contacts.clear();
  result.solution.gap.clear();
  result.solution.force.clear();
  result.solution.motion_unique = result.solution.forces_unique = true;
  result.forces_least_norm = true;
  result.status = step_.status;
  result.iterations = step_.iterations;
  detail.contacts = step_.contacts;
  result.certificate = as_certificate(step_.certificate, world.length);
  detail.balance = step_.certificate.proposition;
  if (solvers::usable(result.status)) result.status = solvers::contact::confirmed(result.status, result.certificate);
  if (!solvers::usable(result.status)) {
    step_.end = states_;
    detail.contacts.clear();
  }
  write_states(*scene_, world, step_.end, result.q_next, result.v_next);
  set_difference(*scene_, start.q, result.q_next, result.delta);
  result.step_us = watch.microseconds() - step_.certify_us;
  result.solve_us = step_.solve_us;
  scene_->update(result.q_next, end_);
  result.energy = mechanical_energy(*scene_, end_, result.v_next, u, M_);
}

DerivativeReport EquivalentContactPoint::differentiate(const State& start, const Eigen::VectorXd&,
                                                       const StepResult& result, const DerivativeOptions&,
                                                       StepDerivative& out) {
  if (!solvers::usable(result.status)) throw std::invalid_argument("EquivalentContactPoint: the step failed");
  const PatchWorld& world = stepper_.world();
  const int nv = scene_->nv(), n = static_cast<int>(world.bodies.size());
  PatchDerivative patch = dynamics::differentiate(stepper_);
  DerivativeReport report;
  if (!patch.exists) report.nonsmooth_points.emplace_back("the motion of the step has no derivative");
  if (patch.nonsmooth)
    report.nonsmooth_points.emplace_back("a contact is between two modes: the derivative is one-sided");
  if (!patch.exists) {
    const Eigen::Index contacts = static_cast<Eigen::Index>(step_.contacts.size());
    patch.A.setConstant(12 * n, 12 * n, std::numeric_limits<double>::quiet_NaN());
    patch.B.setConstant(12 * n, 6 * n, std::numeric_limits<double>::quiet_NaN());
    patch.dp_start.setConstant(4 * contacts, 12 * n, std::numeric_limits<double>::quiet_NaN());
    patch.dp_impulse.setConstant(4 * contacts, 6 * n, std::numeric_limits<double>::quiet_NaN());
  }
  // Tangents at centres of mass from those at origins: c = p + r, v_C = v + ω × r with r turning along; and the arms of
  // wrenches turn with the bodies.
  read_states(*scene_, world, start.q, start.v, states_);
  add_wrench_impulses(*scene_, world, start.t, states_, impulses_);
  Eigen::MatrixXd enter = Eigen::MatrixXd::Zero(12 * n, 2 * nv), torque = Eigen::MatrixXd::Zero(6 * n, 2 * nv),
                  leave = Eigen::MatrixXd::Zero(2 * nv, 12 * n);
  int i = 0;
  for (const multibody::ModelInfo& model : scene_->model().models()) {
    if (model.nv == 0) continue;
    const PatchBody& body = world.bodies[i];
    const PatchState &from = states_[i], &to = step_.end[i];
    const Matrix3d r0 = skew(rotation_from_quat_wxyz(from.quat_wxyz) * body.p_BC),
                   r1 = skew(rotation_from_quat_wxyz(to.quat_wxyz) * body.p_BC);
    const int q = model.first_v, v = nv + model.first_v;
    enter.block<3, 3>(12 * i, q).setIdentity();
    enter.block<3, 3>(12 * i + 3, q) = -r0;
    enter.block<3, 3>(12 * i + 3, q + 3).setIdentity();
    enter.block<3, 3>(12 * i + 6, v).setIdentity();
    enter.block<3, 3>(12 * i + 9, v) = -r0;
    enter.block<3, 3>(12 * i + 9, v + 3).setIdentity();
    enter.block<3, 3>(12 * i + 9, q) = -skew(from.omega_W) * r0;
    leave.block<3, 3>(q, 12 * i).setIdentity();
    leave.block<3, 3>(q + 3, 12 * i) = r1;
    leave.block<3, 3>(q + 3, 12 * i + 3).setIdentity();
    leave.block<3, 3>(v, 12 * i + 6).setIdentity();
    leave.block<3, 3>(v + 3, 12 * i + 6) = r1;
    leave.block<3, 3>(v + 3, 12 * i + 9).setIdentity();
    leave.block<3, 3>(v + 3, 12 * i) = skew(to.omega_W) * r1;
    torque.block<3, 3>(6 * i, q) = wrench_torque_derivative(*scene_, world, start.t, states_, i);
    ++i;
  }
  const Eigen::MatrixXd J = leave * (patch.A * enter + patch.B * torque),
                        dp = (patch.dp_start * enter + patch.dp_impulse * torque) / world.h;
  out.A = J.topLeftCorner(nv, nv);
  out.A_v = J.topRightCorner(nv, nv);
  out.dv_dq = J.bottomLeftCorner(nv, nv);
  out.dv_dv = J.bottomRightCorner(nv, nv);
  out.dforce_dq = dp.leftCols(nv);
  out.dforce_dv = dp.rightCols(nv);
  out.B.resize(nv, 0);
  out.dv_du.resize(nv, 0);
  out.dforce_du.resize(dp.rows(), 0);
  out.dforce_W_dq.resize(0, nv);
  out.dforce_W_du.resize(0, 0);
  out.first_row.clear();
  for (Eigen::Index k = 0; k < dp.rows(); k += 4) out.first_row.push_back(static_cast<int>(k));
  report.is_nonsmooth = !report.nonsmooth_points.empty();
  return report;
}

void EquivalentContactPoint::record_contacts(const StepResult& result, std::span<const RigidTransform>,
                                             std::span<const RigidTransform>, std::vector<ContactRecord>& out) const {
  const PatchDetail* detail = result.patch();
  if (detail == nullptr) return;
  for (const PatchContact& contact : detail->contacts)
    out.push_back(record_patch(stepper_.world(), contact, step_.end, h()));
}

void EquivalentContactPoint::visit_problem(const StepResult&, ProblemVisitor& visitor) const {
  visitor.patch(make_patch_problem(stepper_.world(), states_, impulses_));
}

}  // namespace deft::dynamics
