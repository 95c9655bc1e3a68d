#include "deft/solvers/mcp_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/solvers/mcp_semismooth.hpp"

namespace deft::solvers {
namespace {

constexpr int kRefusals = 4;        // points of the methods that are no solutions after moving pairs to their zeros
constexpr double kTighter = 1e-2;  // factor of the target after each

}  // namespace

class McpSolver::Impl {
 public:
  McpSettings settings;

  const McpResult& solve(McpFunction& function, std::span<const double> start) {
    prepare(function, start);
    McpSemismooth::End end = newton(start_.data(), settings.max_newton, "newton");
    if (end != McpSemismooth::End::kSolved) result_.status = end == McpSemismooth::End::kTime ? Status::kTimeLimit : end == McpSemismooth::End::kIterations ? Status::kIterationLimit : Status::kNumericalFailure;
    return result_;
  }

  bool derive(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz, bool* kink, double biactive) {
    problem_.bind(function);
    const int n = problem_.size();
    if (static_cast<int>(z.size()) != n) throw std::invalid_argument(fmt::format("z: has {} entries, expected {}", z.size(), n));
    if (dF.rows() != n) throw std::invalid_argument(fmt::format("dF: has {} rows, expected {}", dF.rows(), n));
    point_.resize(n);
    problem_.to_scaled(z, point_.y.data());
    if (kink != nullptr) *kink = false;
    if (!problem_.evaluate(point_, true)) return false;
    std::vector<double> a(static_cast<std::size_t>(n)), b(a), x(a);
    for (int i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool basic = problem_.is_free(i) || point_.y[k] > point_.f[k];
      a[k] = basic ? 0 : 1;
      b[k] = basic ? 1 : 0;
      if (kink != nullptr && !problem_.is_free(i) && std::max(point_.y[k], point_.f[k]) < biactive) *kink = true;
    }
    if (!linear_.factor(point_.J, a.data(), b.data())) return false;
    dz.resize(n, dF.cols());
    for (Eigen::Index c = 0; c < dF.cols(); ++c) {
      for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(i)] == 0 ? 0 : -dF(i, c) / problem_.row_unit(i);
      if (!linear_.solve(point_.J, a.data(), b.data(), x.data())) return false;
      for (int i = 0; i < n; ++i) dz(i, c) = problem_.to_plain(i, x[static_cast<std::size_t>(i)]);
    }
    return true;
  }

 private:
  void prepare(McpFunction& function, std::span<const double> start) {
    if (!(settings.tolerance > 0)) throw std::invalid_argument(fmt::format("tolerance = {}: must be positive", settings.tolerance));
    if (settings.max_newton < 0) throw std::invalid_argument(fmt::format("max_newton = {}: must not be negative", settings.max_newton));
    if (std::isnan(settings.time_limit_s)) throw std::invalid_argument("time_limit_s is not a number");
    problem_.bind(function);
    const int n = problem_.size();
    if (static_cast<int>(start.size()) != n) throw std::invalid_argument(fmt::format("start: has {} entries, expected {}", start.size(), n));
    for (std::size_t i = 0; i < start.size(); ++i)
      if (!std::isfinite(start[i])) throw std::invalid_argument(fmt::format("start[{}] = {}: must be finite", i, start[i]));
    clock_.restart();
    for (auto* list : {&start_, &z_, &F_, &result_.z, &result_.F}) list->resize(static_cast<std::size_t>(n));
    problem_.to_scaled(start, start_.data());
    for (int i = 0; i < n; ++i)
      if (!problem_.is_free(i)) start_[static_cast<std::size_t>(i)] = std::max(0.0, start_[static_cast<std::size_t>(i)]);
    result_.status = Status::kNumericalFailure;
    result_.residual = std::numeric_limits<double>::infinity();
    result_.iterations = 0;
    result_.method = "newton";
    for (int i = 0; i < n; ++i) result_.z[static_cast<std::size_t>(i)] = problem_.to_plain(i, start_[static_cast<std::size_t>(i)]);
    std::fill(result_.F.begin(), result_.F.end(), std::numeric_limits<double>::quiet_NaN());
  }

  McpSemismooth::End newton(const double* start, int iterations, const char* method) {
    double target = settings.tolerance;
    for (int refusal = 0; refusal < kRefusals; ++refusal, target *= kTighter) {
      const McpBudget budget{iterations, settings.time_limit_s, &clock_};
      const McpSemismooth::End end = newton_.solve(problem_, refusal == 0 ? start : again_.data(), target, budget);
      result_.iterations += newton_.iterations();
      if (propose(newton_.y(), newton_.f(), method)) return McpSemismooth::End::kSolved;
      if (end != McpSemismooth::End::kSolved) return end;
      again_ = newton_.y();
    }
    return McpSemismooth::End::kStalled;
  }

  // Judges y, where f was found, with complementary entries at zero where y_i ≤ f_i; if that is no solution, with negative ones at
  // zero. Keeps what is the best so far. @returns whether a solution was found.
  bool propose(const std::vector<double>& y, const std::vector<double>& f, const char* method) {
    if (f.empty() && problem_.size() > 0) return false;
    return propose(y, f, true, method) || propose(y, f, false, method);
  }

  bool propose(const std::vector<double>& y, const std::vector<double>& f, bool snap, const char* method) {
    bool moved = false;
    for (int i = 0; i < problem_.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
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
  McpPoint point_;  // of derivatives
  McpLinear linear_;
  Stopwatch clock_;
  McpResult result_;
  std::vector<double> start_, again_, z_, F_;
};

McpSolver::McpSolver(McpSettings settings) : impl_(std::make_unique<Impl>()) { impl_->settings = settings; }
McpSolver::~McpSolver() = default;
McpSolver::McpSolver(McpSolver&&) noexcept = default;
McpSolver& McpSolver::operator=(McpSolver&&) noexcept = default;

const McpResult& McpSolver::solve(McpFunction& function, std::span<const double> start) { return impl_->solve(function, start); }

bool McpSolver::sensitivity(McpFunction& function, std::span<const double> z, const Eigen::MatrixXd& dF, Eigen::MatrixXd& dz, bool* kink, double biactive) {
  return impl_->derive(function, z, dF, dz, kink, biactive);
}

McpSettings& McpSolver::settings() { return impl_->settings; }

}  // namespace deft::solvers
