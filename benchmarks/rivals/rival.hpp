#pragma once
// Other people's solvers of convex quadratic programs behind one call, so that they are timed in the process of ours.
// Plain arrays alone cross this border: each side is compiled for what suits it.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace deft::benchmarks {

/// min ½ xᵀQx + bᵀx  subject to  Ax − low ∈ K, K the product of what `cones` says: entry d > 1 a second-order cone of d
/// rows (s_0 ≥ ‖(s_1 … s_{d−1})‖), and where it is empty s ≥ 0.
struct DenseProgram {
  int n = 0, m = 0;           // unknowns, rows
  std::vector<double> Q;      // n × n, symmetric, positive definite
  std::vector<double> b;      // size n
  std::vector<double> A;      // m × n, by rows
  std::vector<double> A_col;  // the same, by columns
  std::vector<double> low;    // size m
  std::vector<int> cones;     // sizes of the cones, or empty
};

/// One solver with one way of using it. Settings ask for what the others are asked for; workspaces are kept where the
/// name says so.
class Rival {
 public:
  virtual ~Rival() = default;
  /// What it is called in tables, with its version where the library says it.
  virtual std::string name() const = 0;
  /// Whether it takes second-order cones.
  virtual bool takes_cones() const { return false; }
  /// From the program's arrays to the solution in x, size n: everything in between is the solver's time.
  /// @returns whether the solver says that it solved the program.
  virtual bool solve(const DenseProgram& program, double* x) = 0;
};

using Rivals = std::vector<std::unique_ptr<Rival>>;
/// These, as a list.
template <class... R>
Rivals list(std::unique_ptr<R>... rivals) {
  Rivals all;
  (all.push_back(std::move(rivals)), ...);
  return all;
}

Rivals make_daqp();
Rivals make_osqp();
Rivals make_piqp();
Rivals make_hpipm();
Rivals make_proxqp();
Rivals make_clarabel();

#if defined(__GNUC__)
#define DEFT_RIVALS_API __attribute__((visibility("default")))
#endif
/// All that were built.
DEFT_RIVALS_API Rivals make_rivals();

}  // namespace deft::benchmarks
