// The certificates of programs without a solution: does the proof that a solution carries show that there is none?

#include <cmath>
#include <numbers>

#include "deft/core/infinity.hpp"
#include "deft/solvers/contact/certificate/certificate_metric.hpp"

namespace deft::solvers::contact {
namespace {

using Eigen::VectorXd;

// Walks over all rows of the program; a certificate of infeasibility has multipliers for them, a direction moves them.
class ProofCheck {
 public:
  ProofCheck(const ContactProgram& program, const VectorXd& proof, double E0)
      : p_(program), proof_(proof), metric_(program), root_E0_(std::sqrt(E0)) {}

  double infeasible() {
    if (proof_.size() != num_multipliers() || !proof_.allFinite()) return kInfinity;
    pull_ = VectorXd::Zero(p_.nv);
    Eigen::Index at = 0;
    for (std::size_t i = 0; i < p_.contacts.size(); ++i) {
      const int n = multipliers(static_cast<int>(i));
      press(static_cast<int>(i), proof_.data() + at, n);
      at += n;
    }
    for (int i = 0; i < p_.linear.rows.size(); ++i, ++at)
      press_row(dense_row(p_.linear.rows, i, 0, p_.nv), proof_[at], -p_.linear.rhs[i], !p_.hard);
    for (int i = 0; i < p_.equality.rows.size(); ++i, ++at) {
      pull_ += proof_[at] * dense_row(p_.equality.rows, i, 0, p_.nv);
      value_ -= proof_[at] * p_.equality.rhs[i];
    }
    for (const VectorXd* bound : {&p_.lower, &p_.upper}) {
      const double sign = bound == &p_.lower ? 1 : -1;
      for (int i = 0; bounded() && i < p_.nv; ++i, ++at) {
        if (proof_[at] != 0)
          press_row(sign * VectorXd::Unit(p_.nv, i), proof_[at], bound->size() > 0 ? -sign * (*bound)[i] : kInfinity,
                    !p_.hard);
      }
    }
    if (value_ == -kInfinity) return error_ == 0 ? 0 : kInfinity;  // a bound that no finite motion reaches
    const double error = std::max(error_, std::sqrt(metric_.squared(pull_)));
    const double strict = value_ < 0 ? error / (-value_ / root_E0_) : kInfinity;
    if (!std::isfinite(p_.kappa) || !(barrier_ > 0)) return strict;
    return std::min(strict, std::max(error, value_ / root_E0_) / barrier_);
  }

  double unbounded() {
    if (proof_.size() != p_.nv || !proof_.allFinite() || p_.nv == 0) return kInfinity;
    const double length = std::sqrt(metric_.energy(proof_));
    if (!(length > 0)) return kInfinity;
    const VectorXd d = proof_ / length;
    VectorXd bend = VectorXd::Zero(p_.nv);
    for (int k = 0; k < p_.Q.num_blocks(); ++k) {
      const auto block = p_.Q.block(k);
      bend.segment(p_.Q.start(k), p_.Q.size(k)) +=
          0.5 * (block + block.transpose()) * d.segment(p_.Q.start(k), p_.Q.size(k));
    }
    error_ = std::sqrt(metric_.squared(bend));
    for (std::size_t i = 0; i < p_.contacts.size(); ++i) move(static_cast<int>(i), d);
    for (int i = 0; i < p_.linear.rows.size(); ++i) {
      const VectorXd row = dense_row(p_.linear.rows, i, 0, p_.nv);
      oppose(-row.dot(d), width(metric_.squared(row)));
    }
    for (int i = 0; i < p_.equality.rows.size(); ++i) {
      const VectorXd row = dense_row(p_.equality.rows, i, 0, p_.nv);
      oppose(std::abs(row.dot(d)), width(metric_.squared(row)));
    }
    for (int i = 0; i < p_.nv; ++i) {
      const double w = width(metric_.squared(VectorXd::Unit(p_.nv, i)));
      if (p_.lower.size() > 0 && std::isfinite(p_.lower[i])) oppose(-d[i], w);
      if (p_.upper.size() > 0 && std::isfinite(p_.upper[i])) oppose(d[i], w);
    }
    const double fall = -p_.b.dot(d) / root_E0_;
    if (std::isfinite(p_.kappa)) return std::max(error_, -fall);
    return fall > 0 ? error_ / fall : kInfinity;
  }

 private:
  bool bounded() const { return p_.lower.size() > 0 || p_.upper.size() > 0; }
  int multipliers(int i) const {
    const int rows = p_.contacts[i].frictionless ? 1 : p_.J.rows(i);
    return !is_cone(p_, i) && rows > 2 ? p_.rays : rows;
  }
  Eigen::Index num_multipliers() const {
    Eigen::Index n = p_.linear.rows.size() + p_.equality.rows.size() + (bounded() ? 2 * p_.nv : 0);
    for (std::size_t i = 0; i < p_.contacts.size(); ++i) n += multipliers(static_cast<int>(i));
    return n;
  }
  static double width(double norm_squared) { return norm_squared > 0 ? std::sqrt(norm_squared) : 1.0; }
  static void raise(double& value, double candidate) {
    if (!(candidate <= value)) value = std::isnan(candidate) ? kInfinity : candidate;
  }
  // A row that d moves the wrong way by `amount`.
  void oppose(double amount, double w) { raise(error_, amount / w); }

  // Mean of the rows' squared norms, the scale of a contact.
  double width_of(int i) const {
    const int rows = p_.contacts[i].frictionless ? 1 : p_.J.rows(i);
    double total = 0;
    for (int r = 0; r < rows; ++r) total += metric_.squared(dense_row(p_.J, i, r, p_.nv)) / rows;
    return width(total);
  }

  void press_row(const VectorXd& row, double y, double gap, bool barrier) {
    const double w = width(metric_.squared(row));
    pull_ += y * row;
    value_ += y == 0 ? 0.0 : y * gap;
    raise(error_, -y * w);
    if (barrier) barrier_ = std::max(barrier_, y * w);
  }

  void press(int i, const double* y, int n) {
    const ContactLaw& law = p_.contacts[i];
    const int rows = law.frictionless ? 1 : p_.J.rows(i);
    const double w = width_of(i);
    const bool cone = is_cone(p_, i);
    double f[4] = {};
    for (int k = 0; k < n; ++k) {
      if (law.compliance > 0) raise(error_, std::abs(y[k]) * w);  // compliant: no part of a contradiction
      if (cone) {
        f[k] = y[k];
        continue;
      }
      raise(error_, -y[k] * w);
      barrier_ = std::max(barrier_, y[k] * w);
      const double angle = 2 * std::numbers::pi * k / n;
      f[0] += y[k];
      if (rows > 1) f[1] += law.mu * std::cos(angle) * y[k];
      if (rows > 2) f[2] += law.mu * std::sin(angle) * y[k];
    }
    if (cone) {
      double tail = 0;
      for (int k = 1; k < rows; ++k) {
        const double factor = law.mu * law.ellipsoid[k - 1];
        if (factor < 1e-12) {
          raise(error_, std::abs(f[k]) * w);
        } else {
          tail = std::hypot(tail, f[k] / factor);
        }
      }
      raise(error_, (tail - f[0]) * w);
      barrier_ = std::max(barrier_, f[0] * w);
    }
    for (int r = 0; r < rows; ++r) {
      pull_ += f[r] * dense_row(p_.J, i, r, p_.nv);
      value_ += f[r] * (r == 0 ? law.gap : law.offset[r - 1]);
    }
  }

  void move(int i, const VectorXd& d) {
    const ContactLaw& law = p_.contacts[i];
    const int rows = law.frictionless ? 1 : p_.J.rows(i), n = multipliers(i);
    const double w = width_of(i);
    double z[4] = {}, slide = 0;
    for (int r = 0; r < rows; ++r) z[r] = dense_row(p_.J, i, r, p_.nv).dot(d);
    if (is_cone(p_, i)) {
      for (int r = 1; r < rows; ++r) slide = std::hypot(slide, law.mu * law.ellipsoid[r - 1] * z[r]);
      return oppose(slide - z[0], w);
    }
    for (int k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * k / n;
      oppose(-z[0] - (rows > 1 ? law.mu * (std::cos(angle) * z[1] + (rows > 2 ? std::sin(angle) * z[2] : 0.0)) : 0.0),
             w);
    }
  }

  const ContactProgram& p_;
  const VectorXd& proof_;
  CertificateMetric metric_;
  double root_E0_;
  VectorXd pull_;
  double value_ = 0, error_ = 0, barrier_ = 0;  // gᵀy; what is wrong with the proof; y on rows with a barrier
};

}  // namespace

void check_proof(const ContactProgram& program, const ContactSolution& solution, Certificate& certificate) {
  if (solution.proof.size() == 0) return;
  certificate.infeasible = ProofCheck(program, solution.proof, certificate.E0_J).infeasible();
  certificate.unbounded = ProofCheck(program, solution.proof, certificate.E0_J).unbounded();
}

}  // namespace deft::solvers::contact
