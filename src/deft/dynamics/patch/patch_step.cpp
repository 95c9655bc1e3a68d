#include "deft/dynamics/patch/patch_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/core/stopwatch.hpp"
#include "deft/math/small_dense.hpp"

namespace deft::dynamics {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kTouching_m = 1e-10;     // a pair that was left out and comes nearer than −this becomes part of the
                                          // problem
constexpr std::size_t kFirstGuesses = 4;  // that are tried before the problem is reduced to the pairs that penetrate
constexpr int kNewtonNear = 30, kNewtonFar = 40, kNewtonFallback = 100;  // most iterations: from the first two guesses,
                                                                         // the others, and before the fallbacks
constexpr double kRunaway_rad = 100;                                     // turned in one step: the pose has no meaning

/// Three entries of a vector.
template <typename Index>
Eigen::Map<Vector3d> three_of(std::vector<double>& x, Index first) {
  return Eigen::Map<Vector3d>(x.data() + first);
}

}  // namespace

PatchStepper::PatchStepper(PatchWorld world)
    : world_(std::make_unique<PatchWorld>(std::move(world))), starts_(*world_) {}

void PatchStepper::move_freely(std::span<const PatchState> start, std::span<const PatchImpulse> impulses) {
  free_.resize(6 * start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    const PatchBody& body = world_->bodies[i];
    const Matrix3d R = rotation_from_quat_wxyz(start[i].quat_wxyz);
    const Matrix3d I = R * body.I_BCm_B * R.transpose();
    three_of(free_, 6 * i) = free_spin(I, start[i].omega_W, world_->h).omega + ldlt_solve(I, impulses[i].angular_W);
    three_of(free_, 6 * i + 3) = start[i].v_WC + world_->h * world_->gravity_W + impulses[i].linear_W / body.mass;
  }
}

bool PatchStepper::choose_pairs(bool only_penetrating) {
  starts_.place(start_, std::span<const double>(z_).first(free_.size()), X_WB_);
  const std::size_t before = pairs_.size();
  const int count = static_cast<int>(world_->pairs.size());
  distances_.resize(world_->pairs.size());
  for (int i = 0; i < count; ++i) {
    Vector3d n, point;
    if (!std::binary_search(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(before), i))
      distances_[i] = starts_.distance(i, X_WB_, n, point);
  }
  const auto add_below = [&](double least, bool or_loaded) {
    for (int i = 0; i < count; ++i) {
      if (std::find(pairs_.begin(), pairs_.end(), i) == pairs_.end() &&
          (distances_[i] < least || (or_loaded && starts_.was_loaded(i))))
        pairs_.push_back(i);
    }
  };
  add_below(before == 0 ? 0.0 : -kTouching_m, false);
  if (!only_penetrating && before == 0 && !pairs_.empty()) add_below(system_.velocity_scale() * world_->h, true);
  std::sort(pairs_.begin(), pairs_.end());
  return pairs_.size() > before;
}

bool PatchStepper::solve(std::span<const PatchState> start, bool with_fallbacks, PatchResult& result) {
  system_.set(*world_, start, free_, pairs_);
  const bool warm = std::any_of(pairs_.begin(), pairs_.end(), [this](int i) { return starts_.was_loaded(i); });
  const double L = world_->length;
  using From = InitialGuess::From;
  const std::array<InitialGuess, 9> guesses{InitialGuess{.from = From::kLast},
                                            {.from = From::kImpact},
                                            {.from = From::kSweeps},
                                            {.from = From::kImpact, .stick = true},
                                            {.from = From::kImpact, .blur = 1e-3 * L},
                                            {.from = From::kImpact, .blur = 0.02 * L},
                                            {.from = From::kImpact, .blur = 0.1 * L},
                                            {.from = From::kImpact, .blur = 0.3 * L},
                                            {.from = From::kImpact, .at_rest = true}};
  // First Newton's method alone from each guess, then with its fallbacks from all but the last step's.
  const std::size_t first = warm ? 0 : 1;
  const std::size_t attempts = with_fallbacks ? 2 * guesses.size() - 1 : kFirstGuesses;
  for (std::size_t k = first; k < attempts; ++k) {
    const bool fallbacks = k >= guesses.size();
    const std::size_t guess = fallbacks ? k - guesses.size() + 1 : k;
    starts_.make(guesses[guess], system_, free_, guess_);
    solver_.settings().max_newton = fallbacks ? kNewtonFallback : guess < 2 ? kNewtonNear : kNewtonFar;
    solver_.settings().fallbacks = fallbacks;
    solver_.settings().seed = k;
    ++result.attempts;
    const Stopwatch watch;
    const solvers::mcp::McpResult& found = solver_.solve(system_, guess_);
    result.solve_us += watch.microseconds();
    result.iterations += found.iterations;
    result.method = found.method;
    result.status = found.status;
    if (found.status == solvers::Status::kSolved) {
      z_ = found.z;
      return true;
    }
  }
  return false;
}

void PatchStepper::step(std::span<const PatchState> start, std::span<const PatchImpulse> impulses,
                        PatchResult& result) {
  if (start.size() != world_->bodies.size() || impulses.size() != world_->bodies.size())
    throw std::invalid_argument("PatchStepper::step: one state and one impulse per body");
  start_.assign(start.begin(), start.end());
  move_freely(start, impulses);
  for (const double x : free_)
    if (!std::isfinite(x))
      throw std::invalid_argument("PatchStepper::step: a velocity, impulse or orientation is not finite");
  result.iterations = result.attempts = 0;
  result.solve_us = result.certify_us = 0;
  result.method = "free";
  // Pairs that the free motion makes penetrate, that carried load before, or that are about to touch; where that fails,
  // the first alone. Then what the solution makes penetrate.
  for (const bool only_penetrating : {false, true}) {
    result.status = solvers::Status::kSolved;
    pairs_.clear();
    z_ = free_;
    system_.set(*world_, start, free_, pairs_);
    while (choose_pairs(only_penetrating) && solve(start, only_penetrating, result)) {
    }
    if (solvers::usable(result.status)) break;
  }

  // A body that makes many turns in a step has no meaningful pose.
  for (std::size_t i = 0; i < start.size(); ++i)
    if (!(world_->h * three_of(z_, 6 * i).norm() < kRunaway_rad)) result.status = solvers::Status::kNumericalFailure;

  result.end.assign(start.begin(), start.end());
  result.certificate = {};
  if (!solvers::usable(result.status)) {
    result.certificate.newton_euler = std::numeric_limits<double>::infinity();
    starts_.forget();
    result.contacts.clear();
    return;
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    PatchState& s = result.end[i];
    s.omega_W = three_of(z_, 6 * i);
    s.v_WC = three_of(z_, 6 * i + 3);
    s.p_WC += world_->h * s.v_WC;
    const Vector3d w = 0.5 * world_->h * s.omega_W;
    s.quat_wxyz = multiply_quat_wxyz(Eigen::Vector4d(1, w.x(), w.y(), w.z()), start[i].quat_wxyz).normalized();
  }
  result.contacts.resize(pairs_.size());
  for (std::size_t k = 0; k < pairs_.size(); ++k) system_.unpack(static_cast<int>(k), z_, result.contacts[k]);
  const Stopwatch watch;
  result.certificate = certifier_.certify(*world_, start, impulses, result.end, result.contacts);
  result.certify_us = watch.microseconds();
  starts_.remember(system_, z_);
}

}  // namespace deft::dynamics
