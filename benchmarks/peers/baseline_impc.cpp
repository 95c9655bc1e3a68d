#include "peers/baseline_impc.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/solvers/horizon/qp_solver.hpp"

namespace deft::peers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// N with q ⊕ δ ≈ q + Nδ, by central differences: nq × nv.
MatrixXd coordinates_of_tangent(const scene::Scene& scene, const VectorXd& q) {
  constexpr double kStep = 1e-6;
  MatrixXd N(scene.nq(), scene.nv());
  VectorXd ahead, behind, delta = VectorXd::Zero(scene.nv());
  for (int i = 0; i < scene.nv(); ++i) {
    delta(i) = kStep;
    scene.model().integrate(q, delta, ahead);
    delta(i) = -kStep;
    scene.model().integrate(q, delta, behind);
    delta(i) = 0;
    N.col(i) = (ahead - behind) / (2 * kStep);
  }
  return N;
}

class Loop {
 public:
  Loop(const scene::Scene& scene, const BaselineProblem& problem) : scene_(scene), problem_(problem), steps_(scene) {}

  BaselineResult run() {
    const auto T = to_size(problem_.steps);
    stages_.resize(T + 1);
    for (std::size_t t = 0; t <= T; ++t) prepare(stages_[t], t == T);

    std::vector<VectorXd> q(T + 1), u(T, planning::joint_positions(scene_, problem_.q_start));
    q[0] = problem_.q_start;
    for (std::size_t t = 0; t < T; ++t) q[t + 1] = step_and_linearize(q[t], u[t], problem_.kappa_first, stages_[t]);
    keep(q, u);
    for (int k = 1; k <= problem_.iterations; ++k) {
      const double grown = static_cast<double>(k - 1) / std::max(1, problem_.iterations - 1);
      descend(problem_.kappa_first * std::pow(problem_.kappa_last / problem_.kappa_first, grown), q, u);
      keep(q, u);
    }
    return std::move(best_);
  }

 private:
  void prepare(solvers::horizon::HorizonStage& stage, bool last) const {
    const auto nq = scene_.nq(), nu = scene_.nu();
    const VectorXd weight = 2 * (last ? problem_.final_weight : problem_.weight);
    stage.Q = weight.asDiagonal();
    stage.q = -weight.cwiseProduct(problem_.q_desired);
    stage.R = 2 * problem_.command_weight;
    stage.change.setConstant(nu, std::numeric_limits<double>::infinity());
    stage.X.resize(0, nq);
    stage.P.resize(0, nu);
    stage.U.resize(0, nu);
  }

  VectorXd step_and_linearize(const VectorXd& q, const VectorXd& u, double kappa,
                              solvers::horizon::HorizonStage& stage) {
    VectorXd q_next, q_smooth;
    MatrixXd B;
    if (!steps_.step(q, u, q_next) || !steps_.linearize(q, u, kappa, q_smooth, B))
      throw std::runtime_error("baseline iMPC: a step failed");
    stage.A.setIdentity(scene_.nq(), scene_.nq());
    stage.B = coordinates_of_tangent(scene_, q_smooth) * B;
    for (int i = 0; i < scene_.nu(); ++i) {
      const int at = scene_.command_coordinates()[i];
      stage.A(at, at) = 0;
      stage.B.row(at).setZero();
      stage.B(at, i) = 1;
    }
    stage.c = q_next - stage.A * q - stage.B * u;
    return q_next;
  }

  void descend(double kappa, std::vector<VectorXd>& q, std::vector<VectorXd>& u) {
    const std::size_t T = u.size();
    for (std::size_t t = 0; t < T; ++t) {
      const VectorXd joints = planning::joint_positions(scene_, q[t]);
      stages_[t].lower = joints - problem_.offset;
      stages_[t].upper = joints + problem_.offset;
    }
    solvers::horizon::HorizonQp program;
    solvers::horizon::HorizonSolution solution;
    solvers::horizon::HorizonQpSolver solver;
    for (std::size_t t = 0; t < T; ++t) {
      program.x_start = q[t];
      program.u_before = planning::joint_positions(scene_, q[t]);
      program.stages.assign(stages_.begin() + static_cast<std::ptrdiff_t>(t), stages_.end());
      solver.solve(program, {}, solution);
      if (solution.status != solvers::horizon::HorizonStatus::kSolved) ++best_.unsolved;
      u[t] = solution.u[0];
      // What was linearised here serves the next iteration: the programs of this one begin later.
      q[t + 1] = step_and_linearize(q[t], u[t], kappa, stages_[t]);
    }
  }

  void keep(const std::vector<VectorXd>& q, const std::vector<VectorXd>& u) {
    best_.history.push_back(baseline_cost(problem_, q, u, planning::joint_positions(scene_, q[0])));
    if (best_.history.size() > 1 && best_.history.back() >= best_.cost) return;
    best_.cost = best_.history.back();
    best_.q = q;
    best_.u = u;
  }

  const scene::Scene& scene_;
  const BaselineProblem& problem_;
  planning::PlanningSteps steps_;
  std::vector<solvers::horizon::HorizonStage> stages_;
  BaselineResult best_;
};

}  // namespace

double baseline_cost(const BaselineProblem& problem, const std::vector<VectorXd>& q, const std::vector<VectorXd>& u,
                     const VectorXd& joints_first) {
  double sum = 0;
  for (std::size_t t = 0; t < q.size(); ++t) {
    const VectorXd e = q[t] - problem.q_desired;
    sum += e.dot((t + 1 == q.size() ? problem.final_weight : problem.weight).cwiseProduct(e));
    if (t == u.size()) break;
    const VectorXd change = u[t] - (t == 0 ? joints_first : u[t - 1]);
    sum += change.dot(problem.command_weight.cwiseProduct(change));
  }
  return sum;
}

BaselineResult baseline_impc(const scene::Scene& scene, const BaselineProblem& problem) {
  return Loop(scene, problem).run();
}

}  // namespace deft::peers
