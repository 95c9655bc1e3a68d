#pragma once
// The shortest multipliers with a given resultant:  min ½|λ|²  subject to  Aᵀλ = g,  λ ∈ K.

#include <vector>

#include "deft/math/row_blocks.hpp"

namespace deft::solvers::contact {

/// The cone of a generator's multipliers: a line, a half-line, a second-order cone of at most four rows.
enum class GeneratorKind { kLine, kRay, kCone };

/// Rows of A by generator: one multiplier (line, ray) or the multipliers of one cone.
struct Generators {
  RowBlocks A;                       // a block of rows per generator, in the units of the columns' scales
  std::vector<GeneratorKind> kinds;  // one per generator
  std::vector<int> first;            // the first multiplier of each generator
  std::vector<double> given;         // multipliers λ that define g = Aᵀ given
  std::vector<double> shortest;      // the result, in the order of `given`
  /// Removes all generators.
  void clear();
  /// Starts a generator, whose rows the returned view takes.
  /// @param cols  its columns, ascending.  @param given_multipliers  one per row.
  RowBlocks::Block add(GeneratorKind kind, std::span<const int> cols, std::span<const double> given_multipliers);
};

/// Newton's method, island by island. Keeps scratch; one object per thread.
class ShortestMultipliers {
 public:
  /// Fills `shortest`. @param nv  number of columns.  @param z  size nv, the dual solution at which the search starts
  /// and ends; where that start does not succeed the search starts again from 0.
  /// @returns whether the multipliers balance to 1e-9 of their forces.
  bool find(Generators& generators, int nv, std::vector<double>& z);

 private:
  struct Island { std::vector<int> cols, generators; };
  void find_islands(const Generators& generators, int nv);
  bool solve(Generators& generators, const Island& island, std::vector<double>& z);
  bool newton(Generators& generators, const Island& island, bool first);
  void evaluate(Generators& generators, const Island& island);
  void newton_direction(const Generators& generators, const Island& island, bool first);
  bool search(Generators& generators, const Island& island);

  std::vector<Island> islands_;
  std::size_t count_ = 0;
  std::vector<int> parent_, local_, island_of_;
  // Of the island at work, by its columns; Az by multiplier.
  std::vector<double> z_, start_, g_, residual_, direction_, H_, floor_, Az_;
  double value_ = 0, size_ = 0;
};

}  // namespace deft::solvers::contact
