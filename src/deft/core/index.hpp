#pragma once
// Counts and indices are ints (or Eigen::Index) throughout; the containers of the standard library count in
// std::size_t.

#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace deft {

/// A count or an index as the unsigned number of the standard library, where the conversion must be seen: before a
/// product that may exceed an int, in comparisons, in braces. Subscripts need none.
/// @param value  not negative (checked in debug builds).
constexpr std::size_t to_size(std::integral auto value) {
  assert(std::cmp_greater_equal(value, 0));
  return static_cast<std::size_t>(value);
}

/// The place of an enumerator in tables that list all of them in order.
template <typename Enum>
  requires std::is_enum_v<Enum>
constexpr std::size_t to_size(Enum value) {
  return static_cast<std::size_t>(value);
}

}  // namespace deft
