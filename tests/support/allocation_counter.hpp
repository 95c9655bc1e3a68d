#pragma once
// Counts every allocation of the process (operator new, Eigen, shared libraries). A program that
// uses it is linked with allocation_counter.cpp, which replaces malloc. Under a sanitizer, which owns malloc itself,
// nothing is counted.

#include <atomic>

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

namespace deft::testing_support {

extern std::atomic<long> allocation_count;

/// Number of allocations while `action` runs.
template <typename Action>
long allocations_during(Action action) {
  const long before = allocation_count.load();
  action();
  return allocation_count.load() - before;
}

}  // namespace deft::testing_support
