#include "deft/core/quote.hpp"

#include <fmt/format.h>

namespace deft {

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

}  // namespace deft
