// The entry of libFuzzer: DEFT_FUZZ_READER=NAME picks the reader. Built by the preset `fuzz` (Clang), run by
// tools/fuzz.py.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "readers.hpp"

namespace {

const deft::fuzz::Reader* reader = nullptr;
std::unique_ptr<deft::fuzz::ReadingFolder> folder;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("DEFT_FUZZ_READER");
  try {
    reader = &deft::fuzz::find_reader(name == nullptr ? "" : name);
    folder = std::make_unique<deft::fuzz::ReadingFolder>();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "DEFT_FUZZ_READER: %s\n", error.what());
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  folder->read(*reader, {reinterpret_cast<const char*>(data), size});
  return 0;
}
