#pragma once
// Text that people write: files, and whether it is UTF-8.

#include <optional>
#include <string>
#include <string_view>

namespace deft {

/// A byte that is no text.
struct NotUtf8 {
  int line;             // from 1
  int column;           // in characters, from 1
  std::string message;  // "is not text in UTF-8 (byte 0xE4)"
};

/// The first byte of a text that is not UTF-8 (RFC 3629: shortest forms, no surrogates, up to U+10FFFF), or zero;
/// nothing if all is well.
std::optional<NotUtf8> find_not_utf8(std::string_view text);

/// All bytes of a file; nothing if it is a folder or cannot be read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace deft
