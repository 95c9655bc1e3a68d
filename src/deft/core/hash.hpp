#pragma once
// A hash of bytes, the same on every machine and in every build: names of what is kept, never a defence.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace deft {

/// FNV-1a in 64 bits, from a start: an earlier hash, to hash one thing after another. Source: Fowler, Noll, Vo (RFC
/// 9923).
std::uint64_t fnv1a(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325ULL);

/// The same of the bytes of numbers.
template <typename Number>
std::uint64_t fnv1a(std::span<const Number> numbers, std::uint64_t start) {
  return fnv1a(std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()), start);
}

/// A hash as 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

}  // namespace deft
