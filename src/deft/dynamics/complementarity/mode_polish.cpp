#include "deft/dynamics/complementarity/mode_polish.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/dynamics/sliding_gap.hpp"
#include "deft/math/dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::RowVectorXd;
using Eigen::VectorXd;

constexpr double kLoaded = 1e-10;  // of the largest normal force
constexpr double kInside = 1e-7;   // of the cone: friction nearer to its border than that slides
constexpr double kRank = 1e-13;
constexpr double kWrongSide_m = 1e-10;  // gaps and slides on the wrong side
constexpr double kOutside = 1e-9;       // of the largest force: rounding of forces on the wrong side
constexpr int kSteps = 3;
constexpr int kRounds = 12;  // of wrong modes put right

enum class Mode : char { kOpen, kStick, kSlideBack, kSlideForth };  // the last two: friction along −t, +t

/// One loaded contact's rows and forces.
struct Loaded {
  int contact = 0;
  double friction = 0;             // f_t/f_n of a sliding one
  Index normal = 0, tangent = -1;  // of the multipliers
};

RowVectorXd dense_row(const solvers::contact::ContactProgram& program, int i, Index row) {
  RowVectorXd dense = RowVectorXd::Zero(program.nv);
  const auto cols = program.J.cols(i);
  for (std::size_t c = 0; c < cols.size(); ++c) dense(cols[c]) = program.J.block(i)(row, static_cast<Index>(c));
  return dense;
}

/// Active rows N (Nδ + offset = 0), and the directions G of their forces λ: Qδ + b = Gᵀλ.
struct Modes {
  std::vector<Loaded> loaded;
  std::vector<int> limits;
  MatrixXd N, G;
  VectorXd offset, lambda;
};

bool is_rough(const solvers::contact::ContactProgram& program, int i) {
  const solvers::contact::ContactLaw& law = program.contacts[i];
  return !law.frictionless && law.mu > 0 && program.J.rows(i) > 1;
}

/// The modes that forces show.
std::vector<Mode> guess_modes(const solvers::contact::ContactProgram& program,
                              const solvers::contact::ContactSolution& solution) {
  double largest = 0;
  for (const auto& f : solution.force) largest = std::max(largest, f[0]);
  std::vector<Mode> modes(solution.force.size(), Mode::kOpen);
  for (int i = 0; i < program.J.size(); ++i) {
    const auto& f = solution.force[i];
    if (!(f[0] > kLoaded * largest)) continue;
    const bool inside = !is_rough(program, i) || std::abs(f[1]) < (1 - kInside) * program.contacts[i].mu * f[0];
    modes[i] = inside ? Mode::kStick : f[1] > 0 ? Mode::kSlideForth : Mode::kSlideBack;
  }
  return modes;
}

Modes lay_out(const contact::ContactProblem& problem, const solvers::contact::ContactProgram& program,
              const solvers::contact::ContactSolution& solution, const std::vector<Mode>& of) {
  Modes modes;
  Index rows = 0;
  for (int i = 0; i < program.J.size(); ++i) {
    const Mode mode = of[i];
    if (mode == Mode::kOpen) continue;
    Loaded contact{.contact = i, .normal = rows++};
    if (is_rough(program, i)) {
      const double mu = program.contacts[i].mu;
      if (mode == Mode::kStick)
        contact.tangent = rows++;
      else
        contact.friction = mode == Mode::kSlideForth ? mu : -mu;
    }
    modes.loaded.push_back(contact);
  }
  for (Index v = 0; v < solution.bound_multipliers.size(); ++v) {
    if (solution.bound_multipliers(v) == 0) continue;
    modes.limits.push_back(static_cast<int>(v));
    ++rows;
  }
  modes.N.setZero(rows, program.nv);
  modes.G.setZero(rows, program.nv);
  modes.offset.setZero(rows);
  modes.lambda.setZero(rows);
  for (const Loaded& contact : modes.loaded) {
    const auto at = to_size(contact.contact);
    const RowVectorXd n = dense_row(program, contact.contact, 0);
    modes.N.row(contact.normal) = modes.G.row(contact.normal) = n;
    modes.offset(contact.normal) = problem.contacts[at].gap;
    modes.lambda(contact.normal) = solution.force[at][0];
    if (contact.friction != 0) modes.G.row(contact.normal) += contact.friction * dense_row(program, contact.contact, 1);
    if (contact.tangent < 0) continue;
    modes.N.row(contact.tangent) = modes.G.row(contact.tangent) = dense_row(program, contact.contact, 1);
    modes.lambda(contact.tangent) = solution.force[at][1];
  }
  Index row = rows - static_cast<Index>(modes.limits.size());
  for (const int v : modes.limits) {
    const double f = solution.bound_multipliers(v);
    modes.N(row, v) = modes.G(row, v) = 1;
    modes.offset(row) = -(f > 0 ? program.lower(v) : program.upper(v));
    modes.lambda(row++) = f;
  }
  return modes;
}

void write_back(const Modes& modes, solvers::contact::ContactSolution& solution) {
  for (auto& f : solution.force) f = {};
  for (const Loaded& contact : modes.loaded) {
    auto& f = solution.force[contact.contact];
    f[0] = modes.lambda(contact.normal);
    f[1] = contact.tangent >= 0 ? modes.lambda(contact.tangent) : contact.friction * f[0];
  }
  Index row = modes.lambda.size() - static_cast<Index>(modes.limits.size());
  for (const int v : modes.limits) solution.bound_multipliers(v) = modes.lambda(row++);
}

/// Newton steps in δ and the multipliers. @returns whether the numbers stayed finite.
bool solve_modes(const solvers::contact::ContactProgram& program, Modes& modes, VectorXd& delta) {
  const Index nv = program.nv, rows = modes.lambda.size();
  // Scaled so that motions and forces are of one size.
  const double motion = std::max(delta.lpNorm<Eigen::Infinity>(), modes.offset.lpNorm<Eigen::Infinity>());
  const double force = modes.lambda.lpNorm<Eigen::Infinity>();
  const double unit = motion > 0 && force > 0 ? force / motion : 1.0;
  MatrixXd K = MatrixXd::Zero(nv + rows, nv + rows);
  for (int k = 0; k < program.Q.num_blocks(); ++k)
    K.block(program.Q.start(k), program.Q.start(k), program.Q.size(k), program.Q.size(k)) = program.Q.block(k) / unit;
  K.topRightCorner(nv, rows) = -modes.G.transpose();
  K.bottomLeftCorner(rows, nv) = modes.N;
  // Joints that hardly move have stiffnesses beyond all others.
  VectorXd scale = VectorXd::Ones(nv + rows);
  for (Index v = 0; v < nv; ++v) scale(v) = 1 / std::sqrt(std::max(1.0, K(v, v)));
  const MatrixXd stiffness = K.topLeftCorner(nv, nv);
  K = scale.asDiagonal() * K * scale.asDiagonal();
  const LeastSquares factor(K, kRank);
  VectorXd r(nv + rows);
  for (int step = 0; step < kSteps; ++step) {
    r.head(nv) = program.b / unit - modes.G.transpose() * (modes.lambda / unit);
    r.head(nv) += stiffness * delta;
    r.tail(rows) = modes.N * delta + modes.offset;
    const VectorXd dx = scale.cwiseProduct(factor.solve(VectorXd(scale.cwiseProduct(r))));
    delta -= dx.head(nv);
    modes.lambda -= unit * dx.tail(rows);
  }
  return delta.allFinite() && modes.lambda.allFinite();
}

/// Puts right the modes that the result contradicts. @returns whether there were none.
bool correct_modes(const contact::ContactProblem& problem, const solvers::contact::ContactProgram& program,
                   const solvers::contact::ContactSolution& solution, double tiny, std::vector<Mode>& modes) {
  bool right = true;
  for (int i = 0; i < program.J.size(); ++i) {
    const auto at = to_size(i);
    const auto& f = solution.force[at];
    const double gap = problem.contacts[at].gap + dense_row(program, i, 0).dot(solution.delta);
    const bool rough = is_rough(program, i);
    const double slip = rough ? dense_row(program, i, 1).dot(solution.delta) : 0.0;
    Mode& mode = modes[at];
    const Mode before = mode;
    if (mode == Mode::kOpen) {
      if (gap < -kWrongSide_m) mode = Mode::kStick;
    } else if (f[0] < -tiny || gap > kWrongSide_m) {  // pulls, or cannot touch together with the others
      mode = Mode::kOpen;
    } else if (gap < -kWrongSide_m) {
      right = false;  // penetrates: another contact's mode is wrong
    } else if (rough && mode == Mode::kStick && std::abs(f[1]) > program.contacts[at].mu * f[0] + tiny) {
      mode = f[1] > 0 ? Mode::kSlideForth : Mode::kSlideBack;
    } else if (mode != Mode::kStick && f[1] * slip > 0 && std::abs(slip) > kWrongSide_m) {
      mode = Mode::kStick;
    }
    if (mode != before) right = false;
  }
  return right;
}

/// Gaps, De Saxcé corrections and multipliers of the pyramids that belong to motion and forces.
void fill_program(const contact::ContactProblem& problem, solvers::contact::ContactProgram& program,
                  solvers::contact::ContactSolution& solution, std::vector<double>& corrections) {
  corrections.assign(program.J.size(), 0.0);
  solution.ray_multipliers.clear();
  for (int i = 0; i < program.J.size(); ++i) {
    const auto at = to_size(i);
    solvers::contact::ContactLaw& law = program.contacts[at];
    const auto& f = solution.force[at];
    solution.gap[at] = problem.contacts[at].gap + dense_row(program, i, 0).dot(solution.delta);
    corrections[at] = slide_of(program, i, solution.delta).gap;
    law.gap = problem.contacts[at].gap + corrections[at];
    if (law.frictionless || program.J.rows(i) == 1) {
      solution.ray_multipliers.push_back(f[0]);
      continue;
    }
    const double along = law.mu > 0 ? f[1] / law.mu : 0.0;
    solution.ray_multipliers.push_back(0.5 * (f[0] + along));
    solution.ray_multipliers.push_back(0.5 * (f[0] - along));
  }
}

}  // namespace

bool polish_modes(const contact::ContactProblem& problem, solvers::contact::ContactProgram& program,
                  solvers::contact::ContactSolution& solution, std::vector<double>& corrections) {
  if (solution.delta.size() != program.nv || !solution.delta.allFinite()) return false;
  const VectorXd limits_before = solution.bound_multipliers;
  std::vector<Mode> of = guess_modes(program, solution);
  for (int round = 0; round < kRounds; ++round) {
    Modes modes = lay_out(problem, program, solution, of);
    if (modes.lambda.size() == 0 || !solve_modes(program, modes, solution.delta)) return false;
    write_back(modes, solution);
    for (const int v : modes.limits)
      if (limits_before(v) * solution.bound_multipliers(v) < 0) return false;
    if (!correct_modes(problem, program, solution, kOutside * modes.lambda.lpNorm<Eigen::Infinity>(), of)) continue;
    fill_program(problem, program, solution, corrections);
    return true;
  }
  return false;
}

}  // namespace deft::dynamics
