#pragma once
// The derivative of ContactProblem: how contact rows and contact forces change with the configuration, in plain data.

#include <array>
#include <span>
#include <vector>

#include "deft/contact/assemble.hpp"

namespace deft::contact {

/// Derivatives of a ContactProblem along world tangents at fixed δ and forces f (per contact (f_n, f_t1, f_t2,
/// f_spin)). Contact i of the problem has block i everywhere; its columns are all velocities on which either body
/// depends (frozen ones too).
struct ContactProblemDerivative {
  /// One entry of a sparse matrix.
  struct Entry {
    int row, col;  // velocity indices
    double value;  // adds to what other entries have there
  };
  /// Maps from ζ = (θ_A, η_A, θ_B, η_B), displacements of the two shapes over their bodies: turns and shifts at the
  /// witness points p_WA, p_WB, in the world.
  struct ShapeMaps {
    Eigen::Matrix<double, 4, 12> ds = Eigen::Matrix<double, 4, 12>::Zero();    // ζ → φe₁ + Jδ, rows n, t₁, t₂, spin
    Eigen::Matrix<double, 3, 12> turn = Eigen::Matrix<double, 3, 12>::Zero();  // ζ → [n t₁ t₂] f at fixed f
  };

  RowBlocks ds;        // ∂(φe₁ + J_iδ)/∂q, rows as in J
  RowBlocks dtau;      // ∂(J_iᵀf_i)/∂q with the columns S_c of the bodies fixed: square, row k belongs to cols(i)[k]
  RowBlocks ds_start;  // with `start`: ∂/∂q_start of the slips; else empty
  std::vector<Entry> dtau_columns;  // what the turning columns add to Σ ∂(Jᵀf)/∂q: (S_i × S_c)·wrench on what c carries
  RowBlocks turn;                   // (∂[n t₁ t₂]/∂q) f_i, 3 rows: the world force changes by it and by [n t₁ t₂] df
  std::vector<ShapeMaps> shape;     // the same for the shapes alone
  RowBlocks dtau_shape;             // 12 × columns: transposed map ζ → J_iᵀf_i
  std::vector<collision::NonsmoothPoint> nonsmooth_points;  // per contact
  std::vector<char> frame_ties;  // per contact, in space: the two smallest |n_j| are equal, so that the tangents jump
                                 // (pyramids depend on them)
};

/// The derivative of the tangents of `tangents` with respect to n:  dt₁ = T₁ dn, dt₂ = T₂ dn.
void tangent_rates(const Eigen::Vector3d& n_W, scene::Plane plane, Eigen::Matrix3d& T1, Eigen::Matrix3d& T2);

/// The same for `patch_tangents`. @pre the axis is not along n.
void patch_tangent_rates(const Eigen::Vector3d& n_W, const Eigen::Vector3d& axis_W, Eigen::Matrix3d& T1,
                         Eigen::Matrix3d& T2);

/// kMotion: ds, dtau, dtau_columns, nonsmooth points and frame_ties alone; the others stay empty.
enum class DerivativeParts { kAll, kMotion };

/// Fills ContactProblemDerivative. README.md derives the terms. Keeps scratch: no allocation once it and `out` have
/// grown. One object per thread.
class RowDifferentiator {
 public:
  explicit RowDifferentiator(const scene::Scene& scene);  // which must outlive it
  /// @param state    at the configuration of `problem`, with the contacts from which it was assembled.
  /// @param options  as in the assembly.  @param delta  [rad, m], size nv.  @param force  per contact of the problem
  /// [N, N·m].
  /// @param start  where the step starts, if it is not where its contacts are linearised: the tangential rows and the
  /// spin then contain too what the material points of the contact have moved against each other from there, and how
  /// far the bodies have turned against each other. Null: they do not.
  /// @throws std::invalid_argument if the state does not hold a contact of the problem, or sizes differ.
  void differentiate(const scene::SceneState& state, const AssembleOptions& options, const ContactProblem& problem,
                     const Eigen::VectorXd& delta, std::span<const std::array<double, 4>> force,
                     ContactProblemDerivative& out, DerivativeParts parts = DerivativeParts::kAll,
                     const scene::SceneState* start = nullptr);

 private:
  using Columns = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  /// Twist of a body per step and its derivative by column, about the world origin.
  struct BodyMotion {
    Eigen::Matrix<double, 6, 1> V;
    Columns D;  // of the columns of the body
    bool is_known = false;
  };
  struct ContactTerms;
  void find_columns(const Columns& S, ContactTerms& terms);
  void set_frame_rates(const AssembleOptions& options, ContactTerms& terms) const;
  void add_rows(int rows, const BodyMotion& A, const BodyMotion& B, ContactTerms& terms,
                ContactProblemDerivative& out) const;
  void add_slips(const scene::SceneState& state, const scene::SceneState& start, int rows, ContactTerms& terms,
                 ContactProblemDerivative& out) const;
  void add_shape(const ContactTerms& terms, ContactProblemDerivative& out) const;
  void add_forces(const Columns& S, DerivativeParts parts, const ContactTerms& terms, ContactProblemDerivative& out);
  void add_turning_columns(const Columns& S, int nv, ContactProblemDerivative& out) const;
  const BodyMotion& body_motion(const Columns& S, int body, const Eigen::VectorXd& delta);

  const scene::Scene* scene_;
  std::vector<char> frozen_;
  std::vector<collision::ContactMotion> motions_;
  collision::CollisionWorkspace workspace_;
  std::vector<BodyMotion> bodies_;
  std::vector<int> cols_, at_[2];  // of a contact, and where the columns of A and B stand in them
  Columns Z_[2];                   // of a contact: ζ = Z dq by the columns of A and B
  Columns carried_;                // per velocity: the contact wrench on everything its column moves
};

}  // namespace deft::contact
