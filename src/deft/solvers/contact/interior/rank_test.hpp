#pragma once
// Are the forces of a solution the only ones?

#include <vector>

#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// Rank tests at a solution; scratch is kept between calls.
class RankTest {
 public:
  /// True if the loaded rows are linearly independent (rows with compliance always are). Islands of more than 300
  /// columns are not examined: false.
  bool forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack);

 private:
  std::vector<double> basis_, column_;
  std::vector<std::size_t> first_;
  std::vector<int> count_;
};

}  // namespace deft::solvers::contact
