#include "deft/dynamics/contact_records.hpp"

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/dynamics/sliding_gap.hpp"

namespace deft::dynamics {
namespace {

constexpr double kOpenForce = 1e-9;  // of the largest normal force of the step: below, a contact counts as open
constexpr double kSlip_m = 1e-7;     // tangential displacement over one step above which a loaded contact counts as
                                     // sliding

std::array<double, 3> to_array(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }

/// Where a body-fixed point of the start pose is at the end pose.
Eigen::Vector3d carry(const Eigen::Vector3d& p_W, const RigidTransform& X_start, const RigidTransform& X_end) {
  return X_end * (X_start.inverse() * p_W);
}

ContactRecord record_contact(const StepResult& result, int i, double largest_force,
                             std::span<const RigidTransform> X_start, std::span<const RigidTransform> X_end) {
  const contact::Contact& contact = result.problem.contacts[i];
  const std::array<double, 4>& f = result.solution.force[i];
  ContactRecord record;
  record.a = contact.body_a;
  record.b = contact.body_b;
  const Eigen::Vector3d p_A = carry(contact.p_WA, X_start[contact.body_a], X_end[contact.body_a]);
  const Eigen::Vector3d p_B = carry(contact.p_WB, X_start[contact.body_b], X_end[contact.body_b]);
  record.point_W = to_array(0.5 * (p_A + p_B));
  record.normal_W = to_array(contact.n_W);
  record.gap = result.solution.gap[i];
  record.gap_start = contact.gap;
  const ContactForce force = contact_force(result, to_size(i));
  record.force_W = to_array(force.force_W);
  record.torque_W = to_array(force.torque_W);
  record.mu = contact.mu;

  const Slide slide = slide_of(result.program, i, result.delta);
  record.boundary_gap = result.de_saxce.empty() ? slide.gap : 0.0;
  if (f[0] <= kOpenForce * largest_force) {
    record.state = ContactState::kOpen;
  } else {
    record.state = slide.distance > kSlip_m ? ContactState::kSlide : ContactState::kStick;
  }
  return record;
}

}  // namespace

ContactForce contact_force(const StepResult& result, std::size_t i) {
  const contact::Contact& contact = result.problem.contacts[i];
  const std::array<double, 4>& f = result.solution.force[i];
  const Eigen::Vector3d friction_W = f[1] * contact.t1_W + f[2] * contact.t2_W;
  const Eigen::Vector3d arm_W = 0.5 * (contact.friction_WA + contact.friction_WB - contact.p_WA - contact.p_WB);
  return {.force_W = f[0] * contact.n_W + friction_W, .torque_W = f[3] * contact.n_W + arm_W.cross(friction_W)};
}

void record_contacts(const StepResult& result, std::span<const RigidTransform> X_start,
                     std::span<const RigidTransform> X_end, std::vector<ContactRecord>& out) {
  double largest_force = 0;
  for (const auto& force : result.solution.force) largest_force = std::max(largest_force, force[0]);
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i)
    out.push_back(record_contact(result, static_cast<int>(i), largest_force, X_start, X_end));
}

}  // namespace deft::dynamics
