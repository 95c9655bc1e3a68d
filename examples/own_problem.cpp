// A block on an incline as a contact problem of one's own: numbers in, forces and a certificate out.
//   minimise ½ δᵀQδ + bᵀδ over the motion δ = (x, y) of one step, with gap + n·δ ≥ μ |t·δ| at the one contact.

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "deft/solvers/contact/contact_solver.hpp"

int main() {
  using namespace deft::solvers::contact;
  constexpr double kMass = 1.0, kH = 0.1, kMu = 0.3;
  for (const int degrees : {10, 25}) {
    const double tilt = degrees * std::numbers::pi / 180;
    ContactProgram program;
    program.nv = 2;
    program.Q.append(0, 2) = kMass / (kH * kH) * Eigen::Matrix2d::Identity();
    program.b = kMass * 9.81 * Eigen::Vector2d(-std::sin(tilt), std::cos(tilt));  // minus the weight
    program.model = FrictionModel::kCone;
    program.J.append(2, std::array{0, 1}) = Eigen::Matrix2d{{0, 1}, {1, 0}};  // rows: normal, tangent
    program.contacts.push_back({.gap = 0, .mu = kMu});
    ContactSolver solver;
    ContactSolution solution;
    const SolveInfo info = solver.solve(program, {}, solution);
    std::printf("%d degrees: %s, force %.2f N and %.2f N, moves %.1f mm in a step\n", degrees,
                std::string(deft::solvers::to_string(info.status)).c_str(), solution.force[0][0], solution.force[0][1],
                1000 * std::abs(solution.delta(0)));
  }
}
