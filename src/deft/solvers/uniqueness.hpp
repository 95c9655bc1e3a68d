#pragma once
// Are motion and forces the only ones? Private to src/deft/solvers.

#include <vector>

#include "deft/solvers/kkt_state.hpp"

namespace deft::solvers {

/// Rank tests at a solution; scratch is kept between calls.
class Uniqueness {
 public:
  /// True unless another motion has the same energy: none of the directions without curvature and without a loaded row
  /// against it can be followed. Exact programs with singular Q; otherwise the motion is unique anyway.
  /// Allocates.
  bool motion_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack) const;
  /// True if the loaded rows are linearly independent (rows with compliance always are).
  bool forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack);

 private:
  std::vector<double> basis_, column_;
  std::vector<std::size_t> first_;
  std::vector<int> count_;
};

}  // namespace deft::solvers
