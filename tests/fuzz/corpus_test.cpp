// The files that fuzzers found, read again: each ends in an answer or in an InputError, within seconds and a gibibyte.
// DEFT_FUZZ_CORPUS names another folder of them, READER/…, such as what a fuzzer has just found (out/fuzz).

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "deft/core/text_file.hpp"
#include "readers.hpp"

namespace deft::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kHang{10};  // what takes longer counts as a hang
#ifdef __SANITIZE_ADDRESS__
constexpr long kMost_KiB = 4L << 20;  // the sanitizers keep several times what is asked for
#else
constexpr long kMost_KiB = 1L << 20;
#endif

/// The folder of a reader's files.
fs::path corpus_of(const Reader& reader) {
  const char* other = std::getenv("DEFT_FUZZ_CORPUS");
  return fs::path(other ? other : DEFT_SOURCE_DIR "/tests/fuzz/corpus") / std::string(reader.name);
}

/// The most memory that this process has held so far [KiB].
long most_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

class Corpus : public ::testing::TestWithParam<Reader> {};

TEST_P(Corpus, EveryFileEndsInAnAnswerOrInAnError) {
  const ReadingFolder folder;
  int right = 0, wrong = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpus_of(GetParam()))) {
    if (!entry.is_regular_file()) continue;
    const std::optional<std::string> bytes = read_file(entry.path().string());
    ASSERT_TRUE(bytes) << entry.path();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_NO_THROW(++(folder.read(GetParam(), *bytes) ? right : wrong)) << entry.path();
    EXPECT_LT(std::chrono::steady_clock::now() - start, kHang) << entry.path();
    ASSERT_LT(most_memory(), kMost_KiB) << entry.path();
  }
  EXPECT_GT(right, 0);  // the corpus holds both kinds
  EXPECT_GT(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, Corpus, ::testing::ValuesIn(readers().begin(), readers().end()),
                         [](const auto& reader) { return std::string(reader.param.name); });

}  // namespace
}  // namespace deft::fuzz
