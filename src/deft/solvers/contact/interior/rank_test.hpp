#pragma once
// Are the forces of a solution the only ones?

#include <vector>

#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// Rank tests at a solution; scratch is kept between calls.
class RankTest {
 public:
  /// True if the generators of the loaded rows are linearly independent (rows with compliance always are); `slack` are
  /// those of `x`, size num_slacks. Islands of more than 300 columns are not examined: false.
  bool forces_unique(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack);

 private:
  /// One direction in which forces of a loaded block may change.
  struct Generator {
    int island = 0;
    const RowGroup* group = nullptr;  // of its block; none for a bound
    int block = 0;
    const double* weights = nullptr;  // of the block's rows
  };
  template <typename Visit>
  static bool for_each_generator(const PackedProgram& program, const Iterate& x, const std::vector<double>& slack,
                                 Visit&& visit);
  void start_bases(const PackedProgram& program);
  void take_column(const PackedProgram& program, const Generator& generator);
  bool extend_basis(const PackedProgram& program, int island);

  std::vector<int> count_;          // per island: generators, then vectors of its basis
  std::vector<std::size_t> first_;  // per island: into basis_
  std::vector<double> basis_;       // orthonormal, one vector after the other
  std::vector<double> column_;      // the generator at work, over the columns of its island
};

}  // namespace deft::solvers::contact
