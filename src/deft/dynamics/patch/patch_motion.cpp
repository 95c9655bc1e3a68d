#include "deft/dynamics/patch/patch_motion.hpp"

#include <Eigen/LU>

#include "deft/math/rotation.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kExplicit = 1e-2;    // gain of energy over the energy of rotation, per step
constexpr int kParts = 8;             // lengths of the step by which the implicit spin is followed
constexpr int kSpinIterations = 50;   // of Newton's method, for each
constexpr double kSpinError = 1e-15;  // of the spin: steps of Newton's method below it end it
constexpr double kNoAxis = 1e-6;      // sine of the angle between axis and normal below which another axis is taken

}  // namespace

Matrix3d turn(const Vector3d& omega_W, double h) {
  const Vector3d s = 0.5 * h * omega_W;
  const Matrix3d S = skew(s);
  return Matrix3d::Identity() + 2 / (1 + s.squaredNorm()) * (S + S * S);
}

Matrix3d turn_jacobian(const Vector3d& omega_W, double h) {
  const Vector3d s = 0.5 * h * omega_W;
  return h / (1 + s.squaredNorm()) * (Matrix3d::Identity() + skew(s));
}

Spin free_spin(const Matrix3d& I_W, const Vector3d& omega_W, double h) {
  const Vector3d L = I_W * omega_W, kick = -h * ldlt_solve(I_W, Vector3d(omega_W.cross(L)));
  Spin spin{.omega = omega_W + kick};
  if (kick.dot(I_W * kick) <= kExplicit * omega_W.dot(L)) return spin;
  spin.implicit = true;
  // Newton's method along s: the step's length grows from 0 to h, so that each start is near.
  spin.omega = omega_W;
  for (int part = 1; part <= kParts; ++part) {
    const double length = h * part / kParts;
    for (int k = 0; k < kSpinIterations; ++k) {
      const Matrix3d back = turn(spin.omega, length).transpose();
      const Vector3d rest = I_W * spin.omega - back * L;
      const Vector3d step = (I_W - back * skew(L) * turn_jacobian(spin.omega, length)).partialPivLu().solve(rest);
      spin.omega -= step;
      if (!(step.norm() > kSpinError * spin.omega.norm())) break;
    }
  }
  return spin;
}

Vector3d patch_tangent(const Vector3d& n_W, Vector3d& axis) {
  for (int next = 0; next < 3; ++next) {
    const Vector3d along = axis - n_W.dot(axis) * n_W;
    if (along.norm() > kNoAxis * axis.norm()) return along.normalized();
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    axis = Vector3d::Unit((largest + 1) % 3);
  }
  return Vector3d::UnitX();
}

}  // namespace deft::dynamics
