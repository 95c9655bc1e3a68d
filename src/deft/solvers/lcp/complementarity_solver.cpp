#include "deft/solvers/lcp/complementarity_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/lcp/alternative_solution.hpp"
#include "deft/solvers/lcp/complementarity_certificate.hpp"
#include "deft/solvers/lcp/complementarity_newton.hpp"
#include "deft/solvers/lcp/complementary_basis.hpp"
#include "deft/solvers/lcp/free_elimination.hpp"
#include "deft/solvers/lcp/lemke.hpp"
#include "deft/solvers/lcp/mode_search.hpp"
#include "deft/solvers/lcp/scaled_complementarity.hpp"

namespace deft::solvers::lcp {
namespace {

using Method = ComplementaritySettings::Method;

constexpr int kExchangeRounds = 2;  // of whole blocks, after a warm start
constexpr int kWarmPivots = 20;     // more from the last basis than this and n/4: a cold start is as good
constexpr double kNearly = 1e-8;    // scaled: members of pairs that are more negative are not passed to the certifier
constexpr int kOtherCovers = 6;     // random covering vectors after e
constexpr std::array<double, 2> kRestartTies{1e-12, 1e-14};  // of Lemke's method from a basis that rounding made wrong
constexpr int kRenew = 20;  // pivots between dictionaries computed again, after a first run that failed
constexpr std::array<double, 3> kRegularisations{1e-11, 1e-9, 1e-7};  // added to the diagonal, scaled
constexpr std::array<double, 8> kProximalWeights{
    1e-12, 1e-13, 1e-13, 1e-14, 1e-14, 1e-14, 1e-14, 1e-14};  // in extended precision, around the last point, scaled
constexpr double kLargestPoint = 1e11;    // scaled size: points beyond are kept finite by the proximal weight alone
constexpr double kStrongerProximal = 10;  // factor of the least weight after a ray
constexpr int kEarlyModes = 300;          // nodes of a first search, before the slower methods
constexpr double kUsualSize = 50;         // larger problems may search fewer nodes: one costs at least n²
constexpr int kNewtonStarts = 3;
constexpr int kNewtonIterations = 100;
constexpr std::uint64_t kSeed = 0x1e3c;
constexpr double kSearchShare = 0.25;  // of the work, at least, for the search over modes
constexpr double kExtended = 100;      // a multiplication in extended precision, in others
constexpr double kProven = 1e-8;       // error up to which a proof is accepted

int pivot_limit(int n) { return 30 * n + 200; }

/// @throws std::invalid_argument naming the setting and its value.
void check_settings(const ComplementaritySettings& settings) {
  if (!(settings.tolerance > 0))
    throw std::invalid_argument(fmt::format("tolerance = {}: must be positive", settings.tolerance));
  if (settings.max_modes < 0)
    throw std::invalid_argument(fmt::format("max_modes = {}: must not be negative", settings.max_modes));
  if (!(settings.max_work >= 0))
    throw std::invalid_argument(fmt::format("max_work = {}: must not be negative", settings.max_work));
  if (std::isnan(settings.time_limit_s)) throw std::invalid_argument("time_limit_s is not a number");
}

}  // namespace

class ComplementaritySolver::Impl {
 public:
  explicit Impl(ComplementaritySettings given) : settings(given) {}

  const ComplementarityResult& solve(const ComplementarityProgram& program);
  void forget() { remembered_.clear(); }

  ComplementaritySettings settings;

 private:
  bool zero_is_solution() const;
  bool find();
  bool start_warm();
  bool pivot_warm();
  void make_pure();
  bool pivot(const LemkeProblem& problem, std::span<const double> cover, int renew);
  bool pivot_regularised();
  bool pivot_extended();
  bool pivot_with_other_covers();
  bool iterate_newton();
  double residual_of(const Eigen::VectorXd& z, ComplementarityCertificate& certificate);
  bool accept(const char* method);
  bool accept_modes(const ModeTable& table);
  void take_candidate();
  ModeSearch::Limits search_limits(int nodes) const;
  bool refute(int nodes);
  void look_for_others();
  double work_left() const { return (1 - kSearchShare) * settings.max_work - work_; }
  bool exhausted();
  void conclude();

  const ComplementarityProgram* program_ = nullptr;
  Stopwatch clock_;
  ScaledComplementarity scaled_;
  FreeElimination pure_;
  Lemke lemke_;
  std::unique_ptr<BasicLemke<linear::Extended>> extended_;
  ComplementaryBasis basis_;
  ComplementarityNewton newton_;
  ComplementarityCertifier certifier_;
  ModeSearch search_;
  AlternativeSolution alternative_;
  ComplementarityResult result_;
  std::vector<char> basic_, start_, remembered_, remembered_free_;
  std::vector<int> rows_, cols_;
  std::vector<double> cover_, regularised_M_, point_, lifted_, moved_q_, remembered_z_;
  Eigen::VectorXd candidate_;
  double best_ = 0;  // residual of the point in the result
  double work_ = 0;  // multiplications of this solve
  bool ray_ = false, limited_ = false, timed_out_ = false;
  bool pure_made_ = false, measured_ = false;  // of this program
};

const ComplementarityResult& ComplementaritySolver::Impl::solve(const ComplementarityProgram& program) {
  check(program);
  check_settings(settings);
  program_ = &program;
  clock_.restart();
  const auto n = program.q.size();
  result_.status = Status::kNumericalFailure;
  result_.solution.z.setZero(n);
  result_.solution.w = program.q;
  result_.solution.uniqueness = Uniqueness::kUnknown;
  result_.solution.second_z.resize(0);
  result_.solution.second_w.resize(0);
  result_.solution.proof.clear();
  result_.iterations = result_.modes = 0;
  result_.warm = false;
  result_.method = settings.method == Method::kNewton ? "newton" : "lemke";
  ray_ = limited_ = timed_out_ = pure_made_ = measured_ = false;
  work_ = 0;
  best_ = std::numeric_limits<double>::infinity();
  const bool zero_solves = zero_is_solution();
  if (zero_solves) {
    result_.status = Status::kSolved;
  } else if (exhausted()) {
    result_.status = timed_out_ ? Status::kTimeLimit : Status::kIterationLimit;
  } else {
    scaled_.assign(program, !remembered_.empty());
    if (!find()) conclude();
  }
  if (!(best_ < std::numeric_limits<double>::infinity()) && result_.status != Status::kInfeasible)  // z is still zero
    residual_of(result_.solution.z, result_.certificate);
  if (result_.status == Status::kSolved && settings.check_uniqueness) {
    if (zero_solves) scaled_.assign(program);
    look_for_others();
  }
  return result_;
}

// Whether z = 0 is a solution.
bool ComplementaritySolver::Impl::zero_is_solution() const {
  std::size_t next = 0;
  for (Eigen::Index i = 0; i < program_->q.size(); ++i) {
    const bool is_free = next < program_->free.size() && program_->free[next] == i;
    next += is_free;
    if (is_free ? program_->q[i] != 0 : program_->q[i] < 0) return false;
  }
  return true;
}

bool ComplementaritySolver::Impl::find() {
  if (start_warm()) return true;
  if (!remembered_.empty()) {  // from here on nothing depends on earlier problems
    scaled_.assign(*program_);
    pure_made_ = false;
    work_ = 0;
    best_ = std::numeric_limits<double>::infinity();
  }
  if (settings.method == Method::kNewton) return iterate_newton();
  make_pure();
  if (pivot(pure_.problem(), cover_, 0)) return true;
  if (ray_ && refute(1)) return true;  // a single linear program may refute all modes
  if (pivot_regularised() || refute(std::min(settings.max_modes, kEarlyModes))) return true;
  return pivot_extended() || pivot_with_other_covers() || (settings.method == Method::kAuto && iterate_newton());
}

void ComplementaritySolver::Impl::make_pure() {
  if (pure_made_) return;
  pure_made_ = true;
  pure_.assign(scaled_);
  cover_.assign(pure_.problem().n, 1.0);
  work_ += static_cast<double>(scaled_.num_free) * scaled_.n * scaled_.n;
}

// The last basis; then exchanges of all negative pairs at once, as long as they become fewer; then Lemke's method from
// there.
bool ComplementaritySolver::Impl::start_warm() {
  if (remembered_.empty() || remembered_free_ != scaled_.free || settings.method == Method::kNewton) return false;
  basic_ = remembered_;
  result_.warm = true;
  int least = scaled_.n + 1;
  for (int round = 0; round <= kExchangeRounds; ++round) {
    if (!basis_.solve(scaled_, basic_)) break;
    if (basis_.least(scaled_) >= -kNearly && accept("lemke")) return true;
    const int negative = basis_.count_negative(scaled_);
    if (negative == 0 || negative >= least) break;
    least = negative;
    basis_.exchange_negative(scaled_, basic_);
    ++result_.iterations;
  }
  if (pivot_warm()) return true;
  result_.warm = false;
  return false;
}

// Mostly a few pivots lead from the last basis to the next one; they may also end on a ray.
bool ComplementaritySolver::Impl::pivot_warm() {
  make_pure();
  pure_.mark_pure(remembered_, remembered_z_, start_);
  if (std::find(start_.begin(), start_.end(), 1) == start_.end()) return false;
  const int n = pure_.problem().n;
  const LemkeEnd end =
      lemke_.solve(pure_.problem(), cover_, start_, {.pivots = kWarmPivots + n / 4, .work = work_left()});
  result_.iterations += lemke_.pivots();
  work_ += lemke_.work();
  if (end != LemkeEnd::kSolved) return false;
  pure_.mark_basic(lemke_.basic(), basic_);
  return basis_.solve(scaled_, basic_) && accept("lemke");
}

bool ComplementaritySolver::Impl::pivot_with_other_covers() {
  const auto n = to_size(pure_.problem().n);
  for (int attempt = 0; attempt < kOtherCovers && !exhausted(); ++attempt) {
    for (std::size_t i = 0; i < n; ++i)
      cover_[i] =
          std::exp2(2 * random_normal(kSeed, static_cast<std::uint64_t>(attempt), static_cast<std::uint32_t>(i)));
    if (pivot(pure_.problem(), cover_, kRenew)) return true;
  }
  return false;
}

// Rounding of M may destroy its copositivity, on which Lemke's theorem rests. M + εI with ε beyond rounding restores
// it, and mostly leads to a basis of the problem itself.
bool ComplementaritySolver::Impl::pivot_regularised() {
  LemkeProblem problem = pure_.problem();
  if (pivot(problem, cover_, kRenew)) return true;
  const std::size_t entries = to_size(problem.n) * to_size(problem.ld);
  for (const double epsilon : kRegularisations) {
    if (exhausted()) return false;
    regularised_M_.assign(problem.M, problem.M + entries);
    for (int i = 0; i < problem.n; ++i) regularised_M_[to_size(i) * to_size(problem.ld + 1)] += epsilon;
    if (pivot({problem.n, problem.ld, regularised_M_.data(), problem.q}, cover_, kRenew)) return true;
  }
  return false;
}

// In extended precision an ε as small as rounding of M suffices. Proximal points: around its point z_k the next one
// solves Mz + q + ε(z − z_k), whose error as a solution is ε times the last step.
bool ComplementaritySolver::Impl::pivot_extended() {
  const LemkeProblem problem = pure_.problem();
  const auto n = to_size(problem.n);
  if (!extended_) extended_ = std::make_unique<BasicLemke<linear::Extended>>();
  BasicLemke<linear::Extended>::Limits limits{.pivots = pivot_limit(problem.n),
                                              .tie = 1e-16,
                                              .pivot = 1e-16,
                                              .clock = &clock_,
                                              .time_s = settings.time_limit_s};
  regularised_M_.assign(problem.M, problem.M + n * to_size(problem.ld));
  moved_q_.assign(problem.q, problem.q + n);
  point_.assign(n, 0.0);
  double least = 0;  // smaller weights have led to a ray
  for (const double wanted : kProximalWeights) {
    if (exhausted()) return false;
    const double epsilon = std::max(wanted, least);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t diagonal = i * to_size(problem.ld + 1);
      regularised_M_[diagonal] = problem.M[diagonal] + epsilon;
      moved_q_[i] = problem.q[i] - epsilon * point_[i];
    }
    limits.work = work_left() / kExtended;
    const LemkeEnd end =
        extended_->solve({problem.n, problem.ld, regularised_M_.data(), moved_q_.data()}, cover_, {}, limits);
    result_.iterations += extended_->pivots();
    work_ += kExtended * extended_->work();
    if (end != LemkeEnd::kSolved) {
      if (epsilon == kProximalWeights.front()) return false;
      least = kStrongerProximal * epsilon;
      continue;
    }
    extended_->point(point_);
    if (*std::max_element(point_.begin(), point_.end()) > kLargestPoint) return false;
    pure_.mark_basic(extended_->basic(), basic_);
    if (basis_.solve(scaled_, basic_) && accept("lemke")) return true;
    pure_.lift(point_, lifted_);
    basis_.take(scaled_, lifted_);
    if (accept("lemke")) return true;
  }
  return false;
}

// Lemke's method; where the certifier refuses its basis, again from there with finer ties.
bool ComplementaritySolver::Impl::pivot(const LemkeProblem& problem, std::span<const double> cover, int renew) {
  Lemke::Limits limits{.pivots = pivot_limit(problem.n), .renew = renew};
  if (std::isfinite(settings.time_limit_s)) {
    limits.clock = &clock_;
    limits.time_s = settings.time_limit_s;
  }
  limits.work = work_left();
  LemkeEnd end = lemke_.solve(problem, cover, {}, limits);
  result_.iterations += lemke_.pivots();
  work_ += lemke_.work();
  for (std::size_t restart = 0; end == LemkeEnd::kSolved; ++restart) {
    pure_.mark_basic(lemke_.basic(), basic_);
    if (basis_.solve(scaled_, basic_) && accept("lemke")) return true;
    if (restart == kRestartTies.size()) return false;
    limits.renew = 0;
    limits.tie = kRestartTies[restart];
    start_ = lemke_.basic();
    limits.work = work_left();
    end = lemke_.solve(pure_.problem(), cover, start_, limits);
    result_.iterations += lemke_.pivots();
    work_ += lemke_.work();
  }
  ray_ = ray_ || end == LemkeEnd::kRay;
  limited_ = limited_ || end == LemkeEnd::kPivotLimit;
  return false;
}

bool ComplementaritySolver::Impl::iterate_newton() {
  const auto n = to_size(scaled_.n);
  const double cubed = static_cast<double>(scaled_.n) * scaled_.n * scaled_.n;
  for (int start = 0; start < kNewtonStarts && !exhausted(); ++start) {
    point_.assign(n, 0.0);
    for (std::size_t i = 0; i < n && start > 0; ++i)
      point_[i] = std::abs(random_normal(kSeed + 1, static_cast<std::uint64_t>(start), static_cast<std::uint32_t>(i)));
    const int iterations =
        static_cast<int>(std::min(1.0 * kNewtonIterations, std::ceil(work_left() / std::max(1.0, cubed))));
    const bool converged = newton_.solve(scaled_, point_, iterations, &clock_, settings.time_limit_s);
    result_.iterations += newton_.iterations();
    work_ += newton_.iterations() * cubed;
    limited_ = limited_ || !converged;
    basic_ = newton_.basic();
    if (basis_.solve(scaled_, basic_) && accept("newton")) return true;
    basis_.take(scaled_, point_);
    if (accept("newton")) return true;
  }
  return false;
}

void ComplementaritySolver::Impl::take_candidate() {
  candidate_.resize(scaled_.n);
  for (int j = 0; j < scaled_.n; ++j) candidate_[j] = basis_.z()[j] * scaled_.col[j];
}

double ComplementaritySolver::Impl::residual_of(const Eigen::VectorXd& z, ComplementarityCertificate& certificate) {
  if (!measured_) certifier_.measure(*program_);
  measured_ = true;
  certificate = certifier_.certify_measured(*program_, z);
  return certificate.max_scaled();
}

// The certifier decides, in the program's own units.
bool ComplementaritySolver::Impl::accept(const char* method) {
  take_candidate();
  ComplementarityCertificate certificate;
  const double residual = residual_of(candidate_, certificate);
  const bool solved = residual <= settings.tolerance;
  if (!solved && !(residual < best_)) return false;
  best_ = residual;
  result_.certificate = certificate;
  result_.solution.z = candidate_;
  result_.solution.w = program_->q;
  result_.solution.w.noalias() += program_->M * candidate_;
  result_.method = method;
  if (!solved) return false;
  result_.status = Status::kSolved;
  remembered_ = basic_;
  remembered_free_ = scaled_.free;
  remembered_z_.assign(basis_.z().begin(), basis_.z().begin() + scaled_.n);
  return true;
}

bool ComplementaritySolver::Impl::accept_modes(const ModeTable& table) {
  if (settings.method != Method::kAuto) return true;  // the search may only refute, so that any point ends it
  basic_.resize(scaled_.n);
  for (int i = 0; i < scaled_.n; ++i) basic_[i] = scaled_.free[i] || table.value(i) > table.value(scaled_.n + i);
  if (basis_.solve(scaled_, basic_) && accept("modes")) return true;
  table.basis(rows_, cols_);
  return basis_.solve(scaled_, rows_, cols_) && accept("modes");
}

ModeSearch::Limits ComplementaritySolver::Impl::search_limits(int nodes) const {
  const double share = std::min(1.0, std::pow(kUsualSize / std::max(1, scaled_.n), 2));
  const double work = std::max(settings.max_work - work_, kSearchShare * settings.max_work);
  ModeSearch::Limits limits{.nodes = nodes <= kEarlyModes ? nodes : static_cast<int>(share * nodes), .work = work};
  if (std::isfinite(settings.time_limit_s)) {
    limits.clock = &clock_;
    limits.time_s = settings.time_limit_s;
  }
  return limits;
}

// The search over modes: a solution, or the proof that there is none. @returns whether it was decided.
bool ComplementaritySolver::Impl::refute(int nodes) {
  const ModeSearch::Accept accept_point = [this](const ModeTable& table) { return accept_modes(table); };
  const bool found = search_.find_any(scaled_, accept_point, search_limits(nodes));
  result_.modes += search_.nodes();
  work_ += search_.work();
  if (found) return result_.status == Status::kSolved;
  if (!search_.complete()) return false;
  result_.solution.proof = search_.proof();
  result_.certificate = certifier_.certify(*program_, result_.solution);
  measured_ = true;
  if (!(result_.certificate.infeasible <= kProven)) {
    result_.solution.proof.clear();
    return false;
  }
  result_.status = Status::kInfeasible;
  result_.method = "modes";
  return true;
}

void ComplementaritySolver::Impl::look_for_others() {
  const AlternativeSolution::IsSolution is_solution = [this](const Eigen::VectorXd& z) {
    ComplementarityCertificate certificate;
    return residual_of(z, certificate) <= settings.tolerance;
  };
  work_ = 0;
  result_.solution.uniqueness =
      alternative_.look(*program_, scaled_, result_.solution.z, is_solution, search_limits(settings.max_modes));
  result_.modes += alternative_.nodes();
  if (result_.solution.uniqueness != Uniqueness::kNotUnique) return;
  result_.status = Status::kNotUnique;
  result_.solution.second_z = alternative_.second();
  result_.solution.second_w = program_->q + program_->M * alternative_.second();
}

bool ComplementaritySolver::Impl::exhausted() {
  timed_out_ = timed_out_ || !(clock_.seconds() < settings.time_limit_s);
  limited_ = limited_ || !(work_left() > 0);
  return timed_out_ || !(work_left() > 0);
}

void ComplementaritySolver::Impl::conclude() {
  if (result_.status == Status::kInfeasible) return;
  exhausted();
  if (!timed_out_ && refute(settings.max_modes)) return;
  exhausted();
  if (timed_out_)
    result_.status = Status::kTimeLimit;
  else if (ray_)
    result_.status = Status::kRayTermination;
  else if (limited_)
    result_.status = Status::kIterationLimit;
}

ComplementaritySolver::ComplementaritySolver(ComplementaritySettings settings)
    : impl_(std::make_unique<Impl>(settings)) {}
ComplementaritySolver::~ComplementaritySolver() = default;
ComplementaritySolver::ComplementaritySolver(ComplementaritySolver&&) noexcept = default;
ComplementaritySolver& ComplementaritySolver::operator=(ComplementaritySolver&&) noexcept = default;
const ComplementarityResult& ComplementaritySolver::solve(const ComplementarityProgram& program) {
  return impl_->solve(program);
}
ComplementaritySettings& ComplementaritySolver::settings() { return impl_->settings; }
void ComplementaritySolver::forget() { impl_->forget(); }

}  // namespace deft::solvers::lcp
