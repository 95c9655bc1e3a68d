#include "deft/solvers/lcs/mpc_solver.hpp"

#include <algorithm>
#include <optional>

#include "deft/solvers/lcs/search.hpp"
#include "deft/solvers/lcs/stages.hpp"

namespace deft::solvers::lcs {
namespace {

constexpr double kLighter = 0.01;              // weight of the proximal term where it is too large a part of the value
constexpr double kWeights[] = {1, 0.01, 100};  // what is tried where rounding errors leave no status

}  // namespace

class LcsMpcSolver::Impl {
 public:
  explicit Impl(BranchAndBoundSettings given) : settings(std::move(given)) {}

  const LcsMpcResult& solve(const LcsMpcProgram& program) {
    clock_.restart();
    check(program);
    if (stages_ && stages_->fits(program))
      stages_->set_data(program);
    else
      factor(program, 1);
    result_ = {};
    std::vector<Eigen::MatrixXd> suggestions;
    if (suggested) suggestions.push_back(std::move(*suggested));
    suggested.reset();
    if (last_.cols() == program.N && last_.rows() == program.system.nu() && program.N > 1) {
      Eigen::MatrixXd shifted(last_.rows(), last_.cols());
      shifted << last_.rightCols(last_.cols() - 1), last_.col(last_.cols() - 1);
      if (suggestions.empty() || suggestions.front() != shifted) suggestions.push_back(std::move(shifted));
    }
    search(program, suggestions);
    // Rounding errors are others with another proximal term.
    const double first = weight_;
    for (const double weight : kWeights) {
      if (result_.status != Status::kNumericalFailure) break;
      if (weight == first) continue;
      const LcsMpcResult before = result_;
      if (before.has_incumbent) suggestions.push_back(before.incumbent.u);
      factor(program, weight);
      search(program, suggestions);
      keep(before);
    }
    last_ = result_.has_incumbent ? result_.incumbent.u : Eigen::MatrixXd();
    result_.time_s = clock_.seconds();
    return result_;
  }

  void forget() { last_.resize(0, 0); }

  BranchAndBoundSettings settings;
  std::optional<Eigen::MatrixXd> suggested;

 private:
  void search(const LcsMpcProgram& program, const std::vector<Eigen::MatrixXd>& suggestions) {
    for (bool any_weight = weight_ != 1;; any_weight = true) {
      const std::int64_t nodes = result_.nodes, iterations = result_.iterations;
      result_ = {};
      result_.nodes = nodes;
      result_.iterations = iterations;
      BranchAndBoundSettings left = settings;
      left.time_limit_s -= clock_.seconds();
      if (LcsSearch(program, *stages_, left, any_weight).run(suggestions, result_)) return;
      factor(program, kLighter);
    }
  }

  /// What an earlier search knew better; one that knew a trajectory refutes a proof that there is none.
  void keep(const LcsMpcResult& before) {
    if (!before.has_incumbent) return;
    if (result_.status == Status::kInfeasible) {
      result_.status = Status::kNumericalFailure;
      result_.bound = before.bound;
    }
    if (result_.has_incumbent && result_.cost <= before.cost) return;
    result_.has_incumbent = true;
    result_.incumbent = before.incumbent;
    result_.certificate = before.certificate;
    result_.cost = before.cost;
    const double size = before.gap > 0 ? (before.cost - before.bound) / before.gap : std::max(before.cost, 1e-300);
    result_.gap = std::max(0.0, result_.cost - result_.bound) / size;
  }

  void factor(const LcsMpcProgram& program, double weight) {
    weight_ = weight;
    stages_ = std::make_unique<LcsStages>(program, weight);
  }

  std::unique_ptr<LcsStages> stages_;
  double weight_ = 1;  // of its proximal term
  Stopwatch clock_;
  Eigen::MatrixXd last_;
  LcsMpcResult result_;
};

LcsMpcSolver::LcsMpcSolver(BranchAndBoundSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
LcsMpcSolver::~LcsMpcSolver() = default;
LcsMpcSolver::LcsMpcSolver(LcsMpcSolver&&) noexcept = default;
LcsMpcSolver& LcsMpcSolver::operator=(LcsMpcSolver&&) noexcept = default;

const LcsMpcResult& LcsMpcSolver::solve(const LcsMpcProgram& program) { return impl_->solve(program); }
void LcsMpcSolver::suggest(Eigen::MatrixXd u) { impl_->suggested = std::move(u); }
void LcsMpcSolver::forget() { impl_->forget(); }
BranchAndBoundSettings& LcsMpcSolver::settings() { return impl_->settings; }

}  // namespace deft::solvers::lcs
