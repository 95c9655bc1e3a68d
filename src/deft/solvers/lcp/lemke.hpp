#pragma once
// Lemke's method for 0 ≤ z ⟂ w = Mz + q ≥ 0 on a dense dictionary. Internal to solvers.
// Source: C. E. Lemke, Management Science 11 (1965); R. Cottle, J.-S. Pang, R. Stone, "The Linear Complementarity
// Problem" (1992), §4.4.

#include <limits>
#include <span>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/solvers/linear/block_exchange.hpp"
#include "deft/solvers/linear/pivot_table.hpp"

namespace deft::solvers::lcp {

/// How a run of Lemke's method ended.
enum class LemkeEnd {
  kSolved,      // z₀ has left the basis
  kRay,         // no row blocks, or the basis to start from is singular: nothing is known
  kPivotLimit,  // the limit of pivots or of multiplications
  kTimeLimit,   // the clock
};

/// A pure problem, scaled: entries of M around one, −1 ≤ min q. The owner of the arrays must outlive it.
struct LemkeProblem {
  int n = 0, ld = 0;          // pairs; entries between rows of M
  const double* M = nullptr;  // n × ld, row-major
  const double* q = nullptr;  // n
};

/// Follows the path of Mz + q + d z₀ from large z₀ to z₀ = 0; the dictionary has n rows and n + 2 columns. Where
/// several rows block, z₀ leaves if it is among them, otherwise the lexicographic rule in the order of w decides, so
/// that no basis comes twice. Scalar: double, or Extended where rounding of the dictionary decides pivots.
template <class Scalar>
class BasicLemke {
 public:
  /// When to stop without an answer.
  struct Limits {
    int pivots = 1 << 30;  // exchanges after those of the start
    int renew = 0;  // pivots after which the dictionary is computed again from the problem, against rounding; 0: never
    double tie = 1e-9;     // values closer than this block at once
    double pivot = 1e-10;  // smaller entries of a column (of its largest, at least of one) are rounding
    double work = std::numeric_limits<double>::infinity();  // multiplications; kPivotLimit beyond them
    const Stopwatch* clock = nullptr;                       // no time limit without one
    double time_s = 0;                                      // seconds on it
  };

  /// Solves `problem`. @param cover  d > 0, size n; with a start, e in the dictionary of that basis takes its place.
  /// @param start  1: z_i is basic at the start (size n), empty: none is. Allocates when sizes grow.
  /// @pre M restricted to `start` is regular; kRay is returned if it is not.
  LemkeEnd solve(const LemkeProblem& problem, std::span<const double> cover, std::span<const char> start,
                 const Limits& limits);

  /// 1 where z_i was basic at the end, n entries; after kSolved only.
  const std::vector<char>& basic() const { return basic_; }
  int pivots() const { return pivots_; }  // exchanges of the last run
  /// Multiplications of the last run, in round numbers.
  double work() const { return work_; }
  /// z [n] at the end, from the dictionary.
  void point(std::vector<double>& z) const;

 private:
  void build();
  bool enter(std::span<const char> start);
  bool renew();
  bool exchange(std::span<const char> basic, double least);
  int first_row() const;
  int blocking_row(int s, const Limits& limits);
  int lexicographic_least();
  void finish();

  int z(int i) const { return 2 * i; }
  int w(int i) const { return 2 * i + 1; }
  int artificial() const { return 2 * n_; }

  LemkeProblem problem_;
  std::span<const double> cover_;
  int n_ = 0, pivots_ = 0;
  double work_ = 0;
  linear::BasicPivotTable<Scalar> table_;
  linear::BlockExchange block_;  // of tables of doubles
  std::vector<int> set_;
  std::vector<char> wanted_;   // per variable: in the basis of a dictionary computed again
  std::vector<Scalar> speed_;  // the entering column
  std::vector<int> tied_;      // rows that block at once
  std::vector<char> basic_;
};

/// In double precision.
using Lemke = BasicLemke<double>;

}  // namespace deft::solvers::lcp
