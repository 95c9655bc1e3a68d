#pragma once
// Reads the document of a page back, for the tests of it.

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deft/viewer/embedded_page.hpp"

namespace deft::viewer {

/// What a browser takes for the element's text: everything up to the first end tag.
inline std::string slot_text(const std::string& page) {
  const std::size_t begin = page.find(kDataSlot) + kDataSlot.size();
  return page.substr(begin, page.find("</script", begin) - begin);
}

/// An independent decoder.
inline std::vector<unsigned char> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<unsigned char>(bits >> (count -= 8) & 255u));
  }
  return bytes;
}

template <typename T>
std::vector<T> block(const nlohmann::json& document, const char* name) {
  const auto bytes = from_base64(document["blocks"][name]["data"]);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace deft::viewer
