#include "deft/dynamics/convex/relinearization.hpp"

#include <algorithm>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/math/rotation.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {

using Eigen::Vector3d;

namespace {

/// Where a point of a body at X_from is when the body is at X_to.
Vector3d carry(const Vector3d& p_W, const RigidTransform& X_from, const RigidTransform& X_to) {
  return X_to * (X_from.inverse() * p_W);
}

/// What the rows of a contact move from the start to q₁: 0 along the normal, slips along the tangents, the spin.
Eigen::Vector4d slip_of(const contact::Contact& contact, std::span<const RigidTransform> X_start,
                        std::span<const RigidTransform> X_end) {
  const int a = contact.body_a, b = contact.body_b;
  const Vector3d apart = carry(contact.p_WA, X_end[a], X_start[a]) - carry(contact.p_WB, X_end[b], X_start[b]);
  // How far points that meet now were apart, as both bodies have carried it along; A's turn against B.
  const Eigen::Matrix3d turn_A = X_end[a].linear() * X_start[a].linear().transpose();
  const Eigen::Matrix3d turn_B = X_end[b].linear() * X_start[b].linear().transpose();
  const Vector3d moved = -0.5 * (turn_A * apart + turn_B * apart);
  const double spin = contact.patch ? contact.n_W.dot(log_so3(turn_A * turn_B.transpose())) : 0;
  return {0, contact.t1_W.dot(moved), contact.t2_W.dot(moved), spin};
}

}  // namespace

Relinearization::Relinearization(const scene::Scene& scene)
    : scene_(&scene),
      assembler_(scene),
      end_(scene.make_state()),
      rotations_(rotation_blocks(scene.model())),
      turns_(scene.nv(), 0) {
  for (const int v : rotations_) std::fill_n(turns_.begin() + v, 3, 1);
}

/// J ← J Γ(δ₀): the columns of a rotation become J left_jacobian(δ₀).
void Relinearization::move_columns(const Eigen::VectorXd& delta, contact::ContactProblem& problem) const {
  for (int i = 0; i < problem.J.size(); ++i) {
    const auto cols = problem.J.cols(i);
    auto block = problem.J.block(i);
    for (std::size_t c = 0; c < cols.size();) {
      if (!turns_[cols[c]]) {
        ++c;
        continue;
      }
      // The three columns of a rotation are there together.
      const auto at = static_cast<Eigen::Index>(c);
      const Eigen::Matrix3d gamma = left_jacobian_so3(delta.segment<3>(cols[c]));
      for (Eigen::Index r = 0; r < block.rows(); ++r) {
        const Eigen::RowVector3d row = block.row(r).segment<3>(at) * gamma;
        block.row(r).segment<3>(at) = row;
      }
      c += 3;
    }
  }
}

void Relinearization::about(const scene::SceneState& start, const Eigen::VectorXd& delta,
                            contact::ContactProblem& problem) {
  const scene::StepSettings& settings = scene_->settings().step;
  scene_->model().integrate(start.q, delta, q_);
  scene_->update(q_, end_);
  scene_->find_contacts(settings.contact_margin, end_);
  assembler_.assemble(end_, {.midpoint_forces = settings.midpoint_forces}, problem);
  move_columns(delta, problem);
  for (int i = 0; i < problem.J.size(); ++i) {
    contact::Contact& contact = problem.contacts[i];
    const Eigen::Vector4d slip = slip_of(contact, start.X_WB(), end_.X_WB());
    contact.gap -= row_times(problem.J, i, 0, delta);
    for (int r = 1; r < problem.J.rows(i); ++r) contact.offset[r - 1] = slip(r) - row_times(problem.J, i, r, delta);
  }
}

void Relinearization::to_start(const scene::SceneState& start, contact::ContactProblem& problem) const {
  const auto X_start = start.X_WB(), X_end = end_.X_WB();
  for (contact::Contact& contact : problem.contacts) {
    contact.p_WA = carry(contact.p_WA, X_end[contact.body_a], X_start[contact.body_a]);
    contact.p_WB = carry(contact.p_WB, X_end[contact.body_b], X_start[contact.body_b]);
  }
}

}  // namespace deft::dynamics
