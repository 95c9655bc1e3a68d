#pragma once
// Counts every allocation of the process (operator new, Eigen, shared libraries). Include in exactly one source file of
// a test executable: it replaces malloc. Under a sanitizer, which owns malloc itself, nothing is counted.

#include <atomic>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

namespace deft::testing_support {

inline std::atomic<long> allocation_count{0};

/// Number of allocations while `action` runs.
template <typename Action>
long allocations_during(Action action) {
  const long before = allocation_count.load();
  action();
  return allocation_count.load() - before;
}

}  // namespace deft::testing_support

#if !defined(__SANITIZE_ADDRESS__)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++deft::testing_support::allocation_count;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++deft::testing_support::allocation_count;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++deft::testing_support::allocation_count;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++deft::testing_support::allocation_count;
  return __libc_memalign(alignment, size);
}
}
#endif
