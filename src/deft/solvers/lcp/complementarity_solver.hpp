#pragma once
// Solves linear complementarity problems, pure and mixed: what the models of exact Coulomb friction need.

#include <limits>
#include <memory>

#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::solvers::lcp {

/// How ComplementaritySolver works.
struct ComplementaritySettings {
  double tolerance = 1e-10;       // on the largest scaled residual, > 0
  bool check_uniqueness = false;  // search for an alternative solution after the first
  /// Which methods look for a point. Each choice proves infeasibility by the search over modes.
  enum class Method {
    kAuto,    // all, one after the other, and the search over modes
    kLemke,   // pivoting alone
    kNewton,  // the semismooth Newton method alone
  };
  Method method = Method::kAuto;  // the other two are for comparisons
  int max_modes = 100000;    // nodes of the search over modes, ≥ 0; of a problem larger than 50 a share (50/n)² of them
  double max_work = 1.5e10;  // multiplications (some seconds), ≥ 0, of a solve, and again of the search for an
                             // alternative solution; when they are spent the result is what is known
  double time_limit_s = std::numeric_limits<double>::infinity();  // of a solve, by the clock; results then depend on it
};

/// What one solve found.
struct ComplementarityResult {
  Status status = Status::kNumericalFailure;  // Solved, NotUnique, Infeasible, RayTermination, IterationLimit,
                                              // TimeLimit or NumericalFailure
  ComplementaritySolution solution;           // the best point where none was accepted
  ComplementarityCertificate certificate;     // of the point, and of the proof if there is one
  int iterations = 0;                         // pivots and Newton steps
  int modes = 0;                              // nodes of the search over modes
  bool warm = false;                          // the last basis, or one near it, was the answer
  const char* method = "lemke";               // that found the point or the proof: lemke, newton or modes
};

/// Solves problems one after the other; remembers the last complementary basis (used when sizes agree). One object per
/// thread.
class ComplementaritySolver {
 public:
  /// The first solve is a cold one.
  explicit ComplementaritySolver(ComplementaritySettings settings = {});
  ~ComplementaritySolver();
  ComplementaritySolver(ComplementaritySolver&&) noexcept;
  ComplementaritySolver& operator=(ComplementaritySolver&&) noexcept;

  /// Solves one problem (README.md). A warm solve of unchanged size that ends with the last basis,
  /// or by Lemke's method, does not allocate, unless that basis is singular or others are looked for.
  /// @throws std::invalid_argument as check(program), and naming a setting that is out of range. The result is valid
  /// until the next call.
  const ComplementarityResult& solve(const ComplementarityProgram& program);
  /// May be changed between solves.
  ComplementaritySettings& settings();
  /// Forgets the last basis: the next solve is a cold one.
  void forget();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::solvers::lcp
