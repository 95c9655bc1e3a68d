#include "deft/solvers/contact/force_choice/least_norm.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/force_choice/shortest_multipliers.hpp"

namespace deft::solvers::contact {
namespace {

using Eigen::Matrix4d;
using Eigen::Vector4d;
using Kind = GeneratorKind;

constexpr double kClosed = 1e-9;   // scaled slack below which a row may carry force
constexpr double kSliding = 1e-6;  // scaled slide above which its direction is the slack's, below that the force's

}  // namespace

/// The rows that the motion leaves closed, and where their multipliers go.
class LeastNorm::Selection {
 public:
  bool select(const ContactProgram& program, ContactSolution& solution) {
    certifier_.row_scales(program, w_);
    p_ = &program;
    x_ = &solution;
    root_ = std::sqrt(w_.E0_J);
    collect();
    dual_.resize(program.nv, 0.0);
    if (!search_.find(generators_, program.nv, dual_)) return false;
    selected_ = solution;
    store(selected_);
    if (!(certifier_.certify(program, selected_).max_scaled() <= kCertified)) return false;
    std::swap(solution, selected_);
    return true;
  }
  void forget() { dual_.clear(); }

 private:
  /// Where a generator's multipliers λ/scale belong; a contact's force is `force` times them.
  struct Target {
    enum Of { kContact, kLinear, kEquality, kBound } of = kContact;
    int index = 0;
    double sign = 1, scale = 1;
    int ray = -1;
    Matrix4d force = Matrix4d::Zero();
  };

  void collect() {
    generators_.clear();
    targets_.clear();
    std::size_t ray = 0;
    for (int i = 0; i < static_cast<int>(p_->contacts.size()); ++i) add_contact(i, ray);
    const auto &linear = p_->linear, &equality = p_->equality;
    for (int i = 0; i < linear.rows.size(); ++i) {
      const double slack = dot(linear.rows, i, 0) - linear.rhs[i];
      add_row(linear.rows, i, w_.linear[i], slack, x_->linear_multipliers[i], Kind::kRay, Target::kLinear);
    }
    for (int i = 0; i < equality.rows.size(); ++i)
      add_row(equality.rows, i, w_.equality[i], 0, x_->equality_multipliers[i], Kind::kLine, Target::kEquality);
    for (int i = 0; i < x_->bound_multipliers.size(); ++i) add_bounds(i);
  }

  /// Adds the changes: what is not selected (open rows, compliant contacts) keeps the solver's multipliers.
  void store(ContactSolution& out) const {
    for (std::size_t k = 0; k < targets_.size(); ++k) {
      const Target& target = targets_[k];
      const int rows = generators_.A.rows(static_cast<int>(k)), first = generators_.first[k];
      Vector4d change = Vector4d::Zero();
      for (int r = 0; r < rows; ++r)
        change(r) = (generators_.shortest[first + r] - generators_.given[first + r]) / target.scale;
      switch (target.of) {
        case Target::kContact:
          for (int r = 0; r < 4; ++r) out.force[target.index][r] += target.force.row(r).dot(change);
          if (target.ray >= 0)
            out.ray_multipliers[target.ray] = std::max(0.0, out.ray_multipliers[target.ray] + change[0]);
          break;
        case Target::kLinear:
          out.linear_multipliers[target.index] += change[0];
          break;
        case Target::kEquality:
          out.equality_multipliers[target.index] += change[0];
          break;
        case Target::kBound:
          out.bound_multipliers[target.index] += target.sign * change[0];
          break;
      }
    }
  }

  double dot(const RowBlocks& J, int i, int r) const {
    const auto cols = J.cols(i);
    const auto block = J.block(i);
    double sum = 0;
    for (std::size_t k = 0; k < cols.size(); ++k) sum += block(r, static_cast<Eigen::Index>(k)) * x_->delta[cols[k]];
    return sum;
  }
  bool closed(double slack, double multiplier, double w) const {
    const double s = slack / (w * root_);
    return s <= kClosed || multiplier * w / root_ > s;
  }

  void add_row(const RowBlocks& J, int i, double w, double slack, double multiplier, Kind kind, Target::Of of) {
    if (kind == Kind::kRay && !closed(slack, multiplier, w)) return;
    const auto cols = J.cols(i);
    if (cols.empty()) return;
    const double given = multiplier * w;
    auto row = generators_.add(kind, cols, {&given, 1});
    for (std::size_t c = 0; c < cols.size(); ++c)
      row(0, static_cast<Eigen::Index>(c)) = J.block(i)(0, static_cast<Eigen::Index>(c)) / w * w_.bounds[cols[c]];
    targets_.push_back({.of = of, .index = i, .scale = w});
  }

  void add_bounds(int i) {
    const double lower = p_->lower.size() ? p_->lower[i] : -INFINITY,
                 upper = p_->upper.size() ? p_->upper[i] : INFINITY;
    const double w = w_.bounds[i], m = x_->bound_multipliers[i];
    const auto add = [&](double sign, Kind kind) {
      const double given = w * (kind == Kind::kLine ? m : std::max(0.0, sign * m));
      generators_.add(kind, {&i, 1}, {&given, 1})(0, 0) = sign;
      targets_.push_back({.of = Target::kBound, .index = i, .sign = sign, .scale = w});
    };
    if (lower == upper) return add(1, Kind::kLine);
    if (std::isfinite(lower) && closed(x_->delta[i] - lower, m, w)) add(1, Kind::kRay);
    if (std::isfinite(upper) && closed(upper - x_->delta[i], -m, w)) add(-1, Kind::kRay);
  }

  void add_contact(int i, std::size_t& ray) {
    const ContactLaw& law = p_->contacts[i];
    const int rows = law.frictionless ? 1 : p_->J.rows(i);
    const bool pyramid = !is_cone(*p_, i);
    const int rays = !pyramid ? 0 : rows == 1 ? 1 : rows == 2 ? 2 : p_->rays;
    const std::size_t first_ray = ray;
    ray += rays;
    if (law.compliance > 0 || p_->J.cols(i).empty()) return;  // its force is the only one
    Vector4d z = Vector4d::Zero();
    for (int r = 0; r < rows; ++r) z[r] = dot(p_->J, i, r) + (r == 0 ? law.gap : law.offset[r - 1]);
    if (!pyramid) return add_cone(i, rows, z);
    for (int k = 0; k < rays; ++k) {
      const double angle = 2 * std::numbers::pi * k / rays;
      Matrix4d force = Matrix4d::Zero();
      force(0, 0) = 1;
      if (rays > 1) force(1, 0) = law.mu * std::cos(angle);
      if (rays > 2) force(2, 0) = law.mu * std::sin(angle);
      const double beta = x_->ray_multipliers[first_ray + k];
      if (closed(force.col(0).dot(z), beta, w_.contacts[i]))
        add_generator(i, Kind::kRay, force, 1, beta * Vector4d::Unit(0), static_cast<int>(first_ray + k));
    }
  }

  /// Open, on the boundary (one ray opposite to the slide), or at the apex (the whole cone).
  void add_cone(int i, int rows, const Vector4d& z) {
    const ContactLaw& law = p_->contacts[i];
    const double unit = w_.contacts[i] * root_;
    Matrix4d force = Matrix4d::Identity();  // of (y_n, y_t): y_t times μ e
    Vector4d s = Vector4d::Zero(), y = s;
    s[0] = z[0] / unit;
    y[0] = x_->force[i][0];
    for (int r = 1; r < rows; ++r) {
      force(r, r) = law.mu * law.ellipsoid[r - 1];
      s[r] = force(r, r) * z[r] / unit;
      y[r] = force(r, r) > 0 ? x_->force[i][r] / force(r, r) : 0.0;
    }
    const double slide = s.tail<3>().norm(), push = y.tail<3>().norm();
    const bool loaded = y[0] * w_.contacts[i] / root_ > s[0] - slide;
    if (s[0] - slide > kClosed && !loaded) return;
    if (s[0] <= kClosed || slide == 0)
      return add_generator(i, rows == 1 ? Kind::kRay : Kind::kCone, force, rows, y, -1);
    Vector4d along = Vector4d::Unit(0);
    const bool by_force = slide < kSliding && push > 0;
    along.tail<3>() = by_force ? Eigen::Vector3d(y.tail<3>() / push) : Eigen::Vector3d(-s.tail<3>() / slide);
    Matrix4d ray = Matrix4d::Zero();
    ray.col(0) = force * along / std::sqrt(2.0);
    add_generator(i, Kind::kRay, ray, 1, along.dot(y) / std::sqrt(2.0) * Vector4d::Unit(0), -1);
  }

  /// A generator of `count` multipliers; `force` has a column for each.
  void add_generator(int i, Kind kind, const Matrix4d& force, int count, const Vector4d& multipliers, int ray) {
    const double w = w_.contacts[i];
    const auto cols = p_->J.cols(i);
    const auto J = p_->J.block(i);
    const Vector4d given = multipliers * w;
    auto A = generators_.add(kind, cols, {given.data(), to_size(count)});
    for (int k = 0; k < count; ++k) {
      for (std::size_t c = 0; c < cols.size(); ++c) {
        double sum = 0;
        for (Eigen::Index r = 0; r < J.rows(); ++r) sum += force(r, k) * J(r, static_cast<Eigen::Index>(c));
        A(k, static_cast<Eigen::Index>(c)) = sum / w * w_.bounds[cols[c]];
      }
    }
    targets_.push_back({.of = Target::kContact, .index = i, .scale = w, .ray = ray, .force = force});
  }

  const ContactProgram* p_ = nullptr;
  const ContactSolution* x_ = nullptr;
  Certifier certifier_;
  RowScales w_;
  double root_ = 0;
  Generators generators_;
  std::vector<Target> targets_;
  ShortestMultipliers search_;
  std::vector<double> dual_;  // where the search starts
  ContactSolution selected_;
};

LeastNorm::LeastNorm() : selection_(std::make_unique<Selection>()) {}
LeastNorm::~LeastNorm() = default;
LeastNorm::LeastNorm(LeastNorm&&) noexcept = default;
LeastNorm& LeastNorm::operator=(LeastNorm&&) noexcept = default;

void LeastNorm::forget() { selection_->forget(); }

bool LeastNorm::select(const ContactProgram& program, ContactSolution& solution) {
  if (solution.delta.size() != program.nv || solution.force.size() != program.contacts.size())
    throw std::invalid_argument("least norm: the solution does not belong to the program");
  if (std::isfinite(program.kappa) || program.nv == 0) return true;
  return selection_->select(program, solution);
}

bool select_least_norm(const ContactProgram& program, ContactSolution& solution) {
  return LeastNorm().select(program, solution);
}

}  // namespace deft::solvers::contact
