#include "deft/contact/assemble.hpp"

#include <algorithm>

#include "deft/scene/motion_plane.hpp"

namespace deft::contact {
namespace {

/// Entries of J_n are about 1 (slides) or a lever arm [m]: below this they are rounding.
constexpr double kNoNormalMotion = 1e-12;
/// Components of a normal this close count as equal: rounding must not turn the frame of a box that lies still.
constexpr double kSameSize = 1e-9;
/// Normals this close belong to one face.
constexpr double kSameNormal = 1e-6;

/// Witness points and frame of a contact.
Contact make_contact(const collision::ContactPair& pair, scene::Plane plane, const AssembleOptions& options) {
  Contact contact;
  contact.body_a = pair.body_a;
  contact.body_b = pair.body_b;
  contact.geometry_a = pair.geometry_a;
  contact.geometry_b = pair.geometry_b;
  contact.p_WA = options.midpoint_forces ? Eigen::Vector3d(0.5 * (pair.p_WA + pair.p_WB)) : pair.p_WA;
  contact.p_WB = options.midpoint_forces ? contact.p_WA : pair.p_WB;
  contact.friction_WA = contact.p_WA;
  contact.friction_WB = contact.p_WB;
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

/// Rows [first, last) of a contact's block.
struct Rows { int first, last; };

/// Adds sign · [n t₁ t₂]ᵀ J_v and, as row 3, sign · nᵀ J_ω of one body to rows of the contact's block; both column
/// lists ascend.
void add_body(const Eigen::Matrix3d& frame_rows, Rows rows, double sign, std::span<const int> body_cols,
              const double* J, std::span<const int> cols, RowBlocks::Block& block) {
  const std::size_t k = body_cols.size();
  std::size_t at = 0;
  for (std::size_t c = 0; c < k; ++c) {
    while (at < cols.size() && cols[at] < body_cols[c]) ++at;
    if (at == cols.size() || cols[at] != body_cols[c]) continue;  // a frozen column
    const double vx = J[3 * k + c], vy = J[4 * k + c], vz = J[5 * k + c];
    for (int r = rows.first; r < std::min(rows.last, 3); ++r) {
      block(r, static_cast<Eigen::Index>(at)) +=
          sign * (frame_rows(r, 0) * vx + frame_rows(r, 1) * vy + frame_rows(r, 2) * vz);
    }
    if (rows.last == 4) {
      block(3, static_cast<Eigen::Index>(at)) +=
          sign * (frame_rows(0, 0) * J[c] + frame_rows(0, 1) * J[k + c] + frame_rows(0, 2) * J[2 * k + c]);
    }
  }
}

}  // namespace

AssembleOptions assemble_options(const scene::StepSettings& step) {
  return {.midpoint_forces = step.midpoint_forces, .friction_arm = step.friction_arm};
}

void friction_points(std::span<const collision::ContactPair> contacts, std::size_t i, double arm, Eigen::Vector3d& p_A,
                     Eigen::Vector3d& p_B) {
  const collision::ContactPair& own = contacts[i];
  const auto of_pair = [&](const collision::ContactPair& x) {
    return x.geometry_a == own.geometry_a && x.geometry_b == own.geometry_b;
  };
  std::size_t first = i, last = i + 1;
  while (first > 0 && of_pair(contacts[first - 1])) --first;
  while (last < contacts.size() && of_pair(contacts[last])) ++last;
  double least = own.gap;
  for (std::size_t k = first; k < last; ++k) least = std::min(least, contacts[k].gap);
  if (own.gap - least >= kFaceGap_m) return;
  double weights = 0;
  Eigen::Vector3d c_A = Eigen::Vector3d::Zero(), c_B = Eigen::Vector3d::Zero();
  for (std::size_t k = first; k < last; ++k) {
    if ((contacts[k].nhat_BA_W - own.nhat_BA_W).norm() > kSameNormal) continue;
    const double weight = std::max(0.0, 1 - (contacts[k].gap - least) / kFaceGap_m);
    weights += weight;
    c_A += weight * contacts[k].p_WA;
    c_B += weight * contacts[k].p_WB;
  }
  p_A = c_A / weights + arm * (own.p_WA - c_A / weights);
  p_B = c_B / weights + arm * (own.p_WB - c_B / weights);
}

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
  for (std::size_t i = 0; i < state.contacts.size(); ++i) {
    const collision::ContactPair& pair = state.contacts[i];
    const std::span<const int> cols_a = model.columns(pair.body_a), cols_b = model.columns(pair.body_b);
    cols_.clear();
    std::set_union(cols_a.begin(), cols_a.end(), cols_b.begin(), cols_b.end(), std::back_inserter(cols_));
    std::erase_if(cols_, [&](int c) { return frozen_[c] != 0; });
    if (cols_.empty()) continue;  // neither body can move

    Contact contact = make_contact(pair, plane, options);
    set_friction(scene_->friction(pair.geometry_a, pair.geometry_b), scene_->spec().friction.ellipsoid_axis, plane,
                 contact);
    const bool has_arm = options.friction_arm != 1;
    if (has_arm) {
      friction_points(state.contacts, i, options.friction_arm, contact.friction_WA, contact.friction_WB);
      if (options.midpoint_forces)
        contact.friction_WA = contact.friction_WB = 0.5 * (contact.friction_WA + contact.friction_WB);
    }
    const bool spins = contact.patch && plane == scene::Plane::kSpace;
    RowBlocks::Block block = problem.J.append(spins ? 4 : rows, cols_);
    Eigen::Matrix3d frame_rows;
    frame_rows << contact.n_W.transpose(), contact.t1_W.transpose(), contact.t2_W.transpose();
    const Rows all{0, block.rows() == 4 ? 4 : rows};
    for (const bool is_a : {true, false}) {
      const std::span<const int> cols = is_a ? cols_a : cols_b;
      if (cols.empty()) continue;
      const double sign = is_a ? 1 : -1;
      double* J = is_a ? J_a_.data() : J_b_.data();
      const auto add = [&](Rows some, const Eigen::Vector3d& p) {
        model.point_jacobian(state.kinematics, is_a ? pair.body_a : pair.body_b, p, J, static_cast<int>(cols.size()));
        add_body(frame_rows, some, sign, cols, J, cols_, block);
      };
      add(has_arm ? Rows{0, 1} : all, is_a ? contact.p_WA : contact.p_WB);
      if (has_arm) add({1, all.last}, is_a ? contact.friction_WA : contact.friction_WB);
    }
    if (block.row(0).cwiseAbs().maxCoeff() <= kNoNormalMotion) {
      problem.J.pop_back();  // the joints hold the bodies along the normal: this contact can transmit nothing
      continue;
    }
    problem.contacts.push_back(contact);
  }
}

}  // namespace deft::contact
