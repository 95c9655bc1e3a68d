#pragma once
// Matrices and sparse rows of problem files. Internal to io.

#include <string>
#include <vector>

#include "deft/io/text/json_field.hpp"
#include "deft/math/block_diagonal.hpp"
#include "deft/math/row_blocks.hpp"

namespace deft::io {

/// One entry of a sparse matrix, indices from 0.
struct MatrixEntry {
  int row = 0, col = 0;
  double value = 0;
};

/// The nonzero entries of a matrix, row by row, columns ascending, each place at most once.
struct SparseMatrix {
  int rows = 0, cols = 0;
  std::vector<MatrixEntry> entries;
};

/// `{"rows", "cols", "data"}` (row-major) or `{"rows", "cols", "triplets"}` (repeated entries add). @throws InputError.
SparseMatrix read_matrix(const JsonField& field, int max_rows, int cols);

/// A symmetric positive semidefinite matrix given whole, as `key` (a matrix), or in blocks, as `key`_blocks; size ×
/// size. The whole matrix is cut into the smallest blocks on consecutive indices that hold all its couplings; given
/// blocks stay. Asymmetry up to 1e-9 of the largest entry is rounding and is averaged, up to 1e-6 it is averaged with a
/// note.
/// @throws InputError above that, for overlapping blocks and for a matrix that is not positive semidefinite (to 1e-9).
BlockDiagonal read_symmetric(const JsonField& object, const std::string& key, int size,
                             std::vector<std::string>& notes);

/// A sparse row `{"cols", "vals"}`: ascending columns, repeated ones added.
struct SparseRow {
  std::vector<int> cols;
  std::vector<double> vals;
};
SparseRow read_row(const JsonField& field, int num_cols);

/// Appends one block that holds `rows` in the union of their columns.
void append_rows(const std::vector<SparseRow>& rows, RowBlocks& blocks);

}  // namespace deft::io
