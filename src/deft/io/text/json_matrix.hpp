#pragma once
// Matrices and sparse rows of problem files. Internal to io.

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "deft/io/text/json_field.hpp"
#include "deft/math/block_diagonal.hpp"
#include "deft/math/row_blocks.hpp"

namespace deft::io {

/// One entry of a sparse matrix.
struct MatrixEntry {
  int row = 0, col = 0;  // from 0
  double value = 0;      // finite
};

/// The nonzero entries of a matrix, row by row, columns ascending, each place at most once.
struct SparseMatrix {
  int rows = 0, cols = 0;            // its size
  std::vector<MatrixEntry> entries;  // none is zero
};

/// `{"rows", "cols", "data"}` (row-major) or `{"rows", "cols", "triplets"}` (repeated entries add).
/// @throws InputError unless it has `cols` columns and at most `max_rows` rows of finite numbers.
SparseMatrix read_matrix(const JsonField& field, int max_rows, int cols);

/// The same matrix with its zeros, [rows × cols].
Eigen::MatrixXd dense(const SparseMatrix& matrix);

/// A list of `size` finite numbers; `meaning` says in the message why so many. @throws InputError.
Eigen::VectorXd read_vector(const JsonField& field, Eigen::Index size, std::string_view meaning);

/// ½(A + Aᵀ) of a square matrix A, which should be symmetric: where entries across the diagonal differ by at most 1e-9
/// of the largest entry that is rounding; up to 1e-6 a note names the matrix. @throws InputError at `field` above that.
Eigen::MatrixXd symmetrised(const Eigen::MatrixXd& A, const JsonField& field, const std::string& name,
                            std::vector<std::string>& notes);

/// A symmetric positive semidefinite matrix [size × size] given whole, as `key` (a matrix), or in blocks, as
/// `key`_blocks. The whole matrix is cut into the smallest blocks on consecutive indices that hold all its couplings;
/// given blocks stay. Asymmetry is treated as by `symmetrised`, relative to the largest entry of all blocks.
/// @throws InputError for matrices that are not symmetric, overlapping blocks and a matrix that is not positive
/// semidefinite (to 1e-9 of a block's largest entry).
BlockDiagonal read_symmetric(const JsonField& object, const std::string& key, int size,
                             std::vector<std::string>& notes);

/// A sparse row: ascending columns, each at most once.
struct SparseRow {
  std::vector<int> cols;     // from 0
  std::vector<double> vals;  // one per column
};
/// `{"cols", "vals"}`; repeated columns add. @throws InputError for columns beyond num_cols and lists of unequal
/// length.
SparseRow read_row(const JsonField& field, int num_cols);

/// Appends one block that holds `rows` in the union of their columns.
void append_rows(const std::vector<SparseRow>& rows, RowBlocks& blocks);

}  // namespace deft::io
