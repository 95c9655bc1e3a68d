#pragma once
// Contacts of a scene → ContactProblem: frames, friction and Jacobian rows.

#include <span>

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"

namespace deft::contact {

/// How forces are placed; a choice of `step:` in scene files.
struct AssembleOptions {
  bool midpoint_forces = false;  // force and reaction at the common midpoint; default: each at its own body's witness
                                 // point
  double friction_arm = 1;       // in (0, 1], s of friction_points
};

/// Those that a scene file has chosen.
AssembleOptions assemble_options(const scene::StepSettings& step);

/// Moves p_A and p_B of contact i of `contacts`, which stand together by pair, to where friction acts if the pressure
/// in a face is not all in its corners: c + s (p − c), with c the middle of the pair's points of the same normal,
/// weighed by w = max(0, 1 − (φ − least φ)/kFaceGap_m); points of no weight stay. Under a pressure p(x) with ∫p = N
/// over a face, the moment of friction about its normal is μ ∫ p |x − c| instead of μN |corner − c|: s = 0.54 for even
/// pressure on a square, 1/2 on an edge, 2/3 on a disc. Support, and with it tipping, stays that of the corners.
void friction_points(std::span<const collision::ContactPair> contacts, std::size_t i, double arm, Eigen::Vector3d& p_A,
                     Eigen::Vector3d& p_B);
/// Points of a pair that gape this much more than its nearest one do not share its face [m].
inline constexpr double kFaceGap_m = 1e-3;

/// The axis j along which |n_j| is smallest, the first of those that are equal within 1e-9, so that rounding does not
/// turn the frame of a contact that stays.  @param n_W  unit.
int tangent_axis(const Eigen::Vector3d& n_W);

/// Sine below which an axis counts as along a contact's normal and gives no tangent.
inline constexpr double kAlongNormal = 1e-6;

/// Tangents of a contact with normal n from B to A. Space: t₁ = normalised e_j × n with j = tangent_axis(n), t₂ = n ×
/// t₁. Plane: t₁ = plane normal × n normalised, t₂ = 0; a normal along the plane's own normal gives some unit tangent
/// (its rows vanish).
void tangents(const Eigen::Vector3d& n_W, scene::Plane plane, Eigen::Vector3d& t1_W, Eigen::Vector3d& t2_W);

/// Tangents of a patch: t₁ the projection of `axis` on the contact plane, t₂ = n × t₁. @returns false (and leaves them)
/// where the axis is normal to the plane.
bool patch_tangents(const Eigen::Vector3d& n_W, const Eigen::Vector3d& axis_W, Eigen::Vector3d& t1_W,
                    Eigen::Vector3d& t2_W);

/// Fills contacts and J (rows n, t₁(, t₂), of patches in space also spin) of `problem` from state.contacts; Q and b are
/// left to the step model. Row of direction d:  d·(v_A(p_WA) − v_B(p_WB)) per unit of each velocity, so that φ(q ⊕ δ) ≈
/// φ + J_n δ; rows of tangents at the points of friction_points; spin: n·(ω_A − ω_B). A patch in a plane of motion
/// keeps one tangent t, scaled by √((e_t t·a)² + (e_o t·(n × a))²), a the ellipsoid's axis. Columns of frozen objects
/// are left out, and so are contacts whose normal row vanishes: joints fix both bodies along the normal (a planar puck
/// on its table), so that no force follows from the motion. No allocation once grown.
class Assembler {
 public:
  explicit Assembler(const scene::Scene& scene);  // which must outlive it
  /// @param state  updated, with the contacts of its q. J gets the rows per contact, the columns of both bodies
  /// ascending.
  void assemble(const scene::SceneState& state, const AssembleOptions& options, ContactProblem& problem);

 private:
  const scene::Scene* scene_;
  std::vector<char> frozen_;       // per velocity
  std::vector<double> J_a_, J_b_;  // 6 × columns of one body
  std::vector<int> cols_;
};

}  // namespace deft::contact
