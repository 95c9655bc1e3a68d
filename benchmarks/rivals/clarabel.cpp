// Clarabel: interior point on the homogeneous embedding, with second-order cones; a crate behind three C functions.

#include "rivals/rival.hpp"

extern "C" {
void* deft_clarabel_new();
void deft_clarabel_free(void* workspace);
int deft_clarabel_solve(void* workspace, bool keep, std::size_t n, std::size_t m, const double* Q, const double* b,
                        const double* A, const double* low, const int* cones, std::size_t num_cones, double* x);
}

namespace deft::benchmarks {
namespace {

class Clarabel : public Rival {
 public:
  explicit Clarabel(bool keeps) : keeps_(keeps) {}
  std::string name() const override { return keeps_ ? "Clarabel kept workspace" : "Clarabel cold"; }
  bool takes_cones() const override { return true; }

  bool solve(const DenseProgram& p, double* x) override {
    return deft_clarabel_solve(workspace_.get(), keeps_, static_cast<std::size_t>(p.n), static_cast<std::size_t>(p.m),
                               p.Q.data(), p.b.data(), p.A_col.data(), p.low.data(), p.cones.data(), p.cones.size(),
                               x) == 1;
  }

 private:
  struct Free {
    void operator()(void* workspace) const { deft_clarabel_free(workspace); }
  };
  bool keeps_;
  std::unique_ptr<void, Free> workspace_{deft_clarabel_new()};
};

}  // namespace

Rivals make_clarabel() { return list(std::make_unique<Clarabel>(false), std::make_unique<Clarabel>(true)); }

}  // namespace deft::benchmarks
