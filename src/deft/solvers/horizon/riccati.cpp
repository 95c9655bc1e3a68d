#include "deft/solvers/horizon/riccati.hpp"

#include <algorithm>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::horizon {
namespace {

constexpr double kPivot = 1e-15;  // pivots are raised to it, relative to what they are the rest of

using Stage = PackedHorizon::Stage;

/// H = the cost of a stage.
void set_cost(const Stage& s, HorizonCost cost, double inputs, double* H) {
  std::fill(H, H + s.n * s.ld, 0.0);
  if (cost == HorizonCost::kInputs) {
    for (int i = 0; i < s.nu; ++i) H[i * s.ld + i] = inputs;
    return;
  }
  std::copy(s.Q.begin(), s.Q.end(), H + s.nu * s.ld);
  const int p = s.nu + s.nx;
  for (int i = 0; i < s.nu; ++i) {
    const double R = s.R[i];
    H[i * s.ld + i] = s.S[i] + R;
    if (s.np == 0) continue;
    H[i * s.ld + p + i] = -R;
    H[(p + i) * s.ld + p + i] = R;
  }
}

/// The lower triangle of the value, like its upper one.
void mirror(const Stage& s, double* H) {
  for (int i = s.nu; i < s.n; ++i)
    for (int j = i + 1; j < s.n; ++j) H[j * s.ld + i] = H[i * s.ld + j];
}

}  // namespace

void HorizonRiccati::factor(PackedHorizon& program, const std::vector<double>& form_weight, HorizonCost cost,
                            double inputs) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int T = program.steps();
  W_.resize(to_size(T) + 1);
  for (int t = T; t >= 0; --t) {
    const Stage& s = program.stage(t);
    std::vector<double>& storage = W_[t];
    storage.resize(s.n * s.ld);
    double* H = storage.data();
    set_cost(s, cost, inputs, H);
    program.add_forms(t, form_weight, H);
    if (t < T) add_next_value(program, t, H);
    // Its minimum over u.
    floor_.resize(s.n);
    for (int i = 0; i < s.nu; ++i) floor_[i] = kPivot * H[i * s.ld + i];
    kernels.factor_leading(s.nu, s.n, s.ld, H, floor_.data());
    mirror(s, H);
  }
}

// The value of the next stage at (M ζ, u), added to the form H of stage t:
//   Mᵀ V_xx M + Mᵀ V_xp [I 0 0] + [I 0 0]ᵀ V_px M + [I 0 0]ᵀ V_pp [I 0 0].
void HorizonRiccati::add_next_value(const PackedHorizon& program, int t, double* H) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const Stage &s = program.stage(t), &next = program.stage(t + 1);
  const double* V = W_[to_size(t) + 1].data() + next.nu * next.ld + next.nu;
  const int moving = s.nu + s.nx;
  T_.assign(s.nx * s.ld, 0.0);
  iota_.resize(s.ld);
  std::iota(iota_.begin(), iota_.end(), 0);
  kernels.multiply_many(s.nx, s.nx, 1, V, next.ld, 1, s.M.data(), s.ld, T_.data(), s.ld, moving);
  for (int i = 0; i < s.nx && next.np > 0; ++i)
    for (int j = 0; j < s.nu; ++j) T_[i * s.ld + j] += V[i * next.ld + s.nx + j];
  kernels.add_product(s.nx, moving, s.ld, s.M.data(), T_.data(), iota_.data(), true, H, s.ld);
  if (next.np == 0) return;
  kernels.multiply_many(s.nu, s.nx, 1, V + s.nx, 1, next.ld, s.M.data(), s.ld, H, s.ld, moving);
  for (int i = 0; i < s.nu; ++i)
    for (int j = i; j < s.nu; ++j) H[i * s.ld + j] += V[(s.nx + i) * next.ld + s.nx + j];
}

void HorizonRiccati::solve(const PackedHorizon& program, const std::vector<double>& g, bool affine,
                           std::vector<double>& z) {
  y_.resize(program.size());
  z.resize(program.size());
  sweep_backward(program, g, affine);
  sweep_forward(program, affine, z);
}

// V's gradient v by (x, p) backwards:  h = g + Mᵀv_x⁺ + [v_p⁺ 0 0],  y = U₁₁⁻ᵀ h_u,  v = h_(x,p) − U₁₂ᵀ y.
void HorizonRiccati::sweep_backward(const PackedHorizon& program, const std::vector<double>& g, bool affine) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int T = program.steps();
  const Stage& end = program.stage(T);
  v_.assign(kernels::padded(end.nx + program.stage(0).nu), 0.0);
  std::copy(g.data() + end.at, g.data() + end.at + end.n, v_.begin());
  for (int t = T; t-- > 0;) {
    const Stage &s = program.stage(t), &next = program.stage(t + 1);
    if (affine) {
      const double* V = W_[to_size(t) + 1].data() + next.nu * next.ld + next.nu;
      for (int j = 0; j < s.nx; ++j) {
        const double c = s.c[j];
        for (int i = 0; i < s.nx + next.np; ++i) v_[i] += V[j * next.ld + i] * c;
      }
    }
    h_.assign(g.data() + s.at, g.data() + s.at + s.ld);
    kernels.multiply_transposed(s.nx, s.ld, s.M.data(), v_.data(), h_.data());
    for (int i = 0; i < next.np; ++i) h_[i] += v_[s.nx + i];
    const double* U = W_[t].data();
    kernels.forward(s.nu, s.ld, U, h_.data());
    double* y = y_.data() + s.at;
    for (int i = 0; i < s.nu; ++i) y[i] = -h_[i];
    kernels.multiply_transposed(s.nu, s.ld, U, y, h_.data());
    std::copy(h_.begin() + s.nu, h_.begin() + s.n, v_.begin());
  }
}

// The inputs and states forwards:  u = −U₁₁⁻¹(y + U₁₂ (x, p)),  x⁺ = M ζ (+ c).
void HorizonRiccati::sweep_forward(const PackedHorizon& program, bool affine, std::vector<double>& z) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const int T = program.steps();
  std::fill(z.begin(), z.end(), 0.0);
  if (affine) {
    const Stage& first = program.stage(0);
    std::copy(program.x_start().begin(), program.x_start().end(), z.begin() + first.nu);
    if (first.np > 0) std::copy(program.u_before().begin(), program.u_before().end(), z.begin() + first.nu + first.nx);
  }
  for (int t = 0; t < T; ++t) {
    const Stage &s = program.stage(t), &next = program.stage(t + 1);
    const double* U = W_[t].data();
    double* zeta = z.data() + s.at;
    const double* y = y_.data() + s.at;
    h_.resize(std::max(s.ld, s.nu));
    kernels.multiply(s.nu, s.ld, U, zeta, h_.data());
    for (int i = 0; i < s.nu; ++i) h_[i] = y[i] - h_[i];
    kernels.backward(s.nu, s.ld, U, h_.data());
    std::copy(h_.begin(), h_.begin() + s.nu, zeta);
    double* after = z.data() + next.at;
    kernels.multiply(s.nx, s.ld, s.M.data(), zeta, after + next.nu);
    if (affine)
      for (int i = 0; i < s.nx; ++i) after[next.nu + i] += s.c[i];
    std::copy(zeta, zeta + next.np, after + next.nu + next.nx);
  }
}

void HorizonRiccati::feedback(const PackedHorizon& program, int t, Eigen::MatrixXd& K) {
  const kernels::DenseKernels& kernels = kernels::dense_kernels();
  const Stage& s = program.stage(t);
  const double* U = W_[t].data();
  K.resize(s.nu, s.nx);
  h_.resize(std::max(s.ld, s.nu));
  for (int j = 0; j < s.nx; ++j) {
    for (int i = 0; i < s.nu; ++i) h_[i] = -U[i * s.ld + s.nu + j];
    kernels.backward(s.nu, s.ld, U, h_.data());
    for (int i = 0; i < s.nu; ++i) K(i, j) = h_[i];
  }
}

}  // namespace deft::solvers::horizon
