#pragma once
// Contacts of a scene → ContactProblem: frames, friction and Jacobian rows.

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"

namespace deft::contact {

/// How forces are placed; a choice of `step:` in scene files.
struct AssembleOptions {
  bool midpoint_forces = false;  // force and reaction at the common midpoint; default: each at its own body's witness
                                 // point
};

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
/// φ + J_n δ; spin: n·(ω_A − ω_B). A patch in a plane of motion keeps one tangent t, scaled by √((e_t t·a)² + (e_o t·(n
/// × a))²), a the ellipsoid's axis. Columns of frozen objects are left out, and so are contacts whose normal row
/// vanishes: joints fix both bodies along the normal (a planar puck on its table), so that no force follows from the
/// motion. No allocation once grown.
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
