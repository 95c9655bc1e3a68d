#include "deft/viewer/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace deft::viewer {

std::string to_base64(std::span<const unsigned char> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < taken ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= taken ? kDigits[group >> (18 - 6 * j) & 63u] : '=';
  }
  return text;
}

}  // namespace deft::viewer
