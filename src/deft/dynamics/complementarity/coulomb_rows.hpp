#pragma once
// Coulomb's law with polygonal friction, exact, as a complementarity problem in plain matrices. With rays d_j, contact
// i:
//
//   0 ≤ f_n ⟂ φ + J_nδ ≥ 0,   0 ≤ β_j ⟂ Γ + d_jᵀJ_tδ ≥ 0,   0 ≤ Γ ⟂ μ f_n − Σβ_j ≥ 0,   f_t = Σβ_j d_j,
//
// with compliance R [m/N] 0 ≤ f_n ⟂ φ + J_nδ + R f_n ≥ 0 (an implicit spring of 1/R in the normal); one row without
// friction; joint limits 0 ≤ λ ⟂ ±(δ − limit) ≥ 0; and the free velocities of a ForceResponse with their balance 0 =
// J_fᵀf + λ_f − load.

#include <Eigen/Core>
#include <array>
#include <vector>

#include "deft/dynamics/complementarity/force_response.hpp"
#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"

namespace deft::dynamics {

/// Builds the problem of one step, w = Mz + q with z = (δ_free; per contact (f_n, β_1 … β_rays, Γ) or f_n alone; λ of
/// the limits), and reads its solutions. δ of the other velocities is eliminated by their mobility. Keeps scratch: no
/// allocation of its own once grown. One object per thread.
class CoulombRows {
 public:
  /// @param program  contacts (gaps, friction, ids), rows J, rays, bounds lower ≤ δ ≤ upper (those of velocities
  /// without mobility are ignored). @param with_motion  fill `motion`: the rows of δ that forces can change.
  /// @pre program has both bounds or neither, as set_joint_limits leaves them.
  void build(const solvers::contact::ContactProgram& program, const ForceResponse& response, bool with_motion,
             solvers::lcp::ComplementarityProgram& out);

  int size() const { return size_; }                      // number of unknowns z
  int contact_of(int i) const { return contact_of_[i]; }  // the contact that row i belongs to, −1: none
  int limit_of(int i) const { return limit_of_[i]; }      // the velocity whose limit row i is, −1: none

  /// δ of a solution z, size nv.
  void motion(const ForceResponse& response, const Eigen::VectorXd& z, Eigen::VectorXd& delta);
  /// (f_n, f_t1, f_t2, 0) of a contact [N].
  std::array<double, 4> force(int contact, const Eigen::VectorXd& z) const;
  /// Multipliers β'_j ≥ 0 of the same force in a pyramid, f_n = Σβ'_j, f_t = μ Σβ'_j d_j, appended to `multipliers`:
  /// the part of f_n that friction does not use is spread evenly.
  void append_pyramid(int contact, const Eigen::VectorXd& z, std::vector<double>& multipliers) const;
  /// Adds the forces of joint limits [N, N·m] to `multipliers` (size nv): positive pushes up from `lower`, negative
  /// down from `upper`.
  void add_limits(const Eigen::VectorXd& z, Eigen::VectorXd& multipliers) const;

 private:
  struct ContactRows {
    int first = 0;  // of z
    int rays = 0;   // 0: without friction
    int edges = 1;  // of the pyramid that the contact program has for it
    double mu = 0;
  };
  struct Limit {
    int velocity = 0;
    double sign = 1;  // +1: lower limit
  };
  /// Share of the tangential force that is within the cone of z: 1 but for rounding, whose work over a gap of metres is
  /// more than that of a step that hardly moves. Larger errors show in the certificate of the rows.
  static double share_within(const ContactRows& rows, const Eigen::VectorXd& z);
  void lay_out(const solvers::contact::ContactProgram& program, const ForceResponse& response);
  void fill_directions(const solvers::contact::ContactProgram& program, const ForceResponse& response);
  void fill_motion(const ForceResponse& response, Eigen::MatrixXd& motion) const;

  int size_ = 0, num_free_ = 0;
  std::vector<ContactRows> contacts_;
  std::vector<Limit> limits_;
  std::vector<int> contact_of_, limit_of_;
  std::vector<double> cosines_, sines_;
  std::vector<int> z_of_;  // per row of R: the component of z that acts along it
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor R_, G_;          // directions; R F
  Eigen::VectorXd offset_;  // per row of R: gap, 0, distance from the limit, at δ = 0
  Eigen::VectorXd push_;    // Rᵀz, size nv
};

/// cos and sin of 2πk/rays, k = 0 … rays − 1; quarter turns are exact, so that symmetric problems stay symmetric.
void ray_angles(int rays, std::vector<double>& cosines, std::vector<double>& sines);

}  // namespace deft::dynamics
