#pragma once
// What run files need of HDF5: handles that close themselves, groups, datasets that grow, attributes, errors with
// HDF5's own reason. Internal to io. The serial library is not thread-safe: hold `library_mutex` around every use.

#include <hdf5.h>

#include <fmt/format.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deft::io::hdf5 {

/// The one lock of the HDF5 library in this process; errors are not printed by the library once it was asked for.
std::mutex& library_mutex();

/// Owns one HDF5 identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);  // what releases it: H5Fclose and its like
  Handle() = default;               // owns nothing
  /// @throws std::runtime_error "cannot WHAT: reason of HDF5" if `id` is an error.
  Handle(hid_t id, Close close, const std::string& what);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  hid_t get() const { return id_; }  // −1: none
  void reset();                      // releases it now

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// @throws std::runtime_error "cannot WHAT: reason of HDF5" if `status` is negative.
void check(herr_t status, const std::string& what);

/// The library's type of a C++ number, in memory and in the file.
template <typename T>
struct NumberType;
/// 64-bit floating point, little endian in the file.
template <>
struct NumberType<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }  // as the program holds it
  static hid_t file() { return H5T_IEEE_F64LE; }       // as the file holds it
};
/// 32-bit floating point, little endian in the file.
template <>
struct NumberType<float> {
  static hid_t memory() { return H5T_NATIVE_FLOAT; }  // as the program holds it
  static hid_t file() { return H5T_IEEE_F32LE; }      // as the file holds it
};
/// 32-bit integers, little endian in the file.
template <>
struct NumberType<std::int32_t> {
  static hid_t memory() { return H5T_NATIVE_INT32; }  // as the program holds it
  static hid_t file() { return H5T_STD_I32LE; }       // as the file holds it
};
/// 64-bit integers, little endian in the file.
template <>
struct NumberType<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }  // as the program holds it
  static hid_t file() { return H5T_STD_I64LE; }       // as the file holds it
};
/// Bytes.
template <>
struct NumberType<std::uint8_t> {
  static hid_t memory() { return H5T_NATIVE_UINT8; }  // as the program holds it
  static hid_t file() { return H5T_STD_U8LE; }        // as the file holds it
};

/// A chunked dataset [n, row_shape…] that grows by rows.
template <typename T>
class Column {
 public:
  /// Creates it without rows; doubles that are never written read as NaN. @throws std::runtime_error as `check`.
  Column(hid_t file, const std::string& path, std::vector<hsize_t> row_shape);
  /// Appends values.size() / (numbers per row) rows. @throws std::runtime_error as `check`.
  void append(const std::vector<T>& values);
  void flush();  // brings what was appended to the file

 private:
  Handle dataset_;
  std::string path_;
  std::vector<hsize_t> shape_;  // of the whole dataset
  hsize_t row_size_ = 1;
};

/// A whole dataset.
template <typename T>
struct Values {
  bool found = false;          // false: the file has none of that name; the rest is empty
  std::vector<hsize_t> shape;  // extents
  std::vector<T> data;         // row-major
};
/// Rows of a dataset, 0 if it is missing. @throws std::runtime_error as `check`.
std::size_t row_count(hid_t file, const std::string& path);
/// Reads a dataset; one that is missing, or whose group is, is not found. @throws std::runtime_error as `check`, and if
/// its shape is larger than the file.
template <typename T>
Values<T> read_values(hid_t file, const std::string& path);
/// The numbers of a dataset that must be there. @throws std::runtime_error "COMPLAINT PATH" if it is not.
template <typename T>
std::vector<T> read_required(hid_t file, const std::string& path, std::string_view complaint) {
  Values<T> values = read_values<T>(file, path);
  if (!values.found) throw std::runtime_error(fmt::format("{} {}", complaint, path));
  return std::move(values.data);
}

/// Creates a group, "/steps". @throws std::runtime_error as `check`.
Handle make_group(hid_t file, const std::string& path);

/// Writes an attribute of a file or group: a text in UTF-8. @throws std::runtime_error as `check`, as the next two.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
/// The same: a list of texts.
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
/// The same: a list of numbers.
void write_attribute(hid_t object, const std::string& name, const std::vector<std::int32_t>& numbers);
/// If one of these texts has a twin of fixed length, as all have that this program writes, all of those that are there
/// must: reading one of variable length never ends in some damaged files (HDF5 1.10). @throws std::runtime_error naming
/// the text without one.
void require_fixed_texts(hid_t object, std::span<const char* const> names);
/// Texts of an attribute; none if there is no such one. @throws std::runtime_error if it is not text.
std::vector<std::string> read_texts(hid_t object, const std::string& name);
/// The first of them, or an empty one.
std::string read_text(hid_t object, const std::string& name);
/// Numbers of an attribute; none if there is no such one.
std::vector<std::int32_t> read_numbers(hid_t object, const std::string& name);

}  // namespace deft::io::hdf5
