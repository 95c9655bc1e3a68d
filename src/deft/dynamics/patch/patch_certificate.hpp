#pragma once
// The certifier of a step of the equivalent-contact-point model: residuals of the source's equations from states and
// contacts alone.

#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_world.hpp"
#include "deft/dynamics/patch_contact.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"

namespace deft::dynamics {

/// Residuals of one step, scaled: impulses by m g h (or m times the velocity scale), lengths by the bodies' size,
/// friction rows by the cone.
struct PatchCertificate {
  double newton_euler = 0;     // largest of the bodies' balances of impulse
  double geometry = 0;         // the point on both sets, the normal in both cones
  double penetration_m = 0;    // largest −gap over all pairs of the problem [m]
  double complementarity = 0;  // p_n gap; l f
  double friction = 0;         // p_f in the ellipsoid and against the slip: distance from the projection of p_f − slip
  /// The second proposition of the source: forces from (24), point and torsion from (27) recomputed from the motion and
  /// compared, for bodies with one loaded contact. Impulses scaled as above, the point [m] by the bodies' size.
  double proposition = 0;
  double max_scaled() const;  // the largest of them, without the penetration
};

/// The same as a certificate of contact programs: the largest of balance, geometry, friction and proposition is the
/// stationarity, the penetration over `length` [m] the primal residual.
solvers::contact::Certificate as_certificate(const PatchCertificate& patch, double length);

/// Certifies steps by other formulas than the solver's. Keeps scratch; one object per thread.
class PatchCertifier {
 public:
  /// Residuals of the step from `start` to `end` (one state per PatchBody) with its contacts; infinite where numbers
  /// are not finite.
  /// @param impulses  per body, gravity not included.
  PatchCertificate certify(const PatchWorld& world, std::span<const PatchState> start,
                           std::span<const PatchImpulse> impulses, std::span<const PatchState> end,
                           std::span<const PatchContact> contacts);

 private:
  /// A body's balance: what its contacts must give, and what they give.
  struct Balance {
    Eigen::Vector3d wanted_force = Eigen::Vector3d::Zero(), wanted_torque = Eigen::Vector3d::Zero();  // M(ν⁺ − ν_f)
    Eigen::Vector3d force = Eigen::Vector3d::Zero(), torque = Eigen::Vector3d::Zero();  // of the contacts, about C
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double unit = 1;  // [N s]
    int loaded = 0;
    const PatchContact* contact = nullptr;
    double side = 1;  // +1: A of its contact
  };
  /// What the contacts must give a body, and whether its free spin keeps the rule of the model.
  static void start_balance(const PatchWorld& world, const PatchBody& body, const PatchState& start,
                            const PatchImpulse& impulse, const PatchState& end, Balance& at, PatchCertificate& c);
  /// Adds the impulses of a contact to the balances; complementarity and friction.
  void check_forces(const PatchWorld& world, const PatchContact& contact, std::span<const PatchState> end,
                    PatchCertificate& c);
  /// The second proposition for a body with one loaded contact. @param unit  of its impulses [N s].
  static void check_proposition(const PatchWorld& world, const Balance& at, double unit, PatchCertificate& c);

  std::vector<Balance> balances_;
};

}  // namespace deft::dynamics
