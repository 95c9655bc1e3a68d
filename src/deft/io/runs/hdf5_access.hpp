#pragma once
// The little of HDF5 that run files need: handles that close themselves, datasets that grow, text attributes, errors
// with HDF5's own reason. Internal to io. The serial library is not thread-safe: hold `library_mutex` around every use.

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace deft::io::hdf5 {

/// The one lock of the HDF5 library in this process.
std::mutex& library_mutex();

/// Owns one HDF5 identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  /// @throws std::runtime_error "cannot WHAT: reason of HDF5" if `id` is an error.
  Handle(hid_t id, Close close, const std::string& what);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();
  hid_t get() const { return id_; }
  void reset();

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// @throws std::runtime_error "cannot WHAT: reason of HDF5" if `status` is negative.
void check(herr_t status, const std::string& what);

/// The library's type of a C++ number, in memory and in the file (little endian).
template <typename T>
struct NumberType;
template <>
struct NumberType<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
  static hid_t file() { return H5T_IEEE_F64LE; }
};
template <>
struct NumberType<float> {
  static hid_t memory() { return H5T_NATIVE_FLOAT; }
  static hid_t file() { return H5T_IEEE_F32LE; }
};
template <>
struct NumberType<std::int32_t> {
  static hid_t memory() { return H5T_NATIVE_INT32; }
  static hid_t file() { return H5T_STD_I32LE; }
};
template <>
struct NumberType<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }
  static hid_t file() { return H5T_STD_I64LE; }
};
template <>
struct NumberType<std::uint8_t> {
  static hid_t memory() { return H5T_NATIVE_UINT8; }
  static hid_t file() { return H5T_STD_U8LE; }
};

/// A chunked dataset [n, row_shape…] that grows by rows.
template <typename T>
class Column {
 public:
  Column(hid_t file, const std::string& path, std::vector<hsize_t> row_shape);
  /// Appends values.size() / row size rows.
  void append(const std::vector<T>& values);
  void flush();

 private:
  Handle dataset_;
  std::string path_;
  std::vector<hsize_t> shape_;  // of the whole dataset
  hsize_t row_size_ = 1;
};

/// A whole dataset and its shape; `found` is false (and the rest empty) if the file has none of that name.
template <typename T>
struct Values {
  bool found = false;
  std::vector<hsize_t> shape;
  std::vector<T> data;
};
template <typename T>
Values<T> read_values(hid_t file, const std::string& path);

/// Writes an attribute of an object: a text, a list of texts, or numbers. @throws std::runtime_error with HDF5's
/// reason.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::int32_t>& numbers);
/// Text, texts or numbers of an attribute; nothing if there is none.
std::vector<std::string> read_texts(hid_t object, const std::string& name);
std::vector<std::int32_t> read_numbers(hid_t object, const std::string& name);

}  // namespace deft::io::hdf5
