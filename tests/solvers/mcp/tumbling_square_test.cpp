// Thrown squares that tumble to rest: sequences of nonlinear complementarity problems with impacts, corners, faces,
// sticking and sliding.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>

#include "deft/core/index.hpp"
#include "deft/solvers/mcp/mcp_solver.hpp"

namespace deft::solvers::mcp {
namespace tumbling_square_test {

constexpr int kSize = 12;  // ω, v_x, v_z, a_x, a_z, l_1 … l_4, p, b, σ

// A value with its derivatives.
struct Dual {
  double v = 0;
  std::array<double, kSize> d{};
  Dual(double value = 0) : v(value) {}
  template <class F>
  static Dual chain(double value, F derivative) {
    Dual out(value);
    for (std::size_t k = 0; k < kSize; ++k) out.d[k] = derivative(k);
    return out;
  }
};
Dual operator+(const Dual& a, const Dual& b) {
  return Dual::chain(a.v + b.v, [&](std::size_t k) { return a.d[k] + b.d[k]; });
}
Dual operator-(const Dual& a, const Dual& b) {
  return Dual::chain(a.v - b.v, [&](std::size_t k) { return a.d[k] - b.d[k]; });
}
Dual operator*(const Dual& a, const Dual& b) {
  return Dual::chain(a.v * b.v, [&](std::size_t k) { return a.d[k] * b.v + a.v * b.d[k]; });
}
Dual sin(const Dual& a) {
  return Dual::chain(std::sin(a.v), [&](std::size_t k) { return std::cos(a.v) * a.d[k]; });
}
Dual cos(const Dual& a) {
  return Dual::chain(std::cos(a.v), [&](std::size_t k) { return -std::sin(a.v) * a.d[k]; });
}

// One implicit Euler step of a square (side 1 m, 1 kg, inertia 1/6 kg m²) above the line z = 0. The contact point a is
// the lowest one at the end of the step, e_z + Σ l_i n_i = 0, 0 ≤ l ⟂ ½ − nᵢᵀ(a − x) ≥ 0; normal impulse 0 ≤ p ⟂ a_z ≥
// 0; friction p b with v_a + bσ = 0, 0 ≤ σ ⟂ μ² − b² ≥ 0.
class Square final : public McpFunction {
 public:
  static constexpr double kGravity = 9.81, kInertia = 1.0 / 6, kHalf = 0.5;
  double mu = 0.3, h = 0.01;
  double angle = 0, x = 0, z = 1, omega = 0, vx = 0, vz = 0;

  explicit Square(double step) : h(step) {
    const double v = kGravity * h;
    variables_ = {v, v, v, 1, 1, 1, 1, 1, 1, v, 1, v};
    rows_ = {v, v, v, 1, 1, 1, 1, 1, 1, 1, v, 1};
  }
  int size() const override { return kSize; }
  std::span<const char> is_free() const override { return free_; }
  std::span<const double> variable_scale() const override { return variables_; }
  std::span<const double> row_scale() const override { return rows_; }

  bool evaluate(std::span<const double> at, std::span<double> F, McpJacobian* jacobian) override {
    std::array<Dual, kSize> u;
    for (std::size_t i = 0; i < kSize; ++i) {
      u[i] = Dual(at[i]);
      u[i].d[i] = 1;
    }
    const Dual end = Dual(angle) + Dual(h) * u[0], rx = u[3] - (Dual(x) + Dual(h) * u[1]),
               rz = u[4] - (Dual(z) + Dual(h) * u[2]);
    const Dual c = cos(end), s = sin(end), px = u[9] * u[10], pz = u[9];
    std::array<Dual, kSize> f;
    f[0] = Dual(kInertia) * (u[0] - Dual(omega)) - (rx * pz - rz * px);
    f[1] = u[1] - Dual(vx) - px;
    f[2] = u[2] - Dual(vz) + Dual(kGravity * h) - pz;
    f[4] = Dual(1);
    for (int i = 0; i < 4; ++i) {
      const double sign = i < 2 ? 1 : -1;
      const Dual nx = Dual(sign) * (i % 2 ? Dual(0) - s : c), nz = Dual(sign) * (i % 2 ? c : s);
      const auto k = to_size(5 + i);
      f[3] = f[3] + u[k] * nx;
      f[4] = f[4] + u[k] * nz;
      f[k] = Dual(kHalf) - nx * rx - nz * rz;
    }
    f[9] = u[4];
    f[10] = u[1] - u[0] * rz + u[10] * u[11];
    f[11] = Dual(mu * mu) - u[10] * u[10];
    for (std::size_t i = 0; i < kSize; ++i) {
      F[i] = f[i].v;
      if (jacobian == nullptr) continue;
      for (std::size_t k = 0; k < kSize; ++k)
        if (f[i].d[k] != 0) jacobian->add(static_cast<int>(i), static_cast<int>(k), f[i].d[k]);
    }
    return true;
  }

  void advance(const std::vector<double>& at) {
    omega = at[0], vx = at[1], vz = at[2];
    angle += h * omega, x += h * vx, z += h * vz;
  }
  double lowest() const { return z - kHalf * (std::abs(std::cos(angle)) + std::abs(std::sin(angle))); }
  double energy() const { return 0.5 * (vx * vx + vz * vz + kInertia * omega * omega) + kGravity * z; }

 private:
  std::vector<char> free_{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0};
  std::vector<double> variables_, rows_;
};

TEST(McpNewton, FollowsTumblingSquaresToRest) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> uniform(-1, 1);
  McpSolver solver;
  for (int trial = 0; trial < 40; ++trial) {
    Square square(trial % 2 ? 0.01 : 0.004);
    square.mu = trial % 3 ? 0.4 : 0.15;
    square.angle = trial % 5 ? 3 * uniform(random) : 0;
    square.vx = 3 * uniform(random);
    square.omega = trial % 10 ? 6 * uniform(random) : 0;
    std::vector<double> at(kSize, 0.0);
    at[3] = square.x;
    const double start_energy = square.energy();
    for (int step = 0; step * square.h < 8; ++step) {
      if (at[9] == 0) {  // apart: friction slides
        const double slip = square.vx - square.omega * (at[4] - square.z);
        at[10] = slip > 0 ? -square.mu : square.mu;
        at[11] = std::abs(slip) / square.mu;
      }
      const double before = square.energy();
      const McpResult& result = solver.solve(square, at);
      ASSERT_EQ(result.status, Status::kSolved) << trial << " " << step << " " << result.residual;
      at = result.z;
      square.advance(at);
      ASSERT_GE(square.lowest(), -1e-10) << trial << " " << step;
      // Implicit Euler: gravity takes ½ g²h² too much, turning changes the lever by O(h²ω²): at most 6 J/s² h² here.
      ASSERT_LE(square.energy(), before + square.h * square.h * start_energy) << trial << " " << step;
    }
    EXPECT_LT(std::hypot(square.omega, square.vx, square.vz), 1e-10) << trial;
    EXPECT_NEAR(square.z, 0.5, 1e-10) << trial;
    const Square rest = square;
    for (int step = 0; step < 100; ++step) {
      ASSERT_EQ(solver.solve(square, at).status, Status::kSolved);
      at = solver.solve(square, at).z;
      square.advance(at);
    }
    EXPECT_LT(std::abs(square.x - rest.x) + std::abs(square.angle - rest.angle), 1e-12) << trial;
  }
}

}  // namespace tumbling_square_test
}  // namespace deft::solvers::mcp
