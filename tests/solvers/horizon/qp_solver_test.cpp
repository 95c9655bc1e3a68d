// The program over the horizon against dense optimality conditions, derived again from the raw problem.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "solvers/horizon/horizon_programs.hpp"
#include "support/allocation_counter.hpp"

namespace deft::solvers::horizon {
namespace qp_solver_test {

TEST(HorizonQp, WithoutBoundsIsTheDenseMinimum) {
  for (int seed = 0; seed < 20; ++seed) {
    HorizonQp qp = random_program(seed, 12, 5, 3, 0, 1.0);
    for (HorizonStage& s : qp.stages) {
      s.lower.setConstant(-kInfinity);
      s.upper.setConstant(kInfinity);
      s.change.setConstant(kInfinity);
    }
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << seed;
    EXPECT_LE(solution.iterations, 2);
    const Dense dense = condense(qp, solution);
    const VectorXd expected = -dense.H.ldlt().solve(dense.f);
    EXPECT_LT((dense.v - expected).norm(), 1e-8 * (1 + expected.norm())) << seed;
  }
}

TEST(HorizonQp, FulfilsTheDenseOptimalityConditions) {
  int binding = 0, violated = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const HorizonQp qp =
        random_program(seed, 2 + seed % 19, 2 + seed % 6, 1 + seed % 4, seed % 4, 0.3 + 0.1 * (seed % 7));
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {.tolerance = 1e-10}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << seed;
    const Dense dense = condense(qp, solution);
    const VectorXd& l = dense.multiplier;
    const double scale = 1 + dense.f.cwiseAbs().maxCoeff() + l.cwiseAbs().maxCoeff();
    EXPECT_LT((dense.H * dense.v + dense.f + dense.G.transpose() * l).cwiseAbs().maxCoeff(), 1e-8 * scale) << seed;
    const VectorXd slack = dense.d - dense.G * dense.v;
    for (Eigen::Index i = 0; i < l.size(); ++i) {
      EXPECT_GE(l(i), 0);
      EXPECT_LE(l(i), dense.rho(i));
      if (dense.rho(i) == kInfinity) {
        EXPECT_GE(slack(i), -1e-7) << seed;
      }
      // λ = 0 inside, λ = ρ beyond, anything between at the bound.
      if (slack(i) > 1e-4) {
        EXPECT_LT(l(i), 1e-3 * scale) << seed;
      }
      if (slack(i) < -1e-4) {
        EXPECT_GT(l(i), dense.rho(i) - 1e-3 * scale) << seed;
      }
      EXPECT_LT(std::abs(std::max(slack(i), 0.0) * l(i)), 1e-6 * scale) << seed;
      if (slack(i) < 0 && dense.rho(i) < kInfinity) {
        EXPECT_LT(std::abs(slack(i) * (dense.rho(i) - l(i))), 1e-6 * scale) << seed;
      }
      binding += l(i) > 1e-3;
      violated += slack(i) < -1e-3;
    }
  }
  // The test would prove nothing about bounds that are never active.
  EXPECT_GT(binding, 500);
  EXPECT_GT(violated, 20);
}

TEST(HorizonQp, StatesFollowFromInputs) {
  const HorizonQp qp = random_program(7, 9, 4, 2, 2, 0.5);
  HorizonSolution solution;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ((solution.x[0] - qp.x_start).norm(), 0);
  for (std::size_t t = 0; t < 9; ++t) {
    const HorizonStage& s = qp.stages[t];
    EXPECT_LT((s.A * solution.x[t] + s.B * solution.u[t] + s.c - solution.x[t + 1]).norm(), 1e-12);
  }
}

/// All inputs and states are zero where inputs cost, may not be negative, and nothing moves the states: then the errors
/// of the dynamics have no size of the solution to be measured by.
TEST(HorizonQp, SolutionsThatAreZeroAreAccepted) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    HorizonQp qp = random_program(seed, 6, 4, 2, 2, 1.0);
    qp.x_start.setZero();
    qp.u_before.setZero();
    for (HorizonStage& s : qp.stages) {
      s.q.setZero();
      s.c.setZero();
      s.lower.setZero();
      s.s = VectorXd::Constant(2, 0.5);
    }
    HorizonSolution solution;
    HorizonQpSolver().solve(qp, {}, solution);
    ASSERT_EQ(solution.status, HorizonStatus::kSolved) << "seed " << seed;
    for (const VectorXd& u : solution.u) EXPECT_LT(u.cwiseAbs().maxCoeff(), 1e-6) << "seed " << seed;
  }
}

TEST(HorizonQp, FeedbackIsTheAnswerToAnotherStart) {
  HorizonQp qp = random_program(3, 8, 4, 2, 0, 1.0);
  for (HorizonStage& s : qp.stages) {
    s.lower.setConstant(-1e3);
    s.upper.setConstant(1e3);
    s.change.setConstant(1e3);
  }
  HorizonSolution a, b;
  HorizonQpSolver().solve(qp, {.tolerance = 1e-12}, a);
  const VectorXd moved = Source{99}.matrix(4, 1, 0.1);
  qp.x_start += moved;
  HorizonQpSolver().solve(qp, {.tolerance = 1e-12}, b);
  EXPECT_LT((b.u[0] - a.u[0] - a.feedback[0] * moved).norm(), 1e-6);
}

TEST(HorizonQp, FeedbackIsOfTheRowsThatAreActiveInTheSolution) {
  // Inputs that cost next to nothing: Newton's method tries sets of rows and gives up, and the interior point ends most
  // of these alone.
  const double step = 1e-5;
  int solved = 0, other_rows = 0;
  for (int seed = 0; seed < 200; ++seed) {
    HorizonQp qp = random_program(seed, 8, 4, 6, 8, 0.05);
    for (HorizonStage& s : qp.stages) {
      s.R *= 1e-6;
      s.change.resize(0);
      s.rho.setConstant(1000);
    }
    for (int t = 0; t < 8; ++t) qp.stages[t].Q.setZero(), qp.stages[t].q.setZero();
    HorizonSolution at, after;
    HorizonQpSolver().solve(qp, {.tolerance = 1e-10}, at);
    const VectorXd moved = Source{99}.matrix(4, 1, step);
    qp.x_start += moved;
    HorizonQpSolver().solve(qp, {.tolerance = 1e-10}, after);
    if (at.status != HorizonStatus::kSolved || after.status != HorizonStatus::kSolved) continue;
    ++solved;
    for (const MatrixXd& K : at.feedback) ASSERT_TRUE(K.allFinite()) << "seed " << seed;
    const double error = (after.u[0] - at.u[0] - at.feedback[0] * moved).norm() / step;
    other_rows += error > 1e-3 * (1 + at.feedback[0].norm());
  }
  EXPECT_GT(solved, 150);
  EXPECT_LE(other_rows, solved / 20);  // where the start has moved far enough for others
}

TEST(HorizonQp, ALastSolutionSavesFactorisations) {
  int cold = 0, warm = 0;
  for (int seed = 0; seed < 100; ++seed) {
    HorizonQp qp = random_program(seed, 8, 4, 6, 8, 0.05);
    HorizonSolution from_nothing, from_last;
    HorizonQpSolver().solve(qp, {}, from_last);
    qp.x_start += Source{99}.matrix(4, 1, 0.1);
    HorizonQpSolver().solve(qp, {}, from_nothing);
    HorizonQpSolver().solve(qp, {.start = HorizonStart::kSolution}, from_last);
    ASSERT_EQ(from_nothing.status, HorizonStatus::kSolved) << "seed " << seed;
    ASSERT_EQ(from_last.status, HorizonStatus::kSolved) << "seed " << seed;
    for (std::size_t t = 0; t < from_last.u.size(); ++t)
      EXPECT_LT((from_last.u[t] - from_nothing.u[t]).norm(), 1e-5) << "seed " << seed << ", stage " << t;
    cold += from_nothing.factorizations;
    warm += from_last.factorizations;
  }
  EXPECT_LT(warm, 0.9 * cold);
}

TEST(HorizonQp, SaysWhenHardRowsContradictEachOther) {
  HorizonQp qp = random_program(5, 4, 3, 2, 0, 1.0);
  HorizonStage& s = qp.stages[2];
  s.X = MatrixXd::Zero(2, 3);
  s.P = MatrixXd::Zero(2, 2);
  s.U = MatrixXd::Zero(2, 2);
  s.U(0, 0) = 1;
  s.U(1, 0) = -1;
  s.d = VectorXd::Constant(2, -0.1);  // u ≤ −0.1 and u ≥ 0.1
  s.rho.setConstant(2, kInfinity);
  HorizonSolution solution;
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_NE(solution.status, HorizonStatus::kSolved);
  EXPECT_GT(solution.violation, 1e-3);
}

TEST(HorizonQp, NamesTheStageThatIsWrong) {
  HorizonQp qp = random_program(5, 4, 3, 2, 0, 1.0);
  qp.stages[3].R(1) = 0;
  HorizonSolution solution;
  try {
    HorizonQpSolver().solve(qp, {}, solution);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("stage 3: R + S must be positive"), std::string::npos);
  }
}

TEST(HorizonQp, NamesTheOptionThatIsOutOfRange) {
  const HorizonQp qp = random_program(5, 4, 3, 2, 0, 1.0);
  const struct {
    HorizonQpOptions options;
    const char* message;
  } cases[] = {{{.tolerance = 0}, "tolerance = 0: must be positive"},
               {{.tolerance = -1e-8}, "tolerance = -1e-08: must be positive"},
               {{.tolerance = std::numeric_limits<double>::quiet_NaN()}, "tolerance = nan: must be positive"},
               {{.iterations = 0}, "iterations = 0: must be at least 1"}};
  for (const auto& c : cases) {
    HorizonSolution solution;
    try {
      HorizonQpSolver().solve(qp, c.options, solution);
      ADD_FAILURE() << c.message;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()), c.message);
    }
  }
}

TEST(HorizonQp, LeavesItsStartWhereNumbersOverflow) {
  constexpr std::size_t kSteps = 6;
  HorizonStage stage;
  stage.A = MatrixXd::Constant(1, 1, 1e100);  // x₄ of constant inputs overflows, and so does the cost of x₄
  stage.B = stage.Q = MatrixXd::Identity(1, 1);
  stage.c = stage.q = VectorXd::Zero(1);
  stage.R = VectorXd::Ones(1);
  stage.lower = VectorXd::Constant(1, -kInfinity);
  stage.upper = VectorXd::Constant(1, kInfinity);
  const HorizonQp qp{VectorXd::Ones(1), VectorXd::Constant(1, 0.5), std::vector<HorizonStage>(kSteps + 1, stage)};
  HorizonSolution solution;
  HorizonQpSolver().solve(random_program(5, kSteps, 1, 1, 0, 1.0), {}, solution);  // what the object had before
  HorizonQpSolver().solve(qp, {}, solution);
  EXPECT_EQ(solution.status, HorizonStatus::kBreakdown);
  ASSERT_EQ(solution.x.size(), kSteps + 1);
  ASSERT_EQ(solution.u.size(), kSteps);
  ASSERT_EQ(solution.multiplier.size(), kSteps + 1);
  EXPECT_EQ(solution.x[0](0), 1);
  EXPECT_EQ(solution.x[1](0), 1e100);
  for (const VectorXd& u : solution.u) EXPECT_EQ(u(0), 0.5);
  for (const VectorXd& l : solution.multiplier) EXPECT_TRUE(l.isZero(0));
  EXPECT_EQ(solution.gradient, kInfinity);
}

TEST(HorizonQp, WarmSolvesDoNotAllocate) {
  HorizonQpSolver solver;
  HorizonSolution x;
  HorizonQp qp = random_program(4, 10, 6, 3, 3, 0.4);
  const auto solve_all = [&] {
    int solved = 0;
    for (const HorizonStart start : {HorizonStart::kCold, HorizonStart::kSolution, HorizonStart::kShifted}) {
      for (int k = 0; k < 5; ++k) {
        qp.x_start(k) += k % 2 == 0 ? 0.3 : -0.3;
        solver.solve(qp, {.start = start}, x);
        solved += x.status == HorizonStatus::kSolved;
      }
    }
    return solved;
  };
  EXPECT_EQ(solve_all(), 15);
  int solved = 0;
  EXPECT_EQ(testing_support::allocations_during([&] { solved = solve_all(); }), 0);
  EXPECT_EQ(solved, 15);
}

}  // namespace qp_solver_test
}  // namespace deft::solvers::horizon
