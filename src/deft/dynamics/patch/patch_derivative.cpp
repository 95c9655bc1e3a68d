#include "deft/dynamics/patch/patch_derivative.hpp"

#include <algorithm>
#include <limits>

namespace deft::dynamics {

PatchDerivative differentiate(PatchStepper& stepper) {
  PatchSystem& system = stepper.system();
  const PatchWorld& world = stepper.world();
  const Eigen::Map<const Eigen::VectorXd> z(stepper.solution().data(),
                                            static_cast<Eigen::Index>(stepper.solution().size()));
  const int n = static_cast<int>(world.bodies.size());
  PatchDerivative out;
  Eigen::MatrixXd dF, dz;
  system.start_derivative(stepper.solution(), dF);
  std::vector<char> determined;
  constexpr double kBiactive = 1e-8;
  out.exists = stepper.solver().sensitivity(system, stepper.solution(), dF, dz, &out.nonsmooth, kBiactive, &determined);
  out.exists =
      out.exists && std::all_of(determined.begin(), determined.begin() + 6 * n, [](char known) { return known != 0; });
  if (!out.exists) return out;
  for (std::size_t i = 0; i < determined.size(); ++i)
    if (!determined[i]) dz.row(static_cast<Eigen::Index>(i)).setConstant(std::numeric_limits<double>::quiet_NaN());

  // The end: θ⁺ = turn θ + T ω⁺, c⁺ = c + h v⁺, ω⁺, v⁺.
  Eigen::MatrixXd end = Eigen::MatrixXd::Zero(12 * n, 18 * n);
  for (int i = 0; i < n; ++i) {
    const Eigen::Vector3d omega = z.segment<3>(6 * i);
    end.middleRows<3>(12 * i) = turn_jacobian(omega, world.h) * dz.middleRows<3>(6 * i);
    end.block<3, 3>(12 * i, 18 * i) += turn(omega, world.h);
    end.middleRows<3>(12 * i + 3) = world.h * dz.middleRows<3>(6 * i + 3);
    end.block<3, 3>(12 * i + 3, 18 * i + 3) += Eigen::Matrix3d::Identity();
    end.middleRows<6>(12 * i + 6) = dz.middleRows<6>(6 * i);
  }
  const std::span<const PatchSystem::Layout> contacts = system.contacts();
  Eigen::MatrixXd dp = Eigen::MatrixXd::Zero(4 * static_cast<Eigen::Index>(contacts.size()), 18 * n);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const PatchSystem::Layout& c = contacts[k];
    const PatchPair& pair = world.pairs[c.pair];
    const Eigen::Index row = 4 * static_cast<Eigen::Index>(k);
    dp.row(row) = dz.row(c.p);
    if (c.b < 0) continue;
    for (int j = 0; j < 3; ++j)
      dp.row(row + 1 + j) = pair.mu * pair.ellipsoid[j] * (z(c.b + j) * dz.row(c.p) + z(c.p) * dz.row(c.b + j));
  }
  const auto split = [n](const Eigen::MatrixXd& from, Eigen::MatrixXd& by_start, Eigen::MatrixXd& by_impulse) {
    by_start.resize(from.rows(), 12 * n);
    by_impulse.resize(from.rows(), 6 * n);
    for (int i = 0; i < n; ++i) {
      by_start.middleCols<12>(12 * i) = from.middleCols<12>(18 * i);
      by_impulse.middleCols<6>(6 * i) = from.middleCols<6>(18 * i + 12);
    }
  };
  split(end, out.A, out.B);
  split(dp, out.dp_start, out.dp_impulse);
  return out;
}

}  // namespace deft::dynamics
