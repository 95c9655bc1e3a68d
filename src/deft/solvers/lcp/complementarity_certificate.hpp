#pragma once
// The certifier of complementarity problems, with its scratch kept. Shares no code with the solver.

#include <vector>

#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::solvers::lcp {

/// `certify` for many problems of one size: allocates only when they grow.
class ComplementarityCertifier {
 public:
  /// Residuals of the point and the error of the proof, if there is one. @throws std::invalid_argument for wrong sizes
  /// of z, w and the proof. @pre `check` accepts the program.
  ComplementarityCertificate certify(const ComplementarityProgram& program, const ComplementaritySolution& solution);
  /// Residuals of a point z alone, w being Mz + q as computed. @pre z has the size of q.
  ComplementarityCertificate certify_point(const ComplementarityProgram& program, const Eigen::VectorXd& z);
  /// For several points of one program: finds its units ρ and ζ, which `certify_measured` uses.
  void measure(const ComplementarityProgram& program);
  /// As certify_point, without finding the units again. @pre `measure` of the same program was the last one.
  ComplementarityCertificate certify_measured(const ComplementarityProgram& program, const Eigen::VectorXd& z);

 private:
  void measure_parts(const ComplementarityProgram& program);
  void check_point(const ComplementarityProgram& program, const Eigen::VectorXd& z, const Eigen::VectorXd* w,
                   ComplementarityCertificate& out);
  double check_proof(const ComplementarityProgram& program, const std::vector<RefutedModes>& proof);

  std::vector<char> free_;
  Eigen::VectorXd row_, col_;                    // ρ and ζ: units of rows of w and of entries of z
  Eigen::VectorXd largest_row_, largest_col_;    // units in which the largest entries are one
  Eigen::VectorXd high_, low_;                   // largest and smallest entry of each row
  Eigen::MatrixXd high_entry_, low_entry_;       // |M|; where that says nothing about units, zero and infinity
  Eigen::VectorXd part_, inverse_;               // scratch
  Eigen::VectorXd plain_row_, plain_col_;        // the units before each part has its own size
  Eigen::VectorXd computed_, scale_, rounding_;  // Mz + q, s, the part of w that is rounding of M
  std::vector<int> row_part_, col_part_, stack_;
  std::vector<double> part_size_;
};

}  // namespace deft::solvers::lcp
