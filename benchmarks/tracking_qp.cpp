// Quadratic programs of tracking controllers: a sequence of neighbouring programs over a horizon, as a control loop
// meets them, solved cold and from the last solution. Made up, but of the sizes and the shape of the real ones.
//
//   tracking_qp [--count N]
//
// The rivals that were built (benchmarks/rivals) solve the first hundred programs in the same process: dense ones the
// condensed program, whose making is not timed, HPIPM the stages as they are.

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"
#include "support/horizon_forms.hpp"

namespace {

using namespace deft;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using solvers::horizon::HorizonQp;
using solvers::horizon::HorizonStage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kRivalPrograms = 100;  // dense ones take seconds for some

struct Source {
  std::uint64_t seed;
  std::uint32_t next = 0;
  double normal() { return random_normal(seed, 0, next++); }
  MatrixXd matrix(int rows, int columns, double scale) {
    MatrixXd m(rows, columns);
    for (double& entry : m.reshaped()) entry = scale * normal();
    return m;
  }
};

/// `joints` position-controlled joints that push an object of `object` coordinates.
struct Family {
  const char* name;
  int joints, object, steps, force_rows;
  double reach;  // of commands beyond joints
};

/// A world that changes slowly: A = A₀ + A₁ sin φ + A₂ cos φ and so on, with a reference that moves.
class World {
 public:
  World(const Family& family, std::uint64_t seed) : f_(family), nx_(f_.joints + f_.object), draw_{seed} {
    for (int k = 0; k < 3; ++k) {
      const double scale = k == 0 ? 1 : 0.15;
      MatrixXd A = draw_.matrix(nx_, nx_, 0.02 * scale), B = draw_.matrix(nx_, f_.joints, 0.02 * scale);
      if (k == 0) {
        A.diagonal().tail(f_.object).array() += 1;
        A.diagonal().head(f_.joints).array() += 0.2;
        B.topRows(f_.joints).diagonal().array() += 0.8;
      }
      B.bottomRows(f_.object) += draw_.matrix(f_.object, f_.joints, 0.25 * scale);
      A_.push_back(A);
      B_.push_back(B);
      X_.push_back(draw_.matrix(f_.force_rows, nx_, scale));
      U_.push_back(draw_.matrix(f_.force_rows, f_.joints, scale));
    }
    const MatrixXd root = draw_.matrix(f_.object, f_.object, 1);
    Q_ = MatrixXd::Zero(nx_, nx_);
    Q_.bottomRightCorner(f_.object, f_.object) = root.transpose() * root + MatrixXd::Identity(f_.object, f_.object);
    Q_.diagonal().head(f_.joints).array() += 0.05;
    phase_ = draw_.matrix(nx_, 1, 3);
    x_ = 0.1 * draw_.matrix(nx_, 1, 1);
  }

  void program(int k, HorizonQp& qp) const {
    qp.x_start = x_;
    qp.u_before = x_.head(f_.joints);
    qp.stages.resize(to_size(f_.steps) + 1);
    for (int t = 0; t <= f_.steps; ++t) {
      HorizonStage& s = qp.stages[t];
      const int nu = f_.joints;
      const double weight = t == f_.steps ? 10 : 1;
      s.Q = weight * Q_;
      s.q = -s.Q * reference(k + t);
      const int rows = t == 0 ? 0 : f_.force_rows;
      if (t == f_.steps) {
        s.X = at(X_, k + t).topRows(rows);
        s.d = VectorXd::Constant(rows, 0.6);
        s.rho = VectorXd::Constant(rows, 2.0);
        break;
      }
      s.A = at(A_, k + t);
      s.B = at(B_, k + t);
      s.c = VectorXd::Constant(nx_, 1e-3);
      s.S = VectorXd::Constant(nu, 0.02);
      s.s = -0.02 * reference(k + t).head(nu);
      s.lower = VectorXd::Constant(nu, -0.5);
      s.upper = VectorXd::Constant(nu, 0.5);
      // ±(u − q_a) ≤ reach, and forces.
      s.X = MatrixXd::Zero(2 * nu + rows, nx_);
      s.U = MatrixXd::Zero(2 * nu + rows, nu);
      s.d = VectorXd::Constant(2 * nu + rows, f_.reach);
      s.rho = VectorXd::Constant(2 * nu + rows, kInfinity);
      s.X.topLeftCorner(nu, nu) = -MatrixXd::Identity(nu, nu);
      s.X.block(nu, 0, nu, nu) = MatrixXd::Identity(nu, nu);
      s.U.topRows(nu) = MatrixXd::Identity(nu, nu);
      s.U.middleRows(nu, nu) = -MatrixXd::Identity(nu, nu);
      s.X.bottomRows(rows) = at(X_, k + t).topRows(rows);
      s.U.bottomRows(rows) = at(U_, k + t).topRows(rows);
      s.d.tail(rows).setConstant(0.6);
      s.rho.tail(rows).setConstant(2.0);
    }
  }

  /// The world answers, not quite as predicted.
  void advance(int k, const VectorXd& u) { x_ = at(A_, k) * x_ + at(B_, k) * u + draw_.matrix(nx_, 1, 2e-3); }

 private:
  VectorXd reference(int k) const { return 0.35 * (0.02 * k + phase_.array()).sin(); }
  MatrixXd at(const std::vector<MatrixXd>& m, int k) const {
    return m[0] + std::sin(0.03 * k) * m[1] + std::cos(0.05 * k) * m[2];
  }

  Family f_;
  int nx_;
  Source draw_;
  std::vector<MatrixXd> A_, B_, X_, U_;
  MatrixXd Q_;
  VectorXd phase_, x_;
};

/// Time that this thread has had of its core: other programs on a busy machine do not count.
double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Times {
  std::vector<double> ms;
  long iterations = 0, factorizations = 0, unsolved = 0;
  int worst = 0;
  double at(double share) {
    std::sort(ms.begin(), ms.end());
    return ms[std::llround(share * static_cast<double>(ms.size() - 1))];
  }
};

void time_solve(solvers::horizon::HorizonQpSolver& solver, const HorizonQp& qp,
                const solvers::horizon::HorizonQpOptions& options, solvers::horizon::HorizonSolution& solution,
                Times& times) {
  const double begin = cpu_ms();
  solver.solve(qp, options, solution);
  times.ms.push_back(cpu_ms() - begin);
  times.iterations += solution.iterations;
  times.factorizations += solution.factorizations;
  times.worst = std::max(times.worst, solution.factorizations);
  times.unsolved += solution.status != solvers::horizon::HorizonStatus::kSolved;
}

/// One way of solving a program, and what it took.
struct Contender {
  std::string name;
  std::function<bool(VectorXd& u)> solve;  // the program that was set last; whether it is solved
  Times times;
  double farthest = 0;  // of inputs from ours
};

/// A program in the forms that rivals take.
struct Forms {
  benchmarks::DenseProgram dense;
  benchmarks::StageProgram stages;
};

std::vector<Contender> rivals_of(const Forms& forms) {
  std::vector<Contender> all;
#ifdef DEFT_WITH_RIVALS
  for (auto& made : benchmarks::make_rivals()) {
    const std::shared_ptr<benchmarks::Rival> rival = std::move(made);
    all.push_back({rival->name(),
                   [rival, &forms](VectorXd& u) {
                     VectorXd z(forms.dense.n);
                     const bool solved = rival->solve(forms.dense, z.data());
                     u = z.head(u.size());
                     return solved;
                   },
                   {}});
  }
  for (auto& made : benchmarks::make_stage_rivals()) {
    const std::shared_ptr<benchmarks::StageRival> rival = std::move(made);
    all.push_back({rival->name(), [rival, &forms](VectorXd& u) { return rival->solve(forms.stages, u.data()); }, {}});
  }
#else
  (void)forms;
#endif
  return all;
}

/// Solves the program by each rival and notes how far its inputs are from ours.
void time_rivals(std::vector<Contender>& rivals, const solvers::horizon::HorizonSolution& ours) {
  const Eigen::Index nu = ours.u.front().size();
  VectorXd reference(nu * static_cast<Eigen::Index>(ours.u.size())), u(reference.size());
  for (std::size_t t = 0; t < ours.u.size(); ++t) reference.segment(static_cast<Eigen::Index>(t) * nu, nu) = ours.u[t];
  for (Contender& rival : rivals) {
    const double begin = cpu_ms();
    const bool solved = rival.solve(u);
    rival.times.ms.push_back(cpu_ms() - begin);
    rival.times.unsolved += !solved;
    if (solved) rival.farthest = std::max(rival.farthest, (u - reference).lpNorm<Eigen::Infinity>());
  }
}

void print_row(const char* family, const std::string& name, Times& t) {
  double mean = 0;
  for (const double ms : t.ms) mean += ms / static_cast<double>(t.ms.size());
  fmt::print("{:<16}{:<28}{:>9.4f}{:>9.4f}{:>9.4f}{:>9.4f}{:>10}", family, name, t.at(0.5), t.at(0.99), t.at(1), mean,
             t.unsolved);
}

}  // namespace

int main(int argc, char** argv) {
  int count = 1000;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::string(argv[i]) == "--count") count = std::stoi(argv[i + 1]);
  const Family families[] = {{"hand_ball", 16, 6, 10, 10, 0.12},
                             {"hand_ball_1", 16, 6, 1, 10, 0.12},
                             {"planar_hand", 4, 3, 20, 6, 0.12},
                             {"planar_pushing", 2, 3, 20, 4, 0.12}};
  fmt::print("{:<16}{:<28}{:>9}{:>9}{:>9}{:>9}{:>10}{:>12}{:>8}{:>12}\n", "family", "solver", "p50 ms", "p99 ms",
             "max ms", "mean ms", "unsolved", "factored", "most", "farthest u");
  for (const Family& family : families) {
    World world(family, 7);
    solvers::horizon::HorizonQpSolver solver;
    solvers::horizon::HorizonSolution cold, last, shifted;
    Times times[3];
    Forms forms;
    std::vector<Contender> rivals = rivals_of(forms);
    HorizonQp qp;
    for (int k = 0; k < count; ++k) {
      world.program(k, qp);
      using solvers::horizon::HorizonStart;
      time_solve(solver, qp, {.feedback = false}, cold, times[0]);
      time_solve(solver, qp, {.start = HorizonStart::kSolution, .feedback = false}, last, times[1]);
      time_solve(solver, qp, {.start = HorizonStart::kShifted, .feedback = false}, shifted, times[2]);
      if (!rivals.empty() && k < kRivalPrograms) {
        forms = {benchmarks::condensed(qp), benchmarks::staged(qp)};
        time_rivals(rivals, cold);
      }
      world.advance(k, last.u[0]);
    }
    const char* starts[] = {"deft, cold", "deft, last", "deft, shifted"};
    for (int i = 0; i < 3; ++i) {
      print_row(family.name, starts[i], times[i]);
      fmt::print("{:>12.2f}{:>8}\n", static_cast<double>(times[i].factorizations) / count, times[i].worst);
    }
    for (Contender& rival : rivals) {
      print_row(family.name, rival.name, rival.times);
      fmt::print("{:>12}{:>8}{:>12.1e}\n", "", "", rival.farthest);
    }
  }
  return 0;
}
