#include "deft/io/text/json_matrix.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "deft/core/index.hpp"

namespace deft::io {
namespace {

constexpr double kSymmetricRounding = 1e-9;                     // relative to the largest entry: averaged silently
constexpr double kSymmetricTolerated = 1e-6;                    // averaged with a note
constexpr double kSemidefinite = 1e-9;                          // relative to the block's largest entry
constexpr std::size_t kMaxBlockEntries = std::size_t{1} << 27;  // 1 GiB of doubles

struct GivenBlock {
  int start = 0, size = 0;
  Eigen::MatrixXd values;
};

/// Sorts by place and adds what stands at the same one; zeros go.
void compress(std::vector<MatrixEntry>& entries, const JsonField& field) {
  const auto before = [](const MatrixEntry& a, const MatrixEntry& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  };
  std::stable_sort(entries.begin(), entries.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size();) {
    MatrixEntry sum = entries[i];
    for (++i; i < entries.size() && entries[i].row == sum.row && entries[i].col == sum.col; ++i)
      sum.value += entries[i].value;
    if (!std::isfinite(sum.value)) field.fail("repeated entries add up beyond the range of double precision");
    if (sum.value != 0) entries[kept++] = sum;
  }
  entries.resize(kept);
}

/// The smallest ranges of consecutive indices that no entry leaves; indices without entries belong to none.
std::vector<GivenBlock> split(const SparseMatrix& matrix, const JsonField& field) {
  std::vector<int> reach(matrix.rows,
                         -1);  // the furthest index coupled to this one or a later one
  for (const MatrixEntry& entry : matrix.entries) {
    int& last = reach[std::min(entry.row, entry.col)];
    last = std::max(last, std::max(entry.row, entry.col));
  }
  std::vector<GivenBlock> blocks;
  std::vector<int> block_of(reach.size(), -1);
  std::size_t total = 0;
  for (int start = 0; start < matrix.rows;) {
    int last = reach[start];
    if (last < 0) {
      ++start;
      continue;
    }
    for (int i = start; i <= last; ++i) last = std::max(last, reach[i]);
    const int size = last - start + 1;
    total += to_size(size) * to_size(size);
    if (total > kMaxBlockEntries)
      field.fail("couples indices that lie far apart: its blocks would need more than 1 GiB; reorder the unknowns");
    std::fill_n(block_of.begin() + start, size, static_cast<int>(blocks.size()));
    blocks.push_back({start, size, Eigen::MatrixXd::Zero(size, size)});
    start = last + 1;
  }
  for (const MatrixEntry& entry : matrix.entries) {
    GivenBlock& block = blocks[block_of[entry.row]];
    block.values(entry.row - block.start, entry.col - block.start) = entry.value;
  }
  return blocks;
}

std::vector<GivenBlock> read_blocks(const JsonField& field, int size) {
  std::vector<GivenBlock> blocks(field.list_size());
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const JsonField item = field.element(k);
    GivenBlock& block = blocks[k];
    block.start = item.at("start").integer(0, size - 1);
    block.size = item.at("size").integer(1, size - block.start);
    const auto n = to_size(block.size);
    const std::vector<double> data = item.at("data").numbers(n * n, "size × size");
    block.values = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        data.data(), block.size, block.size);
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const GivenBlock& a, const GivenBlock& b) { return a.start < b.start; });
  for (std::size_t k = 1; k < blocks.size(); ++k) {
    if (blocks[k].start < blocks[k - 1].start + blocks[k - 1].size) {
      field.fail(fmt::format("blocks that start at {} and {} overlap", blocks[k - 1].start, blocks[k].start));
    }
  }
  return blocks;
}

double largest_entry(const Eigen::MatrixXd& A) { return A.size() > 0 ? A.cwiseAbs().maxCoeff() : 0.0; }

/// The largest difference of entries across the diagonal, over `scale`; divided first, so that nothing overflows.
double asymmetry(const Eigen::MatrixXd& A, double scale) {
  return scale > 0 ? largest_entry(A / scale - A.transpose() / scale) : 0.0;
}

/// Refuses or notes an asymmetry relative to the largest entry.
void check_asymmetry(double relative, const JsonField& field, const std::string& name,
                     std::vector<std::string>& notes) {
  if (!(relative <= kSymmetricTolerated)) {
    field.fail(
        fmt::format("is not symmetric: entries across the diagonal differ by {:.3g} of the largest one (up to {:g} "
                    "would be averaged)",
                    relative, kSymmetricTolerated));
  }
  if (relative > kSymmetricRounding)
    notes.push_back(fmt::format("{} was symmetrised: entries across the diagonal differ by {:.3g} of the largest one",
                                name, relative));
}

Eigen::MatrixXd averaged(const Eigen::MatrixXd& A) { return 0.5 * A + 0.5 * A.transpose(); }

/// `symmetrised` of a matrix in blocks, relative to the largest entry of all.
void symmetrise(std::vector<GivenBlock>& blocks, const JsonField& field, const std::string& name,
                std::vector<std::string>& notes) {
  double largest = 0, relative = 0;
  for (const GivenBlock& block : blocks) largest = std::max(largest, largest_entry(block.values));
  for (const GivenBlock& block : blocks) relative = std::max(relative, asymmetry(block.values, largest));
  check_asymmetry(relative, field, name, notes);
  for (GivenBlock& block : blocks) block.values = averaged(block.values);
}

/// Cholesky of the block with its diagonal raised by the tolerance fails exactly when an eigenvalue lies below
/// −tolerance.
void check_semidefinite(const std::vector<GivenBlock>& blocks, const JsonField& field) {
  for (const GivenBlock& block : blocks) {
    const double tolerance = kSemidefinite * block.values.cwiseAbs().maxCoeff();
    if (tolerance == 0) continue;
    Eigen::MatrixXd raised = block.values;
    raised.diagonal().array() += tolerance;
    if (Eigen::LLT<Eigen::MatrixXd>(raised).info() != Eigen::Success) {
      field.fail(fmt::format("is not positive semidefinite (block of indices {} to {})", block.start,
                             block.start + block.size - 1));
    }
  }
}

}  // namespace

SparseMatrix read_matrix(const JsonField& field, int max_rows, int cols) {
  SparseMatrix matrix;
  matrix.rows = field.at("rows").integer(0, max_rows);
  matrix.cols = field.at("cols").integer(cols, cols);
  const std::optional<JsonField> data = field.find("data");
  const std::optional<JsonField> triplets = field.find("triplets");
  if (data.has_value() == triplets.has_value())
    field.fail("needs either 'data' (row-major) or 'triplets' ([row, column, value])");
  if (data) {
    const std::size_t columns = to_size(matrix.cols);
    const std::vector<double> values = data->numbers(to_size(matrix.rows) * columns, "rows × cols");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0)
        matrix.entries.push_back({static_cast<int>(i / columns), static_cast<int>(i % columns), values[i]});
    }
    return matrix;
  }
  matrix.entries.resize(triplets->list_size());
  for (std::size_t i = 0; i < matrix.entries.size(); ++i) {
    const JsonField triplet = triplets->element(i);
    if (triplet.list_size() != 3) triplet.fail("must be [row, column, value]");
    matrix.entries[i] = {triplet.element(0).integer(0, matrix.rows - 1), triplet.element(1).integer(0, matrix.cols - 1),
                         triplet.element(2).number()};
  }
  compress(matrix.entries, *triplets);
  return matrix;
}

Eigen::MatrixXd dense(const SparseMatrix& matrix) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(matrix.rows, matrix.cols);
  for (const MatrixEntry& entry : matrix.entries) out(entry.row, entry.col) = entry.value;
  return out;
}

Eigen::VectorXd read_vector(const JsonField& field, Eigen::Index size, std::string_view meaning) {
  const std::vector<double> values = field.numbers(to_size(size), meaning);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), size);
}

Eigen::MatrixXd symmetrised(const Eigen::MatrixXd& A, const JsonField& field, const std::string& name,
                            std::vector<std::string>& notes) {
  check_asymmetry(asymmetry(A, largest_entry(A)), field, name, notes);
  return averaged(A);
}

BlockDiagonal read_symmetric(const JsonField& object, const std::string& key, int size,
                             std::vector<std::string>& notes) {
  const std::optional<JsonField> whole = object.find(key);
  const std::optional<JsonField> in_blocks = object.find(key + "_blocks");
  if (whole && in_blocks) in_blocks->fail(fmt::format("'{0}' and '{0}_blocks' are both given; keep one", key));
  const JsonField field = whole ? *whole : in_blocks ? *in_blocks : object.at(key);

  std::vector<GivenBlock> blocks;
  if (whole) {
    const SparseMatrix matrix = read_matrix(*whole, size, size);
    if (matrix.rows != size) whole->at("rows").integer(size, size);
    blocks = split(matrix, *whole);
  } else {
    blocks = read_blocks(field, size);
  }
  symmetrise(blocks, field, key, notes);
  check_semidefinite(blocks, field);

  BlockDiagonal result;
  for (const GivenBlock& block : blocks) result.append(block.start, block.size) = block.values;
  return result;
}

SparseRow read_row(const JsonField& field, int num_cols) {
  const JsonField cols = field.at("cols");
  const JsonField vals = field.at("vals");
  const std::size_t count = cols.list_size();
  if (vals.list_size() != count)
    vals.fail(fmt::format("has {} numbers, needs {} (one per entry of 'cols')", vals.list_size(), count));
  std::vector<MatrixEntry> entries(count);
  for (std::size_t k = 0; k < count; ++k)
    entries[k] = {0, cols.element(k).integer(0, num_cols - 1), vals.element(k).number()};
  compress(entries, vals);
  SparseRow row;
  for (const MatrixEntry& entry : entries) {
    row.cols.push_back(entry.col);
    row.vals.push_back(entry.value);
  }
  return row;
}

void append_rows(const std::vector<SparseRow>& rows, RowBlocks& blocks) {
  std::vector<int> cols;
  for (const SparseRow& row : rows) cols.insert(cols.end(), row.cols.begin(), row.cols.end());
  std::sort(cols.begin(), cols.end());
  cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
  RowBlocks::Block block = blocks.append(static_cast<int>(rows.size()), cols);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t k = 0; k < rows[r].cols.size(); ++k) {
      const auto place = std::lower_bound(cols.begin(), cols.end(), rows[r].cols[k]) - cols.begin();
      block(static_cast<int>(r), static_cast<int>(place)) = rows[r].vals[k];
    }
  }
}

}  // namespace deft::io
