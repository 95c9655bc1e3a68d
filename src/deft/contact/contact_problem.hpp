#pragma once
// The interface between robots and solvers: contacts of a scene at one configuration, in plain data. Gaps, normals,
// friction and Jacobian rows; Q and b are filled by a step model. It can be written to a file and solved without a
// robot (problem files).

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "deft/math/block_diagonal.hpp"
#include "deft/math/row_blocks.hpp"

namespace deft::contact {

/// One contact point between bodies A and B. Frame C = (n, t₁, t₂), n from B to A.
struct Contact {
  int body_a = -1, body_b = -1;              // indices of the scene's bodies
  int geometry_a = -1, geometry_b = -1;      // indices of its collision geometries
  Eigen::Vector3d p_WA, p_WB;                // where force and reaction act [m]: witness points, or their midpoint
  Eigen::Vector3d friction_WA, friction_WB;  // where their tangential parts act [m]; the same unless the face has an
                                             // arm
  Eigen::Vector3d n_W, t1_W, t2_W;           // unit, world; in the plane t2_W is unused (zero)
  double gap = 0;                            // φ [m]
  std::array<double, 3> offset{0, 0, 0};     // o: slips of the tangential rows at δ = 0 [m, m, rad]; 0 where contacts
                                             // are linearised at the start of the step
  double mu = 0;                             // [-] ≥ 0
  bool frictionless = false;                 // only the normal row of J counts
  bool patch = false;                        // friction ellipsoid: t₁ along its axis, in space with a spin row
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]; scales rows t₁, t₂, spin
  double weight = 1;                         // share of this point in its patch
  std::uint64_t id = 0;                      // of the collision::ContactPair; stable while the same features touch
};

/// The program of one step without its law of friction:  minimise ½ δᵀQδ + bᵀδ [J] over δ ∈ R^nv subject to contacts
/// with linearised gaps φ + J_n δ [m]. Units of δ: rad and m.
struct ContactProblem {
  int nv = 0;                     // size of δ
  std::vector<Contact> contacts;  // contact i has block i of J
  RowBlocks J;  // per contact rows n, t₁(, t₂)(, spin): relative velocity of A against B at the witness points, of the
                // tangents at the points where friction acts (spin: n·(ω_A − ω_B)), per column
  BlockDiagonal Q;       // [N/m, N·m/rad, …]
  Eigen::VectorXd b;     // [N, N·m]
  BlockDiagonal masses;  // M_u/h² where Q is zero (quasistatic)
};

}  // namespace deft::contact
