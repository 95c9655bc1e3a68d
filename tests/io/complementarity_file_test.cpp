// Problem files of kinds `lcp` and `mcp`: what is written is read back.

#include <Eigen/Core>

#include "problem_file_support.hpp"

namespace deft::io {
namespace complementarity_file_test {

using ComplementarityFiles = ProblemFiles;

ComplementarityProblemFile read_back(const std::string& path) {
  return std::get<ComplementarityProblemFile>(read_problem(path));
}

TEST_F(ComplementarityFiles, EveryNumberComesBack) {
  solvers::lcp::ComplementarityProgram program;
  program.M = Eigen::MatrixXd::Random(7, 7) / 3;
  program.M(2, 3) = 1e-300;
  program.M.row(5).setZero();
  program.q = Eigen::VectorXd::Random(7) * 1e-8;
  for (const bool mixed : {false, true}) {
    if (mixed) {
      program.free = {0, 4};
      program.motion = Eigen::MatrixXd::Random(2, 7);
    }
    write_complementarity_problem(path("p.json.gz"), "squeeze", "test", program);
    const ComplementarityProblemFile file = read_back(path("p.json.gz"));
    EXPECT_EQ(file.kind, mixed ? "mcp" : "lcp");
    EXPECT_EQ(file.name, "squeeze");
    EXPECT_EQ(file.source, "test");
    EXPECT_EQ(file.program.M, program.M);
    EXPECT_EQ(file.program.q, program.q);
    EXPECT_EQ(file.program.free, program.free);
    EXPECT_EQ(file.program.motion.size(), program.motion.size());
    if (mixed) {
      EXPECT_EQ(file.program.motion, program.motion);
    }
  }
}

TEST_F(ComplementarityFiles, WhatCannotBeReadIsNotWritten) {
  solvers::lcp::ComplementarityProgram program{Eigen::MatrixXd::Identity(2, 2), Eigen::Vector2d(1, NAN), {}, {}};
  EXPECT_THROW(write_complementarity_problem(path("p.json"), "", "", program), std::invalid_argument);
  program.q[1] = 0;
  program.free = {1, 0};
  EXPECT_THROW(write_complementarity_problem(path("p.json"), "", "", program), std::invalid_argument);
  EXPECT_FALSE(fs::exists(path("p.json")));
}

TEST_F(ComplementarityFiles, ResultsHoldNoInfinity) {
  ComplementarityProblemFile file;
  file.kind = "lcp";
  file.program = {Eigen::MatrixXd::Identity(1, 1), Eigen::VectorXd::Ones(1), {}, {}};
  solvers::lcp::ComplementaritySolution solution{.z = Eigen::VectorXd::Zero(1), .w = Eigen::VectorXd::Ones(1)};
  solvers::lcp::ComplementarityCertificate certificate;
  certificate.primal = kInf;
  const json result = json::parse(
      complementarity_result_json(file, solvers::Status::kRayTermination, 0, 3, 1, certificate, solution, "lemke"));
  EXPECT_EQ(result["residuals"]["scaled"]["primal"], "inf");
  EXPECT_EQ(result["status"], "RayTermination");
  EXPECT_TRUE(result["solution"]["second"].is_null());
  EXPECT_FALSE(result["solution"].contains("proof"));
}

}  // namespace complementarity_file_test
}  // namespace deft::io
