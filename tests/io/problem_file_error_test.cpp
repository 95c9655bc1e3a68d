#include "deft/core/index.hpp"
#include "deft/io/problems/problem_file.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <sstream>

#include "io/problem_file_support.hpp"

namespace deft::io {
namespace problem_file_error_test {

struct Malformed {
  const char* what;
  std::function<void(json&)> change;
  const char* message;
};
const std::vector<Malformed> kMalformed{
    {"no format", [](json& d) { d.erase("format"); }, "field 'format': error: is missing"},
    {"other format", [](json& d) { d["format"] = "drake"; }, "field 'format': error: is 'drake', needs 'deft-problem'"},
    {"other version", [](json& d) { d["version"] = 2; }, "field 'version': error: must be 1, not 2"},
    {"unknown kind", [](json& d) { d["kind"] = "contacts"; },
     "field 'kind': error: unknown kind 'contacts'; did you mean 'contact'?"},
    {"a later kind", [](json& d) { d["kind"] = "lcp"; }, "field 'kind': error: is 'lcp', needs 'contact'"},
    {"no nv", [](json& d) { d.erase("nv"); }, "field 'nv': error: is missing"},
    {"fractional nv", [](json& d) { d["nv"] = 2.5; }, "field 'nv': error: must be an integer"},
    {"negative nv", [](json& d) { d["nv"] = -1; }, "field 'nv': error: must be an integer"},
    {"huge nv", [](json& d) { d["nv"] = 1 << 30; }, "field 'b': error: has 3 numbers"},
    {"short b", [](json& d) { d["b"] = {1, 2}; }, "field 'b': error: has 2 numbers, needs 3 (nv)"},
    {"text in b", [](json& d) { d["b"][1] = "two"; }, "field 'b[1]': error: must be a finite number, not \"two\""},
    {"infinite b", [](json& d) { d["b"][1] = "inf"; }, "field 'b[1]': error: must be a finite number"},
    {"null in b", [](json& d) { d["b"][1] = nullptr; }, "field 'b[1]': error: must be a finite number, not null"},
    {"no Q", [](json& d) { d.erase("Q_blocks"); }, "field 'Q': error: is missing"},
    {"both Q", [](json& d) { d["Q"] = d["b"]; }, "field 'Q_blocks': error: 'Q' and 'Q_blocks' are both given"},
    {"overlapping blocks", [](json& d) { d["Q_blocks"][1]["start"] = 1; },
     "field 'Q_blocks': error: blocks that start at 0 and 1 overlap"},
    {"block beyond nv", [](json& d) { d["Q_blocks"][1]["size"] = 2; }, "field 'Q_blocks[1].size'"},
    {"block data", [](json& d) { d["Q_blocks"][0]["data"] = {1, 2, 3}; },
     "field 'Q_blocks[0].data': error: has 3 numbers, needs 4 (size × size)"},
    {"indefinite Q", [](json& d) { d["Q_blocks"][0]["data"] = {1, 2, 2, 1}; },
     "field 'Q_blocks': error: is not positive semidefinite (block of indices 0 to 1)"},
    {"a matrix of another size",
     [](json& d) {
       d.erase("Q_blocks");
       d["Q"] = {{"rows", 2}, {"cols", 3}, {"data", {1, 0, 0, 0, 1, 0}}};
     },
     "field 'Q.rows': error: must be 3, not 2"},
    {"triplet beyond the matrix",
     [](json& d) {
       d.erase("Q_blocks");
       d["Q"] = {{"rows", 3}, {"cols", 3}, {"triplets", {{0, 3, 1.0}}}};
     },
     "field 'Q.triplets[0][1]': error: must be an integer from 0 to 2, not 3"},
    {"short triplet",
     [](json& d) {
       d.erase("Q_blocks");
       d["Q"] = {{"rows", 3}, {"cols", 3}, {"triplets", {{0, 1}}}};
     },
     "field 'Q.triplets[0]': error: must be [row, column, value]"},
    {"neither data nor triplets",
     [](json& d) {
       d.erase("Q_blocks");
       d["Q"] = {{"rows", 3}, {"cols", 3}};
     },
     "field 'Q': error: needs either 'data'"},
    {"contacts of nothing",
     [](json& d) {
       d["nv"] = 0;
       d["b"] = json::array();
       d["Q_blocks"] = json::array();
     },
     "field 'contacts': error: has contacts, but nv is 0"},
    {"contacts not a list", [](json& d) { d["contacts"] = 3; }, "field 'contacts': error: must be a list, not 3"},
    {"contact not an object", [](json& d) { d["contacts"][0] = 3; },
     "field 'contacts[0]': error: must be an object, not 3"},
    {"no gap", [](json& d) { d["contacts"][0].erase("gap"); }, "field 'contacts[0].gap': error: is missing"},
    {"no mu", [](json& d) { d["contacts"][0].erase("mu"); }, "field 'contacts[0].mu': error: is missing"},
    {"negative mu", [](json& d) { d["contacts"][0]["mu"] = -0.5; },
     "field 'contacts[0].mu': error: must not be negative"},
    {"no normal", [](json& d) { d["contacts"][0].erase("normal"); }, "field 'contacts[0].normal': error: is missing"},
    {"column beyond nv", [](json& d) { d["contacts"][0]["normal"]["cols"] = {3}; },
     "field 'contacts[0].normal.cols[0]': error: must be an integer from 0 to 2, not 3"},
    {"vals too long", [](json& d) { d["contacts"][0]["normal"]["vals"] = {1, 2}; },
     "field 'contacts[0].normal.vals': error: has 2 numbers, needs 1"},
    {"no tangents", [](json& d) { d["contacts"][0].erase("tangents"); },
     "field 'contacts[0].tangents': error: is missing"},
    {"three tangents", [](json& d) { d["contacts"][0]["tangents"].push_back(row({}, {})); },
     "field 'contacts[0].tangents': error: has 3 rows"},
    {"spin of a pyramid", [](json& d) { d["contacts"][0]["spin"] = row({0}, {1}); },
     "field 'contacts[0].spin': error: is for the model 'cone', or a contact with 'cone': true, only"},
    {"ellipsoid of a pyramid", [](json& d) { d["contacts"][0]["ellipsoid"] = {1, 1, 1}; },
     "field 'contacts[0].ellipsoid': error: is for the model 'cone', or a contact with 'cone': true, only"},
    {"ellipsoid too short",
     [](json& d) {
       d["model"] = "cone";
       d["contacts"][0]["ellipsoid"] = {1};
     },
     "field 'contacts[0].ellipsoid': error: has 1 numbers"},
    {"ellipsoid of zero",
     [](json& d) {
       d["model"] = "cone";
       d["contacts"][0]["ellipsoid"] = {1, 0, 1};
     },
     "field 'contacts[0].ellipsoid[1]': error: must be positive"},
    {"offset too long", [](json& d) { d["contacts"][0]["offset"] = {1, 2, 3}; },
     "field 'contacts[0].offset': error: has 3 numbers, needs 2"},
    {"negative compliance", [](json& d) { d["contacts"][0]["compliance"] = -1; },
     "field 'contacts[0].compliance': error: must not be negative"},
    {"frictionless not a flag", [](json& d) { d["contacts"][0]["frictionless"] = 1; },
     "field 'contacts[0].frictionless': error: must be true or false, not 1"},
    {"no model", [](json& d) { d.erase("model"); }, "field 'model': error: is missing"},
    {"unknown model", [](json& d) { d["model"] = "soft"; },
     "field 'model': error: unknown model 'soft'; valid: pyramid, cone"},
    {"three rays", [](json& d) { d["rays"] = 3; }, "field 'rays': error: must be even, found 3"},
    {"one ray", [](json& d) { d["rays"] = 1; }, "field 'rays': error: must be an integer from 2"},
    {"kappa of zero", [](json& d) { d["kappa"] = 0; }, "field 'kappa': error: must be positive"},
    {"infinite kappa", [](json& d) { d["kappa"] = "inf"; }, "field 'kappa': error: must be a finite number"},
    {"short bounds", [](json& d) { d["bounds"] = {{"lower", {1}}}; },
     "field 'bounds.lower': error: has 1 numbers, needs 3 (nv)"},
    {"text in bounds", [](json& d) { d["bounds"] = {{"lower", {"nan", 0, 0}}}; },
     "field 'bounds.lower[0]': error: must be a finite number, \"inf\" or \"-inf\", not \"nan\""},
    {"lower bound of inf", [](json& d) { d["bounds"] = {{"lower", {"inf", 0, 0}}}; },
     "field 'bounds.lower[0]': error: the lower bound cannot be inf"},
    {"G of other columns",
     [](json& d) { d["linear"] = {{"G", {{"rows", 1}, {"cols", 2}, {"data", {1, 1}}}}, {"g", {1}}}; },
     "field 'linear.G.cols': error: must be 3, not 2"},
    {"g of other size",
     [](json& d) { d["linear"] = {{"G", {{"rows", 1}, {"cols", 3}, {"data", {1, 1, 1}}}}, {"g", {1, 2}}}; },
     "field 'linear.g': error: has 2 numbers, needs 1"},
    {"no a", [](json& d) { d["equality"] = {{"A", {{"rows", 1}, {"cols", 3}, {"data", {1, 1, 1}}}}}; },
     "field 'equality.a': error: is missing"},
};

TEST_F(ProblemFiles, NamesTheFieldOfEveryMistake) {
  for (const Malformed& wrong : kMalformed) {
    json document = example();
    wrong.change(document);
    EXPECT_NE(complaint(document.dump()).find(wrong.message), std::string::npos)
        << wrong.what << ": " << complaint(document.dump());
  }
}

TEST_F(ProblemFiles, NamesThePlaceOfBadSyntax) {
  EXPECT_NE(complaint("{\n  \"nv\": ,\n}").find(":2:9: error: not JSON"), std::string::npos)
      << complaint("{\n  \"nv\": ,\n}");
  EXPECT_NE(complaint("{\"nv\": NaN}").find(":1:8: error: not JSON"), std::string::npos) << complaint("{\"nv\": NaN}");
  EXPECT_NE(complaint("{\"nv\": 1e999}").find("error: not JSON"), std::string::npos);
  EXPECT_NE(complaint("").find("error: not JSON"), std::string::npos);
  EXPECT_NE(complaint("[1, 2]").find("error: must be an object, not a list of 2"), std::string::npos);
  EXPECT_NE(complaint("{\"format\": \"\xff\"}").find("error: not JSON"), std::string::npos);
}

TEST_F(ProblemFiles, RefusesDeepNestingAndReadsWhatIsJustAllowed) {
  const auto nested = [](int depth) {
    json document = example();
    document["extra"] = "HERE";
    std::string text = document.dump();
    const std::string deep = std::string(to_size(depth - 1), '[') + std::string(to_size(depth - 1), ']');
    return text.replace(text.find("\"HERE\""), 6, deep);
  };
  EXPECT_EQ(complaint(nested(64)), "");
  EXPECT_NE(complaint(nested(65)).find("nested deeper than 64 levels"), std::string::npos);
  EXPECT_NE(complaint(nested(1'000'000)).find("nested deeper than 64 levels"), std::string::npos);
  json document = example();
  document["extra"] = std::string(100, '[');  // in a string they are letters
  EXPECT_EQ(complaint(document.dump()), "");
}

TEST_F(ProblemFiles, RefusesFilesThatCannotBeReadWhole) {
  const auto message = [](const std::string& file) {
    try {
      read_contact_problem(file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(path("none.json")).find("no such file"), std::string::npos);
  EXPECT_NE(message(folder_.string()).find("is a folder"), std::string::npos);
  EXPECT_NE(message(save(example().dump(), "plain.json.gz")).find("is not a gzip file"), std::string::npos);
  write_contact_problem(path("good.json.gz"), "x", "", read(example()).program, {});
  std::ifstream in(path("good.json.gz"), std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_NE(message(save(packed.substr(0, packed.size() / 2), "cut.json.gz")).find("cannot be read"),
            std::string::npos);
  std::ofstream(path("large.json")).put('{');
  fs::resize_file(path("large.json"), (std::uintmax_t{1} << 30) + 1);  // a hole, no bytes on disk
  EXPECT_NE(message(path("large.json")).find("larger than 1 GiB"), std::string::npos);
}

TEST_F(ProblemFiles, RefusesCouplingsThatWouldNeedTooMuchMemory) {
  json document = example();
  document.erase("Q_blocks");
  const int n = 50'000;
  document["nv"] = n;
  document["b"] = std::vector<int>(n, 0);
  document["Q"] = {
      {"rows", n}, {"cols", n}, {"triplets", {{0, n - 1, 1e-12}, {n - 1, 0, 1e-12}, {0, 0, 1}, {n - 1, n - 1, 1}}}};
  EXPECT_NE(complaint(document.dump()).find("field 'Q': error: couples indices that lie far apart"), std::string::npos);
}

/// Mutations of a good file at random places: a good answer or an InputError, never anything else.
TEST_F(ProblemFiles, SurvivesMutatedFiles) {
  json document = cone_example();
  document["contacts"][0]["spin"] = row({0, 2}, {0.1, 0.2});
  document["contacts"][0]["ellipsoid"] = {1, 2, 0.03};
  document["bounds"] = {{"lower", {"-inf", -1, 0}}, {"upper", {"inf", 1, 0.5}}};
  document["linear"] = {{"G", {{"rows", 2}, {"cols", 3}, {"data", {1, 0, 0, 0, 2, 3}}}}, {"g", {7, 8}}};
  document["equality"] = {{"A", {{"rows", 1}, {"cols", 3}, {"triplets", {{0, 2, 1.5}}}}}, {"a", {9}}};
  const std::string good = document.dump();
  const std::vector<std::string> pieces{"null",       "-1",  "1e308", "[]",  "{}",   "\"inf\"",
                                        "\"",         ",",   "1e400", "NaN", "[[",   "}",
                                        "2147483648", "0.5", "true",  "\\",  "\xff", std::string(1, '\0')};
  std::mt19937 random(7);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = good;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const std::size_t place = random() % text.size(), length = random() % 8;
      text.replace(place, length, random() % 3 == 0 ? "" : pieces[random() % pieces.size()]);
    }
    try {
      const ContactProblemFile file = read_contact_problem(save(text));
      EXPECT_EQ(file.program.b.size(), file.program.nv);
      EXPECT_TRUE(file.program.b.allFinite());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 3000);
}

/// The same on values: any field of the document becomes something else.
TEST_F(ProblemFiles, SurvivesChangedValues) {
  json document = cone_example();
  document["contacts"][0]["spin"] = row({0, 2}, {0.1, 0.2});
  document["linear"] = {{"G", {{"rows", 2}, {"cols", 3}, {"data", {1, 0, 0, 0, 2, 3}}}}, {"g", {7, 8}}};
  const json flat = document.flatten();
  const std::vector<json> values{nullptr, -1,  1e308, json::array(), json::object(), "inf", true,
                                 1 << 30, 0.5, "x",   -0.0};
  for (const auto& [pointer, unused] : flat.items()) {
    for (const json& value : values) {
      json changed = document;
      changed[json::json_pointer(pointer)] = value;
      try {
        read(changed);
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("field '"), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace problem_file_error_test
}  // namespace deft::io
