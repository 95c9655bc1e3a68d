#include "support/allocation_counter.hpp"

#include <cstdlib>

namespace deft::testing_support {

std::atomic<long> allocation_count{0};

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
