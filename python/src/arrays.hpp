#pragma once
// NumPy arrays in and out: arguments that are checked and only copied where they must be, results without a copy.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deft::python {

namespace nb = nanobind;

/// A NumPy array that is handed out.
class Array : public nb::object {
  NB_OBJECT(Array, nb::object, "numpy.ndarray", is_array)
  static bool is_array(nb::handle value) { return PyObject_CheckBuffer(value.ptr()) != 0; }
};

/// Doubles of an argument, row-major; what they were read from lives as long as this object.
class Numbers {
 public:
  /// Reads an array, anything with `__array__` or DLPack, or a plain sequence; float64 in C order is not copied.
  /// @throws nb::python_error: TypeError naming the argument for other things and for dtypes that are not real.
  Numbers(nb::handle value, std::string_view name);
  ~Numbers();
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  const double* data() const { return static_cast<const double*>(view_.buf); }
  int ndim() const { return view_.ndim; }
  Eigen::Index size(int axis) const { return view_.shape[axis]; }
  /// The shape as Python prints it.
  std::string shape() const;

 private:
  nb::object owner_;  // of what was converted
  Py_buffer view_{};
};

/// Copies an argument of shape (size,) into `out`. @throws ValueError naming the argument for another shape and for
/// numbers that are not finite.
void read_vector(nb::handle value, std::string_view name, Eigen::Index size, Eigen::VectorXd& out);
Eigen::VectorXd read_vector(nb::handle value, std::string_view name, Eigen::Index size);  // the same, returned

/// A batch, row by row, or one row for all.
struct Rows {
  Eigen::MatrixXd columns;  // size × number of rows: a column per row of the argument
  bool is_batch = false;    // false: shape (size,)
  /// The numbers of item i; empty if nothing was given.
  Eigen::VectorXd row(Eigen::Index i) const {
    return columns.cols() == 0 ? Eigen::VectorXd() : Eigen::VectorXd(columns.col(columns.cols() == 1 ? 0 : i));
  }
};
/// An argument of shape (size,) or (batch, size). @throws as read_vector; what is not finite is named with its row.
Rows read_rows(nb::handle value, std::string_view name, Eigen::Index size);

/// How many items several arguments make, each with its name; those with one row serve all, those without none.
/// @throws ValueError naming two that differ.
Eigen::Index common_rows(std::initializer_list<std::pair<std::string_view, const Rows*>> arguments);

/// A new array with these numbers.
Array to_array(const Eigen::VectorXd& values);
Array to_array(const Eigen::MatrixXd& values);  // row-major
/// A new array of that shape; `fill(double*)` writes it row-major.
template <typename Fill>
Array new_array(const std::vector<std::size_t>& shape, Fill&& fill) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  auto* data = new double[count];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  fill(data);
  return nb::steal<Array>(nb::cast(nb::ndarray<nb::numpy, double>(data, shape.size(), shape.data(), owner)).release());
}
/// Vectors of `width` entries as rows.
template <typename Vectors>
Array rows_array(const Vectors& vectors, std::size_t width) {
  return new_array({vectors.size(), width}, [&](double* out) {
    for (const auto& row : vectors) out = std::copy(row.begin(), row.end(), out);
  });
}
/// A new array, None where there is no such matrix: it has no rows.
std::optional<Array> to_array_or_none(const Eigen::MatrixXd& values);
/// A read-only view of numbers that `owner` keeps.
Array view_of(const double* data, std::initializer_list<std::size_t> shape, nb::handle owner);
/// The same of numbers within `owner`, which lives as long as the array.
template <typename Owner>
Array view_of(const double* data, std::initializer_list<std::size_t> shape, const std::shared_ptr<Owner>& owner) {
  using Held = std::shared_ptr<Owner>;
  return view_of(data, shape, nb::capsule(new Held(owner), [](void* p) noexcept { delete static_cast<Held*>(p); }));
}

}  // namespace deft::python
