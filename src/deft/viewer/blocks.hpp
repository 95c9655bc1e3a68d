#pragma once
// Numbers of the page as base64 blocks. Internal to viewer.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "deft/viewer/base64.hpp"

namespace deft::viewer {

using nlohmann::json;

/// Numbers of one type, collected in order, then written as a block.
template <typename T>
struct Column {
  std::vector<T> values;  // so far
  /// Appends one number, rounded to T.
  void add(double x) { values.push_back(static_cast<T>(x)); }
  /// Appends all numbers of a range.
  template <typename Range>
  void add_all(const Range& range) {
    for (const double x : range) add(x);
  }
  /// The values as a block {"type", "shape", "data"} of the document, row-major. @param shape  whose product is the
  /// number of values.
  json block(std::vector<std::size_t> shape) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
    const char* type = std::is_floating_point_v<T> ? "f4" : sizeof(T) == 4 ? "u4" : sizeof(T) == 2 ? "u2" : "u1";
    return {{"type", type}, {"shape", std::move(shape)}, {"data", to_base64({bytes, values.size() * sizeof(T)})}};
  }
};
using Reals = Column<float>;            // "f4"
using Indices = Column<std::uint32_t>;  // "u4"
using Shorts = Column<std::uint16_t>;   // "u2"
using Bytes = Column<std::uint8_t>;     // "u1"

/// `count` frames of [0, total), evenly, the first and the last among them.
inline std::vector<std::size_t> even_frames(std::size_t total, std::size_t count) {
  std::vector<std::size_t> frames(count);
  for (std::size_t i = 0; i < count; ++i)
    frames[i] = count == 1 ? 0 : (i * (total - 1) + (count - 1) / 2) / (count - 1);
  return frames;
}

}  // namespace deft::viewer
