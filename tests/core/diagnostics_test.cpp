#include "deft/core/diagnostics.hpp"

#include <gtest/gtest.h>

namespace deft {
namespace diagnostics_test {

TEST(Diagnostic, LeavesOutWhatIsUnknown) {
  const struct {
    Diagnostic diagnostic;
    const char* text;
  } cases[] = {
      {{Severity::kError, {"a.yaml", 12, 5}, "bad"}, "a.yaml:12:5: error: bad"},
      {{Severity::kWarning, {"a.sdf", 3, 0}, "odd"}, "a.sdf:3: warning: odd"},
      {{Severity::kError, {"a.urdf", 0, 7}, "gone"}, "a.urdf: error: gone"},
      {{Severity::kError, {}, "no such option"}, "error: no such option"},
  };
  for (const auto& c : cases) EXPECT_EQ(to_string(c.diagnostic), c.text);
}

TEST(Diagnostics, KeepsTheOrderAndCountsErrors) {
  Diagnostics diagnostics;
  EXPECT_NO_THROW(diagnostics.throw_if_errors());
  diagnostics.warning({"f", 1, 0}, "first");
  EXPECT_FALSE(diagnostics.has_errors());
  diagnostics.error({"f", 2, 0}, "second");
  diagnostics.error({"f", 3, 0}, "third");
  EXPECT_EQ(diagnostics.error_count(), 2);
  ASSERT_EQ(diagnostics.all().size(), 3u);
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::kWarning);
  EXPECT_EQ(diagnostics.all()[2].message, "third");
}

TEST(Diagnostics, WarnsOncePerKey) {
  Diagnostics diagnostics;
  diagnostics.warning_once("<sensor>", {"f", 1, 0}, "a");
  diagnostics.warning_once("<sensor>", {"f", 9, 0}, "b");
  diagnostics.warning_once("<plugin>", {"f", 9, 0}, "c");
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(diagnostics.all()[0].where.line, 1);
  EXPECT_EQ(diagnostics.all()[1].message, "c");
}

TEST(Diagnostics, GathersTheWarningsOfAKindByFile) {
  Diagnostics d;
  d.warning({"a.urdf", 3, 0}, "x states none", "geometries state none");
  d.warning({"a.urdf", 4, 0}, "alone");
  d.error({"a.urdf", 5, 0}, "wrong");
  d.warning({"a.urdf", 9, 0}, "y states none", "geometries state none");
  d.warning({"b.urdf", 2, 0}, "z states none", "geometries state none");
  std::vector<std::string> lines;
  for (const Diagnostic& line : gathered(d.all())) lines.push_back(to_string(line));
  EXPECT_EQ(lines, (std::vector<std::string>{"a.urdf:3: warning: 2 geometries state none (this is the first)",
                                             "a.urdf:4: warning: alone", "a.urdf:5: error: wrong",
                                             "b.urdf:2: warning: z states none"}));
}

TEST(Diagnostics, ThrowsEverythingAtOnceIfAnythingIsAnError) {
  Diagnostics diagnostics;
  diagnostics.warning({"f", 1, 0}, "odd", "odd lines");
  EXPECT_NO_THROW(diagnostics.throw_if_errors());
  diagnostics.error({"f", 2, 4}, "bad");
  diagnostics.warning({"f", 3, 0}, "odd too", "odd lines");
  try {
    diagnostics.throw_if_errors();
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "f:1: warning: 2 odd lines (this is the first)\nf:2:4: error: bad");
    EXPECT_EQ(error.diagnostics().size(), 3u);
  }
}

TEST(InputError, HoldsOneErrorWhenMadeFromOne) {
  const InputError error({"f", 2, 0}, "bad");
  EXPECT_STREQ(error.what(), "f:2: error: bad");
  ASSERT_EQ(error.diagnostics().size(), 1u);
  EXPECT_EQ(error.diagnostics()[0].severity, Severity::kError);
}

TEST(DidYouMean, NamesTheNearestOrListsTheChoices) {
  const std::vector<std::string> links{"palm_link", "link_1", "link_2", "tip"};
  const struct {
    const char* name;
    const char* hint;
  } cases[] = {
      {"palm", "; did you mean 'palm_link'?"},       // a part of the name
      {"PALM_LINK", "; did you mean 'palm_link'?"},  // case
      {"plam_link", "; did you mean 'palm_link'?"},  // two letters swapped
      {"link_3", "; did you mean 'link_1'?"},        // the first of the nearest
      {"elbow", "; valid: palm_link, link_1, link_2, tip"},
      {"xy", "; valid: palm_link, link_1, link_2, tip"},
  };
  for (const auto& c : cases) EXPECT_EQ(did_you_mean(c.name, links), c.hint) << c.name;
}

TEST(DidYouMean, SaysNothingWithoutCandidatesAndCutsLongLists) {
  EXPECT_EQ(did_you_mean("palm", {}), "");
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) many.push_back("quite_different_" + std::to_string(i));
  const std::string hint = did_you_mean("ball", many);
  EXPECT_NE(hint.find("quite_different_11, … (40 in all)"), std::string::npos) << hint;
  EXPECT_EQ(hint.find("quite_different_12"), std::string::npos) << hint;
}

}  // namespace diagnostics_test
}  // namespace deft
