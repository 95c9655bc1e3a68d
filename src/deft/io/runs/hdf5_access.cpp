#include "deft/io/runs/hdf5_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "deft/core/index.hpp"

namespace deft::io::hdf5 {
namespace {

constexpr hsize_t kChunkBytes = 16384;

/// The innermost reason on HDF5's error stack.
std::string reason() {
  std::string text;
  const auto keep_last = [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
    if (entry->desc != nullptr && *entry->desc != '\0') *static_cast<std::string*>(out) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "unknown reason" : text;
}

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("cannot {}: {}", what, reason()));
}

Handle utf8_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  check(H5Tset_size(type.get(), H5T_VARIABLE), "make a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a text type");
  return type;
}

Handle create_attribute(hid_t object, const std::string& name, hid_t type, const Handle& space) {
  return {H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
          fmt::format("create the attribute '{}'", name)};
}

Handle list_space(std::size_t size) {
  const hsize_t count = size;
  return {H5Screate_simple(1, &count, nullptr), H5Sclose, "make a list"};
}

/// Opens an attribute; the handle holds −1 if there is none.
Handle open_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  return {H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, fmt::format("open the attribute '{}'", name)};
}

// Behind the name of an attribute with text of variable length: the same in a fixed length. h5py gives people the
// former as words, but HDF5 keeps it in a heap without a checksum and follows what it says there; this program reads
// the latter.
constexpr const char* kFixed = "_fixed";
constexpr std::size_t kMostText = std::size_t{1} << 28;  // bytes of an attribute

std::size_t attribute_size(const Handle& attribute) {
  const Handle space(H5Aget_space(attribute.get()), H5Sclose, "read the size of an attribute");
  return to_size(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.get()), 0));
}

Handle fixed_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  check(H5Tset_size(type.get(), length), "make a text type");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "make a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "make a text type");
  return type;
}

/// There must be a text.
void write_fixed(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  const Handle type = fixed_type(longest);
  const Handle attribute = create_attribute(object, name + kFixed, type.get(), list_space(texts.size()));
  std::string bytes;
  for (const std::string& text : texts) bytes += text + std::string(longest - text.size(), '\0');
  check(H5Awrite(attribute.get(), type.get(), bytes.data()), fmt::format("write the attribute '{}'", name + kFixed));
}

std::vector<std::string> read_fixed(const Handle& attribute, const std::string& name) {
  const Handle stored(H5Aget_type(attribute.get()), H5Tclose, "read the type of an attribute");
  const std::size_t count = attribute_size(attribute), length = H5Tget_size(stored.get());
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) > 0 || length == 0 ||
      count > kMostText / length)
    throw std::runtime_error(fmt::format("cannot read the attribute '{}': it is not text of a fixed length", name));
  std::string bytes(count * length, '\0');
  if (!bytes.empty())
    check(H5Aread(attribute.get(), stored.get(), bytes.data()), fmt::format("read the attribute '{}'", name));
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string padded = bytes.substr(i * length, length);
    texts[i] = padded.substr(0, padded.find_last_not_of('\0') + 1);
  }
  return texts;
}

/// A missing group on the way is an error to HDF5 and simply "none" here.
bool is_there(hid_t file, const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (H5Lexists(file, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

Handle open_dataset(hid_t file, const std::string& path) {
  return {H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose, "open " + path};
}

std::vector<hsize_t> shape_of(const Handle& dataset, const std::string& path) {
  const Handle space(H5Dget_space(dataset.get()), H5Sclose, "read the shape of " + path);
  std::vector<hsize_t> shape(to_size(std::max(H5Sget_simple_extent_ndims(space.get()), 0)));
  check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "read the shape of " + path);
  return shape;
}

// What a killed writer may have announced without writing it.
constexpr hsize_t kAnnouncedBytes = hsize_t{64} << 20;

/// How many values a shape has. Nothing is compressed, so that more than the file holds is damage.
std::size_t checked_size(hid_t file, const std::vector<hsize_t>& shape, std::size_t value_bytes,
                         const std::string& path) {
  hsize_t file_bytes = 0;
  check(H5Fget_filesize(file, &file_bytes), "read the size of the file");
  const hsize_t most = (file_bytes + kAnnouncedBytes) / value_bytes;
  hsize_t size = 1;
  for (const hsize_t extent : shape) {
    if (extent > 0 && size > most / extent)
      throw std::runtime_error(
          fmt::format("cannot read {}: its shape [{}] is larger than the file", path, fmt::join(shape, " × ")));
    size *= extent;
  }
  return to_size(size);
}

}  // namespace

std::mutex& library_mutex() {
  static std::mutex mutex;
  // Errors come back as exceptions; the library shall not print its stack besides.
  static const herr_t quiet = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(quiet);
  return mutex;
}

Handle::Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
  if (id < 0) fail(what);
}
Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
Handle& Handle::operator=(Handle&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(close_, other.close_);
  return *this;
}
Handle::~Handle() { reset(); }
void Handle::reset() {
  if (id_ >= 0) close_(std::exchange(id_, -1));
}

void check(herr_t status, const std::string& what) {
  if (status < 0) fail(what);
}

template <typename T>
Column<T>::Column(hid_t file, const std::string& path, std::vector<hsize_t> row_shape) : path_(path), shape_{0} {
  shape_.insert(shape_.end(), row_shape.begin(), row_shape.end());
  row_size_ = std::accumulate(row_shape.begin(), row_shape.end(), hsize_t{1}, std::multiplies<>());
  const int rank = static_cast<int>(shape_.size());
  std::vector<hsize_t> largest = shape_, chunk = shape_;
  largest[0] = H5S_UNLIMITED;
  chunk[0] = std::clamp<hsize_t>(kChunkBytes / std::max<hsize_t>(row_size_ * sizeof(T), 1), 1, 4096);
  for (hsize_t& extent : chunk) extent = std::max<hsize_t>(extent, 1);
  const Handle space(H5Screate_simple(rank, shape_.data(), largest.data()), H5Sclose, "make the shape of " + path);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make settings");
  check(H5Pset_chunk(creation.get(), rank, chunk.data()), "set the chunks of " + path);
  if constexpr (std::is_same_v<T, double>) {
    // Rows that were announced but never written must not look like numbers.
    const double unset = std::numeric_limits<double>::quiet_NaN();
    check(H5Pset_fill_value(creation.get(), H5T_NATIVE_DOUBLE, &unset), "set the fill value of " + path);
  }
  dataset_ = Handle(
      H5Dcreate2(file, path.c_str(), NumberType<T>::file(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose, "create " + path);
}

template <typename T>
void Column<T>::append(const std::vector<T>& values) {
  if (row_size_ == 0 || values.empty()) return;
  std::vector<hsize_t> start(shape_.size(), 0), count = shape_;
  start[0] = shape_[0];
  count[0] = values.size() / row_size_;
  shape_[0] += count[0];
  check(H5Dset_extent(dataset_.get(), shape_.data()), "extend " + path_);
  const Handle space(H5Dget_space(dataset_.get()), H5Sclose, "read the shape of " + path_);
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
        "select rows of " + path_);
  const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose,
                      "make a shape");
  check(H5Dwrite(dataset_.get(), NumberType<T>::memory(), memory.get(), space.get(), H5P_DEFAULT, values.data()),
        "write " + path_);
}

template <typename T>
void Column<T>::flush() {
  check(H5Dflush(dataset_.get()), "flush " + path_);
}

std::size_t row_count(hid_t file, const std::string& path) {
  if (!is_there(file, path)) return 0;
  const std::vector<hsize_t> shape = shape_of(open_dataset(file, path), path);
  return shape.empty() ? 0 : to_size(shape.front());
}

template <typename T>
Values<T> read_values(hid_t file, const std::string& path) {
  Values<T> values;
  if (!is_there(file, path)) return values;
  const Handle dataset = open_dataset(file, path);
  values.shape = shape_of(dataset, path);
  values.data.resize(checked_size(file, values.shape, sizeof(T), path));
  if (!values.data.empty()) {
    check(H5Dread(dataset.get(), NumberType<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data.data()),
          "read " + path);
  }
  values.found = true;
  return values;
}

template class Column<double>;
template class Column<float>;
template class Column<std::int32_t>;
template class Column<std::int64_t>;
template class Column<std::uint8_t>;
template Values<double> read_values(hid_t, const std::string&);
template Values<float> read_values(hid_t, const std::string&);
template Values<std::int32_t> read_values(hid_t, const std::string&);
template Values<std::int64_t> read_values(hid_t, const std::string&);
template Values<std::uint8_t> read_values(hid_t, const std::string&);

Handle make_group(hid_t file, const std::string& path) {
  return {H5Gcreate2(file, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create " + path};
}

void write_attribute(hid_t object, const std::string& name, const std::string& text) {
  const Handle type = utf8_type();
  const Handle attribute =
      create_attribute(object, name, type.get(), {H5Screate(H5S_SCALAR), H5Sclose, "make a scalar"});
  const char* pointer = text.c_str();
  check(H5Awrite(attribute.get(), type.get(), &pointer), fmt::format("write the attribute '{}'", name));
  write_fixed(object, name, {text});
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  const Handle type = utf8_type();
  const Handle attribute = create_attribute(object, name, type.get(), list_space(texts.size()));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  if (pointers.empty()) return;
  check(H5Awrite(attribute.get(), type.get(), pointers.data()), fmt::format("write the attribute '{}'", name));
  write_fixed(object, name, texts);
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::int32_t>& numbers) {
  const Handle attribute = create_attribute(object, name, H5T_STD_I32LE, list_space(numbers.size()));
  if (!numbers.empty())
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT32, numbers.data()), fmt::format("write the attribute '{}'", name));
}

void require_fixed_texts(hid_t object, std::span<const char* const> names) {
  bool any = false;
  for (const char* name : names) any |= H5Aexists(object, (name + std::string(kFixed)).c_str()) > 0;
  for (const char* name : names) {
    if (!any || H5Aexists(object, name) <= 0 || H5Aexists(object, (name + std::string(kFixed)).c_str()) > 0) continue;
    if (attribute_size(open_attribute(object, name)) > 0)
      throw std::runtime_error(fmt::format("the attribute '{}' has no twin '{}{}'", name, name, kFixed));
  }
}

std::vector<std::string> read_texts(hid_t object, const std::string& name) {
  const Handle fixed = open_attribute(object, name + kFixed);
  if (fixed.get() >= 0) return read_fixed(fixed, name);
  const Handle attribute = open_attribute(object, name);
  if (attribute.get() < 0) return {};
  const Handle stored(H5Aget_type(attribute.get()), H5Tclose, "read the type of an attribute");
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) <= 0) {
    throw std::runtime_error(fmt::format("cannot read the attribute '{}': it is not text of variable length", name));
  }
  const Handle type = utf8_type();
  std::vector<char*> pointers(attribute_size(attribute), nullptr);
  std::vector<std::string> texts(pointers.size());
  if (pointers.empty()) return texts;
  // The character set of the file is kept: HDF5 does not convert between ASCII and UTF-8.
  check(H5Tset_cset(type.get(), H5Tget_cset(stored.get())), "make a text type");
  check(H5Aread(attribute.get(), type.get(), pointers.data()), fmt::format("read the attribute '{}'", name));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (pointers[i] != nullptr) texts[i] = pointers[i];
    H5free_memory(pointers[i]);
  }
  return texts;
}

std::string read_text(hid_t object, const std::string& name) {
  std::vector<std::string> texts = read_texts(object, name);
  return texts.empty() ? std::string() : std::move(texts[0]);
}

std::vector<std::int32_t> read_numbers(hid_t object, const std::string& name) {
  const Handle attribute = open_attribute(object, name);
  if (attribute.get() < 0) return {};
  std::vector<std::int32_t> numbers(attribute_size(attribute));
  if (!numbers.empty())
    check(H5Aread(attribute.get(), H5T_NATIVE_INT32, numbers.data()), fmt::format("read the attribute '{}'", name));
  return numbers;
}

}  // namespace deft::io::hdf5
