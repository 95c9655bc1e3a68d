// HPIPM: interior point on the kernels of BLASFEO, dense programs.

extern "C" {
#include <blasfeo_common.h>
#include <hpipm_d_dense_qp.h>
#include <hpipm_d_dense_qp_dim.h>
#include <hpipm_d_dense_qp_ipm.h>
#include <hpipm_d_dense_qp_sol.h>
}

#include <cstdlib>

#include "rivals/rival.hpp"

namespace deft::benchmarks {
namespace {

constexpr double kTolerance = 1e-10;
constexpr int kIterations = 60;
constexpr std::size_t kAlignment = 64;

/// Memory as BLASFEO wants it.
class Arena {
 public:
  void* get(std::size_t bytes) {
    memory_.reset(std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment));
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
};

class Hpipm : public Rival {
 public:
  explicit Hpipm(bool warm) : warm_(warm) {}
  std::string name() const override { return warm_ ? "HPIPM warm" : "HPIPM kept workspace"; }

  bool solve(const DenseProgram& p, double* x) override {
    if (n_ != p.n || m_ != p.m) set_up(p);
    // The library never writes to them.
    d_dense_qp_set_H(const_cast<double*>(p.Q.data()), &qp_);
    d_dense_qp_set_g(const_cast<double*>(p.b.data()), &qp_);
    d_dense_qp_set_C(const_cast<double*>(p.A_col.data()), &qp_);
    d_dense_qp_set_lg(const_cast<double*>(p.low.data()), &qp_);
    int warm = warm_ && solved_ ? 2 : 0;
    d_dense_qp_ipm_arg_set_warm_start(&warm, &arg_);
    d_dense_qp_ipm_solve(&qp_, &solution_, &arg_, &workspace_);
    int status = 0;
    d_dense_qp_ipm_get_status(&workspace_, &status);
    d_dense_qp_sol_get_v(&solution_, x);
    solved_ = status == 0;
    return solved_;
  }

 private:
  void set_up(const DenseProgram& p) {
    n_ = p.n;
    m_ = p.m;
    solved_ = false;
    d_dense_qp_dim_create(&dim_, memory_[0].get(d_dense_qp_dim_memsize()));
    d_dense_qp_dim_set_all(p.n, 0, 0, p.m, 0, &dim_);
    d_dense_qp_create(&dim_, &qp_, memory_[1].get(d_dense_qp_memsize(&dim_)));
    d_dense_qp_set_all_zero(&qp_);
    std::vector<double> none(p.low.size(), 0.0);
    d_dense_qp_set_ug_mask(none.data(), &qp_);  // no upper bounds
    d_dense_qp_sol_create(&dim_, &solution_, memory_[2].get(d_dense_qp_sol_memsize(&dim_)));
    d_dense_qp_ipm_arg_create(&dim_, &arg_, memory_[3].get(d_dense_qp_ipm_arg_memsize(&dim_)));
    d_dense_qp_ipm_arg_set_default(SPEED, &arg_);
    double tolerance = kTolerance;
    int iterations = kIterations;
    d_dense_qp_ipm_arg_set_tol_stat(&tolerance, &arg_);
    d_dense_qp_ipm_arg_set_tol_ineq(&tolerance, &arg_);
    d_dense_qp_ipm_arg_set_tol_comp(&tolerance, &arg_);
    d_dense_qp_ipm_arg_set_iter_max(&iterations, &arg_);
    d_dense_qp_ipm_ws_create(&dim_, &arg_, &workspace_, memory_[4].get(d_dense_qp_ipm_ws_memsize(&dim_, &arg_)));
  }

  bool warm_, solved_ = false;
  int n_ = 0, m_ = 0;
  Arena memory_[5];
  d_dense_qp_dim dim_{};
  d_dense_qp qp_{};
  d_dense_qp_sol solution_{};
  d_dense_qp_ipm_arg arg_{};
  d_dense_qp_ipm_ws workspace_{};
};

}  // namespace

Rivals make_hpipm() { return list(std::make_unique<Hpipm>(false), std::make_unique<Hpipm>(true)); }

}  // namespace deft::benchmarks
