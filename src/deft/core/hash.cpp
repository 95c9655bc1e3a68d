#include "deft/core/hash.hpp"

#include <fmt/format.h>

namespace deft {

std::uint64_t fnv1a(std::string_view bytes, std::uint64_t start) {
  for (const char c : bytes) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return start;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace deft
