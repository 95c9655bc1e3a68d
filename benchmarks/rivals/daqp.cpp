// DAQP: dual active set on a least-distance program.

#include <daqp/api.h>
#include <daqp/constants.h>
#include <daqp/utils.h>

#include <utility>

#include "rivals/rival.hpp"

namespace deft::benchmarks {
namespace {

class Daqp : public Rival {
 public:
  explicit Daqp(bool keeps) : keeps_(keeps) {}
  ~Daqp() override { release(); }
  Daqp(const Daqp&) = delete;
  Daqp& operator=(const Daqp&) = delete;

  std::string name() const override { return keeps_ ? "DAQP kept workspace" : "DAQP cold"; }

  bool solve(const DenseProgram& p, double* x) override {
    if (!keeps_) release();
    problem_.n = p.n;
    problem_.m = p.m;
    problem_.ms = 0;
    // The library never writes to them.
    problem_.H = const_cast<double*>(p.Q.data());
    problem_.f = const_cast<double*>(p.b.data());
    problem_.A = const_cast<double*>(p.A.data());
    problem_.blower = const_cast<double*>(p.low.data());
    upper_.resize(p.low.size(), DAQP_INF);
    problem_.bupper = upper_.data();
    const bool is_new = !ready_ || n_ != p.n || m_ != p.m;
    if (is_new)
      set_up(p);
    else
      update();
    if (!ready_) return false;
    DAQPResult result{};
    result.x = x;
    result.lam = multipliers_.data();
    daqp_solve(&result, &workspace_);
    return result.exitflag > 0;
  }

 private:
  void set_up(const DenseProgram& p) {
    release();
    n_ = p.n;
    m_ = p.m;
    sense_.assign(p.low.size(), 0);
    multipliers_.assign(p.low.size(), 0);
    problem_.sense = sense_.data();
    workspace_ = {};
    allocate_daqp_settings(&workspace_);
    workspace_.settings->primal_tol = kPrimalTolerance;
    ready_ = setup_daqp(&problem_, &workspace_, nullptr) >= 0;
  }

  void update() {
    // casadi 3.8's library loses its memory where a diagonal Q follows another one.
    if (workspace_.Rinv == nullptr) std::swap(workspace_.Rinv, workspace_.RinvD);
    ready_ = update_ldp(UPDATE_Rinv | UPDATE_M | UPDATE_v | UPDATE_d | UPDATE_sense, &workspace_) >= 0;
  }

  void release() {
    if (workspace_.settings == nullptr) return;
    free_daqp_workspace(&workspace_);
    free_daqp_ldp(&workspace_);
    workspace_ = {};
    ready_ = false;
  }

  static constexpr double kPrimalTolerance = 1e-9;  // of rows that are scaled to norm 1; the default is 1e-6
  bool keeps_;
  bool ready_ = false;
  int n_ = 0, m_ = 0;
  DAQPProblem problem_{};
  DAQPWorkspace workspace_{};
  std::vector<double> upper_, multipliers_;
  std::vector<int> sense_;
};

}  // namespace

Rivals make_daqp() { return list(std::make_unique<Daqp>(false), std::make_unique<Daqp>(true)); }

}  // namespace deft::benchmarks
