#pragma once
// Friction of a flat support under uniform pressure: its limit surface, in closed form.
//
//   D(V) = (μN/|S|) ∫_S |v + ω e×r| dA,   V = (v, ω),   F = ∇D(V): the load that drives V, on the limit surface.

#include <Eigen/Core>
#include <vector>

namespace deft {

/// A support patch S (a simple polygon) with uniform pressure and Coulomb's friction, moving in its plane.
///
/// With the gauge g of the set of loads F that it can resist, H = ½g² and K = ½D² are convex conjugates: V = k∇H(F) is
/// F ∥ ∇K(V), and ∇²H(F) = (∇²K(V))⁻¹, ∇²H(F)F = ∇H(F). All integrals over S are sums over its edges about the centre
/// of rotation; where that is far away, so that they would cancel, quadrature over the triangles of the edges takes
/// their place (its error is below rounding there). Lengths are scaled by the size of the patch, so that patches of a
/// millimetre are as accurate as those of a metre. Source of the model: Goyal, Ruina and Papadopoulos, Planar sliding
/// with dry friction, Wear 143 (1991).
class UniformPressure {
 public:
  /// @param polygon  corners in order, either way round [m], in the frame whose origin carries V and F.
  /// @param friction_N  μN, the friction of a pure translation [N].
  /// @throws std::invalid_argument for fewer than three corners, no area, or a friction that is not positive and
  /// finite.
  UniformPressure(std::vector<Eigen::Vector2d> polygon, double friction_N);

  /// D(V) [W] at V = (v_x, v_y, ω) [m/s, rad/s]; 0 for V = 0.
  double dissipation(const Eigen::Vector3d& V) const;
  /// ∇D(V) [N, N, N·m]: the same for every multiple of V ≠ 0, 0 for V = 0.
  Eigen::Vector3d load(const Eigen::Vector3d& V) const;
  /// ∇²K(V) = ∇D∇Dᵀ + D∇²D, positive definite for V ≠ 0; its inverse is ∇²H at the load of V. The same for every
  /// multiple of V.
  Eigen::Matrix3d hessian(const Eigen::Vector3d& V) const;
  /// D(V) (μN/|S|) ∫ GᵀG/|w| dA, w = GV the velocity of a point: ½V'ᵀ(·)V' is at least K(V') everywhere and equal at V'
  /// = V (by Cauchy and Schwarz), so that steps with it in the place of the Hessian never raise a convex energy.
  Eigen::Matrix3d majorizer(const Eigen::Vector3d& V) const;
  /// The majorizer's part that does not depend on V, for a start: diag(1, 1, ρ²)(μN)² about the centroid, ρ the radius
  /// of gyration.
  Eigen::Matrix3d typical() const;
  /// Speed of a twist about the centroid, with ω in units of 1/size [m/s].
  double speed(const Eigen::Vector3d& V) const { return shifted(V).norm(); }
  /// The twist V with ∇K(V) = F: how the support moves under the load F (V = ∇H(F)); 0 for F = 0. By SupportIteration,
  /// to 1e-12.
  Eigen::Vector3d twist(const Eigen::Vector3d& F) const;
  /// How far apart two twists are in direction: of unit twists about the centroid, with ω in units of 1/size. 0 if
  /// either is 0.
  double direction_error(const Eigen::Vector3d& V1, const Eigen::Vector3d& V2) const;
  /// Radius of gyration of S about its centroid [m]: turns rad/s into comparable m/s.
  double radius_of_gyration() const { return gyration_ * size_; }

 private:
  /// ∫|w|, ∫ŵ…, in scaled lengths and for the unit twist: see the .cpp.
  struct Moments {
    double D = 0;
    Eigen::Vector3d F = Eigen::Vector3d::Zero();
    Eigen::Matrix3d curvature = Eigen::Matrix3d::Zero(), weight = Eigen::Matrix3d::Zero();
  };
  Moments moments(const Eigen::Vector3d& V) const;
  void add_closed_form(const Eigen::Vector3d& V, Moments& m) const;
  void add_quadrature(const Eigen::Vector3d& V, Moments& m) const;
  Eigen::Vector3d shifted(const Eigen::Vector3d& V) const;
  Eigen::Vector3d scaled(const Eigen::Vector3d& V) const;
  Eigen::Matrix3d unscaled(const Eigen::Matrix3d& K) const;

  std::vector<Eigen::Vector2d> corners_;  // counter-clockwise, about the centroid, in units of size_
  Eigen::Vector2d centroid_;              // [m]
  double size_ = 1;                       // largest distance of a corner from the centroid [m]
  double pressure_ = 1;                   // μN/|S| in scaled area [N]
  double gyration_ = 0;                   // scaled
};

/// The fixed point by which a quadratic ½VᵀKV takes the place of K(V): K at the last twist, V from whatever problem K
/// is part of, and so on. With the Hessian this is Newton's method (Halm and Posa's sequence of programs, since ∇²H =
/// (∇²K)⁻¹), fast but not always convergent; with the majorizer it always is for a convex problem, slowly. Steps take
/// the first while it makes progress and the second where not.
class SupportIteration {
 public:
  /// Starts from support.typical(). @param support  must outlive this object.
  explicit SupportIteration(const UniformPressure& support) : support_(&support), K_(support.typical()) {}
  /// The quadratic form for the next problem.
  const Eigen::Matrix3d& K() const { return K_; }
  /// Takes the twist of that problem. @param rest  speeds (UniformPressure::speed) up to it count as rest, where K has
  /// no part [m/s].  @param tolerance  of UniformPressure::direction_error.
  /// @returns whether the iteration has converged: the support rests, or K was that of this very twist to `tolerance`;
  /// otherwise K is computed at V.
  bool update(const Eigen::Vector3d& V, double rest, double tolerance);
  /// Forgets how the iteration has converged so far; K and the twist it belongs to stay.
  void restart();

 private:
  const UniformPressure* support_;
  Eigen::Matrix3d K_;
  Eigen::Vector3d at_ = Eigen::Vector3d::Zero();  // of K_; 0: of none
  double last_error_ = 2;
  bool newton_ = false;
  double trust_ = 0.1;  // Newton from errors below it, whatever the progress
};

}  // namespace deft
