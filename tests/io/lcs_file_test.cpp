// Problem files of kind `lcs_mpc`: what is written is read back, and each kind of wrong input is named.

#include <Eigen/Core>
#include <random>

#include "deft/dynamics/complementarity/surface_contact_lcs.hpp"
#include "problem_file_support.hpp"

namespace deft::io {
namespace lcs_file_test {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using solvers::lcs::LcsMpcProgram;

json matrix(int rows, int cols, std::vector<double> data) {
  return {{"rows", rows}, {"cols", cols}, {"data", std::move(data)}};
}

/// Two states, one input, two pairs, three steps; every optional field at hand for the tests to change.
json lcs_example() {
  return {{"format", "deft-problem"},
          {"version", 1},
          {"kind", "lcs_mpc"},
          {"name", "cart"},
          {"source", "by hand"},
          {"A", matrix(2, 2, {1, 0.1, 0, 1})},
          {"B", matrix(2, 1, {0, 0.1})},
          {"C", matrix(2, 2, {0, 0, -0.1, 0.1})},
          {"F", {0.5, -0.5}},
          {"D0", {{"rows", 2}, {"cols", 2}, {"triplets", {{0, 1, 2}, {0, 1, 1}}}}},
          {"D", matrix(2, 2, {-1, 0, 1, 0})},
          {"E", matrix(2, 2, {0.1, 0, 0, 0.1})},
          {"H", matrix(2, 1, {3, 4})},
          {"alpha", {1, 2}},
          {"N", 3},
          {"Q", matrix(2, 2, {1, 0.5, 0.5, 1})},
          {"R", matrix(1, 1, {0.1})},
          {"Qf", matrix(2, 2, {2, 0, 0, 0})},
          {"x0", {0.1, 0.2}},
          {"x_goal", {0.3, 0}},
          {"x_min", {-1, "-inf"}},
          {"x_max", {1, "inf"}},
          {"x_price", {5, "inf"}},
          {"u_min", {-2}},
          {"u_max", {{2}, {3}, {"inf"}}},
          {"gamma_max", 7},
          {"something_else", {{"deep", {1, "x"}}}}};
}

class LcsFiles : public ProblemFiles {
 protected:
  LcsProblemFile read_lcs(const json& document) const {
    return std::get<LcsProblemFile>(read_problem(save(document.dump())));
  }
  std::string error_of(const json& document) const {
    const std::string file = save(document.dump());
    try {
      read_problem(file);
    } catch (const InputError& error) {
      return std::string(error.what()).substr(file.size());
    }
    return "";
  }
};

TEST_F(LcsFiles, EveryFieldMeansWhatItSays) {
  const LcsProblemFile file = read_lcs(lcs_example());
  const LcsMpcProgram& p = file.program;
  EXPECT_EQ(file.name, "cart");
  EXPECT_TRUE(file.notes.empty());
  EXPECT_EQ(p.system.A, (MatrixXd(2, 2) << 1, 0.1, 0, 1).finished());
  EXPECT_EQ(p.system.B, (MatrixXd(2, 1) << 0, 0.1).finished());
  EXPECT_EQ(p.system.C, (MatrixXd(2, 2) << 0, 0, -0.1, 0.1).finished());
  EXPECT_EQ(p.system.F, Eigen::Vector2d(0.5, -0.5));
  EXPECT_EQ(p.system.D0, (MatrixXd(2, 2) << 0, 3, 0, 0).finished());  // repeated entries add
  EXPECT_EQ(p.system.H, Eigen::Vector2d(3, 4));
  EXPECT_EQ(p.system.alpha, Eigen::Vector2d(1, 2));
  EXPECT_EQ(p.N, 3);
  EXPECT_EQ(p.x_goal, Eigen::Vector2d(0.3, 0).replicate(1, 4));
  EXPECT_EQ(p.x_min, Eigen::Vector2d(-1, -kInf));
  EXPECT_EQ(p.x_max, Eigen::Vector2d(1, kInf));
  EXPECT_EQ(p.x_price, Eigen::Vector2d(5, kInf));
  EXPECT_EQ(p.u_min, MatrixXd::Constant(1, 3, -2));
  EXPECT_EQ(p.u_max, Eigen::RowVector3d(2, 3, kInf));
  EXPECT_EQ(p.gamma_max, Eigen::Vector2d(7, 7));
  EXPECT_NO_THROW(check(p));
}

TEST_F(LcsFiles, WhatIsOptionalMayBeMissing) {
  json document = lcs_example();
  for (const char* key : {"F", "D0", "H", "x_min", "x_max", "x_price", "u_min", "u_max", "gamma_max", "name", "source"})
    document.erase(key);
  const LcsProblemFile file = read_lcs(document);
  EXPECT_EQ(file.name, "p");
  EXPECT_EQ(file.program.system.F, VectorXd::Zero(2));
  EXPECT_EQ(file.program.system.D0, MatrixXd::Zero(2, 2));
  EXPECT_EQ(file.program.system.H, MatrixXd::Zero(2, 1));
  EXPECT_EQ(file.program.x_min.size() + file.program.u_max.size() + file.program.gamma_max.size() +
                file.program.x_price.size(),
            0);
  EXPECT_NO_THROW(check(file.program));
}

TEST_F(LcsFiles, NoInputsAndNoPairsAreSystemsToo) {
  json document = lcs_example();
  for (const char* key : {"D0", "H", "u_min", "u_max", "gamma_max"}) document.erase(key);
  document["B"] = matrix(2, 0, {});
  document["R"] = matrix(0, 0, {});
  EXPECT_EQ(read_lcs(document).program.system.nu(), 0);
  document["C"] = matrix(2, 0, {});
  document["D"] = matrix(0, 2, {});
  document["E"] = matrix(0, 0, {});
  document["alpha"] = json::array();
  const LcsMpcProgram p = read_lcs(document).program;
  EXPECT_EQ(p.system.pairs(), 0);
  write_lcs_problem(path("q.json"), "", "", p);
  EXPECT_EQ(std::get<LcsProblemFile>(read_problem(path("q.json"))).program.system.pairs(), 0);
}

TEST_F(LcsFiles, CrossedBoundsAreNoMistakeOfTheFile) {
  json document = lcs_example();
  document["x_min"] = {2, 0};
  document["u_min"] = {5};
  document["gamma_max"] = {-1, 3};
  const LcsMpcProgram p = read_lcs(document).program;
  EXPECT_EQ(p.x_min[0], 2);
  EXPECT_EQ(p.gamma_max[0], -1);
}

TEST_F(LcsFiles, WeightsAreSymmetrisedWithANote) {
  json document = lcs_example();
  document["Q"] = matrix(2, 2, {1, 0.5 + 4e-7, 0.5, 1});
  const LcsProblemFile file = read_lcs(document);
  ASSERT_EQ(file.notes.size(), 1u);
  EXPECT_NE(file.notes[0].find("Q was symmetrised"), std::string::npos);
  EXPECT_EQ(file.program.Q(0, 1), file.program.Q(1, 0));
  document["Q"] = matrix(2, 2, {1, 0.5 + 1e-12, 0.5, 1});
  EXPECT_TRUE(read_lcs(document).notes.empty());
  EXPECT_NO_THROW(check(read_lcs(document).program));
}

TEST_F(LcsFiles, WrongInputIsNamed) {
  const struct {
    const char* key;
    json value;
    const char* message;
  } kCases[] = {
      {"A", nullptr, "field 'A': error: is missing"},
      {"A", matrix(2, 1, {1, 2}), "field 'A.cols': error: is 1, needs 2 (square)"},
      {"A", matrix(0, 0, {}), "field 'A.rows': error: must be an integer from 1"},
      {"A", matrix(2, 2, {1, 2, 3}), "field 'A.data': error: has 3 numbers, needs 4"},
      {"B", matrix(3, 1, {1, 2, 3}), "field 'B.rows': error: is 3, needs 2 (the states, rows of A)"},
      {"C", matrix(1, 2, {1, 2}), "field 'C.rows': error:"},
      {"D", matrix(1, 2, {1, 2}), "field 'D.rows': error: is 1, needs 2 (the pairs, columns of C)"},
      {"E", matrix(2, 1, {1, 2}), "field 'E.cols': error:"},
      {"D0", matrix(2, 3, {1, 2, 3, 4, 5, 6}), "field 'D0.cols': error: is 3, needs 2 (the states)"},
      {"H", matrix(2, 2, {1, 2, 3, 4}), "field 'H.cols': error: is 2, needs 1 (the inputs, columns of B)"},
      {"F", {1}, "field 'F': error: has 1 numbers, needs 2 (the states)"},
      {"alpha", {1, "inf"}, "field 'alpha[1]': error: must be a finite number"},
      {"alpha", nullptr, "field 'alpha': error: is missing"},
      {"N", 0, "field 'N': error: must be an integer from 1 to 100000, not 0"},
      {"N", 2.5, "field 'N': error:"},
      {"N", nullptr, "field 'N': error: is missing"},
      {"Q", matrix(2, 2, {1, 0, 1e-3, 1}), "field 'Q': error: is not symmetric"},
      {"Q", matrix(2, 2, {1, 2, 2, 1}), "field 'Q': error: has the negative eigenvalue -1:"},
      {"R", matrix(1, 1, {-1e-9}), "field 'R': error: has the negative eigenvalue -1e-09"},
      {"Qf", matrix(1, 1, {1}), "field 'Qf.cols': error:"},
      {"Qf", {{"rows", 2}, {"cols", 2}, {"triplets", {{0, 2, 1}}}}, "field 'Qf.triplets[0][1]': error:"},
      {"x0", {1, 2, 3}, "field 'x0': error: has 3 numbers, needs 2 (the states)"},
      {"x0", {1, nullptr}, "field 'x0[1]': error:"},
      {"x_goal", {1}, "field 'x_goal': error: has 1 numbers, needs 2"},
      {"x_goal",
       {{1, 2}, {1, 2}, {1, 2}},
       "field 'x_goal': error: has 3 vectors, needs one vector, or 4 of them (N + 1)"},
      {"x_goal", {{1, 2}, {1, 2}, {1}, {1, 2}}, "field 'x_goal[2]': error: has 1 numbers"},
      {"x_min", {1}, "field 'x_min': error: has 1 numbers, needs 2"},
      {"x_min", {"inf", 0}, "field 'x_min[0]': error: a lower bound cannot be inf"},
      {"x_max", {0, "-inf"}, "field 'x_max[1]': error: an upper bound cannot be -inf"},
      {"x_max", {0, "Infinity"}, "field 'x_max[1]': error: must be a finite number, \"inf\" or \"-inf\""},
      {"x_price", {1, -2}, "field 'x_price[1]': error: must not be negative, found -2"},
      {"x_price", -2, "field 'x_price': error: must not be negative, found -2"},
      {"u_min", {{1}, {2}}, "field 'u_min': error: has 2 vectors, needs one vector, or 3 of them (N)"},
      {"u_max", {1, 2}, "field 'u_max': error: has 2 numbers, needs 1 (the inputs)"},
      {"u_max", {{1}, {2}, {"-inf"}}, "field 'u_max[2][0]': error:"},
      {"gamma_max", {1}, "field 'gamma_max': error: has 1 numbers, needs 2 (the pairs)"},
      {"gamma_max", "-inf", "field 'gamma_max': error: an upper bound cannot be -inf"},
      {"gamma_max", true, "field 'gamma_max': error:"},
  };
  for (const auto& c : kCases) {
    json document = lcs_example();
    document[c.key] = c.value;
    const std::string error = error_of(document);
    EXPECT_NE(error.find(c.message), std::string::npos) << c.key << " " << c.value << ": " << error;
  }
}

LcsMpcProgram random_program(std::mt19937& generator) {
  std::uniform_int_distribution<int> size(1, 4);
  std::normal_distribution<double> normal;
  const auto draw = [&](int rows, int cols) {
    return MatrixXd::NullaryExpr(rows, cols, [&] { return normal(generator) / 3; }).eval();
  };
  const int nx = size(generator), nu = size(generator) - 1, ng = size(generator), N = size(generator);
  LcsMpcProgram p;
  p.N = N;
  p.system = {draw(nx, nx), draw(nx, nu), draw(nx, ng), draw(nx, 1), draw(ng, nx),
              draw(ng, nx), draw(ng, ng), draw(ng, nu), draw(ng, 1)};
  const MatrixXd L = draw(nx, nx);
  p.Q = L * L.transpose();
  p.Q = (0.5 * p.Q + 0.5 * p.Q.transpose()).eval();
  p.R = MatrixXd::Identity(nu, nu) / 7;
  p.Qf = MatrixXd::Zero(nx, nx);
  p.x0 = draw(nx, 1);
  p.x_goal = draw(nx, N + 1);
  p.x_min = draw(nx, 1);
  p.x_min[0] = -kInf;
  p.x_max = draw(nx, 1);
  p.x_price = VectorXd::Constant(nx, kInf);
  p.x_price[0] = 1e-3 / 7;
  p.u_min = draw(nu, N);
  p.u_max = MatrixXd::Constant(nu, N, kInf);
  p.gamma_max = draw(ng, 1);
  return p;
}

TEST_F(LcsFiles, EveryNumberComesBack) {
  std::mt19937 generator(7);
  for (int round = 0; round < 20; ++round) {
    const LcsMpcProgram p = random_program(generator);
    write_lcs_problem(path("p.json.gz"), "name", "test", p);
    const auto file = std::get<LcsProblemFile>(read_problem(path("p.json.gz")));
    const LcsMpcProgram& b = file.program;
    EXPECT_EQ(file.name + file.source, "nametest");
    EXPECT_TRUE(file.notes.empty());
    const auto &s = p.system, &t = b.system;
    EXPECT_TRUE(s.A == t.A && s.B == t.B && s.C == t.C && s.F == t.F && s.D0 == t.D0 && s.D == t.D && s.E == t.E &&
                s.H == t.H && s.alpha == t.alpha);
    EXPECT_TRUE(p.N == b.N && p.Q == b.Q && p.R == b.R && p.Qf == b.Qf && p.x0 == b.x0 && p.x_goal == b.x_goal);
    EXPECT_TRUE(p.x_min == b.x_min && p.x_max == b.x_max && p.x_price == b.x_price && p.gamma_max == b.gamma_max);
    if (p.system.B.cols() > 0) {
      EXPECT_TRUE(p.u_min == b.u_min && p.u_max == b.u_max);
    } else {
      EXPECT_TRUE(b.u_min.size() == 0 && b.u_max.size() == 0);
    }
  }
}

TEST_F(LcsFiles, TheExampleOfACornerIsTheModelOfFlatSurfaces) {
  const double r = std::sqrt(0.5);
  dynamics::SurfaceContactModel model;
  model.surfaces = {
      {Eigen::Vector2d(r, -r), -0.6, 0.8}, {Eigen::Vector2d(0, 1), 4.4, 0.8}, {Eigen::Vector2d(-1, 0), 4.4, 0.8}};
  const auto built = dynamics::surface_contact_lcs(model);
  const auto file = std::get<LcsProblemFile>(read_problem(DEFT_SOURCE_DIR "/scenes/control/corner_n20.json"));
  const auto& s = file.program.system;
  EXPECT_EQ(file.program.N, 20);
  for (const auto& [a, b] : {std::pair(s.A, built.A), std::pair(s.B, built.B), std::pair(s.C, built.C),
                             std::pair(s.D, built.D), std::pair(s.E, built.E)})
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LT((s.alpha - built.alpha).cwiseAbs().maxCoeff(), 1e-15);
}

TEST_F(LcsFiles, WhatCannotBeReadIsNotWritten) {
  std::mt19937 generator(8);
  LcsMpcProgram p = random_program(generator);
  p.x0[0] = NAN;
  EXPECT_THROW(write_lcs_problem(path("p.json"), "", "", p), std::invalid_argument);
  EXPECT_FALSE(fs::exists(path("p.json")));
}

TEST_F(LcsFiles, ResultsAreListsPerStepWithoutInfinities) {
  const LcsProblemFile file = read_lcs(lcs_example());
  LcsAnswer result;
  result.status = solvers::Status::kTimeLimit;
  json out = json::parse(lcs_result_json(file, result));
  EXPECT_EQ(out["solution"]["cost"], "inf");
  EXPECT_EQ(out["solution"]["bound"], "-inf");
  EXPECT_TRUE(out["solution"]["x"].is_null());
  EXPECT_EQ(out["residuals"]["absolute"]["primal"], "inf");

  result.has_incumbent = true;
  result.cost = 3;
  result.bound = 2;
  result.gap = 1.0 / 3;
  result.nodes = 17;
  result.point = {.x = MatrixXd::Constant(2, 4, 10), .u = Eigen::RowVector3d(1, 2, 3), .gamma = MatrixXd::Zero(2, 3)};
  result.certificate = {.dynamics = 1e-9, .primal = 2e-9, .complementarity = 3e-9, .cost = 3};
  out = json::parse(lcs_result_json(file, result));
  EXPECT_EQ(out["kind"], "lcs_mpc");
  EXPECT_EQ(out["status"], "TimeLimit");
  EXPECT_EQ(out["solver"], "bnb");
  EXPECT_EQ(out["solution"]["x"].size(), 4u);
  EXPECT_EQ(out["solution"]["u"], json::parse("[[1.0], [2.0], [3.0]]"));
  EXPECT_EQ(out["solution"]["gamma"].size(), 3u);
  EXPECT_EQ(out["solution"]["nodes"], 17);
  EXPECT_EQ(out["residuals"]["absolute"]["stationarity"], 1e-9);
  EXPECT_DOUBLE_EQ(out["residuals"]["scaled"]["complementarity"], 3e-10);
}

}  // namespace lcs_file_test
}  // namespace deft::io
