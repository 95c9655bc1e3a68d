// Text in double quotes, as JSON and YAML read it.

#include "deft/core/quote.hpp"

#include <gtest/gtest.h>

#include <string>

namespace deft {
namespace {

TEST(Quote, PutsABackslashBeforeQuotesAndBackslashes) {
  EXPECT_EQ(quote("plain name"), "\"plain name\"");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("a \"b\" \\ c"), "\"a \\\"b\\\" \\\\ c\"");
}

TEST(Quote, WritesControlCharactersAsEscapes) {
  EXPECT_EQ(quote("two\nlines"), "\"two\\nlines\"");
  EXPECT_EQ(quote("\t\x01\x7f"), "\"\\u0009\\u0001\\u007f\"");
}

TEST(Quote, LeavesUtf8AsItIs) { EXPECT_EQ(quote("Größe κ"), "\"Größe κ\""); }

}  // namespace
}  // namespace deft
