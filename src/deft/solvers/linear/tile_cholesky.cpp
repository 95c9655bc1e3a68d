#include "deft/solvers/linear/tile_cholesky.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::linear {
namespace {

constexpr int kTile = kernels::kLane, kArea = kTile * kTile;

}  // namespace

void TileCholesky::start(std::span<const int> sizes, std::vector<std::pair<int, int>>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  if (pairs != pairs_ || !std::equal(sizes.begin(), sizes.end(), sizes_.begin(), sizes_.end())) {
    sizes_.assign(sizes.begin(), sizes.end());
    pairs_ = pairs;
    analyse(sizes);
  }
  std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
  std::fill(tiles_.begin(), tiles_.end(), 0.0);
  for (std::size_t p = 0; p < sizes_.size(); ++p) {  // lanes beyond the size of a tile stand for themselves
    for (int k = sizes_[tile_at_[p]]; k < kTile; ++k) diagonal_[p * kArea + k * (kTile + 1)] = 1.0;
  }
}

// Order and pattern of U: position p has the rows of H below it and those of the positions whose first row it is.
void TileCholesky::analyse(std::span<const int> sizes) {
  const int n = static_cast<int>(sizes.size());
  tile_of_column_.clear();
  first_column_.assign(n + 1, 0);
  for (int t = 0; t < n; ++t) {
    first_column_[t + 1] = first_column_[t] + sizes[t];
    tile_of_column_.insert(tile_of_column_.end(), sizes[t], t);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (int t = 0; t < n; ++t) entries.emplace_back(t, t, 1.0);
  for (const auto& [a, b] : pairs_) {
    entries.emplace_back(a, b, 1.0);
    entries.emplace_back(b, a, 1.0);
  }
  Eigen::SparseMatrix<double> pattern(n, n);
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order(n);
  Eigen::AMDOrdering<int>()(pattern, order);
  tile_at_.assign(order.indices().data(), order.indices().data() + n);
  position_.resize(n);
  for (int p = 0; p < n; ++p) position_[tile_at_[p]] = p;

  std::vector<std::vector<int>> below(n);
  for (const auto& [a, b] : pairs_)
    below[std::min(position_[a], position_[b])].push_back(std::max(position_[a], position_[b]));
  first_.assign(1, 0);
  rows_.clear();
  for (int p = 0; p < n; ++p) {
    std::vector<int>& rows = below[p];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (!rows.empty()) below[rows[0]].insert(below[rows[0]].end(), rows.begin() + 1, rows.end());
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    first_.push_back(static_cast<int>(rows_.size()));
    if (!rows.empty()) std::vector<int>().swap(rows);
  }
  first_target_.assign(1, 0);
  targets_.clear();
  for (int p = 0; p < n; ++p) {
    for (int a = first_[p]; a < first_[p + 1]; ++a) {
      int at = first_[rows_[a]];
      for (int b = a + 1; b < first_[p + 1]; ++b) {
        while (rows_[at] != rows_[b]) ++at;
        targets_.push_back(at);
      }
    }
    first_target_.push_back(targets_.size());
  }
  diagonal_.resize(to_size(n) * kArea);
  tiles_.resize(rows_.size() * kArea);
  floor_.resize(to_size(n) * kTile);
  x_.resize(to_size(n) * kTile);
}

// Of positions p < q.
double* TileCholesky::tile(int p, int q) {
  const auto at = std::lower_bound(rows_.begin() + first_[p], rows_.begin() + first_[p + 1], q);
  return tiles_.data() + (at - rows_.begin()) * kArea;
}

void TileCholesky::add(int n, const int* cols, const double* values, int ld) {
  for (int i = 0; i < n;) {  // runs of columns in one tile
    const int t = tile_of_column_[cols[i]], p = position_[t];
    int i_end = i;
    while (i_end < n && tile_of_column_[cols[i_end]] == t) ++i_end;
    double* diagonal = diagonal_.data() + to_size(p) * kArea;
    for (int r = i; r < i_end; ++r) {
      for (int c = r; c < i_end; ++c)
        diagonal[(cols[r] - first_column_[t]) * kTile + cols[c] - first_column_[t]] += values[r * ld + c];
    }
    for (int j = i_end; j < n;) {
      const int u = tile_of_column_[cols[j]], q = position_[u];
      int j_end = j;
      while (j_end < n && tile_of_column_[cols[j_end]] == u) ++j_end;
      double* target = p < q ? tile(p, q) : tile(q, p);
      const int row_step = p < q ? kTile : 1, col_step = p < q ? 1 : kTile;
      for (int r = i; r < i_end; ++r) {
        for (int c = j; c < j_end; ++c)
          target[(cols[r] - first_column_[t]) * row_step + (cols[c] - first_column_[u]) * col_step] +=
              values[r * ld + c];
      }
      j = j_end;
    }
    i = i_end;
  }
}

void TileCholesky::add_diagonal(int column, double value) {
  const int t = tile_of_column_[column];
  diagonal_[to_size(position_[t]) * kArea + (column - first_column_[t]) * (kTile + 1)] += value;
}

void TileCholesky::remember() {
  kept_diagonal_ = diagonal_;
  kept_tiles_ = tiles_;
}

void TileCholesky::recall() {
  diagonal_ = kept_diagonal_;
  tiles_ = kept_tiles_;
}

int TileCholesky::factor(double noise) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int n = num_tiles();
  for (int p = 0; p < n; ++p) {
    for (int k = 0; k < kTile; ++k) floor_[p * kTile + k] = noise * diagonal_[to_size(p) * kArea + k * (kTile + 1)];
  }
  int frozen = 0;
  for (int p = 0; p < n; ++p) {
    double* diagonal = diagonal_.data() + to_size(p) * kArea;
    frozen += kernels.factor(kTile, kTile, diagonal, floor_.data() + p * kTile);
    kernels.eliminate_tile(first_[p + 1] - first_[p], diagonal, tiles_.data() + to_size(first_[p]) * kArea,
                           rows_.data() + first_[p], targets_.data() + first_target_[p], diagonal_.data(),
                           tiles_.data());
  }
  return frozen;
}

void TileCholesky::solve(double* x) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int n = num_tiles();
  for (int p = 0; p < n; ++p) {
    double* y = x_.data() + p * kTile;
    const int t = tile_at_[p];
    for (int k = 0; k < kTile; ++k) y[k] = k < sizes_[t] ? x[first_column_[t] + k] : 0.0;
  }
  for (int p = 0; p < n; ++p) {
    kernels.forward(kTile, kTile, diagonal_.data() + to_size(p) * kArea, x_.data() + p * kTile);
    kernels.forward_tiles(first_[p + 1] - first_[p], tiles_.data() + to_size(first_[p]) * kArea,
                          rows_.data() + first_[p], x_.data() + p * kTile, x_.data());
  }
  for (int p = n - 1; p >= 0; --p) {
    kernels.backward_tiles(first_[p + 1] - first_[p], tiles_.data() + to_size(first_[p]) * kArea,
                           rows_.data() + first_[p], x_.data(), x_.data() + p * kTile);
    kernels.backward(kTile, kTile, diagonal_.data() + to_size(p) * kArea, x_.data() + p * kTile);
    const int t = tile_at_[p];
    for (int k = 0; k < sizes_[t]; ++k) x[first_column_[t] + k] = x_[p * kTile + k];
  }
}

}  // namespace deft::solvers::linear
