#pragma once
// Values as bytes, one after the other, and back: bit for bit, on machines of the same byte order.

#include <Eigen/Core>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "deft/core/index.hpp"

namespace deft::planning {

/// Appends values to `bytes`.
class Packer {
 public:
  std::string bytes;  // what was packed so far

  /// Appends numbers as they are, matrices as two 32-bit sizes and their entries by columns, lists as a 32-bit length
  /// and their vectors.
  template <typename... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }

 private:
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  void put(Number number) {
    append(&number, sizeof number);
  }
  template <int Cols>
  void put(const Eigen::Matrix<double, Eigen::Dynamic, Cols>& matrix) {
    put(static_cast<std::int32_t>(matrix.rows()));
    put(static_cast<std::int32_t>(matrix.cols()));
    append(matrix.data(), to_size(matrix.size()) * sizeof(double));
  }
  void put(const std::vector<Eigen::VectorXd>& list) {
    put(static_cast<std::int32_t>(list.size()));
    for (const Eigen::VectorXd& vector : list) put(vector);
  }
  void append(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};

/// Reads packed values in the order in which they were packed. @throws std::runtime_error where the bytes end early or
/// are of values of another kind.
class Unpacker {
 public:
  /// @param bytes  of a Packer; must outlive this object.
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  /// Reads the next values, of the types that were packed; resizes matrices and lists.
  template <typename... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  /// Whether nothing is left.
  bool done() const { return bytes_.empty(); }

 private:
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  void get(Number& number) {
    std::memcpy(&number, take(sizeof number), sizeof number);
  }
  template <int Cols>
  void get(Eigen::Matrix<double, Eigen::Dynamic, Cols>& matrix) {
    const std::size_t rows = count(), cols = count();
    if ((Cols > 0 && cols != to_size(Cols)) || (cols > 0 && rows > bytes_.size() / cols / sizeof(double))) refuse();
    matrix.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
    const std::size_t size = rows * cols * sizeof(double);
    if (size > 0) std::memcpy(matrix.data(), take(size), size);
  }
  void get(std::vector<Eigen::VectorXd>& list) {
    const std::size_t size = count();
    if (size > bytes_.size()) refuse();
    list.resize(size);
    for (Eigen::VectorXd& vector : list) get(vector);
  }
  std::size_t count() {
    std::int32_t number = 0;
    get(number);
    if (number < 0) refuse();
    return to_size(number);
  }
  const char* take(std::size_t size) {
    if (size > bytes_.size()) refuse();
    const char* taken = bytes_.data();
    bytes_.remove_prefix(size);
    return taken;
  }
  [[noreturn]] static void refuse() { throw std::runtime_error("packed values end early or are of another kind"); }

  std::string_view bytes_;
};

}  // namespace deft::planning
