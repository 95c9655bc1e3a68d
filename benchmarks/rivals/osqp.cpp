// OSQP: operator splitting; accurate only after its polishing step.

#include <osqp/osqp.h>

#include <algorithm>

#include "rivals/rival.hpp"

namespace deft::benchmarks {
namespace {

constexpr double kTolerance = 1e-9;
constexpr int kIterations = 20000;

/// A dense matrix as compressed columns, all entries stored.
struct Columns {
  std::vector<OSQPInt> starts, rows;
  std::vector<OSQPFloat> values;
  OSQPCscMatrix matrix{};

  void shape(int m, int n, bool upper) {
    starts.assign(1, 0);
    rows.clear();
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < (upper ? j + 1 : m); ++i) rows.push_back(i);
      starts.push_back(static_cast<OSQPInt>(rows.size()));
    }
    values.resize(rows.size());
    OSQPCscMatrix_set_data(&matrix, m, n, static_cast<OSQPInt>(rows.size()), values.data(), rows.data(), starts.data());
  }
};

class Osqp : public Rival {
 public:
  ~Osqp() override { osqp_cleanup(solver_); }
  Osqp() = default;
  Osqp(const Osqp&) = delete;
  Osqp& operator=(const Osqp&) = delete;

  std::string name() const override { return "OSQP kept workspace"; }

  bool solve(const DenseProgram& p, double* x) override {
    const bool is_new = solver_ == nullptr || n_ != p.n || m_ != p.m;
    if (is_new) {
      n_ = p.n;
      m_ = p.m;
      P_.shape(p.n, p.n, true);
      A_.shape(p.m, p.n, false);
      upper_.assign(p.low.size(), OSQP_INFTY);
    }
    std::size_t k = 0;
    for (int j = 0; j < p.n; ++j)
      for (int i = 0; i <= j; ++i) P_.values[k++] = p.Q[static_cast<std::size_t>(j * p.n + i)];
    std::copy(p.A_col.begin(), p.A_col.end(), A_.values.begin());
    if (is_new) {
      if (!set_up(p)) return false;
    } else if (osqp_update_data_mat(solver_, P_.values.data(), nullptr, static_cast<OSQPInt>(P_.values.size()),
                                    A_.values.data(), nullptr, static_cast<OSQPInt>(A_.values.size())) != 0 ||
               osqp_update_data_vec(solver_, p.b.data(), p.low.data(), upper_.data()) != 0) {
      return false;
    }
    osqp_solve(solver_);
    if (solver_->info->status_val != OSQP_SOLVED) return false;
    std::copy(solver_->solution->x, solver_->solution->x + n_, x);
    return true;
  }

 private:
  bool set_up(const DenseProgram& p) {
    osqp_cleanup(solver_);
    solver_ = nullptr;
    OSQPSettings settings;
    osqp_set_default_settings(&settings);
    settings.verbose = 0;
    settings.eps_abs = settings.eps_rel = kTolerance;
    settings.max_iter = kIterations;
    settings.polishing = 1;
    return osqp_setup(&solver_, &P_.matrix, p.b.data(), &A_.matrix, p.low.data(), upper_.data(), p.m, p.n, &settings) ==
           0;
  }

  OSQPSolver* solver_ = nullptr;
  int n_ = 0, m_ = 0;
  Columns P_, A_;
  std::vector<double> upper_;
};

}  // namespace

Rivals make_osqp() { return list(std::make_unique<Osqp>()); }

}  // namespace deft::benchmarks
