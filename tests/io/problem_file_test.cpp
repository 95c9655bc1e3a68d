#include "deft/io/problems/problem_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/problem_file_support.hpp"

namespace deft::io {
namespace problem_file_test {

TEST_F(ProblemFiles, ReadsEveryFieldOfAContactProblem) {
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

TEST_F(ProblemFiles, AContactMayBeAConeAmongPyramids) {
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

TEST_F(ProblemFiles, GivesBackWhatItWroteBitForBitPackedOrNot) {
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

TEST_F(ProblemFiles, WritesBoundsOfOneSide) {
  const ContactProgram free = read(example()).program;
  const Eigen::Vector3d bounds(-1, 0.5, 2), none = Eigen::Vector3d::Constant(kInf);
  ContactProgram below = free, above = free;
  below.lower = bounds;
  above.upper = bounds;
  write_contact_problem(path("lower.json"), "lower", "", below, {});
  write_contact_problem(path("upper.json"), "upper", "", above, {});
  const ContactProgram lower = read_contact_problem(path("lower.json")).program,
                       upper = read_contact_problem(path("upper.json")).program;
  EXPECT_EQ(lower.lower, bounds);
  EXPECT_EQ(lower.upper, none);
  EXPECT_EQ(upper.lower, -none);
  EXPECT_EQ(upper.upper, bounds);
}

TEST_F(ProblemFiles, AddsRepeatedAndSortsUnsortedColumns) {
  json document = example();
  document["contacts"][0]["normal"] = row({2, 0, 2}, {1, 5, 0.5});
  EXPECT_EQ(dense(read(document).program.J, 3).row(0), Eigen::RowVector3d(5, 0, 1.5));
}

TEST_F(ProblemFiles, CutsAWholeMatrixIntoItsCoupledRanges) {
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
    data[6 * i + j] = value;
  }
  document["Q"] = {{"rows", 6}, {"cols", 6}, {"data", data}};
  EXPECT_EQ(dense(read(document).program.Q, 6), dense(Q, 6));
}

TEST_F(ProblemFiles, AveragesASlightlyAsymmetricMatrixAndSaysSo) {
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

TEST_F(ProblemFiles, TakesTwoRaysInThePlaneWhateverTheFileSays) {
  json document = example();
  document["contacts"][0]["tangents"] = {row({0}, {1})};
  document["rays"] = 8;
  EXPECT_EQ(read(document).program.rays, 2);
  document.erase("rays");
  EXPECT_EQ(read(document).program.rays, 2);
}

TEST_F(ProblemFiles, GivesScalesToTheRowsTheyBelongTo) {
  json document = cone_example();
  json& contact = document["contacts"][0];
  contact["ellipsoid"] = {2, 3, 4};
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 3, 1}));  // no spin
  contact["tangents"] = {row({0}, {1})};
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 1, 1}));  // plane
  contact["spin"] = row({1}, {1});
  EXPECT_EQ(read(document).program.contacts[0].ellipsoid, (std::array<double, 3>{2, 4, 1}));  // one tangent and spin
}

TEST_F(ProblemFiles, TakesItsNameFromTheFileWhenItHasNone) {
  json document = example();
  document.erase("name");
  EXPECT_EQ(read_contact_problem(save(document.dump(), "step_012.json")).name, "step_012");
}

TEST_F(ProblemFiles, PassesAnEmptyIntervalOnForItIsInfeasibleAndNotMalformed) {
  json document = example();
  document["bounds"] = {{"lower", {1, 0, 0}}, {"upper", {-1, 0, 0}}};
  EXPECT_EQ(read(document).program.lower[0], 1);
}

/// Each row changes the good example and gives what the complaint must hold.
TEST_F(ProblemFiles, RefusesToWriteWhatAFileCannotHold) {
  ContactProgram program = read(example()).program;
  program.b[1] = std::nan("");
  EXPECT_THROW(write_contact_problem(path("bad.json"), "x", "", program, {}), std::invalid_argument);
  EXPECT_FALSE(fs::exists(path("bad.json")));
}

TEST_F(ProblemFiles, PrintsResultsWithoutInfinityOrNaN) {
  ContactProblemFile file = read(example());
  solvers::contact::ContactSolution solution;
  solution.delta = Eigen::Vector3d(1.0 / 3, std::nan(""), kInf);
  solution.force = {{1, 2, 3, 0}};
  solution.gap = {-kInf};
  solvers::contact::Certificate certificate;
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

}  // namespace problem_file_test
}  // namespace deft::io
