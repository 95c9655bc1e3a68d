// Model: the mass matrix, by composite inertias (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2) in
// the joints' own frames, straight in deft's coordinates.

#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

/// At most six columns, on the stack.
using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;

/// Motion [v; ω] of joint j's frame, in that frame, per unit of deft's velocities. Free body: [R_BW v_W; R_BW ω_W] from
/// [ω_W; v_W]. Ball: R_CP ω_P.
Columns columns_of(const PinocchioJoint& joint, const pinocchio::Data& data, std::size_t j) {
  if (joint.kind == JointKind::kAxes) return joint.axis;
  Columns U = Columns::Zero(6, joint.nv);
  if (joint.kind == JointKind::kFree) {
    U.topRightCorner<3, 3>() = U.bottomLeftCorner<3, 3>() = data.oMi[j].rotation().transpose();
  } else {
    U.bottomRows<3>() = data.joints[j].M().rotation().transpose();
  }
  return U;
}

/// Wrenches [force; moment] of a joint's frame, seen in that of its parent.
void to_parent(const pinocchio::SE3& X_PJ, Columns& wrenches) {
  for (Eigen::Index c = 0; c < wrenches.cols(); ++c) {
    const Eigen::Vector3d force = X_PJ.rotation() * wrenches.col(c).head<3>();
    const Eigen::Vector3d moment = X_PJ.rotation() * wrenches.col(c).tail<3>();
    wrenches.col(c) << force, moment + X_PJ.translation().cross(force);
  }
}

}  // namespace

std::span<const VelocityRange> Model::inertia_ranges() const { return impl_->inertia_ranges; }

void Model::mass_matrix(Kinematics& kinematics, BlockDiagonal& M) const {
  pinocchio::Data& data = kinematics.impl_->data;
  const auto& joints = impl_->pinocchio_joints;
  const auto& parents = impl_->pinocchio.parents;
  M.clear();
  for (const VelocityRange& range : impl_->inertia_ranges) M.append(range.start, range.size);

  // Composite inertias, outboard joints first.
  for (std::size_t j = 1; j < joints.size(); ++j) data.Ycrb[j] = impl_->pinocchio.inertias[j];
  for (std::size_t j = joints.size() - 1; j > 0; --j) {
    if (parents[j] > 0) data.Ycrb[parents[j]] += data.liMi[j].act(data.Ycrb[j]);
  }

  // Drives turn with their joints alone. A joint is coupled to itself and to those that carry it: the momentum of what
  // it carries, along their columns.
  for (std::size_t b = 1; b < joints.size(); ++b) {
    const int range = impl_->range_of_velocity[joints[b].v], start = impl_->inertia_ranges[range].start;
    auto block = M.block(range);
    const Columns U_b = columns_of(joints[b], data, b);
    Columns momentum = Columns(data.Ycrb[b].matrix().lazyProduct(U_b));
    const int at_b = joints[b].v - start, n_b = joints[b].nv;
    auto own = block.block(at_b, at_b, n_b, n_b);
    own = U_b.transpose().lazyProduct(momentum);
    for (int r = 0; r < n_b; ++r) {
      for (int c = r + 1; c < n_b; ++c) own(r, c) = own(c, r) = 0.5 * (own(r, c) + own(c, r));  // exactly symmetric
    }
    for (int r = 0; r < n_b; ++r) own(r, r) += impl_->velocities[joints[b].v + r].armature;
    to_parent(data.liMi[b], momentum);
    for (std::size_t a = parents[b]; a > 0; a = parents[a]) {
      const int at_a = joints[a].v - start, n_a = joints[a].nv;
      auto coupling = block.block(at_a, at_b, n_a, n_b);
      coupling = columns_of(joints[a], data, a).transpose().lazyProduct(momentum);
      block.block(at_b, at_a, n_b, n_a) = coupling.transpose();
      to_parent(data.liMi[a], momentum);
    }
  }
}

void Model::mass_matrix(Kinematics& kinematics, Eigen::MatrixXd& M) const {
  BlockDiagonal& blocks = kinematics.impl_->M;
  mass_matrix(kinematics, blocks);
  M.setZero(nv(), nv());
  for (int k = 0; k < blocks.num_blocks(); ++k)
    M.block(blocks.start(k), blocks.start(k), blocks.size(k), blocks.size(k)) = blocks.block(k);
}

}  // namespace deft::multibody
