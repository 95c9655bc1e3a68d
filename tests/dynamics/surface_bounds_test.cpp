// Bounds of control problems against trajectories of a point that hits, slides and sticks among random surfaces.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "deft/dynamics/complementarity/surface_contact_lcs.hpp"
#include "deft/solvers/lcp/complementarity_solver.hpp"
#include "deft/solvers/lcs/bounds.hpp"

namespace deft::dynamics {
namespace surface_bounds_test {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

bool holds(const VectorXd& value, const VectorXd& lower, const VectorXd& upper) {
  return ((value - lower).array() >= -1e-7).all() && ((upper - value).array() >= -1e-7).all();
}

TEST(SurfaceBounds, HoldWhatAPointAmongSurfacesDoes) {
  std::mt19937 generator(17);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int trajectories = 0, touches = 0, decided = 0, pairs = 0;
  for (int round = 0; round < 60; ++round) {
    SurfaceContactModel model;
    model.h = 0.05 + 0.02 * (1 + uniform(generator));
    model.force = Vector2d(0, round % 2 == 0 ? -3.0 : 0.0);
    const int surfaces = 1 + round % 4;
    for (int i = 0; i < surfaces; ++i) {
      const double angle = M_PI * uniform(generator);
      model.surfaces.push_back({Vector2d(std::cos(angle), std::sin(angle)), 0.15 * (1 + uniform(generator)),
                                0.5 * (1 + uniform(generator))});
    }
    solvers::lcs::LcsMpcProgram p;
    p.system = surface_contact_lcs(model);
    const auto& s = p.system;
    p.N = 6;
    p.Q = p.Qf = MatrixXd::Identity(4, 4);
    p.R = MatrixXd::Identity(2, 2);
    p.x0 = Eigen::Vector4d(0, 0, uniform(generator), uniform(generator));
    p.x_goal = MatrixXd::Zero(4, p.N + 1);
    p.x_max = Eigen::Vector4d(5, 5, 3, 3);
    p.x_min = -p.x_max;
    p.u_max = MatrixXd::Constant(2, p.N, 8);
    p.u_min = -p.u_max;
    const solvers::lcs::LcsBounds bounds = solvers::lcs::find_lcs_bounds(p);
    decided += static_cast<int>((bounds.gamma_upper.array() == 0 || bounds.slack_upper.array() == 0).count());
    pairs += static_cast<int>(bounds.gamma_upper.size());
    solvers::lcp::ComplementaritySolver solver;
    for (int trial = 0; trial < 40; ++trial) {
      VectorXd x = p.x0;
      std::vector<VectorXd> states{x}, forces, slacks;
      for (int k = 0; k < p.N; ++k) {
        const Vector2d u = 8 * Vector2d(uniform(generator), uniform(generator));
        const VectorXd free = s.A * x + s.B * u + s.F;
        const auto& result = solver.solve({s.D * s.C + s.E, s.D * free + s.alpha, {}, {}});
        if (!solvers::usable(result.status)) break;
        VectorXd gamma = result.solution.z;
        x = free + s.C * gamma;
        // Without loss: λ no larger than the speed along its surface.
        for (int i = 0; i < surfaces; ++i) gamma[3 * surfaces + i] = std::abs(s.D.row(surfaces + 2 * i).dot(x));
        if (!holds(x, p.x_min, p.x_max)) break;
        touches += gamma.head(surfaces).maxCoeff() > 1e-6;
        states.push_back(x);
        forces.push_back(gamma);
        slacks.push_back(s.D * x + s.E * gamma + s.alpha);
      }
      if (static_cast<int>(forces.size()) < p.N) continue;
      ++trajectories;
      ASSERT_FALSE(bounds.infeasible) << round;
      for (int k = 0; k <= p.N; ++k)
        EXPECT_TRUE(holds(states[k], bounds.x_lower.col(k), bounds.x_upper.col(k))) << round;
      for (int k = 0; k < p.N; ++k) {
        EXPECT_TRUE(holds(forces[k], bounds.gamma_lower.col(k), bounds.gamma_upper.col(k))) << round << " " << k;
        EXPECT_TRUE(holds(slacks[k], bounds.slack_lower.col(k), bounds.slack_upper.col(k))) << round << " " << k;
      }
    }
  }
  EXPECT_GT(trajectories, 500);
  EXPECT_GT(touches, 1000);
  EXPECT_GT(decided, pairs / 10);
}

}  // namespace surface_bounds_test
}  // namespace deft::dynamics
