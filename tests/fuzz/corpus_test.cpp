// The files that fuzzers found, read again: each ends in an answer or in an InputError, within seconds.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "deft/core/text_file.hpp"
#include "readers.hpp"

namespace deft::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kHang{10};  // what takes longer counts as a hang

class Corpus : public ::testing::TestWithParam<Reader> {};

TEST_P(Corpus, EveryFileEndsInAnAnswerOrInAnError) {
  const ReadingFolder folder;
  int right = 0, wrong = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(DEFT_SOURCE_DIR "/tests/fuzz/corpus/" + std::string(GetParam().name))) {
    const std::optional<std::string> bytes = read_file(entry.path().string());
    ASSERT_TRUE(bytes) << entry.path();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_NO_THROW(++(folder.read(GetParam(), *bytes) ? right : wrong)) << entry.path();
    EXPECT_LT(std::chrono::steady_clock::now() - start, kHang) << entry.path();
  }
  EXPECT_GT(right, 0);  // the corpus holds both kinds
  EXPECT_GT(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, Corpus, ::testing::ValuesIn(readers().begin(), readers().end()),
                         [](const auto& reader) { return std::string(reader.param.name); });

}  // namespace
}  // namespace deft::fuzz
