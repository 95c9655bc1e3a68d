#pragma once
// Semismooth Newton method for mixed linear complementarity problems. Internal to solvers.
// Source: T. De Luca, F. Facchinei, C. Kanzow, Math. Program. 75 (1996); L. Grippo, F. Lampariello, S. Lucidi, SIAM J.
// Numer. Anal. 23 (1986), the non-monotone search.

#include <array>
#include <span>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/lcp/scaled_complementarity.hpp"
#include "deft/solvers/linear/dense_lu.hpp"

namespace deft::solvers::lcp {

/// Φ(z) = 0 with Φ_i = z_i + w_i − √(z_i² + w_i²) (Fischer and Burmeister), Φ_i = w_i on free rows, by Newton's method
/// on an element of the B-subdifferential; a Levenberg–Marquardt step where that does not descend; Armijo's rule on
/// ½|Φ|² against the largest of the last five values. No proof that it converges, unless M is a P₀-matrix with bounded
/// level sets.
class ComplementarityNewton {
 public:
  /// From z (n entries, scaled), which holds the last point afterwards. Ends after `max_iterations`, and when `clock`
  /// (may be null) exceeds `time_s` seconds. @returns whether |Φ|∞ fell below 1e-12, or below 1e-8 and stayed there.
  /// Allocates when n grows.
  bool solve(const ScaledComplementarity& problem, std::span<double> z, int max_iterations, const Stopwatch* clock,
             double time_s);
  int iterations() const { return iterations_; }  // of the last call
  /// 1 where z_i > w_i at the end, and for free indices; n entries.
  const std::vector<char>& basic() const { return basic_; }

 private:
  double evaluate(const ScaledComplementarity& problem, const std::vector<double>& z);
  bool newton_step(const ScaledComplementarity& problem);
  bool damped_step(const ScaledComplementarity& problem);

  static constexpr int kMemory = 5;

  int iterations_ = 0;
  linear::DenseLu lu_;
  std::vector<double> z_, trial_, w_, phi_, weight_z_, weight_w_, gradient_, step_;
  std::array<double, kMemory> merits_{};
  std::vector<char> basic_;
  double largest_ = 0;  // |Φ|∞
};

}  // namespace deft::solvers::lcp
