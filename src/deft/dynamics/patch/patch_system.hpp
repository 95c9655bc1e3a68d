#pragma once
// One step of the equivalent-contact-point model as a mixed complementarity problem: unknowns, rows, Jacobian
// (README.md).

#include <Eigen/Core>
#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_motion.hpp"
#include "deft/dynamics/patch/patch_world.hpp"
#include "deft/dynamics/patch_contact.hpp"
#include "deft/solvers/mcp/mcp_solver.hpp"

namespace deft::dynamics {

/// The problem of one step: unknowns ν⁺ = (ω⁺, v⁺) of each body, then per contact
///   plane:  a, l (inequalities of A), p_n, and with friction b, σ
///   pair:   a, n, ℓ, l (of A, then of B), p_n, and with friction b, σ
/// with p_n in N s and friction p_f = μ p_n (e_t b_t, e_o b_o, e_r b_r). Rows in the order of the unknowns:
///   ν: M(ν⁺ − ν_f) − Σ W(a) p = 0,  a: n + Σ l_i ∇f_i(a) = 0,  n: n − Σ l_j ∇g_j(a − ℓn) = 0,  ℓ: ½(nᵀn − 1) = 0,
///   0 ≤ l_i ⟂ −f_i(a) ≥ 0,  0 ≤ l_j ⟂ −g_j(a − ℓn) ≥ 0,  0 ≤ p_n ⟂ gap ≥ 0,  b: E Wᵀν⁺ + σ b = 0,  0 ≤ σ ⟂ 1 − |b|² ≥
///   0.
/// Everything of contacts is taken at the end of the step.
class PatchSystem final : public solvers::mcp::McpFunction {
 public:
  /// A contact of the problem: indices of its unknowns in z (−1: it has none of these), and its frame.
  struct Layout {
    int pair = -1;                   // index in PatchWorld::pairs
    int a = -1, n = -1, ell = -1;    // the point, the normal (3 each), the distance ℓ
    int l_a = -1, l_b = -1;          // multipliers of A's and B's inequalities
    int p = -1, b = -1, sigma = -1;  // p_n; b (3); σ
    int body_a = -1, body_b = -1;    // PatchBody, −1: fixed
    /// Plane: the contact frame. Pair: zero; its frame follows from z and, without friction, has no tangents.
    Eigen::Vector3d n_W = Eigen::Vector3d::Zero();
    Eigen::Vector3d t_W = Eigen::Vector3d::Zero(), o_W = Eigen::Vector3d::Zero();  // its tangents
    Eigen::Vector3d axis;                                                          // pair: t is its projection across n
    Eigen::Vector3d origin;  // from which a is measured, the centre of A (of B where A is fixed) at the start [m]: so a
                             // keeps its digits far from the world's origin
  };

  /// Takes the step from `start` with contacts of `pairs` (indices in PatchWorld::pairs).
  /// @param world  must outlive the use of this object.  @param free_motion  ν_f per body (ω, v) [rad/s, m/s]: the
  /// motion without contacts.
  void set(const PatchWorld& world, std::span<const PatchState> start, std::span<const double> free_motion,
           std::span<const int> pairs);
  std::span<const Layout> contacts() const { return contacts_; }  // in the order of the pairs
  /// Chooses the axis whose projection is the tangent of a pair, for a normal near n_W.
  void choose_axis(int contact, const Eigen::Vector3d& n_W);
  // Velocity [m/s] and length [m] that count as one in scaled residuals.
  double velocity_scale() const { return v_scale_; }     // the weight's over a step, at least 1e-4 of the free motion's
  double length_scale() const { return length_scale_; }  // its way over a step, at least 1e-4 of the bodies' size

  int size() const override { return size_; }                                          // unknowns
  std::span<const char> is_free() const override { return free_; }                     // 1: an equation
  std::span<const double> variable_scale() const override { return variable_scale_; }  // per unknown
  std::span<const double> row_scale() const override { return row_scale_; }            // per row
  /// F(z), and ∂F/∂z if J is not null. @returns true: F is defined everywhere.
  bool evaluate(std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* J) override;

  /// ∂F/∂(start) at fixed z, 18 columns per body: θ, c (pose, world tangents), ω, v, angular and linear impulse.
  void start_derivative(std::span<const double> z, Eigen::MatrixXd& dF);

  /// Inertia of a body about its centre of mass at the start, world axes [kg m²].
  const Eigen::Matrix3d& inertia_W(int body) const { return frames_[body].I_W; }
  const PatchWorld& world() const { return *world_; }           // given to `set`
  std::span<const PatchState> start() const { return start_; }  // states at the start, one per body
  /// The contact's point, frame, impulses and slip at z.
  void unpack(int contact, std::span<const double> z, PatchContact& out) const;

 private:
  struct Frame {
    Eigen::Matrix3d R0, I_W;  // at the start
    Eigen::Matrix3d R, T;     // at the end; δθ = T δω
    Eigen::Vector3d omega, v;
  };
  struct SetTerms;
  struct ContactTerms;
  /// Where derivatives by the pose at the end of a step go: through δθ = T δω, δc = h δv into the columns of ν, or into
  /// columns of their own.
  struct PoseColumns {
    int turn = 0, centre = 0;
    Eigen::Matrix3d T;
    double h = 1;
  };
  PoseColumns pose_columns(int body) const;
  void move(std::span<const double> z);
  /// Centre of a body at the end, from `origin`.
  Eigen::Vector3d centre(int body, const Eigen::Vector3d& origin) const {
    return (start_[body].p_WC - origin) + world_->h * frames_[body].v;
  }
  /// Appends the unknowns of a pair.
  void add_unknowns(int pair);
  /// Scales of unknowns and rows, and which unknowns are free.
  void set_scales();
  /// Adds the rows of a contact to F, and their derivatives to J unless that is null; as do the next functions.
  void add_contact(const Layout& c, std::span<const double> z, std::span<double> F, solvers::mcp::McpJacobian* J) const;
  ContactTerms contact_terms(const Layout& c, std::span<const double> z) const;
  void add_geometry(const Layout& c, const ContactTerms& contact, std::span<const double> z, std::span<double> F,
                    solvers::mcp::McpJacobian* J) const;
  void add_impulse(const Layout& c, const ContactTerms& contact, int body, double sign, std::span<double> F,
                   solvers::mcp::McpJacobian* J) const;
  void add_friction(const Layout& c, const ContactTerms& contact, double sigma, std::span<double> F,
                    solvers::mcp::McpJacobian* J) const;
  void add_set(const PatchGeometry& geometry, int row_gradient, double sign, int first_l, const Eigen::Vector3d& origin,
               const Eigen::Vector3d& point, std::span<const double> z, std::span<double> F,
               solvers::mcp::McpJacobian* J, const SetTerms& terms) const;

  const PatchWorld* world_ = nullptr;
  std::vector<PatchState> start_;
  std::vector<double> free_motion_;
  std::vector<Frame> frames_;
  std::vector<Layout> contacts_;
  std::vector<char> free_;
  std::vector<double> variable_scale_, row_scale_;
  double v_scale_ = 1, length_scale_ = 1;
  int size_ = 0;
  bool poses_apart_ = false;
};

}  // namespace deft::dynamics
