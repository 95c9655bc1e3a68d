// HPIPM: interior point on the kernels of BLASFEO, programs over a horizon.

extern "C" {
#include <blasfeo_common.h>
#include <hpipm_d_ocp_qp.h>
#include <hpipm_d_ocp_qp_dim.h>
#include <hpipm_d_ocp_qp_ipm.h>
#include <hpipm_d_ocp_qp_sol.h>
}

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "rivals/stage_rival.hpp"

namespace deft::benchmarks {
namespace {

constexpr double kTolerance = 1e-8;  // as the controller asks for
constexpr int kIterations = 60;
constexpr std::size_t kAlignment = 64;

/// The library never writes to what it is given.
double* open(const std::vector<double>& values) { return const_cast<double*>(values.data()); }

class HpipmStages : public StageRival {
 public:
  explicit HpipmStages(bool warm) : warm_(warm) {}
  std::string name() const override { return warm_ ? "HPIPM stages, warm" : "HPIPM stages"; }

  bool solve(const StageProgram& p, double* u) override {
    if (sizes_of(p) != sizes_) set_up(p);
    const int last = static_cast<int>(p.stages.size()) - 1;
    for (int t = 0; t <= last; ++t) set_stage(p, t, last);
    int warm = warm_ && solved_ ? 2 : 0;
    d_ocp_qp_ipm_arg_set_warm_start(&warm, &arg_);
    d_ocp_qp_ipm_solve(&qp_, &solution_, &arg_, &workspace_);
    int status = 0;
    d_ocp_qp_ipm_get_status(&workspace_, &status);
    for (int t = 0; t < last; ++t) d_ocp_qp_sol_get_u(t, &solution_, u + t * p.nu);
    solved_ = status == 0;
    return solved_;
  }

 private:
  /// nx, nu, and of each stage its rows and those that are soft.
  static std::vector<int> sizes_of(const StageProgram& p) {
    std::vector<int> sizes{p.nx, p.nu};
    for (const Stage& s : p.stages) {
      sizes.push_back(static_cast<int>(s.d.size()));
      sizes.push_back(static_cast<int>(soft_rows(s).size()));
    }
    return sizes;
  }

  static std::vector<int> soft_rows(const Stage& s) {
    std::vector<int> rows;
    for (std::size_t r = 0; r < s.rho.size(); ++r)
      if (std::isfinite(s.rho[r])) rows.push_back(static_cast<int>(r));
    return rows;
  }

  void set_stage(const StageProgram& p, int t, int last) {
    const Stage& s = p.stages[static_cast<std::size_t>(t)];
    if (t < last) {
      if (t > 0) d_ocp_qp_set_A(t, open(s.A), &qp_);
      d_ocp_qp_set_B(t, open(s.B), &qp_);
      d_ocp_qp_set_b(t, open(s.c), &qp_);
      d_ocp_qp_set_R(t, open(s.R), &qp_);
      d_ocp_qp_set_r(t, open(s.r), &qp_);
      d_ocp_qp_set_lbu(t, open(s.lower), &qp_);
      d_ocp_qp_set_ubu(t, open(s.upper), &qp_);
      if (!s.d.empty()) d_ocp_qp_set_D(t, open(s.U), &qp_);
    }
    if (t > 0) {
      d_ocp_qp_set_Q(t, open(s.Q), &qp_);
      d_ocp_qp_set_q(t, open(s.q), &qp_);
      if (!s.d.empty()) d_ocp_qp_set_C(t, open(s.X), &qp_);
    }
    if (s.d.empty()) return;
    d_ocp_qp_set_ug(t, open(s.d), &qp_);
    prices_.clear();
    for (const double rho : s.rho)
      if (std::isfinite(rho)) prices_.push_back(rho);
    if (!prices_.empty()) d_ocp_qp_set_zu(t, prices_.data(), &qp_);
  }

  void* memory(std::size_t bytes) {
    memory_.emplace_back(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment), std::free);
    return memory_.back().get();
  }

  void set_up(const StageProgram& p) {
    sizes_ = sizes_of(p);
    memory_.clear();
    solved_ = false;
    const int last = static_cast<int>(p.stages.size()) - 1;
    d_ocp_qp_dim_create(last, &dim_, memory(d_ocp_qp_dim_memsize(last)));
    for (int t = 0; t <= last; ++t) {
      const Stage& s = p.stages[static_cast<std::size_t>(t)];
      d_ocp_qp_dim_set_nx(t, t == 0 ? 0 : p.nx, &dim_);
      d_ocp_qp_dim_set_nu(t, t == last ? 0 : p.nu, &dim_);
      d_ocp_qp_dim_set_nbu(t, t == last ? 0 : p.nu, &dim_);
      d_ocp_qp_dim_set_ng(t, static_cast<int>(s.d.size()), &dim_);
      d_ocp_qp_dim_set_ns(t, static_cast<int>(soft_rows(s).size()), &dim_);
    }
    d_ocp_qp_create(&dim_, &qp_, memory(d_ocp_qp_memsize(&dim_)));
    d_ocp_qp_set_all_zero(&qp_);
    for (int t = 0; t <= last; ++t) set_rows(p, t, last);
    d_ocp_qp_sol_create(&dim_, &solution_, memory(d_ocp_qp_sol_memsize(&dim_)));
    d_ocp_qp_ipm_arg_create(&dim_, &arg_, memory(d_ocp_qp_ipm_arg_memsize(&dim_)));
    d_ocp_qp_ipm_arg_set_default(SPEED, &arg_);
    double tolerance = kTolerance;
    int iterations = kIterations;
    d_ocp_qp_ipm_arg_set_tol_stat(&tolerance, &arg_);
    d_ocp_qp_ipm_arg_set_tol_eq(&tolerance, &arg_);
    d_ocp_qp_ipm_arg_set_tol_ineq(&tolerance, &arg_);
    d_ocp_qp_ipm_arg_set_tol_comp(&tolerance, &arg_);
    d_ocp_qp_ipm_arg_set_iter_max(&iterations, &arg_);
    d_ocp_qp_ipm_ws_create(&dim_, &arg_, &workspace_, memory(d_ocp_qp_ipm_ws_memsize(&dim_, &arg_)));
  }

  /// What does not change: which inputs have bounds, which rows are one-sided, which are soft and upward only.
  void set_rows(const StageProgram& p, int t, int last) {
    const Stage& s = p.stages[static_cast<std::size_t>(t)];
    std::vector<int> inputs(static_cast<std::size_t>(p.nu));
    std::iota(inputs.begin(), inputs.end(), 0);
    if (t < last) d_ocp_qp_set_idxbu(t, inputs.data(), &qp_);
    if (s.d.empty()) return;
    std::vector<double> none(s.d.size(), 0.0);
    d_ocp_qp_set_lg_mask(t, none.data(), &qp_);
    const std::vector<int> soft = soft_rows(s);
    if (soft.empty()) return;
    std::vector<int> places;  // of the soft rows among bounds and rows
    for (const int row : soft) places.push_back((t < last ? p.nu : 0) + row);
    d_ocp_qp_set_idxs(t, places.data(), &qp_);
    std::vector<double> zero(soft.size(), 0.0), downward(soft.size(), 1.0);
    d_ocp_qp_set_Zl(t, downward.data(), &qp_);  // of violations that no lower bound asks for
    d_ocp_qp_set_Zu(t, zero.data(), &qp_);
    d_ocp_qp_set_zl(t, zero.data(), &qp_);
  }

  bool warm_, solved_ = false;
  std::vector<int> sizes_;
  std::vector<double> prices_;
  std::vector<std::unique_ptr<void, void (*)(void*)>> memory_;
  d_ocp_qp_dim dim_{};
  d_ocp_qp qp_{};
  d_ocp_qp_sol solution_{};
  d_ocp_qp_ipm_arg arg_{};
  d_ocp_qp_ipm_ws workspace_{};
};

}  // namespace

std::vector<std::unique_ptr<StageRival>> make_stage_rivals() {
  std::vector<std::unique_ptr<StageRival>> all;
  all.push_back(std::make_unique<HpipmStages>(false));
  all.push_back(std::make_unique<HpipmStages>(true));
  return all;
}

}  // namespace deft::benchmarks
