#include "deft/solvers/linear/pivot_table.hpp"

#include <algorithm>
#include <type_traits>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::linear {

template <class Scalar>
BasicPivotTable<Scalar>::BasicPivotTable() : kernels_(&kernels::dense_kernels()) {}

template <class Scalar>
void BasicPivotTable<Scalar>::resize(int rows, int cols, int variables) {
  rows_ = rows;
  cols_ = cols;
  ld_ = kernels::padded(cols + 1);
  data_.assign(to_size(rows) * to_size(ld_), Scalar(0));
  column_.resize(rows);
  row_variable_.assign(rows, -1);
  col_variable_.assign(cols, -1);
  place_.assign(variables, 0);
}

template <class Scalar>
void BasicPivotTable<Scalar>::set_row_variable(int r, int variable) {
  row_variable_[r] = variable;
  place_[variable] = r;
}

template <class Scalar>
void BasicPivotTable<Scalar>::set_col_variable(int s, int variable) {
  col_variable_[s] = variable;
  place_[variable] = -1 - s;
}

template <class Scalar>
int BasicPivotTable<Scalar>::add_row() {
  data_.resize(data_.size() + to_size(ld_), Scalar(0));
  column_.resize(to_size(rows_) + 1);
  row_variable_.push_back(-1);
  place_.push_back(0);
  set_row_variable(rows_, static_cast<int>(place_.size()) - 1);
  return rows_++;
}

template <class Scalar>
const Scalar* BasicPivotTable<Scalar>::column(int s) {
  const Scalar* entry = data_.data() + s;
  for (int i = 0; i < rows_; ++i, entry += ld_) column_[i] = *entry;
  return column_.data();
}

// x_r = b_r + Σ_j T_rj x_j solved for x_s; the row of x_s is then put into all others.
template <class Scalar>
void BasicPivotTable<Scalar>::pivot(int r, int s) {
  Scalar* entry = data_.data() + s;
  for (int i = 0; i < rows_; ++i, entry += ld_) {
    column_[i] = *entry;
    *entry = 0;
  }
  const Scalar reciprocal = 1 / column_[r];
  column_[r] = 0;
  Scalar* own = row(r);
  for (int j = 0; j < ld_; ++j) own[j] *= -reciprocal;
  own[s] = reciprocal;
  if constexpr (std::is_same_v<Scalar, double>) {
    kernels_->multiply_many(rows_, 1, 1.0, column_.data(), 1, 1, own, ld_, data_.data(), ld_, ld_);
  } else {
    for (int i = 0; i < rows_; ++i) {
      const Scalar factor = column_[i];
      if (factor == 0) continue;
      Scalar* other = row(i);
      for (int j = 0; j <= cols_; ++j) {
        if (own[j] != 0) other[j] += factor * own[j];
      }
    }
  }
  const int leaving = row_variable(r), entering = col_variable(s);
  set_row_variable(r, entering);
  set_col_variable(s, leaving);
}

template <class Scalar>
int BasicPivotTable<Scalar>::take_basis(std::span<const char> basic, double least) {
  leaving_rows_.clear();
  entering_cols_.clear();
  for (int r = 0; r < rows_; ++r) {
    if (row_variable(r) >= 0 && !basic[row_variable(r)]) leaving_rows_.push_back(r);
  }
  for (int s = 0; s < cols_; ++s) {
    if (basic[col_variable(s)]) entering_cols_.push_back(s);
  }
  int count = 0;
  for (; !leaving_rows_.empty(); ++count) {
    Scalar largest = 0;
    std::size_t best_row = 0, best_col = 0;
    for (std::size_t k = 0; k < leaving_rows_.size(); ++k) {
      const Scalar* entries = row(leaving_rows_[k]);
      for (std::size_t l = 0; l < entering_cols_.size(); ++l) {
        const Scalar size = magnitude(entries[entering_cols_[l]]);
        if (size <= largest) continue;
        largest = size;
        best_row = k;
        best_col = l;
      }
    }
    if (!(largest >= least) || largest == 0) return -1;
    pivot(leaving_rows_[best_row], entering_cols_[best_col]);
    leaving_rows_.erase(leaving_rows_.begin() + static_cast<std::ptrdiff_t>(best_row));
    entering_cols_.erase(entering_cols_.begin() + static_cast<std::ptrdiff_t>(best_col));
  }
  return count;
}

template class BasicPivotTable<double>;
template class BasicPivotTable<Extended>;

}  // namespace deft::solvers::linear
