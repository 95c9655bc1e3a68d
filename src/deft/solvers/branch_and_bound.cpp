#include "deft/solvers/branch_and_bound.hpp"

#include <optional>

#include "deft/solvers/lcs_search.hpp"
#include "deft/solvers/lcs_stages.hpp"

namespace deft::solvers {

class LcsMpcSolver::Impl {
 public:
  explicit Impl(BranchAndBoundSettings given) : settings(std::move(given)) {}

  const LcsMpcResult& solve(const LcsMpcProgram& program) {
    const Stopwatch clock;
    check(program);
    if (stages_ && stages_->fits(program))
      stages_->set_data(program);
    else
      stages_ = std::make_unique<LcsStages>(program);
    std::vector<Eigen::MatrixXd> suggestions;
    if (suggested) suggestions.push_back(std::move(*suggested));
    suggested.reset();
    if (last_.cols() == program.N && last_.rows() == program.system.nu() && program.N > 1) {
      Eigen::MatrixXd shifted(last_.rows(), last_.cols());
      shifted << last_.rightCols(last_.cols() - 1), last_.col(last_.cols() - 1);
      suggestions.push_back(std::move(shifted));
    }
    result_ = {};
    LcsSearch search(program, *stages_, settings);
    search.run(suggestions, result_);
    last_ = result_.has_incumbent ? result_.incumbent.u : Eigen::MatrixXd();
    result_.time_s = clock.seconds();
    return result_;
  }

  BranchAndBoundSettings settings;
  std::optional<Eigen::MatrixXd> suggested;

 private:
  std::unique_ptr<LcsStages> stages_;
  Eigen::MatrixXd last_;
  LcsMpcResult result_;
};

LcsMpcSolver::LcsMpcSolver(BranchAndBoundSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
LcsMpcSolver::~LcsMpcSolver() = default;
LcsMpcSolver::LcsMpcSolver(LcsMpcSolver&&) noexcept = default;
LcsMpcSolver& LcsMpcSolver::operator=(LcsMpcSolver&&) noexcept = default;

const LcsMpcResult& LcsMpcSolver::solve(const LcsMpcProgram& program) { return impl_->solve(program); }
void LcsMpcSolver::suggest(Eigen::MatrixXd u) { impl_->suggested = std::move(u); }
BranchAndBoundSettings& LcsMpcSolver::settings() { return impl_->settings; }

}  // namespace deft::solvers
