#include "deft/solvers/least_norm.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include "deft/solvers/certificate.hpp"
#include "deft/solvers/least_norm_newton.hpp"

namespace deft::solvers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Kind = GeneratorKind;

constexpr double kClosed = 1e-9;   // scaled slack below which a row may carry force
constexpr double kSliding = 1e-6;  // scaled slide above which its direction is the slack's, below that the force's

/// The rows that the motion leaves closed, and where their multipliers go.
class Selection {
 public:
  Selection(const ContactProgram& program, const ContactSolution& solution)
      : p_(program), x_(solution), w_(row_scales(program)), root_(std::sqrt(w_.E0_J)) {
    std::size_t ray = 0;
    for (int i = 0; i < static_cast<int>(p_.contacts.size()); ++i) add_contact(i, ray);
    for (int i = 0; i < p_.linear.rows.size(); ++i) {
      const double slack = dot(p_.linear.rows, i, 0) - p_.linear.rhs[i];
      add_row(p_.linear.rows, i, w_.linear[i], slack, x_.linear_multipliers[i], Kind::kRay, {Target::kLinear, i});
    }
    for (int i = 0; i < p_.equality.rows.size(); ++i)
      add_row(p_.equality.rows, i, w_.equality[i], 0, x_.equality_multipliers[i], Kind::kLine, {Target::kEquality, i});
    for (int i = 0; i < x_.bound_multipliers.size(); ++i) add_bounds(i);
  }

  bool solve() {
    // Islands: generators that share velocities, directly or through others.
    std::vector<int> parent(p_.nv);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](int i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (const Generator& generator : generators_) {
      for (const int c : generator.cols) parent[root(c)] = root(generator.cols.front());
    }
    std::vector<std::vector<int>> cols(p_.nv);
    std::vector<std::vector<Generator*>> members(p_.nv);
    for (int i = 0; i < p_.nv; ++i) cols[root(i)].push_back(i);
    for (Generator& generator : generators_) members[root(generator.cols.front())].push_back(&generator);
    for (int i = 0; i < p_.nv; ++i) {
      if (!members[i].empty() && !find_shortest(std::move(members[i]), std::move(cols[i]), w_.bounds)) return false;
    }
    return true;
  }

  /// Adds the changes: what is not selected (open rows, compliant contacts) keeps the solver's multipliers.
  void store(ContactSolution& out) const {
    for (std::size_t k = 0; k < generators_.size(); ++k) {
      const Target& target = targets_[k];
      const VectorXd change = (generators_[k].shortest - generators_[k].given) / target.scale;
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

 private:
  /// Where a generator's multipliers λ/scale belong; a contact's force is `force` times them.
  struct Target {
    enum Of { kContact, kLinear, kEquality, kBound } of = kContact;
    int index = 0;
    double sign = 1, scale = 1;
    int ray = -1;
    Eigen::Matrix<double, 4, Eigen::Dynamic> force{};
  };

  double dot(const RowBlocks& J, int i, int r) const {
    const auto cols = J.cols(i);
    double sum = 0;
    for (std::size_t k = 0; k < cols.size(); ++k)
      sum += J.block(i)(r, static_cast<Eigen::Index>(k)) * x_.delta[cols[k]];
    return sum;
  }
  bool closed(double slack, double multiplier, double w) const {
    const double s = slack / (w * root_);
    return s <= kClosed || multiplier * w / root_ > s;
  }

  void add_row(const RowBlocks& J, int i, double w, double slack, double multiplier, Kind kind, Target target) {
    if (kind == Kind::kRay && !closed(slack, multiplier, w)) return;
    if (J.cols(i).empty()) return;
    target.scale = w;
    const VectorXd given = VectorXd::Constant(1, multiplier * w);
    generators_.push_back({kind, {J.cols(i).begin(), J.cols(i).end()}, J.block(i).row(0) / w, given, {}});
    targets_.push_back(std::move(target));
  }

  void add_bounds(int i) {
    const double lower = p_.lower.size() ? p_.lower[i] : -INFINITY, upper = p_.upper.size() ? p_.upper[i] : INFINITY;
    const double w = w_.bounds[i], m = x_.bound_multipliers[i];
    const auto add = [&](double sign, Kind kind) {
      const double own = kind == Kind::kLine ? m : std::max(0.0, sign * m);
      generators_.push_back({kind, {i}, MatrixXd::Constant(1, 1, sign / w), VectorXd::Constant(1, own * w), {}});
      targets_.push_back({.of = Target::kBound, .index = i, .sign = sign, .scale = w});
    };
    if (lower == upper) return add(1, Kind::kLine);
    if (std::isfinite(lower) && closed(x_.delta[i] - lower, m, w)) add(1, Kind::kRay);
    if (std::isfinite(upper) && closed(upper - x_.delta[i], -m, w)) add(-1, Kind::kRay);
  }

  void add_contact(int i, std::size_t& ray) {
    const ContactLaw& law = p_.contacts[i];
    const int rows = law.frictionless ? 1 : p_.J.rows(i);
    const bool pyramid = !is_cone(p_, i);
    const int rays = !pyramid ? 0 : rows == 1 ? 1 : rows == 2 ? 2 : p_.rays;
    const std::size_t first_ray = ray;
    ray += rays;
    if (law.compliance > 0 || p_.J.cols(i).empty()) return;  // its force is the only one
    double z[4] = {};
    for (int r = 0; r < rows; ++r) z[r] = dot(p_.J, i, r) + (r == 0 ? law.gap : law.offset[r - 1]);
    if (!pyramid) return add_cone(i, rows, z);
    for (int k = 0; k < rays; ++k) {
      const double angle = 2 * std::numbers::pi * k / rays;
      Eigen::Vector4d force(1, 0, 0, 0);
      if (rays > 1) force[1] = law.mu * std::cos(angle);
      if (rays > 2) force[2] = law.mu * std::sin(angle);
      const double slack = z[0] + force[1] * z[1] + force[2] * z[2];
      if (closed(slack, x_.ray_multipliers[first_ray + k], w_.contacts[i]))
        add_contact_generator(i, Kind::kRay, force, VectorXd::Constant(1, x_.ray_multipliers[first_ray + k]),
                              static_cast<int>(first_ray + k));
    }
  }

  /// Open, on the boundary (one ray opposite to the slide), or at the apex (the whole cone).
  void add_cone(int i, int rows, const double* z) {
    const ContactLaw& law = p_.contacts[i];
    const double unit = w_.contacts[i] * root_;
    Eigen::Matrix4d force = Eigen::Matrix4d::Identity();  // of (y_n, y_t): y_t times μ e
    Eigen::VectorXd s = Eigen::VectorXd::Zero(rows), y = s;
    s[0] = z[0] / unit;
    y[0] = x_.force[i][0];
    for (int r = 1; r < rows; ++r) {
      force(r, r) = law.mu * law.ellipsoid[r - 1];
      s[r] = force(r, r) * z[r] / unit;
      y[r] = force(r, r) > 0 ? x_.force[i][r] / force(r, r) : 0.0;
    }
    const double slide = s.tail(rows - 1).norm(), push = y.tail(rows - 1).norm();
    const bool loaded = y[0] * w_.contacts[i] / root_ > s[0] - slide;
    if (s[0] - slide > kClosed && !loaded) return;
    if (s[0] <= kClosed || slide == 0) {
      Eigen::Matrix<double, 4, Eigen::Dynamic> columns = force.leftCols(rows);
      return add_contact_generator(i, rows == 1 ? Kind::kRay : Kind::kCone, columns, y, -1);
    }
    Eigen::VectorXd along = Eigen::VectorXd::Zero(4);
    along[0] = 1;
    const bool by_force = slide < kSliding && push > 0;
    along.segment(1, rows - 1) =
        by_force ? Eigen::VectorXd(y.tail(rows - 1) / push) : Eigen::VectorXd(-s.tail(rows - 1) / slide);
    const VectorXd given = VectorXd::Constant(1, along.head(rows).dot(y) / std::sqrt(2.0));
    add_contact_generator(i, Kind::kRay, (force * along / std::sqrt(2.0)).eval(), given, -1);
  }

  void add_contact_generator(int i, Kind kind, const Eigen::Matrix<double, 4, Eigen::Dynamic>& force,
                             const VectorXd& given, int ray) {
    const auto cols = p_.J.cols(i);
    const auto J = p_.J.block(i);
    MatrixXd rows = MatrixXd::Zero(force.cols(), J.cols());
    for (Eigen::Index r = 0; r < std::min<Eigen::Index>(4, J.rows()); ++r)
      rows.noalias() += force.row(r).transpose() * J.row(r);
    generators_.push_back({kind, {cols.begin(), cols.end()}, rows / w_.contacts[i], given * w_.contacts[i], {}});
    targets_.push_back({.of = Target::kContact, .index = i, .scale = w_.contacts[i], .ray = ray, .force = force});
  }

  const ContactProgram& p_;
  const ContactSolution& x_;
  RowScales w_;
  double root_;
  std::vector<Generator> generators_;
  std::vector<Target> targets_;
};

}  // namespace

bool select_least_norm(const ContactProgram& program, ContactSolution& solution) {
  if (solution.delta.size() != program.nv || solution.force.size() != program.contacts.size())
    throw std::invalid_argument("least norm: the solution does not belong to the program");
  if (std::isfinite(program.kappa) || program.nv == 0) return true;
  Selection selection(program, solution);
  if (!selection.solve()) return false;
  ContactSolution selected = solution;
  selection.store(selected);
  if (!(certify(program, selected).max_scaled() <= kCertified)) return false;
  solution = std::move(selected);
  return true;
}

}  // namespace deft::solvers
