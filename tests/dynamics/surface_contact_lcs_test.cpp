// The point among flat surfaces: steps by hand, and laws that random steps must obey.
#include "deft/dynamics/complementarity/surface_contact_lcs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "deft/solvers/lcp/complementarity_solver.hpp"

namespace deft::dynamics {
namespace surface_contact_lcs_test {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector4d;
using Eigen::VectorXd;

/// A disc of radius 0.6 among the bevel y = x, the floor y = −5 and the wall x = 5.
SurfaceContactModel corner() {
  SurfaceContactModel model;
  const double s = std::sqrt(0.5);
  model.surfaces = {{Vector2d(s, -s), -0.6, 0.8}, {Vector2d(0, 1), 4.4, 0.8}, {Vector2d(-1, 0), 4.4, 0.8}};
  return model;
}

struct Step { VectorXd x, gamma, slack; };

Step step(const SurfaceContactModel& model, const Vector4d& x, const Vector2d& u) {
  const auto s = surface_contact_lcs(model);
  const VectorXd free = s.A * x + s.B * u + s.F;
  solvers::lcp::ComplementaritySolver solver;
  const auto& result = solver.solve({s.D * s.C + s.E, s.D * free + s.alpha, {}, {}});
  EXPECT_EQ(result.status, solvers::Status::kSolved);
  return {free + s.C * result.solution.z, result.solution.z, result.solution.w};
}

TEST(SurfaceContactLcs, SlidesOnTheFloor) {
  const Step done = step(corner(), {-2, -4.4, 0.5, 0}, {0, -1});
  EXPECT_LT((done.x - Vector4d(-1.958, -4.4, 0.42, 0)).norm(), 1e-12);
  EXPECT_NEAR(done.gamma[1], 0.1, 1e-12);                    // normal impulse of the floor
  EXPECT_NEAR(done.gamma[5] - done.gamma[6], -0.08, 1e-12);  // friction against the motion
  EXPECT_NEAR(done.gamma[10], 0.42, 1e-12);                  // λ is the sliding speed
  EXPECT_NEAR(done.slack[1], 0, 1e-12);
}

TEST(SurfaceContactLcs, LandsAndSticks) {
  const Step done = step(corner(), {-2, -4.35, 0.1, -0.9}, {0.2, -0.3});
  EXPECT_LT((done.x - Vector4d(-2, -4.4, 0, -0.5)).norm(), 1e-12);
}

TEST(SurfaceContactLcs, TangentsPointAheadAndPairsStandInOrder) {
  const auto s = surface_contact_lcs(corner());
  ASSERT_EQ(s.pairs(), 12);
  const double r = std::sqrt(0.5);
  EXPECT_LT((s.D.row(3).tail<2>() - Eigen::RowVector2d(r, r)).norm(), 1e-15);
  EXPECT_EQ(s.D.row(4).tail<2>(), -s.D.row(3).tail<2>());
  EXPECT_EQ(s.D.row(5).tail<2>(), Eigen::RowVector2d(1, 0));
  EXPECT_EQ(s.D.row(7).tail<2>(), Eigen::RowVector2d(0, 1));
  EXPECT_EQ(s.E(9, 0), 0.8);
  EXPECT_EQ(s.E(9, 3), -1);
  EXPECT_EQ(s.E(4, 9), 1);
}

TEST(SurfaceContactLcs, StepsObeyNewtonCoulombAndTheSurfaces) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  int touches = 0;
  for (int round = 0; round < 300; ++round) {
    SurfaceContactModel model;
    const double a = 0.5 * uniform(generator);
    model.mass << 1 + 0.5 * uniform(generator), a, a, 2;
    model.h = 0.02 + 0.05 * (1 + uniform(generator));
    model.force = Vector2d(0, -9.81);
    const int surfaces = round % 6;
    for (int i = 0; i < surfaces; ++i) {
      const double angle = M_PI * uniform(generator);
      model.surfaces.push_back(
          {Vector2d(std::cos(angle), std::sin(angle)), 0.1 * (1 + uniform(generator)), 0.6 * (1 + uniform(generator))});
    }
    const Vector4d x(0, 0, 2 * uniform(generator), 2 * uniform(generator));
    const Vector2d u(5 * uniform(generator), 5 * uniform(generator));
    const Step done = step(model, x, u);
    const Vector2d v = done.x.tail<2>();
    Vector2d impulse = model.h * (u + model.force);
    for (int i = 0; i < surfaces; ++i) {
      const FlatSurface& s = model.surfaces[i];
      const double gap = s.normal.dot(done.x.head<2>()) + s.offset, normal = done.gamma[i];
      const Vector2d t = surface_contact_lcs(model).D.row(surfaces + 2 * i).tail<2>().transpose();
      EXPECT_NEAR(t.dot(s.normal), 0, 1e-15);
      const double friction = done.gamma[surfaces + 2 * i] - done.gamma[surfaces + 2 * i + 1], speed = t.dot(v);
      EXPECT_GE(gap, -1e-9);
      EXPECT_NEAR(std::min(gap, normal), 0, 1e-9);
      EXPECT_LE(std::abs(friction), s.mu * normal + 1e-9);
      if (std::abs(speed) > 1e-6) {
        EXPECT_NEAR(friction, -s.mu * normal * (speed > 0 ? 1 : -1), 1e-6);
      }
      impulse += normal * s.normal + friction * t;
      touches += normal > 1e-6;
    }
    EXPECT_LT((model.mass * (v - x.tail<2>()) - impulse).norm(), 1e-9 * (1 + impulse.norm()));
    EXPECT_LT((done.x.head<2>() - model.h * v).norm(), 1e-12);
  }
  EXPECT_GT(touches, 100);
}

TEST(SurfaceContactLcs, WrongModelsAreRefused) {
  const auto message = [](const auto& change) {
    SurfaceContactModel model = corner();
    change(model);
    try {
      surface_contact_lcs(model);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](auto& m) { m.h = 0; }).find("h is 0 s"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.mass(0, 0) = -1; }).find("mass"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.mass(0, 1) = 0.5; }).find("mass"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.surfaces[2].mu = -0.1; }).find("surfaces[2].mu is -0.1"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.surfaces[1].normal *= 1.1; }).find("surfaces[1].normal"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.surfaces[0].offset = NAN; }).find("surfaces[0].offset"), std::string::npos);
  EXPECT_NE(message([](auto& m) { m.force[0] = INFINITY; }).find("force"), std::string::npos);
}

}  // namespace surface_contact_lcs_test
}  // namespace deft::dynamics
