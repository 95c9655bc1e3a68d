#include "deft/contact/assemble.hpp"

#include <algorithm>

#include "deft/scene/motion_plane.hpp"

namespace deft::contact {
namespace {

/// Entries of J_n are about 1 (slides) or a lever arm [m]: below this they are rounding.
constexpr double kNoNormalMotion = 1e-12;
/// Components of a normal this close count as equal: rounding must not turn the frame of a box that lies still.
constexpr double kSameSize = 1e-9;

/// Witness points and frame of a contact.
Contact make_contact(const collision::ContactPair& pair, scene::Plane plane, const AssembleOptions& options) {
  Contact contact;
  contact.body_a = pair.body_a;
  contact.body_b = pair.body_b;
  contact.geometry_a = pair.geometry_a;
  contact.geometry_b = pair.geometry_b;
  contact.p_WA = options.midpoint_forces ? Eigen::Vector3d(0.5 * (pair.p_WA + pair.p_WB)) : pair.p_WA;
  contact.p_WB = options.midpoint_forces ? contact.p_WA : pair.p_WB;
  contact.n_W = pair.nhat_BA_W;
  tangents(contact.n_W, plane, contact.t1_W, contact.t2_W);
  contact.gap = pair.gap;
  contact.weight = pair.weight;
  contact.id = pair.id;
  return contact;
}

/// The friction of the pair; patches turn the tangents to their ellipsoid.
void set_friction(const scene::PairFriction& friction, const Eigen::Vector3d& axis_W, scene::Plane plane,
                  Contact& contact) {
  contact.mu = friction.mu;
  contact.frictionless = friction.frictionless;
  contact.patch = friction.patch;
  contact.ellipsoid = friction.ellipsoid;
  if (!friction.patch) return;
  Eigen::Vector3d along = contact.t1_W, across = contact.t2_W;
  const bool turned = patch_tangents(contact.n_W, axis_W, along, across);
  if (plane == scene::Plane::kSpace) {
    contact.t1_W = along;
    contact.t2_W = across;
  } else if (turned) {
    // Slides by s t alone: |diag(e_t, e_o)(s t)| = s √((e_t t·along)² + (e_o t·across)²).
    contact.ellipsoid = {
        std::hypot(friction.ellipsoid[0] * contact.t1_W.dot(along), friction.ellipsoid[1] * contact.t1_W.dot(across)),
        1, 1};
  } else {
    contact.ellipsoid = {friction.ellipsoid[0], 1, 1};
  }
}

/// Adds sign · [n t₁ t₂]ᵀ J_v and, as row 3, sign · nᵀ J_ω of one body to the contact's block; both column lists
/// ascend.
void add_body(const Eigen::Matrix3d& frame_rows, int rows, double sign, std::span<const int> body_cols, const double* J,
              std::span<const int> cols, RowBlocks::Block& block) {
  const std::size_t k = body_cols.size();
  std::size_t at = 0;
  for (std::size_t c = 0; c < k; ++c) {
    while (at < cols.size() && cols[at] < body_cols[c]) ++at;
    if (at == cols.size() || cols[at] != body_cols[c]) continue;  // a frozen column
    const double vx = J[3 * k + c], vy = J[4 * k + c], vz = J[5 * k + c];
    for (int r = 0; r < rows; ++r) {
      block(r, static_cast<Eigen::Index>(at)) +=
          sign * (frame_rows(r, 0) * vx + frame_rows(r, 1) * vy + frame_rows(r, 2) * vz);
    }
    if (block.rows() == 4) {
      block(3, static_cast<Eigen::Index>(at)) +=
          sign * (frame_rows(0, 0) * J[c] + frame_rows(0, 1) * J[k + c] + frame_rows(0, 2) * J[2 * k + c]);
    }
  }
}

}  // namespace

int tangent_axis(const Eigen::Vector3d& n) {
  int axis = 0;
  for (int j = 1; j < 3; ++j) {
    if (std::abs(n(j)) < std::abs(n(axis)) - kSameSize) axis = j;
  }
  return axis;
}

void tangents(const Eigen::Vector3d& n, scene::Plane plane, Eigen::Vector3d& t1, Eigen::Vector3d& t2) {
  if (plane != scene::Plane::kSpace) {
    t1 = scene::plane_normal(plane).cross(n);
    const double length = t1.norm();
    if (length > kAlongNormal) {
      t1 /= length;
      t2.setZero();
      return;
    }
  }
  t1 = Eigen::Vector3d::Unit(tangent_axis(n)).cross(n).normalized();
  t2 = n.cross(t1);
  if (plane != scene::Plane::kSpace) t2.setZero();
}

bool patch_tangents(const Eigen::Vector3d& n, const Eigen::Vector3d& axis, Eigen::Vector3d& t1, Eigen::Vector3d& t2) {
  const Eigen::Vector3d along = axis - n.dot(axis) * n;
  const double length = along.norm();
  if (length <= kAlongNormal) return false;
  t1 = along / length;
  t2 = n.cross(t1);
  return true;
}

Assembler::Assembler(const scene::Scene& scene) : scene_(&scene), frozen_(scene.nv(), 0) {
  std::size_t widest = 0;
  for (std::size_t body = 0; body < scene.model().bodies().size(); ++body) {
    widest = std::max(widest, scene.model().columns(static_cast<int>(body)).size());
  }
  J_a_.resize(6 * widest);
  J_b_.resize(6 * widest);
  cols_.reserve(2 * widest);
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) std::fill_n(frozen_.begin() + object.first_v, object.nv, 1);
  }
}

void Assembler::assemble(const scene::SceneState& state, const AssembleOptions& options, ContactProblem& problem) {
  const multibody::Model& model = scene_->model();
  const scene::Plane plane = scene_->plane();
  const int rows = plane == scene::Plane::kSpace ? 3 : 2;
  problem.nv = scene_->nv();
  problem.contacts.clear();
  problem.J.clear();
  for (const collision::ContactPair& pair : state.contacts) {
    const std::span<const int> cols_a = model.columns(pair.body_a), cols_b = model.columns(pair.body_b);
    cols_.clear();
    std::set_union(cols_a.begin(), cols_a.end(), cols_b.begin(), cols_b.end(), std::back_inserter(cols_));
    std::erase_if(cols_, [&](int c) { return frozen_[c] != 0; });
    if (cols_.empty()) continue;  // neither body can move

    Contact contact = make_contact(pair, plane, options);
    set_friction(scene_->friction(pair.geometry_a, pair.geometry_b), scene_->spec().friction.ellipsoid_axis, plane,
                 contact);
    const bool spins = contact.patch && plane == scene::Plane::kSpace;
    RowBlocks::Block block = problem.J.append(spins ? 4 : rows, cols_);
    Eigen::Matrix3d frame_rows;
    frame_rows << contact.n_W.transpose(), contact.t1_W.transpose(), contact.t2_W.transpose();
    if (!cols_a.empty()) {
      model.point_jacobian(state.kinematics, pair.body_a, contact.p_WA, J_a_.data(), static_cast<int>(cols_a.size()));
      add_body(frame_rows, rows, +1.0, cols_a, J_a_.data(), cols_, block);
    }
    if (!cols_b.empty()) {
      model.point_jacobian(state.kinematics, pair.body_b, contact.p_WB, J_b_.data(), static_cast<int>(cols_b.size()));
      add_body(frame_rows, rows, -1.0, cols_b, J_b_.data(), cols_, block);
    }
    if (block.row(0).cwiseAbs().maxCoeff() <= kNoNormalMotion) {
      problem.J.pop_back();  // the joints hold the bodies along the normal: this contact can transmit nothing
      continue;
    }
    problem.contacts.push_back(contact);
  }
}

}  // namespace deft::contact
