#include "deft/dynamics/coulomb_corrections.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/math/row_products.hpp"

namespace deft::dynamics {
namespace {

using solvers::contact::ContactProgram;

constexpr double kAgreement = 1e-10;  // of the longest way that a contact's rows move
constexpr double kFloor_m = 1e-15;
// Newton's method.
constexpr int kMostSteps = 20;
constexpr double kDecrease = 0.1;  // least part of the error that a whole step must take away
constexpr double kShortest = 0.1;  // share of Newton's step below which there is no progress
// The path of barriers 1/κ = t E0.
constexpr double kSoftest = 1e7, kSharpest = 1e-11, kTryExact = 1e-5;  // t
constexpr double kPathAccuracy = 1e-5;
constexpr double kFirstLength = 2, kLeastLength = 1e-3, kMostLength = 100;  // of a step along it
constexpr double kMostSharpening = 5;                                       // of log t in a step
constexpr double kStraight = 0.7;  // cosine of the most that it may turn in a step
constexpr int kMostOnPath = 400, kStepsOnPath = 8;
constexpr int kMostIterations = 60;  // of Anderson's iteration

/// How far the motion moves the rows of a contact, without what cancels [m].
double way_of(const ContactProgram& program, int i, const Eigen::VectorXd& delta) {
  const auto cols = program.J.cols(i);
  const auto block = program.J.block(i);
  double longest = 0;
  for (Eigen::Index r = 0; r < block.rows(); ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < cols.size(); ++c)
      sum += std::abs(block(r, static_cast<Eigen::Index>(c)) * delta(cols[c]));
    longest = std::max(longest, sum);
  }
  return longest;
}

}  // namespace

/// F of a solution, its rates, and the error of x. @returns the largest error that matters [m].
double CoulombCorrections::take(const Solved& solved) {
  const Eigen::VectorXd& delta = solved.solution.delta;
  const bool exact = std::isinf(solved.program.kappa);
  rates_.clear();
  way_ = 0;
  double worst = 0;
  for (int i = 0; i < solved.program.J.size(); ++i) {
    const Slide slide = correction_of(solved.program, i, delta, x_(i));
    opened_(i) = slide.gap;
    rates_.push_back(slide.rate);
    way_ = std::max(way_, way_of(solved.program, i, delta));
    // Where bodies are apart and no force acts, x = F(x) leaves it at that: such corrections need not be known.
    const bool is_free = exact && solved.solution.force[to_size(i)][0] == 0 && solved.solution.gap[to_size(i)] >= x_(i);
    if (!is_free) worst = std::max(worst, std::abs(opened_(i) - x_(i)));
  }
  error_ = opened_ - x_;
  return worst;
}

/// The matrices of Newton's method at a solution.
void CoulombCorrections::factor(const Solved& solved) {
  if (energy_J_ == 0) energy_J_ = certifier_.certify(solved.program, solved.solution).E0_J;
  sensitivity_.factor(solved.program, solved.solution, energy_J_);
  feedback_.factor(solved.program, solved.solution, rates_, sensitivity_);
}

CoulombCorrections::Outcome CoulombCorrections::newton(double kappa, double accuracy, int most, const Solve& solve) {
  double base_error = kInfinity, length = 1;
  for (int k = 0; k < most; ++k) {
    ++solves_;
    const Solved solved = solve(x_, kappa);
    const bool jammed = solved.status == solvers::Status::kInfeasible;
    if (!jammed && !solvers::usable(solved.status)) return Outcome::kFailed;
    const double worst = take(solved);
    if (jammed) return Outcome::kJammed;
    if (worst <= accuracy * way_ + kFloor_m) return Outcome::kFound;
    const double error = error_.norm();
    if (error <= (1 - kDecrease * length) * base_error) {
      base_ = x_;
      base_error = error;
      length = 1;
      factor(solved);
      feedback_.newton_step(solved.program, error_, step_);
      if (!step_.allFinite()) return Outcome::kStalled;
    } else {
      length *= 0.5;
      if (length < kShortest) return Outcome::kStalled;
    }
    x_ = (base_ + length * step_).cwiseMax(0.0);
  }
  return Outcome::kStalled;
}

/// rate_ at a solution, after `factor`. At fixed slacks all multipliers of a barrier grow as t, and they balance Qδ +
/// b.
void CoulombCorrections::take_path_rate(const Solved& solved) {
  const ContactProgram& program = solved.program;
  const Eigen::VectorXd& delta = solved.solution.delta;
  sharpening_.gradient = -program.b;
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const auto at = program.Q.start(k), size = program.Q.size(k);
    sharpening_.gradient.col(0).segment(at, size) -= program.Q.block(k) * delta.segment(at, size);
  }
  sharpening_.rows.setZero(sensitivity_.num_rows(), 1);
  no_contacts_.assign(program.contacts.size(), 0);
  sensitivity_.probe(program, sharpening_, moved_, no_contacts_);
  const Eigen::VectorXd moved = moved_.delta.col(0);
  Eigen::VectorXd opened = Eigen::VectorXd::Zero(program.J.size());
  for (int i = 0; i < program.J.size(); ++i) {
    for (int r = 0; r < program.J.rows(i); ++r) opened(i) += rates_[to_size(i)](r) * row_times(program.J, i, r, moved);
  }
  feedback_.newton_step(program, opened, rate_);
}

/// Newton's method across the tangent of path_, from x_ and log_t_. @returns whether it found the path again, whose
/// point and tangent path_ becomes.
bool CoulombCorrections::return_to_path(const Solve& solve) {
  for (int k = 0; k < kStepsOnPath; ++k) {
    ++solves_;
    const Solved solved = solve(x_, std::exp(-log_t_) / energy_J_);
    if (!solvers::usable(solved.status)) return false;
    const double worst = take(solved);
    factor(solved);
    take_path_rate(solved);
    if (!rate_.allFinite()) return false;
    if (worst <= kPathAccuracy * way_ + kFloor_m) {
      const double ahead = (path_.by_x.dot(rate_) / scale_ + path_.by_log_t) / std::hypot(rate_.norm() / scale_, 1.0);
      const bool is_first = path_.by_x.isZero(0);
      if (std::abs(ahead) < kStraight && !is_first) return false;
      // Turns become as sharp as the barrier.
      scale_ = std::max(way_, kFloor_m) * std::exp(0.5 * std::min(log_t_, 0.0));
      const double length = (ahead > 0 ? 1 : -1) * std::hypot(rate_.norm() / scale_, 1.0);
      path_ = {x_, log_t_, rate_ / (scale_ * length), 1 / length};
      return true;
    }
    feedback_.newton_step(solved.program, error_, step_);
    const double across = path_.by_x.dot(rate_) / scale_ + path_.by_log_t;
    const double change = -path_.by_x.dot(step_) / scale_ / across;
    x_ = (x_ + step_ + change * rate_).cwiseMax(0.0);
    log_t_ += change;
    if (!x_.allFinite() || std::abs(log_t_ - path_.log_t) > 2 * kMostSharpening) return false;
  }
  return false;
}

// The fixed points of programs with barriers are a curve from one that hardly feels the contacts to that of the exact
// program. It is followed by its length, since it may turn back to softer barriers on the way.
bool CoulombCorrections::follow_barrier(double kappa, const Solve& solve) {
  const bool is_exact = std::isinf(kappa);
  const double sharpest = std::log(kSharpest), enough = is_exact ? std::log(kTryExact) : -std::log(kappa * energy_J_);
  const int most = solves_ + kMostOnPath;
  scale_ = std::max(way_, kFloor_m);
  path_ = {Eigen::VectorXd::Zero(x_.size()), 0, Eigen::VectorXd::Zero(x_.size()), -1};
  bool started = false;
  for (double t = 1; t < kSoftest && !started; t *= 100) {
    x_.setZero();
    log_t_ = std::log(t);
    started = newton(1 / (t * energy_J_), kPathAccuracy, kStepsOnPath, solve) == Outcome::kFound;
  }
  if (!started || !return_to_path(solve)) return false;
  double length = kFirstLength;
  while (length >= kLeastLength && solves_ < most && path_.log_t > sharpest) {
    x_ = (path_.x + length * scale_ * path_.by_x).cwiseMax(0.0);
    log_t_ = path_.log_t + length * path_.by_log_t;
    if (!return_to_path(solve)) {
      length *= 0.5;
      continue;
    }
    length = std::min({2 * length, kMostLength, kMostSharpening / std::abs(path_.by_log_t)});
    if (path_.log_t > enough) continue;
    x_ = path_.x;
    if (newton(kappa, kAgreement, kMostSteps, solve) == Outcome::kFound) return true;
  }
  return false;
}

// Where bodies jam and cannot separate, the motion of compliant contacts shows how they would slide.
CoulombCorrections::Outcome CoulombCorrections::iterate(const Solve& solve) {
  anderson_.start();
  for (int k = 0; k < kMostIterations; ++k) {
    const Solved solved = solve(x_, kInfinity);
    const bool jammed = solved.status == solvers::Status::kInfeasible;
    if (!jammed && !solvers::usable(solved.status)) return Outcome::kFailed;
    if (take(solved) <= kAgreement * way_ + kFloor_m && !jammed) return Outcome::kFound;
    x_ = anderson_.next(x_, opened_);
  }
  return Outcome::kStalled;
}

/// The corrections of the last step, contacts found by id; 0 for others.
void CoulombCorrections::recall(std::span<const contact::Contact> contacts) {
  x_.setZero(static_cast<Eigen::Index>(contacts.size()));
  std::size_t at = 0;  // ids mostly stand in the same order
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    for (std::size_t k = 0; k < last_.size(); ++k) {
      const std::size_t j = (at + k) % last_.size();
      if (last_[j].first != contacts[i].id) continue;
      x_(static_cast<Eigen::Index>(i)) = last_[j].second;
      at = j + 1;
      break;
    }
  }
}

void CoulombCorrections::remember(std::span<const contact::Contact> contacts) {
  last_.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i)
    last_.emplace_back(contacts[i].id, opened_(static_cast<Eigen::Index>(i)));
}

CoulombCorrections::Outcome CoulombCorrections::search(double kappa, const Solve& solve) {
  energy_J_ = 0;
  solves_ = 0;
  opened_.setZero(x_.size());  // of a program that fails at once
  const bool is_warm = !x_.isZero(0);
  Outcome outcome = newton(kappa, kAgreement, kMostSteps, solve);
  if (is_warm && !settles(outcome)) {
    x_.setZero();
    outcome = newton(kappa, kAgreement, kMostSteps, solve);
  }
  if (settles(outcome)) return outcome;
  if (outcome == Outcome::kStalled && follow_barrier(kappa, solve)) return Outcome::kFound;
  return std::isinf(kappa) ? iterate(solve) : outcome;
}

bool CoulombCorrections::find_from(const Eigen::VectorXd& x, double kappa, const Solve& solve) {
  x_ = x;
  return settles(search(kappa, solve));
}

bool CoulombCorrections::find(std::span<const contact::Contact> contacts, double kappa, const Solve& solve) {
  recall(contacts);
  const Outcome outcome = search(kappa, solve);
  if (outcome == Outcome::kFound)
    remember(contacts);
  else
    forget();
  return settles(outcome);
}

}  // namespace deft::dynamics
