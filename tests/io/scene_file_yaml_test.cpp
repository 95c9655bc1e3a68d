// The YAML tree: places, merging, paths, emission.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "deft/io/text/yaml_node.hpp"
#include "deft/io/text/yaml_reader.hpp"

namespace deft::io {
namespace scene_file_yaml_test {

YamlNode parse(const std::string& text) {
  Diagnostics diagnostics;
  const auto node = parse_yaml(text, "f.yaml", diagnostics);
  EXPECT_TRUE(node.has_value()) << (diagnostics.all().empty() ? "" : to_string(diagnostics.all()[0]));
  return node.value_or(YamlNode{});
}

TEST(SceneFileYaml, KeepsPlaces) {
  const YamlNode node = parse("a: 1\nb:\n  - {c: x}\n");
  EXPECT_EQ(node.entries[1].where.line, 2);
  const YamlNode& x = *node.find("b")->items[0].find("c");
  EXPECT_EQ(x.where.file, "f.yaml");
  EXPECT_EQ(x.where.line, 3);
  EXPECT_EQ(x.where.column, 9);
}

TEST(SceneFileYaml, MergesMapsAndReplacesTheRest) {
  YamlNode base = parse("a: {x: 1, y: [1, 2]}\nb: 2\nr: !Rpy {deg: [1, 2, 3]}\n");
  merge_yaml(base, parse("a: {y: [3], z: 4}\nc: 5\nr: !AngleAxis {axis: [1, 0, 0]}\n"));
  EXPECT_TRUE(equal_yaml(base, parse("a: {x: 1, y: [3], z: 4}\nb: 2\nr: !AngleAxis {axis: [1, 0, 0]}\nc: 5\n")));
}

TEST(SceneFileYaml, NullTakesAValueAway) {
  YamlNode base = parse("a: 1\nb: 2\n");
  merge_yaml(base, parse("a: null\n"));
  EXPECT_EQ(base.find("a"), nullptr);
  EXPECT_TRUE(base.has("a"));
}

TEST(SceneFileYaml, SetsByPathAndIndex) {
  YamlNode root = parse("a: {b: [1, {c: 2}]}\n");
  EXPECT_EQ(set_yaml_path(root, "a.b.1.c", make_scalar("7")), "");
  EXPECT_EQ(set_yaml_path(root, "x.y", make_scalar("8")), "");
  EXPECT_TRUE(equal_yaml(root, parse("a: {b: [1, {c: 7}]}\nx: {y: 8}\n")));
  EXPECT_EQ(set_yaml_path(root, "a.b.5", make_scalar("7")), "'a.b' is a list of 2; '5' is not an index of it");
  EXPECT_EQ(set_yaml_path(root, "x.y.z", make_scalar("7")), "'x.y' is a value, it has no 'z'");
  EXPECT_EQ(set_yaml_path(root, "x..z", make_scalar("7")), "the key path has an empty part");
  EXPECT_EQ(set_yaml_path(root, "x.", make_scalar("7")), "the key path has an empty part");
  // Keys with dots in them are quoted, as in TOML.
  EXPECT_EQ(set_yaml_path(root, "q.\"a.b\".'c.\\d'.e", make_scalar("9")), "");
  EXPECT_EQ(root.find("q")->find("a.b")->find("c.\\d")->find("e")->text, "9");
  EXPECT_EQ(set_yaml_path(root, "q.\"a\\\"b\"", make_scalar("9")), "");
  EXPECT_EQ(root.find("q")->find("a\"b")->text, "9");
  EXPECT_EQ(set_yaml_path(root, "q.\"a", make_scalar("9")), "the quote \" of the key path is not closed");
  EXPECT_EQ(set_yaml_path(root, "q.\"a\"b", make_scalar("9")), "a quoted part of a key path ends at its quote");
}

TEST(SceneFileYaml, EmittedTextParsesToTheSameTree) {
  for (const char* text : {"a: 1\n", "{}\n", "[]\n", "x\n", "null\n", "a: ''\nb: \"null\"\nc: '1'\nd: ~\n",
                           "a: 'x: y # z, [q] {w}'\nb: \"tab\\tnew\\nline\\\\ \\\"quoted\\\"\"\n",
                           "'key: odd': {'a b': [[], {}, [1, [2]]]}\n", "r: !Rpy {deg: [1, 2, 3]}\nl: !List [1]\n",
                           "u: Ångström — κ\n", "- a\n- {b: [1, 2]}\n- - - 3\n", "a: -x\nb: '-'\nc: ---x\n",
                           "a: |\n  several\n  lines\nb: >\n  folded\n  text\n", "a: .inf\nb: -.INF\nc: 1e-30\n",
                           "y: yes\nn: off\nt: 12:30:00\np: a%b\nq: '@x'\n"}) {
    const YamlNode node = parse(text);
    const std::string emitted = emit_yaml(node);
    EXPECT_TRUE(equal_yaml(parse(emitted), node)) << text << "->\n" << emitted;
    EXPECT_EQ(emit_yaml(parse(emitted)), emitted);
  }
  std::string long_list = "knots: [";
  for (int i = 0; i < 60; ++i) long_list += "{t: " + std::to_string(i) + ", hand: [1, 2, 3]}, ";
  const YamlNode node = parse(long_list + "]\n");
  EXPECT_TRUE(equal_yaml(parse(emit_yaml(node)), node));
}

TEST(SceneFileYaml, ResolvesAliasesAndDefaults) {
  const YamlNode node = parse("d: &d {x: 1, y: 2}\na: {<<: *d, y: 3}\nb: {y: 4, <<: [*d, {z: 5}]}\nc: *d\n");
  EXPECT_TRUE(equal_yaml(*node.find("a"), parse("{y: 3, x: 1}")));
  EXPECT_TRUE(equal_yaml(*node.find("b"), parse("{y: 4, x: 1, z: 5}")));
  EXPECT_TRUE(equal_yaml(*node.find("c"), parse("{x: 1, y: 2}")));
}

TEST(SceneFileYaml, BrokenTextIsAnErrorAtItsPlace) {
  struct Case {
    std::string text;
    int line, column;
    std::string words;
  };
  const Case cases[] = {
      {"- {t: 8}\n, pushes back.\ndeft: 1\n", 2, 1, "YAML: "},  // takes all memory in yaml-cpp 0.7
      {"a: 1\nb: [1, 2\nc: 3\n", 3, 2, "YAML: "},
      {"a: *nobody\n", 1, 4, "no value has the anchor 'nobody' before"},
      {"a: &a [*a]\n", 1, 8, "no value has the anchor 'a' before"},
      {"a: 1\n---\nb: 2\n", 3, 1, "only one YAML document per file"},
      {"[1, 2]: 3\n", 1, 1, "a key must be a word or a number"},
      {"a: {~: 3}\n", 1, 5, "a key must be a word or a number"},
      {"null: 3\n", 1, 1, "a key must be a word or a number"},
      {"ä: 1\nb: \xE4\n", 2, 4, "is not text in UTF-8 (byte 0xE4)"},
      {"a: \xC0\xAF\n", 1, 4, "is not text in UTF-8 (byte 0xC0)"},      // a longer form
      {"a: \xED\xA0\x80\n", 1, 4, "is not text in UTF-8 (byte 0xED)"},  // a surrogate
      {"a: \x01\n", 1, 4, "YAML: control characters are not allowed"},
  };
  for (const Case& broken : cases) {
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_yaml(broken.text, "f.yaml", diagnostics).has_value()) << broken.text;
    ASSERT_EQ(diagnostics.error_count(), 1) << broken.text;
    const Diagnostic& error = diagnostics.all()[0];
    EXPECT_NE(error.message.find(broken.words), std::string::npos) << broken.text << error.message;
    EXPECT_EQ(error.where.line, broken.line) << broken.text << error.message;
    EXPECT_EQ(error.where.column, broken.column) << broken.text << error.message;
  }
}

TEST(SceneFileYaml, RefusesWhatWouldNeverEnd) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i)
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
            std::to_string(i - 1) + "]\n";
  for (const std::string& text : {bomb, std::string("a: &a [*a]\n"), std::string(5000, '['),
                                  "a: " + std::string(300, '[') + std::string(300, ']')}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_yaml(text, "f.yaml", diagnostics).has_value());
    EXPECT_TRUE(diagnostics.has_errors());
  }
}

TEST(SceneFileYaml, ReadsNumbersAsYamlAndPeopleWriteThem) {
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("+2."), 2.0);
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  EXPECT_EQ(parse_number(".inf"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_number("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*parse_number(".NAN")));
  for (const char* text : {"", "-", "+", ".", "abc", "1a", "1 2", "--1", "+-1", "0x10", "1e", "nanx", "1e999"})
    EXPECT_FALSE(parse_number(text).has_value()) << text;
}

}  // namespace scene_file_yaml_test
}  // namespace deft::io
