#pragma once
// Binary blocks inside text.

#include <span>
#include <string>

namespace deft::viewer {

/// RFC 4648 base64 with padding, no line breaks: 4 characters per 3 bytes. Thread-safe; allocates the result only.
std::string to_base64(std::span<const unsigned char> bytes);

}  // namespace deft::viewer
