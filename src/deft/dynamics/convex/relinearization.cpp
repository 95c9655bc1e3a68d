#include "deft/dynamics/convex/relinearization.hpp"

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/math/rotation.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {

using Eigen::Vector3d;

Relinearization::Relinearization(const scene::Scene& scene)
    : scene_(&scene),
      assembler_(scene),
      end_(scene.make_state()),
      rotations_(rotation_blocks(scene.model())),
      rotation_(to_size(scene.nv()), -1),
      gammas_(rotations_.size()) {
  for (std::size_t k = 0; k < rotations_.size(); ++k)
    std::fill_n(rotation_.begin() + rotations_[k], 3, static_cast<int>(k));
}

/// What the rows of a contact move from the start to q₁: 0 along the normal, slips along the tangents, the spin.
Eigen::Vector4d Relinearization::slip_of(const contact::Contact& contact) const {
  const BodyWay &a = way(contact.body_a), &b = way(contact.body_b);
  // How far points that meet now were apart, as both bodies have carried it along; A's turn against B.
  const Vector3d apart = a.back(contact.friction_WA) - b.back(contact.friction_WB);
  const Vector3d moved = -0.5 * (a.turn * apart + b.turn * apart);
  const double spin = contact.patch ? contact.n_W.dot(log_so3(a.turn * b.turn.transpose())) : 0;
  return {0, contact.t1_W.dot(moved), contact.t2_W.dot(moved), spin};
}

/// J ← J Γ(δ₀): the columns of a rotation become J left_jacobian(δ₀).
void Relinearization::move_columns(const Eigen::VectorXd& delta, contact::ContactProblem& problem) {
  for (std::size_t k = 0; k < rotations_.size(); ++k) gammas_[k] = left_jacobian_so3(delta.segment<3>(rotations_[k]));
  for (int i = 0; i < problem.J.size(); ++i) {
    const auto cols = problem.J.cols(i);
    auto block = problem.J.block(i);
    for (std::size_t c = 0; c < cols.size();) {
      const int rotation = rotation_[to_size(cols[c])];
      if (rotation < 0) {
        ++c;
        continue;
      }
      // The three columns of a rotation are there together.
      const auto at = static_cast<Eigen::Index>(c);
      const Eigen::Matrix3d& gamma = gammas_[to_size(rotation)];
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
  contacts_.find(*scene_, start, settings.contact_margin, end_);
  assembler_.assemble(end_, contact::assemble_options(settings), problem);
  move_columns(delta, problem);
  for (int i = 0; i < problem.J.size(); ++i) {
    contact::Contact& contact = problem.contacts[i];
    const Eigen::Vector4d slip = slip_of(contact);
    contact.gap -= row_times(problem.J, i, 0, delta);
    for (int r = 1; r < problem.J.rows(i); ++r) contact.offset[r - 1] = slip(r) - row_times(problem.J, i, r, delta);
  }
}

void Relinearization::to_start(contact::ContactProblem& problem) const {
  for (contact::Contact& contact : problem.contacts) {
    const BodyWay &a = way(contact.body_a), &b = way(contact.body_b);
    contact.p_WA = a.back(contact.p_WA);
    contact.p_WB = b.back(contact.p_WB);
    contact.friction_WA = a.back(contact.friction_WA);
    contact.friction_WB = b.back(contact.friction_WB);
  }
}

}  // namespace deft::dynamics
