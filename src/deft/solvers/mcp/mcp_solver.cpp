#include "deft/solvers/mcp/mcp_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/mcp/interior_point.hpp"
#include "deft/solvers/mcp/josephy_newton.hpp"
#include "deft/solvers/mcp/semismooth_newton.hpp"
#include "deft/solvers/mcp/undetermined.hpp"

namespace deft::solvers::mcp {
namespace {

constexpr int kRefusals = 4;       // points of a method that are no solutions once pairs are moved to zero
constexpr double kTighter = 1e-2;  // factor of the target after each
constexpr int kPatience = 15;      // iterations without halving ½|Φ|² before the fallbacks
constexpr double kDisplaced[] = {0.1, 0.3, 1, 0.1, 1, 10};  // of restarts
constexpr int kNearRestarts = 3, kFarRestarts = 6;          // restarts before, and with those after the other methods
constexpr int kAfterRestart = 30;                           // iterations of the plain method from a restart
constexpr double kLifts[] = {0.1, 1};                       // distance from zero at which the path begins
constexpr double kRelaxed[] = {1e-3, 1e-6, 1e-9, 1e-12};    // κ at which the plain method is tried
constexpr int kPathIterations = 60, kAfterPath = 15;        // of the interior point, of the plain method after it
constexpr int kLinearProblems = 60;                         // of Josephy and Newton's method
constexpr double kDetermined = 1e-10;                       // pivot below which derivatives count as not unique

}  // namespace

class McpSolver::Impl {
 public:
  McpSettings settings;

  const McpResult& solve(McpFunction& function, std::span<const double> start) {
    prepare(function, start);
    using End = McpSemismooth::End;
    const End plain =
        newton(start_.data(), {settings.max_newton, settings.fallbacks ? kPatience : settings.max_newton}, "newton");
    if (plain == End::kSolved) return result_;
    if (settings.fallbacks &&
        (restarts(0, kNearRestarts) || interior_point() || josephy_newton() || restarts(kNearRestarts, kFarRestarts)))
      return result_;
    const Status failure = plain == End::kIterations ? Status::kIterationLimit : Status::kNumericalFailure;
    result_.status = out_of_time() ? Status::kTimeLimit : failure;
    return result_;
  }

  bool derive(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz,
              bool* nonsmooth, double biactive, std::vector<char>* determined) {
    problem_.bind(function);
    const int n = problem_.size();
    if (static_cast<int>(z.size()) != n)
      throw std::invalid_argument(fmt::format("z: has {} entries, expected {}", z.size(), n));
    if (dF.rows() != n) throw std::invalid_argument(fmt::format("dF: has {} rows, expected {}", dF.rows(), n));
    point_.resize(n);
    problem_.to_scaled(z, point_.y.data());
    if (nonsmooth != nullptr) *nonsmooth = false;
    if (!problem_.evaluate(point_, true)) return false;
    for (auto* list : {&a_, &b_, &x_}) list->resize(n);
    for (int i = 0; i < n; ++i) {
      const auto k = to_size(i);
      const bool basic = problem_.is_free(i) || point_.y[k] > point_.f[k];
      a_[k] = basic ? 0 : 1;
      b_[k] = basic ? 1 : 0;
      if (nonsmooth != nullptr && !problem_.is_free(i) && std::max(point_.y[k], point_.f[k]) < biactive)
        *nonsmooth = true;
    }
    if (determined != nullptr) determined->assign(n, 1);
    if (!linear_.factor(point_.J, a_.data(), b_.data(), kDetermined))
      return determined != nullptr && derive_undetermined(dF, dz, *determined);
    dz.resize(n, dF.cols());
    for (Eigen::Index c = 0; c < dF.cols(); ++c) {
      for (int i = 0; i < n; ++i) x_[i] = b_[i] == 0 ? 0 : -dF(i, c) / problem_.row_unit(i);
      if (!linear_.solve(point_.J, a_.data(), b_.data(), x_.data())) return false;
      for (int i = 0; i < n; ++i) dz(i, c) = problem_.to_plain(i, x_[i]);
    }
    return true;
  }

 private:
  void prepare(McpFunction& function, std::span<const double> start) {
    if (!(settings.tolerance > 0))
      throw std::invalid_argument(fmt::format("tolerance = {}: must be positive", settings.tolerance));
    if (settings.max_newton < 0)
      throw std::invalid_argument(fmt::format("max_newton = {}: must not be negative", settings.max_newton));
    if (std::isnan(settings.time_limit_s)) throw std::invalid_argument("time_limit_s is not a number");
    problem_.bind(function);
    const int n = problem_.size();
    if (static_cast<int>(start.size()) != n)
      throw std::invalid_argument(fmt::format("start: has {} entries, expected {}", start.size(), n));
    for (std::size_t i = 0; i < start.size(); ++i)
      if (!std::isfinite(start[i]))
        throw std::invalid_argument(fmt::format("start[{}] = {}: must be finite", i, start[i]));
    clock_.restart();
    for (auto* list : {&start_, &z_, &F_, &result_.z, &result_.F}) list->resize(n);
    problem_.to_scaled(start, start_.data());
    for (int i = 0; i < n; ++i)
      if (!problem_.is_free(i)) start_[i] = std::max(0.0, start_[i]);
    result_.status = Status::kNumericalFailure;
    result_.residual = std::numeric_limits<double>::infinity();
    result_.iterations = 0;
    result_.method = "newton";
    for (int i = 0; i < n; ++i) result_.z[i] = problem_.to_plain(i, start_[i]);
    std::fill(result_.F.begin(), result_.F.end(), std::numeric_limits<double>::quiet_NaN());
  }

  bool derive_undetermined(const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz, std::vector<char>& determined) {
    Eigen::MatrixXd right = -dF;
    for (int i = 0; i < problem_.size(); ++i) right.row(i) *= b_[i] / problem_.row_unit(i);
    if (!solve_undetermined(point_.J, a_.data(), b_.data(), right, dz, determined)) return false;
    for (int i = 0; i < problem_.size(); ++i) dz.row(i) *= problem_.variable_unit(i);
    return true;
  }

  McpSemismooth::End newton(const double* start, McpBudget budget, const char* method) {
    budget.time_limit_s = settings.time_limit_s;
    budget.clock = &clock_;
    double target = settings.tolerance;
    for (int refusal = 0; refusal < kRefusals; ++refusal, target *= kTighter) {
      const McpSemismooth::End end = newton_.solve(problem_, refusal == 0 ? start : again_.data(), target, budget);
      result_.iterations += newton_.iterations();
      if (propose(newton_.y(), newton_.f(), method)) return McpSemismooth::End::kSolved;
      if (end != McpSemismooth::End::kSolved) return end;
      again_ = newton_.y();
    }
    return McpSemismooth::End::kStalled;
  }

  // The plain method from the start, displaced at random: by ± kDisplaced scaled units, or as much of itself. Where it
  // failed it was mostly in a narrow valley of |Φ|, which most other starts avoid.
  bool restarts(int first, int end) {
    for (int k = first; k < end && !out_of_time(); ++k) {
      again_ = start_;
      for (int i = 0; i < problem_.size(); ++i) {
        double& y = again_[i];
        const double u =
            2 * random_uniform(settings.seed, static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(i)) - 1;
        y += kDisplaced[k] * std::max(1.0, std::abs(y)) * u;
        if (!problem_.is_free(i)) y = std::max(0.0, y);
      }
      if (newton(again_.data(), {kAfterRestart, kPatience}, "restart") == McpSemismooth::End::kSolved) return true;
    }
    return false;
  }

  // The relaxed problem, and from its path the plain method.
  bool interior_point() {
    for (const double lift : kLifts) {
      if (out_of_time()) return false;
      if (!path_.start(problem_, start_.data(), lift)) continue;
      bool solved = false;
      for (const double kappa : kRelaxed) {
        const bool arrived = path_.follow(
            kappa, {.iterations = kPathIterations, .time_limit_s = settings.time_limit_s, .clock = &clock_});
        solved = newton(path_.y().data(), {kAfterPath, kPatience}, "interior-point") == McpSemismooth::End::kSolved;
        if (solved || !arrived) break;
      }
      result_.iterations += path_.iterations();
      if (solved) return true;
    }
    return false;
  }

  bool josephy_newton() {
    McpJosephyNewton method;
    method.solve(problem_, start_.data(), settings.tolerance,
                 {.iterations = kLinearProblems, .time_limit_s = settings.time_limit_s, .clock = &clock_});
    result_.iterations += method.iterations();
    return method.iterations() > 0 &&
           newton(method.y().data(), {kAfterPath, kPatience}, "josephy-newton") == McpSemismooth::End::kSolved;
  }

  bool out_of_time() const {
    return settings.time_limit_s < std::numeric_limits<double>::infinity() && clock_.seconds() > settings.time_limit_s;
  }

  // Certifies y, where f was found, with complementary entries at zero where y_i ≤ f_i; if that is no solution, with
  // negative ones at zero. Keeps the best point so far. @returns whether a solution was found.
  bool propose(const std::vector<double>& y, const std::vector<double>& f, const char* method) {
    if (f.empty() && problem_.size() > 0) return false;
    return propose(y, f, true, method) || propose(y, f, false, method);
  }

  bool propose(const std::vector<double>& y, const std::vector<double>& f, bool snap, const char* method) {
    bool moved = false;
    for (int i = 0; i < problem_.size(); ++i) {
      const auto k = to_size(i);
      const bool zero = !problem_.is_free(i) && (y[k] <= 0 || (snap && y[k] <= f[k]));
      moved |= zero && y[k] != 0;
      z_[k] = zero ? 0.0 : problem_.to_plain(i, y[k]);
      F_[k] = f[k] * problem_.row_unit(i);
    }
    if (moved && !problem_.evaluate_plain(z_, F_)) return false;
    const double residual = problem_.residual(z_, F_);
    if (!(residual < result_.residual)) return false;
    result_.z = z_;
    result_.F = F_;
    result_.residual = residual;
    result_.method = method;
    if (residual <= settings.tolerance) result_.status = Status::kSolved;
    return result_.status == Status::kSolved;
  }

  ScaledMcp problem_;
  McpSemismooth newton_;
  McpInteriorPoint path_;
  McpPoint point_;  // of derivatives
  McpLinear linear_;
  Stopwatch clock_;
  McpResult result_;
  std::vector<double> start_, again_, z_, F_;
  std::vector<double> a_, b_, x_;
};

McpSolver::McpSolver(McpSettings settings) : impl_(std::make_unique<Impl>()) { impl_->settings = settings; }
McpSolver::~McpSolver() = default;
McpSolver::McpSolver(McpSolver&&) noexcept = default;
McpSolver& McpSolver::operator=(McpSolver&&) noexcept = default;

const McpResult& McpSolver::solve(McpFunction& function, std::span<const double> start) {
  return impl_->solve(function, start);
}

bool McpSolver::sensitivity(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF,
                            Eigen::MatrixXd& dz, bool* nonsmooth, double biactive, std::vector<char>* determined) {
  return impl_->derive(function, z, dF, dz, nonsmooth, biactive, determined);
}

McpSettings& McpSolver::settings() { return impl_->settings; }

}  // namespace deft::solvers::mcp
