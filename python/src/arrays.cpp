#include "arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace deft::python {
namespace {

bool is_plain(const Py_buffer& view) {
  return view.itemsize == sizeof(double) && view.format != nullptr && std::string_view(view.format) == "d";
}

/// float64 in C order of whatever holds real numbers.
nb::object converted(nb::handle value, std::string_view name) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array;
  try {
    const bool only_dlpack = nb::hasattr(value, "__dlpack__") && !nb::hasattr(value, "__array__");
    array = numpy.attr(only_dlpack ? "from_dlpack" : "asarray")(value);
  } catch (nb::python_error& error) {
    throw nb::type_error(
        fmt::format("{}: expected real numbers; {}", name, nb::cast<std::string>(nb::str(error.value()))).c_str());
  }
  const nb::object dtype = array.attr("dtype"), kind_of = dtype.attr("kind");
  const auto kind = nb::cast<std::string>(kind_of);
  if (kind != "f" && kind != "i" && kind != "u")
    throw nb::type_error(
        fmt::format("{}: expected real numbers, got dtype {}", name, nb::cast<std::string>(nb::str(dtype))).c_str());
  return numpy.attr("ascontiguousarray")(array, numpy.attr("float64")).attr("reshape")(array.attr("shape"));
}

[[noreturn]] void refuse_shape(std::string_view name, const std::string& expected, const Numbers& got) {
  throw nb::value_error(fmt::format("{}: expected shape {}, got {}", name, expected, got.shape()).c_str());
}

Eigen::Index first_not_finite(const double* data, Eigen::Index count) {
  for (Eigen::Index i = 0; i < count; ++i)
    if (!std::isfinite(data[i])) return i;
  return -1;
}

}  // namespace

Numbers::Numbers(nb::handle value, std::string_view name) {
  if (PyObject_CheckBuffer(value.ptr()) &&
      PyObject_GetBuffer(value.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
    if (is_plain(view_)) return;
    PyBuffer_Release(&view_);
  }
  PyErr_Clear();
  owner_ = converted(value, name);
  if (PyObject_GetBuffer(owner_.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) throw nb::python_error();
}

Numbers::~Numbers() { PyBuffer_Release(&view_); }

std::string Numbers::shape() const {
  if (ndim() == 1) return fmt::format("({},)", size(0));
  return fmt::format("({})", fmt::join(view_.shape, view_.shape + view_.ndim, ", "));
}

void read_vector(nb::handle value, std::string_view name, Eigen::Index size, Eigen::VectorXd& out) {
  const Numbers numbers(value, name);
  if (numbers.ndim() != 1 || numbers.size(0) != size) refuse_shape(name, fmt::format("({},)", size), numbers);
  if (const Eigen::Index bad = first_not_finite(numbers.data(), size); bad >= 0)
    throw nb::value_error(
        fmt::format("{}: entry {} is {}, not a finite number", name, bad, numbers.data()[bad]).c_str());
  out = Eigen::Map<const Eigen::VectorXd>(numbers.data(), size);
}

Eigen::VectorXd read_vector(nb::handle value, std::string_view name, Eigen::Index size) {
  Eigen::VectorXd out;
  read_vector(value, name, size, out);
  return out;
}

Rows read_rows(nb::handle value, std::string_view name, Eigen::Index size) {
  const Numbers numbers(value, name);
  const int ndim = numbers.ndim();
  if (ndim < 1 || ndim > 2 || numbers.size(ndim - 1) != size)
    refuse_shape(name, fmt::format("({},) or (batch, {})", size, size), numbers);
  const Eigen::Index count = ndim == 2 ? numbers.size(0) : 1;
  if (const Eigen::Index bad = first_not_finite(numbers.data(), count * size); bad >= 0)
    throw nb::value_error((ndim == 2
                               ? fmt::format("{}: entry {} of row {} is {}, not a finite number", name, bad % size,
                                             bad / size, numbers.data()[bad])
                               : fmt::format("{}: entry {} is {}, not a finite number", name, bad, numbers.data()[bad]))
                              .c_str());
  return {Eigen::Map<const Eigen::MatrixXd>(numbers.data(), size, count), ndim == 2};
}

Eigen::Index common_rows(std::initializer_list<std::pair<std::string_view, const Rows*>> arguments) {
  Eigen::Index count = 1;
  std::string_view first;
  for (const auto& [name, rows] : arguments) {
    if (!rows->is_batch) continue;
    const Eigen::Index own = rows->columns.cols();
    if (!first.empty() && own != count)
      throw nb::value_error(
          fmt::format("{}: expected a batch of {}, as of {}, got {}", name, count, first, own).c_str());
    count = own;
    first = name;
  }
  return count;
}

Array to_array(const Eigen::VectorXd& values) {
  return new_array({static_cast<std::size_t>(values.size())},
                   [&](double* out) { Eigen::Map<Eigen::VectorXd>(out, values.size()) = values; });
}

Array to_array(const Eigen::MatrixXd& values) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return new_array({static_cast<std::size_t>(values.rows()), static_cast<std::size_t>(values.cols())},
                   [&](double* out) { Eigen::Map<RowMajor>(out, values.rows(), values.cols()) = values; });
}

std::optional<Array> to_array_or_none(const Eigen::MatrixXd& values) {
  if (values.rows() == 0) return std::nullopt;
  return to_array(values);
}

Array view_of(const double* data, std::initializer_list<std::size_t> shape, nb::handle owner) {
  return nb::steal<Array>(
      nb::cast(nb::ndarray<nb::numpy, const double>(data, shape.size(), shape.begin(), owner)).release());
}

}  // namespace deft::python
