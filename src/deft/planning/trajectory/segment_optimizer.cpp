#include "deft/planning/trajectory/segment_optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"

namespace deft::planning {
namespace {

using Eigen::VectorXd;

constexpr double kShares[] = {1.0, 0.3};         // of the program's step, tried in turn
constexpr double kWider = 1.5, kNarrower = 0.4;  // how the trust region changes after a whole step, and after none
constexpr double kLeastRadius = 1e-3;            // where it ends [rad, m]
constexpr double kEnough = 0.02;                 // of a squared tolerance: a segment that costs less is done
constexpr double kLeastScale_N = 0.1;            // of forces
constexpr double kRestFactor = 5;  // linearised steps are so much longer than h: objects come to rest in them

scene::Scene resting_scene(const scene::Scene& scene) {
  return scene.with([](scene::SceneSettings& settings) { *settings.step.h *= kRestFactor; });
}

}  // namespace

std::vector<VectorXd> choose_knots(const std::vector<VectorXd>& commands, const VectorXd& u_before, int count) {
  std::vector<VectorXd> moving;
  const VectorXd* before = &u_before;
  for (const VectorXd& u : commands) {
    if (u != *before) moving.push_back(u);
    before = &u;
  }
  const int most = std::min(count, static_cast<int>(moving.size()));
  std::vector<VectorXd> knots;
  for (int k = 1; k <= most; ++k) knots.push_back(moving[moving.size() * to_size(k) / to_size(most) - 1]);
  return knots;
}

struct SegmentOptimizer::Work {
  Work(const Goal& its_goal, const Hand& its_hand, PlanningSteps& its_steps, int its_threads)
      : goal(&its_goal),
        hand(&its_hand),
        steps(&its_steps),
        threads(its_threads),
        resting(resting_scene(its_steps.scene())),
        linearizer(resting) {}

  /// Goes to the knot u and adds what that costs. @returns false if a step failed.
  bool advance(const SegmentProgram& program, const VectorXd& u, SegmentMotion& motion) {
    const VectorXd from = motion.motion.u;
    const VectorXd& longest = steps->ensemble().longest_step;
    const double lengths = longest.size() == 0 ? 1 : (u - from).cwiseAbs().cwiseQuotient(longest).maxCoeff();
    const int count = std::max(1, static_cast<int>(std::ceil(lengths - 1e-9)));
    for (int k = 1; k <= count; ++k) {
      const VectorXd target = k == count ? u : VectorXd(from + (u - from) * (double(k) / count));
      if (!steps->advance(motion.motion, target, next)) return false;
      std::swap(static_cast<Instant&>(motion.motion), next);
      motion.motion.commands.push_back(target);
      const SegmentProgram::ForceExcess excess = program.force_excess(steps->result(), largest_N);
      motion.excess += excess.cone;
      motion.violation =
          std::max({motion.violation, excess.normal, program.limit_excess(motion.motion.q, motion.motion.u)});
    }
    return true;
  }

  void begin(const SegmentProblem& problem, SegmentMotion& motion) {
    steps->reset();
    motion = SegmentMotion{};
    motion.motion = Motion{problem.start, {}};
    largest_N = 0;
  }

  /// Rest, and the cost of the whole. @returns false if a step failed.
  bool finish(const SegmentProgram& program, SegmentMotion& motion) {
    motion.excess /= static_cast<double>(std::max<std::size_t>(1, motion.motion.commands.size()));
    if (!steps->rest(motion.motion)) return false;
    motion.distance = program.distance(motion.motion);
    program.charge(motion);
    return true;
  }

  bool roll_out(const SegmentProblem& problem, const SegmentProgram& program, const std::vector<VectorXd>& knots,
                SegmentMotion& motion) {
    begin(problem, motion);
    for (VectorXd u : knots) {
      program.clamp(u);
      motion.knots.push_back(u);
      motion.at.push_back(motion.motion);
      if (!advance(program, u, motion)) return false;
    }
    return finish(program, motion);
  }

  /// The share α of the program's step, with its answer to what the states do differently:
  ///   u_t = ū_t + α(u*_t − ū_t) + K_t (x_t − α x*_t).
  bool follow(const SegmentProblem& problem, const SegmentProgram& program, const SegmentMotion& nominal, double share,
              double radius, SegmentMotion& motion) {
    begin(problem, motion);
    for (std::size_t t = 0; t < nominal.knots.size(); ++t) {
      VectorXd u = nominal.knots[t] + share * (planned.u[t] - nominal.knots[t]);
      if (t > 0 && t < planned.feedback.size())
        u += planned.feedback[t] * (program.displacement(nominal.at[t], motion.motion) - share * planned.x[t]);
      // Beyond the trust region the answer is worth nothing.
      u = u.cwiseMax((nominal.knots[t].array() - radius).matrix())
              .cwiseMin((nominal.knots[t].array() + radius).matrix());
      program.clamp(u);
      motion.knots.push_back(u);
      motion.at.push_back(motion.motion);
      if (!advance(program, u, motion)) return false;
    }
    return finish(program, motion) && motion.cost < nominal.cost;
  }

  /// Linearises all steps of all worlds and solves the program about them. @returns false if a step has no derivative.
  bool plan(const SegmentProgram& program, const SegmentMotion& now, double kappa, double radius) {
    std::vector<VectorXd> q, u;
    const std::size_t worlds = 1 + now.motion.q_worlds.size();
    for (std::size_t w = 0; w < worlds; ++w) {
      for (std::size_t t = 0; t < now.knots.size(); ++t) {
        q.push_back(w == 0 ? now.at[t].q : now.at[t].q_worlds[w - 1]);
        u.push_back(now.knots[t]);
      }
    }
    // Steps that are so much longer reach as far with a κ that is so much larger.
    linearizer.run(q, u, {.kappa = kRestFactor * kRestFactor * kappa, .grips = true, .threads = threads}, linear);
    if (!std::all_of(linear.begin(), linear.end(), [](const LinearStep& step) { return step.ok; })) return false;
    program.expand(now, linear, radius, qp);
    solver.solve(qp, {}, planned);
    return planned.status == solvers::horizon::HorizonStatus::kSolved;
  }

  /// One iteration. @returns the share of the program's step that was taken; 0: none is better.
  double iterate(const SegmentProblem& problem, const SegmentProgram& program, double kappa, double radius,
                 SegmentMotion& now) {
    if (!plan(program, now, kappa, radius)) return 0;
    for (const double share : kShares) {
      if (steps->is_over()) return 0;
      if (!follow(problem, program, now, share, radius, tried)) continue;
      std::swap(now, tried);
      return share;
    }
    return 0;
  }

  SegmentResult optimize(const SegmentProblem& problem, const std::vector<std::vector<VectorXd>>& starts) {
    SegmentProgram program(problem, *goal, *hand, *steps);
    SegmentResult result;
    double scale_N = 0;
    for (const std::vector<VectorXd>& knots : starts) {
      if (knots.empty() || !roll_out(problem, program, knots, tried)) continue;
      // Forces are measured in shares of the largest of the first that works.
      if (!result.ok) {
        scale_N = std::max(largest_N, kLeastScale_N);
        tried.excess *= program.force_scale / scale_N;
        program.force_scale = scale_N;
        program.charge(tried);
      }
      if (!result.ok || tried.cost < result.best.cost) result.best = tried;
      result.ok = true;
    }
    if (!result.ok) return result;
    const scene::OptimizeSettings& settings = problem.settings;
    double radius = settings.radius;
    const auto kappa_of = [&](int k) {
      const double share = settings.iterations < 2 ? 1 : static_cast<double>(k) / (settings.iterations - 1);
      return settings.kappa_first * std::pow(settings.kappa_last / settings.kappa_first, share);
    };
    const auto record = [&](double kappa, double step) {
      const SegmentMotion& best = result.best;
      result.history.push_back({best.cost, best.distance, best.excess, kappa, radius, step});
    };
    record(kappa_of(0), 0);
    for (int k = 0; k < settings.iterations && !steps->is_over(); ++k) {
      if (result.best.cost < kEnough || radius < kLeastRadius) break;
      const double step = iterate(problem, program, kappa_of(k), radius, result.best);
      record(kappa_of(k), step);
      if (step == 1) radius *= kWider;
      if (step == 0) radius *= kNarrower;
    }
    return result;
  }

  const Goal* goal;
  const Hand* hand;
  PlanningSteps* steps;
  int threads;
  scene::Scene resting;
  HorizonLinearizer linearizer;
  std::vector<LinearStep> linear;
  solvers::horizon::HorizonQp qp;
  solvers::horizon::HorizonQpSolver solver;
  solvers::horizon::HorizonSolution planned;  // by the program
  SegmentMotion tried;                        // by the line search
  Instant next;
  double largest_N = 0;  // of the normal forces in the last roll-out
};

SegmentOptimizer::SegmentOptimizer(const Goal& goal, const Hand& hand, PlanningSteps& steps, int threads)
    : work_(std::make_unique<Work>(goal, hand, steps, threads)) {}
SegmentOptimizer::~SegmentOptimizer() = default;

bool SegmentOptimizer::roll_out(const SegmentProblem& problem, const std::vector<VectorXd>& knots,
                                SegmentMotion& motion) {
  const SegmentProgram program(problem, *work_->goal, *work_->hand, *work_->steps);
  return work_->roll_out(problem, program, knots, motion);
}

SegmentResult SegmentOptimizer::optimize(const SegmentProblem& problem,
                                         const std::vector<std::vector<VectorXd>>& starts) {
  return work_->optimize(problem, starts);
}

long SegmentOptimizer::solves() const { return work_->linearizer.solves(); }

}  // namespace deft::planning
