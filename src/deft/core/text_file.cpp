#include "deft/core/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace deft {
namespace {

/// How many bytes the character at the start of a text has; 0 if it is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||  // longer form, surrogate
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);    // longer form, too large
  return wrong ? 0 : length;
}

}  // namespace

std::optional<NotUtf8> find_not_utf8(std::string_view text) {
  int line = 1, column = 1;
  while (!text.empty()) {
    if (text[0] == '\0') return NotUtf8{line, column, "is not a text file (it holds zero bytes)"};
    const std::size_t length = character_length(text);
    if (length == 0)
      return NotUtf8{line, column,
                     fmt::format("is not text in UTF-8 (byte 0x{:02X})", static_cast<unsigned char>(text[0]))};
    ++column;
    if (text[0] == '\n') {
      ++line;
      column = 1;
    }
    text.remove_prefix(length);
  }
  return std::nullopt;
}

std::optional<std::string> read_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return file.is_open() && !file.bad() ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace deft
