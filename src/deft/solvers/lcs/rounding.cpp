#include "deft/solvers/lcs/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers::lcs {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAccepted = 1e-8;  // residual of a trajectory that counts as feasible, of 1 + its largest entry
constexpr double kCorner = 1e-9;    // both sides of a pair below: it may change modes
constexpr double kPull = 1e-7;      // multiplier from which on the change pays, of 1 + the cost
constexpr int kRounds = 30;

double largest(const LcsTrajectory& t) {
  return std::max({t.x.cwiseAbs().maxCoeff(), t.u.size() > 0 ? t.u.cwiseAbs().maxCoeff() : 0.0,
                   t.gamma.size() > 0 ? t.gamma.cwiseAbs().maxCoeff() : 0.0});
}

}  // namespace

LcsRounding::LcsRounding(const LcsMpcProgram& program, const LcsStages& stages, const LcsPropagation& layout)
    : program_(&program),
      stages_(&stages),
      relaxation_(stages, layout),
      intervals_(layout.start()),
      M_(program.system.D * program.system.C + program.system.E) {}

MatrixXd LcsRounding::inputs(const LcsStagePoint& point) const {
  const int nz = stages_->rows().nz(), nu = stages_->rows().nu();
  MatrixXd u(nu, program_->N);
  for (int k = 0; k < program_->N; ++k) {
    for (int j = 0; j < nu; ++j) u(j, k) = point.z[k * nz + j];
  }
  return u;
}

std::optional<std::vector<PairMode>> LcsRounding::simulate(const MatrixXd& u) {
  const LinearComplementaritySystem& s = program_->system;
  const int ng = s.pairs();
  std::vector<PairMode> modes;
  modes.reserve(program_->N * ng);
  lcp::ComplementaritySolver solver;  // a new one: the same modes whatever this thread solved before
  VectorXd x = program_->x0;
  lcp::ComplementarityProgram step;
  step.M = M_;
  for (int k = 0; k < program_->N; ++k) {
    const VectorXd free = s.A * x + s.B * u.col(k) + s.F;
    step.q = s.D * free + s.D0 * x + s.H * u.col(k) + s.alpha;
    const lcp::ComplementarityResult& found = solver.solve(step);
    if (!usable(found.status)) return std::nullopt;
    x = free + s.C * found.solution.z;
    for (int i = 0; i < ng; ++i)
      modes.push_back(found.solution.z(i) > found.solution.w(i) ? PairMode::kSlackZero : PairMode::kGammaZero);
  }
  return modes;
}

LcsCandidate LcsRounding::read(const LcsStagePoint& point, const std::vector<PairMode>& modes) const {
  const LinearComplementaritySystem& s = program_->system;
  const int nu = s.nu(), ng = s.pairs(), nz = stages_->rows().nz(), N = program_->N;
  LcsCandidate out;
  LcsTrajectory& t = out.trajectory;
  t.x.resize(s.nx(), N + 1);
  t.u = inputs(point);
  t.gamma.resize(ng, N);
  t.x.col(0) = program_->x0;
  for (int k = 0; k < N; ++k) {
    for (int i = 0; i < ng; ++i)
      t.gamma(i, k) = modes[k * ng + i] == PairMode::kGammaZero ? 0.0 : point.z[k * nz + nu + i];
    t.x.col(k + 1) = s.A * t.x.col(k) + s.B * t.u.col(k) + s.C * t.gamma.col(k) + s.F;
  }
  out.certificate = certify(*program_, t);
  return out;
}

int LcsRounding::change_sides(std::vector<PairMode>& modes) const {
  const LcsStagePoint& point = relaxation_.point();
  const double pull = kPull * (1 + std::abs(point.cost));
  int changes = 0;
  for (int pair = 0; pair < static_cast<int>(modes.size()); ++pair) {
    const int gamma = relaxation_.gamma_row(pair), slack = relaxation_.slack_row(pair);
    PairMode& mode = modes[pair];
    if (mode == PairMode::kSlackZero && point.y[gamma] < kCorner && relaxation_.multiplier(slack) > pull)
      mode = PairMode::kGammaZero, ++changes;
    else if (mode == PairMode::kGammaZero && point.y[slack] < kCorner && relaxation_.multiplier(gamma) > pull)
      mode = PairMode::kSlackZero, ++changes;
  }
  return changes;
}

std::optional<LcsCandidate> LcsRounding::improve(std::vector<PairMode> modes, std::span<const LcsMultiplier> working,
                                                 double cutoff) {
  std::optional<LcsCandidate> best;
  std::vector<LcsMultiplier> from(working.begin(), working.end());
  for (int round = 0; round < kRounds; ++round) {
    relaxation_.set(*program_, intervals_, modes, false);
    relaxation_.start(from);
    if (relaxation_.solve(cutoff, true) != LcsRelaxation::End::kOptimal) break;
    LcsCandidate found = read(relaxation_.point(), modes);
    if (found.certificate.max() > kAccepted * (1 + largest(found.trajectory)) || found.certificate.cost >= cutoff)
      break;
    cutoff = found.certificate.cost;
    best = std::move(found);
    if (change_sides(modes) == 0) break;
    from = relaxation_.working();
  }
  return best;
}

}  // namespace deft::solvers::lcs
