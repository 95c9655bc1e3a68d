#include "deft/solvers/contact/interior/proofs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace deft::solvers::contact {
namespace {

int multipliers_of(const ContactProgram& program, int i) {
  const int rows = program.contacts[i].frictionless ? 1 : program.J.rows(i);
  return is_cone(program, i) || rows < 3 ? rows : program.rays;
}

// Where the parts of a proof begin.
struct Layout {
  Eigen::Index linear = 0, equality, lower, upper, size;
  explicit Layout(const ContactProgram& program) {
    for (std::size_t i = 0; i < program.contacts.size(); ++i) linear += multipliers_of(program, static_cast<int>(i));
    equality = linear + program.linear.rows.size();
    lower = equality + program.equality.rows.size();
    const bool bounded = program.lower.size() > 0 || program.upper.size() > 0;
    upper = lower + (bounded ? program.nv : 0);
    size = upper + (bounded ? program.nv : 0);
  }
};

// The multipliers (or force rows) that press hardest against a contact without moving rows; @returns its slack.
double press(const ContactProgram& program, int i, double* y) {
  const ContactLaw& law = program.contacts[i];
  const int n = multipliers_of(program, i);
  if (is_cone(program, i)) {
    double slide[4] = {}, total = 0;
    for (int k = 1; k < n; ++k) slide[k] = law.mu * law.ellipsoid[k - 1] * law.offset[k - 1];
    for (int k = 1; k < n; ++k) total = std::hypot(total, slide[k]);
    y[0] = 1;
    for (int k = 1; k < n && total > 0; ++k) y[k] = -slide[k] / total * law.mu * law.ellipsoid[k - 1];
    return law.gap - total;
  }
  int best = 0;
  double least = law.gap;
  for (int k = 0; k < n && n > 1; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    const double slide = std::cos(angle) * law.offset[0] + (n > 2 ? std::sin(angle) * law.offset[1] : 0.0);
    if (k > 0 && law.gap + law.mu * slide >= least) continue;
    least = law.gap + law.mu * slide;
    best = k;
  }
  y[best] = 1;
  return least;
}

}  // namespace

bool find_rigid_contradiction(const ContactProgram& program, const PackedProgram& packed, Eigen::VectorXd& proof) {
  const Layout layout(program);
  const auto closed = [&](double slack, bool barrier) { return packed.smoothed && barrier ? !(slack > 0) : slack < 0; };
  proof.setZero(layout.size);
  Eigen::Index at = 0;
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    const int n = multipliers_of(program, static_cast<int>(i));
    if (packed.block_of_contact[i] < 0 && program.contacts[i].compliance == 0) {
      if (closed(press(program, static_cast<int>(i), proof.data() + at), true)) return true;
      proof.segment(at, n).setZero();
    }
    at += n;
  }
  for (std::size_t i = 0; i < packed.block_of_linear.size(); ++i) {
    if (packed.block_of_linear[i] >= 0 || !closed(-program.linear.rhs[i], !program.hard)) continue;
    proof[layout.linear + static_cast<Eigen::Index>(i)] = 1;
    return true;
  }
  for (std::size_t i = 0; i < packed.block_of_equality.size(); ++i) {
    if (packed.block_of_equality[i] >= 0 || program.equality.rhs[i] == 0) continue;
    proof[layout.equality + static_cast<Eigen::Index>(i)] = program.equality.rhs[i] > 0 ? 1 : -1;
    return true;
  }
  for (int i = 0; i < (layout.size > layout.lower ? program.nv : 0); ++i) {
    const double infinity = std::numeric_limits<double>::infinity();
    const double lower = i < program.lower.size() ? program.lower[i] : -infinity;
    const double upper = i < program.upper.size() ? program.upper[i] : infinity;
    if (!(lower > upper || lower == infinity || upper == -infinity)) continue;
    proof[layout.lower + i] = lower > -infinity;
    proof[layout.upper + i] = upper < infinity;
    return true;
  }
  return false;
}

Eigen::VectorXd farkas_ray(const ContactProgram& program, const ContactSolution& solution) {
  const Layout layout(program);
  Eigen::VectorXd proof = Eigen::VectorXd::Zero(layout.size);
  Eigen::Index at = 0;
  std::size_t ray = 0;
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    const int n = multipliers_of(program, static_cast<int>(i));
    const bool cone = is_cone(program, static_cast<int>(i)), rigid = program.contacts[i].compliance == 0;
    for (int k = 0; k < n; ++k) {
      const double y = cone ? solution.force[i][k] : solution.ray_multipliers[ray++];
      proof[at++] = rigid ? y : 0.0;
    }
  }
  proof.segment(layout.linear, solution.linear_multipliers.size()) = solution.linear_multipliers;
  proof.segment(layout.equality, solution.equality_multipliers.size()) = solution.equality_multipliers;
  if (layout.size > layout.lower) {
    proof.segment(layout.lower, program.nv) = solution.bound_multipliers.cwiseMax(0.0);
    proof.segment(layout.upper, program.nv) = (-solution.bound_multipliers).cwiseMax(0.0);
  }
  const double largest = proof.size() > 0 ? proof.cwiseAbs().maxCoeff() : 0.0;
  if (largest > 0) proof /= largest;
  return proof;
}

}  // namespace deft::solvers::contact
