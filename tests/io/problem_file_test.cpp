#include "deft/io/problem_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "deft/core/diagnostics.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using solvers::ContactProgram;
using solvers::FrictionModel;
constexpr double kInf = std::numeric_limits<double>::infinity();

class ProblemFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / ("deft_problem_" + std::string(test->name()) + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string save(const std::string& text, const std::string& name = "p.json") const {
    fs::remove(path(name));  // writing over a file is slow on some file systems
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  ContactProblemFile read(const json& document) const { return read_contact_problem(save(document.dump())); }
  /// The message that reading gives, without the file's name; "" if there is no error.
  std::string complaint(const std::string& text) const {
    const std::string file = save(text);
    try {
      read_contact_problem(file);
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(file, 0), 0u) << message;
      return message.substr(file.size());
    }
    return "";
  }
  fs::path folder_;
};

json row(std::vector<int> cols, std::vector<double> vals) { return {{"cols", cols}, {"vals", vals}}; }

/// A block of mass on a plane: two unknowns per direction, every optional field at hand for the tests to change.
json example() {
  return {
      {"format", "deft-problem"},
      {"version", 1},
      {"kind", "contact"},
      {"name", "block"},
      {"source", "by hand"},
      {"nv", 3},
      {"Q_blocks", {{{"start", 0}, {"size", 2}, {"data", {4, 1, 1, 3}}}, {{"start", 2}, {"size", 1}, {"data", {5}}}}},
      {"b", {1, 2, 3}},
      {"contacts",
       {{{"gap", 0.01},
         {"mu", 0.5},
         {"normal", row({2}, {1})},
         {"tangents", {row({0}, {1}), row({1}, {1})}},
         {"bodies", {"a", "b"}},
         {"label", "a|b"}}}},
      {"model", "pyramid"},
      {"rays", 4},
      {"kappa", nullptr},
      {"something_else", {{"deep", {1, "x"}}}}};
}
json cone_example() {
  json document = example();
  document["model"] = "cone";
  document.erase("rays");
  return document;
}

Eigen::MatrixXd dense(const BlockDiagonal& matrix, int n) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n, n);
  for (int k = 0; k < matrix.num_blocks(); ++k)
    result.block(matrix.start(k), matrix.start(k), matrix.size(k), matrix.size(k)) = matrix.block(k);
  return result;
}
Eigen::MatrixXd dense(const RowBlocks& rows, int n) {
  int count = 0;
  for (int i = 0; i < rows.size(); ++i) count += rows.rows(i);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(count, n);
  int first = 0;
  for (int i = 0; i < rows.size(); first += rows.rows(i), ++i) {
    for (std::size_t k = 0; k < rows.cols(i).size(); ++k)
      result.block(first, rows.cols(i)[k], rows.rows(i), 1) = rows.block(i).col(static_cast<int>(k));
  }
  return result;
}

void expect_equal(const ContactProgram& a, const ContactProgram& b) {
  ASSERT_EQ(a.nv, b.nv);
  EXPECT_EQ(dense(a.Q, a.nv), dense(b.Q, b.nv));
  EXPECT_EQ(dense(a.masses, a.nv), dense(b.masses, b.nv));
  EXPECT_EQ(a.b, b.b);
  EXPECT_EQ(dense(a.J, a.nv), dense(b.J, b.nv));
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    EXPECT_EQ(a.J.rows(static_cast<int>(i)), b.J.rows(static_cast<int>(i)));
    const auto &x = a.contacts[i], &y = b.contacts[i];
    EXPECT_EQ(std::tie(x.gap, x.mu, x.frictionless, x.cone, x.ellipsoid, x.offset, x.compliance),
              std::tie(y.gap, y.mu, y.frictionless, y.cone, y.ellipsoid, y.offset, y.compliance));
  }
  EXPECT_EQ(std::tie(a.model, a.rays, a.kappa, a.hard), std::tie(b.model, b.rays, b.kappa, b.hard));
  EXPECT_EQ(a.lower, b.lower);
  EXPECT_EQ(a.upper, b.upper);
  EXPECT_EQ(dense(a.linear.rows, a.nv), dense(b.linear.rows, b.nv));
  EXPECT_EQ(a.linear.rhs, b.linear.rhs);
  EXPECT_EQ(dense(a.equality.rows, a.nv), dense(b.equality.rows, b.nv));
  EXPECT_EQ(a.equality.rhs, b.equality.rhs);
}

TEST_F(ProblemFile, ReadsEveryFieldOfAContactProblem) {
  json document = cone_example();
  json& contact = document["contacts"][0];
  contact["spin"] = row({0, 2}, {0.1, 0.2});
  contact["ellipsoid"] = {1, 2, 0.03};
  contact["compliance"] = 1e-5;
  contact["offset"] = {0.1, 0.2, 0.3};
  document["contacts"].push_back({{"gap", -1}, {"frictionless", true}, {"normal", row({0}, {2})}});
  document["kappa"] = 100;
  document["hard"] = true;
  document["bounds"] = {{"lower", {"-inf", -1, 0}}, {"upper", {"inf", 1, 0.5}}};
  document["linear"] = {{"G", {{"rows", 2}, {"cols", 3}, {"data", {1, 0, 0, 0, 2, 3}}}}, {"g", {7, 8}}};
  document["equality"] = {{"A", {{"rows", 1}, {"cols", 3}, {"triplets", {{0, 2, 1.5}, {0, 0, 1}, {0, 2, 0.5}}}}},
                          {"a", {9}}};
  const ContactProblemFile file = read(document);
  EXPECT_EQ(file.name, "block");
  EXPECT_EQ(file.source, "by hand");
  const ContactProgram& program = file.program;
  EXPECT_EQ(program.nv, 3);
  EXPECT_EQ(dense(program.Q, 3), (Eigen::Matrix3d() << 4, 1, 0, 1, 3, 0, 0, 0, 5).finished());
  EXPECT_EQ(program.b, Eigen::Vector3d(1, 2, 3));
  ASSERT_EQ(program.contacts.size(), 2u);
  EXPECT_EQ(program.J.rows(0), 4);
  EXPECT_EQ(program.J.rows(1), 1);
  EXPECT_EQ(dense(program.J, 3),
            (Eigen::Matrix<double, 5, 3>() << 0, 0, 1, 1, 0, 0, 0, 1, 0, 0.1, 0, 0.2, 2, 0, 0).finished());
  EXPECT_EQ(program.contacts[0].gap, 0.01);
  EXPECT_EQ(program.contacts[0].mu, 0.5);
  EXPECT_EQ(program.contacts[0].ellipsoid, (std::array<double, 3>{1, 2, 0.03}));
  EXPECT_EQ(program.contacts[0].offset, (std::array<double, 3>{0.1, 0.2, 0.3}));
  EXPECT_EQ(program.contacts[0].compliance, 1e-5);
  EXPECT_FALSE(program.contacts[0].frictionless);
  EXPECT_TRUE(program.contacts[1].frictionless);
  EXPECT_EQ(program.contacts[1].gap, -1);
  EXPECT_EQ(program.model, FrictionModel::kCone);
  EXPECT_EQ(program.kappa, 100);
  EXPECT_TRUE(program.hard);
  EXPECT_EQ(program.lower, Eigen::Vector3d(-kInf, -1, 0));
  EXPECT_EQ(program.upper, Eigen::Vector3d(kInf, 1, 0.5));
  EXPECT_EQ(dense(program.linear.rows, 3), (Eigen::Matrix<double, 2, 3>() << 1, 0, 0, 0, 2, 3).finished());
  EXPECT_EQ(program.linear.rhs, (std::vector<double>{7, 8}));
  EXPECT_EQ(dense(program.equality.rows, 3), (Eigen::Matrix<double, 1, 3>() << 1, 0, 2).finished());
  EXPECT_EQ(program.equality.rhs, std::vector<double>{9});
  EXPECT_TRUE(file.notes.empty());
}

TEST_F(ProblemFile, AContactMayBeAConeAmongPyramids) {
  json document = cone_example();
  document["model"] = "pyramid";
  document["rays"] = 4;
  json& contact = document["contacts"][0];
  contact["spin"] = row({0, 2}, {0.1, 0.2});
  contact["ellipsoid"] = {1, 2, 0.03};
  contact["cone"] = true;
  const ContactProgram program = read(document).program;
  EXPECT_EQ(program.model, FrictionModel::kPyramid);
  EXPECT_TRUE(program.contacts[0].cone);
  EXPECT_EQ(program.J.rows(0), 4);
  write_contact_problem(path("again.json"), "again", "", program, {});
  expect_equal(program, read_contact_problem(path("again.json")).program);
}

TEST_F(ProblemFile, GivesBackWhatItWroteBitForBitPackedOrNot) {
  json document = cone_example();
  json& contact = document["contacts"][0];
  contact["gap"] = 0.1 + 0.2;
  contact["ellipsoid"] = {1, 2, 1.0 / 3};
  contact["spin"] = row({1}, {1e-300});
  contact["offset"] = {0, 0, 1.0 / 7};
  contact["compliance"] = 1e-17;
  document["contacts"].push_back({{"gap", -1}, {"frictionless", true}, {"normal", row({0}, {2})}});
  document["kappa"] = 1.0 / 3;
  document["hard"] = true;
  document["bounds"] = {{"lower", {"-inf", -1.0 / 3, 0}}, {"upper", {"inf", 1, 0.5}}};
  document["linear"] = {{"G", {{"rows", 2}, {"cols", 3}, {"data", {1, 0, 0, 0, 1.0 / 9, 3}}}}, {"g", {7, 8}}};
  document["equality"] = {{"A", {{"rows", 1}, {"cols", 3}, {"data", {0, 1, 0}}}}, {"a", {9}}};
  document["masses_blocks"] = {{{"start", 1}, {"size", 1}, {"data", {2.5}}}};
  const ContactProblemFile cone = read(document), pyramid = read(example());
  for (const ContactProblemFile* file : {&cone, &pyramid}) {
    for (const char* name : {"copy.json", "copy.json.gz"}) {
      write_contact_problem(path(name), "copy", "test", file->program, {{{"a", "b"}}, {"first"}});
      const ContactProblemFile copy = read_contact_problem(path(name));
      EXPECT_EQ(copy.name, "copy");
      EXPECT_EQ(copy.source, "test");
      expect_equal(copy.program, file->program);
      EXPECT_TRUE(std::holds_alternative<ContactProblemFile>(read_problem(path(name))));
    }
  }
  std::ifstream packed(path("copy.json.gz"), std::ios::binary);
  EXPECT_EQ(packed.get(), 0x1f);  // gzip's magic number
  EXPECT_EQ(packed.get(), 0x8b);
}

TEST_F(ProblemFile, AddsRepeatedAndSortsUnsortedColumns) {
  json document = example();
  document["contacts"][0]["normal"] = row({2, 0, 2}, {1, 5, 0.5});
  EXPECT_EQ(dense(read(document).program.J, 3).row(0), Eigen::RowVector3d(5, 0, 1.5));
}

TEST_F(ProblemFile, CutsAWholeMatrixIntoItsCoupledRanges) {
  json document = example();
  document.erase("Q_blocks");
  document["nv"] = 6;
  document["b"] = {0, 0, 0, 0, 0, 0};
  // 0–2 couple (through 0 and 2, 1 lies between), 3 stands alone, 4 is zero, 5 stands alone.
  document["Q"] = {
      {"rows", 6},
      {"cols", 6},
      {"triplets", {{0, 0, 2}, {0, 2, 1}, {2, 0, 1}, {2, 2, 2}, {3, 3, 4}, {5, 5, 3}, {5, 5, 4}, {1, 1, 1}}}};
  const BlockDiagonal Q = read(document).program.Q;
  ASSERT_EQ(Q.num_blocks(), 3);
  EXPECT_EQ(std::tuple(Q.start(0), Q.size(0)), std::tuple(0, 3));
  EXPECT_EQ(std::tuple(Q.start(1), Q.size(1)), std::tuple(3, 1));
  EXPECT_EQ(std::tuple(Q.start(2), Q.size(2)), std::tuple(5, 1));
  EXPECT_EQ(Q.block(2)(0, 0), 7);

  std::vector<double> data(36, 0.0);
  for (const auto& [i, j, value] : std::vector<std::tuple<int, int, double>>{
           {0, 0, 2}, {0, 2, 1}, {2, 0, 1}, {2, 2, 2}, {3, 3, 4}, {5, 5, 7}, {1, 1, 1}}) {
    data[static_cast<std::size_t>(6 * i + j)] = value;
  }
  document["Q"] = {{"rows", 6}, {"cols", 6}, {"data", data}};
  EXPECT_EQ(dense(read(document).program.Q, 6), dense(Q, 6));
}

TEST_F(ProblemFile, AveragesASlightlyAsymmetricMatrixAndSaysSo) {
  json document = example();
  const auto with_asymmetry = [&](double difference) {
    document["Q_blocks"][0]["data"] = {4, 1, 1 + difference, 3};
    return document;
  };
  EXPECT_TRUE(read(with_asymmetry(4e-9)).notes.empty());
  const ContactProblemFile noted = read(with_asymmetry(4e-7));
  ASSERT_EQ(noted.notes.size(), 1u);
  EXPECT_NE(noted.notes[0].find("symmetrised"), std::string::npos);
  EXPECT_EQ(noted.program.Q.block(0)(0, 1), noted.program.Q.block(0)(1, 0));
  EXPECT_NE(complaint(with_asymmetry(6e-6).dump()).find("field 'Q_blocks': error: is not symmetric"),
            std::string::npos);
}

TEST_F(ProblemFile, TakesTwoRaysInThePlaneWhateverTheFileSays) {
  json document = example();
  document["contacts"][0]["tangents"] = {row({0}, {1})};
  document["rays"] = 8;
  EXPECT_EQ(read(document).program.rays, 2);
  document.erase("rays");
  EXPECT_EQ(read(document).program.rays, 2);
}

TEST_F(ProblemFile, GivesScalesToTheRowsTheyBelongTo) {
  json document = cone_example();
  json& contact = document["contacts"][0];
  contact["ellipsoid"] = {2, 3, 4};
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 3, 1}));  // no spin
  contact["tangents"] = {row({0}, {1})};
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 1, 1}));  // plane
  contact["spin"] = row({1}, {1});
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 4, 1}));  // one tangent and spin
}

TEST_F(ProblemFile, TakesItsNameFromTheFileWhenItHasNone) {
  json document = example();
  document.erase("name");
  EXPECT_EQ(read_contact_problem(save(document.dump(), "step_012.json")).name, "step_012");
}

TEST_F(ProblemFile, PassesAnEmptyIntervalOnForItIsInfeasibleAndNotMalformed) {
  json document = example();
  document["bounds"] = {{"lower", {1, 0, 0}}, {"upper", {-1, 0, 0}}};
  EXPECT_EQ(read(document).program.lower[0], 1);
}

/// Each row changes the good example and gives what the complaint must hold.
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
    {"a later kind", [](json& d) { d["kind"] = "lcp"; },
     "field 'kind': error: is 'lcp', needs 'contact'"},
    {"no nv", [](json& d) { d.erase("nv"); }, "field 'nv': error: is missing"},
    {"fractional nv", [](json& d) { d["nv"] = 2.5; }, "field 'nv': error: must be an integer"},
    {"negative nv", [](json& d) { d["nv"] = -1; }, "field 'nv': error: must be an integer"},
    {"huge nv", [](json& d) { d["nv"] = 1 << 30; }, "field 'b': error: has 3 numbers"},
    {"short b",
     [](json& d) {
       d["b"] = {1, 2};
     },
     "field 'b': error: has 2 numbers, needs 3 (nv)"},
    {"text in b", [](json& d) { d["b"][1] = "two"; }, "field 'b[1]': error: must be a finite number, not \"two\""},
    {"infinite b", [](json& d) { d["b"][1] = "inf"; }, "field 'b[1]': error: must be a finite number"},
    {"null in b", [](json& d) { d["b"][1] = nullptr; }, "field 'b[1]': error: must be a finite number, not null"},
    {"no Q", [](json& d) { d.erase("Q_blocks"); }, "field 'Q': error: is missing"},
    {"both Q", [](json& d) { d["Q"] = d["b"]; }, "field 'Q_blocks': error: 'Q' and 'Q_blocks' are both given"},
    {"overlapping blocks", [](json& d) { d["Q_blocks"][1]["start"] = 1; },
     "field 'Q_blocks': error: blocks that start at 0 and 1 overlap"},
    {"block beyond nv", [](json& d) { d["Q_blocks"][1]["size"] = 2; }, "field 'Q_blocks[1].size'"},
    {"block data",
     [](json& d) {
       d["Q_blocks"][0]["data"] = {1, 2, 3};
     },
     "field 'Q_blocks[0].data': error: has 3 numbers, needs 4 (size × size)"},
    {"indefinite Q",
     [](json& d) {
       d["Q_blocks"][0]["data"] = {1, 2, 2, 1};
     },
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
    {"vals too long",
     [](json& d) {
       d["contacts"][0]["normal"]["vals"] = {1, 2};
     },
     "field 'contacts[0].normal.vals': error: has 2 numbers, needs 1"},
    {"no tangents", [](json& d) { d["contacts"][0].erase("tangents"); },
     "field 'contacts[0].tangents': error: is missing"},
    {"three tangents", [](json& d) { d["contacts"][0]["tangents"].push_back(row({}, {})); },
     "field 'contacts[0].tangents': error: has 3 rows"},
    {"spin of a pyramid", [](json& d) { d["contacts"][0]["spin"] = row({0}, {1}); },
     "field 'contacts[0].spin': error: is for the model 'cone', or a contact with 'cone': true, only"},
    {"ellipsoid of a pyramid",
     [](json& d) {
       d["contacts"][0]["ellipsoid"] = {1, 1, 1};
     },
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
    {"offset too long",
     [](json& d) {
       d["contacts"][0]["offset"] = {1, 2, 3};
     },
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
    {"short bounds",
     [](json& d) {
       d["bounds"] = {{"lower", {1}}};
     },
     "field 'bounds.lower': error: has 1 numbers, needs 3 (nv)"},
    {"text in bounds",
     [](json& d) {
       d["bounds"] = {{"lower", {"nan", 0, 0}}};
     },
     "field 'bounds.lower[0]': error: must be a finite number, \"inf\" or \"-inf\", not \"nan\""},
    {"lower bound of inf",
     [](json& d) {
       d["bounds"] = {{"lower", {"inf", 0, 0}}};
     },
     "field 'bounds.lower[0]': error: the lower bound cannot be inf"},
    {"G of other columns",
     [](json& d) {
       d["linear"] = {{"G", {{"rows", 1}, {"cols", 2}, {"data", {1, 1}}}}, {"g", {1}}};
     },
     "field 'linear.G.cols': error: must be 3, not 2"},
    {"g of other size",
     [](json& d) {
       d["linear"] = {{"G", {{"rows", 1}, {"cols", 3}, {"data", {1, 1, 1}}}}, {"g", {1, 2}}};
     },
     "field 'linear.g': error: has 2 numbers, needs 1"},
    {"no a",
     [](json& d) {
       d["equality"] = {{"A", {{"rows", 1}, {"cols", 3}, {"data", {1, 1, 1}}}}};
     },
     "field 'equality.a': error: is missing"},
};

TEST_F(ProblemFile, NamesTheFieldOfEveryMistake) {
  for (const Malformed& wrong : kMalformed) {
    json document = example();
    wrong.change(document);
    EXPECT_NE(complaint(document.dump()).find(wrong.message), std::string::npos)
        << wrong.what << ": " << complaint(document.dump());
  }
}

TEST_F(ProblemFile, NamesThePlaceOfBadSyntax) {
  EXPECT_NE(complaint("{\n  \"nv\": ,\n}").find(":2:9: error: not JSON"), std::string::npos)
      << complaint("{\n  \"nv\": ,\n}");
  EXPECT_NE(complaint("{\"nv\": NaN}").find(":1:8: error: not JSON"), std::string::npos) << complaint("{\"nv\": NaN}");
  EXPECT_NE(complaint("{\"nv\": 1e999}").find("error: not JSON"), std::string::npos);
  EXPECT_NE(complaint("").find("error: not JSON"), std::string::npos);
  EXPECT_NE(complaint("[1, 2]").find("error: must be an object, not a list of 2"), std::string::npos);
  EXPECT_NE(complaint("{\"format\": \"\xff\"}").find("error: not JSON"), std::string::npos);
}

TEST_F(ProblemFile, RefusesDeepNestingAndReadsWhatIsJustAllowed) {
  const auto nested = [](int depth) {
    json document = example();
    document["extra"] = "HERE";
    std::string text = document.dump();
    const std::string deep =
        std::string(static_cast<std::size_t>(depth - 1), '[') + std::string(static_cast<std::size_t>(depth - 1), ']');
    return text.replace(text.find("\"HERE\""), 6, deep);
  };
  EXPECT_EQ(complaint(nested(64)), "");
  EXPECT_NE(complaint(nested(65)).find("nested deeper than 64 levels"), std::string::npos);
  EXPECT_NE(complaint(nested(1'000'000)).find("nested deeper than 64 levels"), std::string::npos);
  json document = example();
  document["extra"] = std::string(100, '[');  // in a string they are letters
  EXPECT_EQ(complaint(document.dump()), "");
}

TEST_F(ProblemFile, RefusesFilesThatCannotBeReadWhole) {
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

TEST_F(ProblemFile, RefusesCouplingsThatWouldNeedTooMuchMemory) {
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
TEST_F(ProblemFile, SurvivesMutatedFiles) {
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
TEST_F(ProblemFile, SurvivesChangedValues) {
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

TEST_F(ProblemFile, RefusesToWriteWhatAFileCannotHold) {
  ContactProgram program = read(example()).program;
  program.b[1] = std::nan("");
  EXPECT_THROW(write_contact_problem(path("bad.json"), "x", "", program, {}), std::invalid_argument);
  EXPECT_FALSE(fs::exists(path("bad.json")));
}

TEST_F(ProblemFile, PrintsResultsWithoutInfinityOrNaN) {
  ContactProblemFile file = read(example());
  solvers::ContactSolution solution;
  solution.delta = Eigen::Vector3d(1.0 / 3, std::nan(""), kInf);
  solution.force = {{1, 2, 3, 0}};
  solution.gap = {-kInf};
  solvers::Certificate certificate;
  certificate.stationarity = kInf;
  const json result =
      json::parse(contact_result_json(file, solvers::Status::kNumericalFailure, 1e-3, 7, certificate, solution, "ipm"));
  EXPECT_EQ(result["name"], "block");
  EXPECT_EQ(result["kind"], "contact");
  EXPECT_EQ(result["status"], "NumericalFailure");
  EXPECT_EQ(result["time_s"], 1e-3);
  EXPECT_EQ(result["iterations"], 7);
  EXPECT_EQ(result["solver"], "ipm");
  EXPECT_EQ(result["residuals"]["scaled"]["stationarity"], "inf");
  EXPECT_EQ(result["residuals"]["absolute"]["primal"], 0.0);
  EXPECT_EQ(result["solution"]["delta"][0], 1.0 / 3);
  EXPECT_TRUE(result["solution"]["delta"][1].is_null());
  EXPECT_EQ(result["solution"]["delta"][2], "inf");
  EXPECT_EQ(result["solution"]["force"], json::parse("[[1.0, 2.0, 3.0]]"));
  EXPECT_EQ(result["solution"]["gap"][0], "-inf");
  EXPECT_EQ(result["solution"]["motion_unique"], true);
}

}  // namespace
}  // namespace deft::io
