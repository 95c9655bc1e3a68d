#pragma once
// Whether a complementarity problem has a solution with another motion than a known one. Internal to solvers.

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "deft/solvers/lcp/complementary_basis.hpp"
#include "deft/solvers/lcp/energy_bound.hpp"
#include "deft/solvers/lcp/mode_search.hpp"

namespace deft::solvers::lcp {

/// Islands (pairs that M connects) are examined one by one, since the solutions of the whole are all combinations of
/// theirs. For each first an argument without a search (EnergyBound): where no friction carries load, or no point of
/// the relaxed problem could release energy, the motion is unique. Then a search over its modes
/// (ModeSearch::find_other).
class AlternativeSolution {
 public:
  /// Whether z [n], in the program's own units, is a solution: the certifier's answer.
  using IsSolution = std::function<bool(const Eigen::VectorXd& z)>;

  /// Looks for a solution whose motion P z differs from that of z, the known one in the program's own units [n].
  /// `scaled` is `program` scaled; `limits` holds for all islands together. @returns kUnique if there is none,
  /// kNotUnique if one was found, kUnknown if the search did not end. Allocates.
  Uniqueness look(const ComplementarityProgram& program, const ScaledComplementarity& scaled, const Eigen::VectorXd& z,
                  const IsSolution& is_solution, const ModeSearch::Limits& limits);
  /// After kNotUnique: the other solution, in the program's own units [n].
  const Eigen::VectorXd& second() const { return candidate_; }
  int nodes() const { return nodes_; }  // of all searches of the last call

 private:
  void find_islands(const ScaledComplementarity& scaled);
  void extract(const ComplementarityProgram& program, const ScaledComplementarity& scaled, const Eigen::VectorXd& z,
               const std::vector<int>& island);
  bool only_one();
  void choose_mixture();
  Uniqueness search(const Eigen::VectorXd& z, const std::vector<int>& island, const IsSolution& is_solution,
                    ModeSearch::Limits limits);

  std::vector<std::vector<int>> islands_;
  // Of the island at hand, scaled:
  ScaledComplementarity part_;
  std::vector<double> z_, mixture_;
  Eigen::MatrixXd motion_;
  EnergyBound energy_;
  bool has_energy_ = false;
  ModeTable table_;
  ModeSearch search_;
  ComplementaryBasis basis_;
  std::vector<int> rows_, cols_;
  std::vector<double> point_;
  Eigen::VectorXd candidate_;
  int nodes_ = 0;
};

}  // namespace deft::solvers::lcp
