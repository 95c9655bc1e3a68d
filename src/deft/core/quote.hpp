#pragma once
// Text in double quotes, for the files that the engine writes.

#include <string>
#include <string_view>

namespace deft {

/// `text` in double quotes as JSON (RFC 8259) has them, which YAML reads alike: a backslash stands before quotes and
/// backslashes, a new line is the escape n, other control characters are the escape u with four hexadecimal digits.
/// @param text  UTF-8.
std::string quote(std::string_view text);

}  // namespace deft
