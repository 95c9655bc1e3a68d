#pragma once
// Symmetric operators of second-order cones: every matrix the solvers need on a cone (Nesterov–Todd scaling W, W⁻¹, (W²
// + R)⁻¹, the derivative of the projection) has the eigenvectors (1, ±u)/√2 and the plane orthogonal to both. Private
// to src/deft/solvers.

#include <cmath>

namespace deft::solvers::linear {

/// Rows of the largest cone: normal, two tangents and spin.
inline constexpr int kMaxConeRows = 4;

/// A = plus·P₊ + minus·P₋ + perp·P_⊥ with P± the projectors on (1, ±u)/√2, |u| = 1; x = (x0; x1), x1 of size rows − 1
/// ≤ 3.
struct SpectralConeOperator {
  double plus = 0, minus = 0, perp = 0;  // eigenvalues
  double u[3] = {1, 0, 0};               // rows − 1 entries count

  /// out = A x; `out` may be `x`.
  void apply(int rows, const double* x, double* out) const {
    double along = 0;
    for (int k = 1; k < rows; ++k) along += u[k - 1] * x[k];
    const double p = 0.5 * plus * (x[0] + along), m = 0.5 * minus * (x[0] - along), x0 = p + m;
    const double change = p - m - perp * along;
    for (int k = 1; k < rows; ++k) out[k] = perp * x[k] + change * u[k - 1];
    out[0] = x0;
  }

  /// The matrix, row-major rows × rows.
  void to_matrix(int rows, double* A) const {
    const double mean = 0.5 * (plus + minus), difference = 0.5 * (plus - minus);
    A[0] = mean;
    for (int i = 1; i < rows; ++i) {
      A[i] = A[i * rows] = difference * u[i - 1];
      for (int j = 1; j < rows; ++j) A[i * rows + j] = (mean - perp) * u[i - 1] * u[j - 1] + (i == j ? perp : 0.0);
    }
  }

  /// f(A): the same eigenvectors with the eigenvalues f(plus), f(minus), f(perp).
  template <class F>
  SpectralConeOperator map(F f) const {
    return {f(plus), f(minus), f(perp), {u[0], u[1], u[2]}};
  }
};

/// |x1| of x = (x0; x1).
inline double tail_norm(int rows, const double* x) {
  double total = 0;
  for (int k = 1; k < rows; ++k) total += x[k] * x[k];
  return std::sqrt(total);
}

/// Sets `u` (three entries) to the direction of the tail of x, the first axis if that is zero. @returns the norm of the
/// tail.
inline double tail_direction(int rows, const double* x, double* u) {
  const double norm = tail_norm(rows, x);
  u[0] = 1, u[1] = u[2] = 0;
  if (norm > 0) {
    for (int k = 1; k < rows; ++k) u[k - 1] = x[k] / norm;
  }
  return norm;
}

// Where a function takes `tail`, it is tail_norm of the interior point before it, which callers have at hand.

/// √(x0² − |x1|²), without the cancellation of the squares.
inline double cone_root_det(const double* x, double tail) { return std::sqrt(x[0] - tail) * std::sqrt(x[0] + tail); }

/// aᵀb over `rows` entries.
inline double dot(int rows, const double* a, const double* b) {
  double total = 0;
  for (int k = 0; k < rows; ++k) total += a[k] * b[k];
  return total;
}

/// Jordan product a ∘ b = (aᵀb; a0 b1 + b0 a1).
inline void jordan_product(int rows, const double* a, const double* b, double* out) {
  const double head = dot(rows, a, b);
  for (int k = 1; k < rows; ++k) out[k] = a[0] * b[k] + b[0] * a[k];
  out[0] = head;
}

/// The p with a ∘ p = c, a interior.
inline void jordan_divide(int rows, const double* a, double tail, const double* c, double* p) {
  double cross = 0;
  for (int k = 1; k < rows; ++k) cross += a[k] * c[k];
  const double head = (a[0] * c[0] - cross) / ((a[0] - tail) * (a[0] + tail));
  for (int k = 1; k < rows; ++k) p[k] = (c[k] - head * a[k]) / a[0];
  p[0] = head;
}

/// The same where the tail is not at hand.
inline void jordan_divide(int rows, const double* a, const double* c, double* p) {
  jordan_divide(rows, a, tail_norm(rows, a), c, p);
}

/// Nesterov–Todd scaling of interior s, y: the SpectralConeOperator W with W y = W⁻¹ s. (Vandenberghe, "The CVXOPT
/// linear and quadratic cone program solvers", §5; eigenvalues η(w0 ± |w1|) and η, the smaller one as a reciprocal to
/// keep its digits.)
inline SpectralConeOperator nesterov_todd(int rows, const double* s, double tail_s, const double* y, double tail_y) {
  const double root_s = cone_root_det(s, tail_s), root_y = cone_root_det(y, tail_y);
  double w[kMaxConeRows];
  const double gamma = std::sqrt(0.5 * (1 + dot(rows, s, y) / (root_s * root_y)));
  w[0] = (s[0] / root_s + y[0] / root_y) / (2 * gamma);
  for (int k = 1; k < rows; ++k) w[k] = (s[k] / root_s - y[k] / root_y) / (2 * gamma);
  SpectralConeOperator W;
  const double tail = tail_direction(rows, w, W.u);
  const double eta = std::sqrt(root_s / root_y);
  const double large = std::sqrt(1 + tail * tail) + tail;
  W.plus = eta * large;
  W.minus = eta / large;
  W.perp = eta;
  return W;
}

/// The same where the tails are not at hand.
inline SpectralConeOperator nesterov_todd(int rows, const double* s, const double* y) {
  return nesterov_todd(rows, s, tail_norm(rows, s), y, tail_norm(rows, y));
}

/// Largest α ≤ limit with x + αd in the cone, x interior.
inline double cone_step(int rows, const double* x, double tail, const double* d, double limit) {
  double cross = 0, d_squared = 0;
  for (int k = 1; k < rows; ++k) cross += x[k] * d[k], d_squared += d[k] * d[k];
  const double d_tail = std::sqrt(d_squared);
  const double a = (d[0] - d_tail) * (d[0] + d_tail), b = x[0] * d[0] - cross, c = (x[0] - tail) * (x[0] + tail);
  double alpha = limit;
  const auto shorten = [&alpha](double candidate) { alpha = candidate < alpha ? candidate : alpha; };
  if (d[0] < 0) shorten(-x[0] / d[0]);
  // Roots of aα² + 2bα + c: the smallest positive one, by the form that does not cancel.
  if (a < 0 || b < 0) {
    const double discriminant = b * b - a * c;
    if (!(discriminant >= 0)) return alpha;
    const double root = std::sqrt(discriminant);
    const double candidate = b <= 0 ? c / (root - b) : -(b + root) / a;
    if (candidate > 0) shorten(candidate);
  }
  return alpha;
}

/// The same where the tail is not at hand.
inline double cone_step(int rows, const double* x, const double* d, double limit) {
  return cone_step(rows, x, tail_norm(rows, x), d, limit);
}

/// What a projection on a cone does: nothing left, everything kept, or onto the boundary.
enum Pattern : char { kInactive = 0, kActive = 1, kBoundary = 2 };

/// Projection of u on the second-order cone, and the derivative of the projection at u. @returns where u lies.
inline Pattern project_on_cone(int rows, const double* u, double* projected, SpectralConeOperator& derivative) {
  const double tail = tail_direction(rows, u, derivative.u);
  if (u[0] >= tail) {
    for (int k = 0; k < rows; ++k) projected[k] = u[k];
    derivative.plus = derivative.minus = derivative.perp = 1;
    return kActive;
  }
  if (u[0] <= -tail) {
    for (int k = 0; k < rows; ++k) projected[k] = 0;
    derivative.plus = derivative.minus = derivative.perp = 0;
    return kInactive;
  }
  const double half = 0.5 * (u[0] + tail);
  projected[0] = half;
  for (int k = 1; k < rows; ++k) projected[k] = half * derivative.u[k - 1];
  derivative.plus = 1;
  derivative.minus = 0;
  derivative.perp = half / tail;
  return kBoundary;
}

}  // namespace deft::solvers::linear
