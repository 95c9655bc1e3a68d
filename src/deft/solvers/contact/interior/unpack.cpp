#include "deft/solvers/contact/interior/unpack.hpp"

#include <cmath>

#include "deft/solvers/linear/spectral_cone_operator.hpp"

namespace deft::solvers::contact {
namespace {

double row_value(const ContactProgram& program, int i, int row, const Eigen::VectorXd& delta) {
  const auto cols = program.J.cols(i);
  const auto block = program.J.block(i);
  double total = 0;
  for (std::size_t k = 0; k < cols.size(); ++k) total += block(row, k) * delta[cols[k]];
  return total;
}

class Unpacker {
 public:
  Unpacker(const ContactProgram& program, const PackedProgram& packed, const Iterate& x,
           const std::vector<double>& slack, ContactSolution& solution)
      : program_(program),
        packed_(packed),
        x_(x),
        slack_(slack),
        solution_(solution),
        root_(std::sqrt(packed.energy)) {}

  double slack_of(const PackedBlock& block, int k) const { return slack_[block.first_slack + k] * block.scale * root_; }
  double lambda_of(const PackedBlock& block, int k) const {
    return x_.lambda[block.first_slack + k] * root_ / (block.scale * block.multiplicity);
  }

  void contact(int i) const {
    const int b = packed_.block_of_contact[i];
    const ContactLaw& law = program_.contacts[i];
    const int rows = program_.J.rows(i);
    const bool pyramid = !is_cone(program_, i);
    auto& force = solution_.force[i];
    force = {0, 0, 0, 0};
    if (b < 0) return without_block(i);
    const PackedBlock& block = packed_.blocks[b];
    if (block.law == Law::kCone) {
      for (int k = 0; k < rows; ++k) {
        solution_.slack.push_back(slack_of(block, k));
        force[k] = lambda_of(block, k) * (k == 0 ? 1.0 : law.mu * law.ellipsoid[k - 1]);
      }
    } else if (block.rows == 1) {
      const double s = slack_of(block, 0), f = lambda_of(block, 0);
      force[0] = f;
      const int shares = law.frictionless || rows == 1 ? 1 : rows == 2 ? 2 : program_.rays;
      for (int k = 0; pyramid && k < shares; ++k) {
        solution_.slack.push_back(s);
        solution_.ray_multipliers.push_back(f / shares);
      }
      if (!pyramid) cone_slack_without_friction(s, law.frictionless ? 1 : rows);
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        const double beta = lambda_of(block, k);
        force[0] += beta;
        force[1] += block.mu * packed_.cos_of(block, k) * beta;
        force[2] += block.rows == 2 ? 0.0 : block.mu * packed_.sin_of(block, k) * beta;
        if (!pyramid) continue;
        solution_.slack.push_back(slack_of(block, k));
        solution_.ray_multipliers.push_back(beta);
      }
      if (!pyramid) {
        solution_.slack.push_back(0.5 * (slack_of(block, 0) + slack_of(block, 1)));
        solution_.slack.push_back(0.5 * (slack_of(block, 0) - slack_of(block, 1)));
      }
    }
  }

  double row_multiplier(int block) const { return block < 0 ? 0.0 : lambda_of(packed_.blocks[block], 0); }
  // Nothing moves a row of zeros; its slack −rhs carries a barrier all the same.
  double linear_multiplier(int i) const {
    const int block = packed_.block_of_linear[i];
    const bool barrier = packed_.smoothed && !program_.hard;
    return block < 0 && barrier ? resist(-program_.linear.rhs[i], 0.0, 1 / program_.kappa) : row_multiplier(block);
  }

 private:
  void cone_slack_without_friction(double s, int rows) const {
    solution_.slack.push_back(s);
    for (int k = 1; k < rows; ++k) solution_.slack.push_back(0.0);
  }

  // Left out as open, or nothing moves it: then its force moves nothing and follows from its slack alone.
  void without_block(int i) const {
    const ContactLaw& law = program_.contacts[i];
    const int rows = law.frictionless ? 1 : program_.J.rows(i);
    auto& force = solution_.force[i];
    double z[linear::kMaxConeRows] = {law.gap + row_value(program_, i, 0, solution_.delta)};
    for (int k = 1; k < rows; ++k) z[k] = law.offset[k - 1] + row_value(program_, i, k, solution_.delta);
    const double unit = packed_.smoothed ? 1 / program_.kappa : 0.0;
    if (is_cone(program_, i)) {
      for (int k = 1; k < rows; ++k) z[k] *= law.mu * law.ellipsoid[k - 1];
      resist_in_cone(rows, z, law.compliance, law.frictionless ? unit : 2 * unit, force.data());
      for (int k = 0; k < rows; ++k) solution_.slack.push_back(z[k] + law.compliance * force[k]);
      for (int k = 1; k < rows; ++k) force[k] *= law.mu * law.ellipsoid[k - 1];
      return;
    }
    const int rays = rows == 1 ? 1 : rows == 2 ? 2 : program_.rays;
    const double weight = rows == 1 && !law.frictionless ? program_.rays : 1;
    const PackedBlock shape{.rows = rows, .slacks = rays};
    for (int k = 0; k < rays; ++k) {
      const double c = rows == 1 ? 0.0 : packed_.cos_of(shape, k), s = rows == 1 ? 0.0 : packed_.sin_of(shape, k);
      const double slack = z[0] + law.mu * (c * z[1] + s * z[2]);
      const double beta = resist(slack, law.compliance, weight * unit);
      force[0] += beta, force[1] += law.mu * c * beta, force[2] += law.mu * s * beta;
      solution_.slack.push_back(slack + law.compliance * beta);
      solution_.ray_multipliers.push_back(beta);
    }
  }

  // The multiplier y ≥ 0 of slack s + R y with (s + R y) y = t; 0 where nothing is compliant and there is no barrier.
  static double resist(double s, double R, double t) {
    if (R == 0) return t > 0 && s > 0 ? t / s : 0.0;
    const double root = std::sqrt(s * s + 4 * R * t);
    return s > 0 ? 2 * t / (s + root) : (root - s) / (2 * R);
  }

  // The same in the cone, where it acts on the eigenvalues of z.
  static void resist_in_cone(int rows, const double* z, double R, double t, double* y) {
    double direction[linear::kMaxConeRows - 1] = {};
    const double tail = linear::tail_direction(rows, z, direction);
    const double plus = resist(z[0] + tail, R, t), minus = resist(z[0] - tail, R, t);
    y[0] = rows == 1 ? plus : 0.5 * (plus + minus);
    for (int k = 1; k < rows; ++k) y[k] = 0.5 * (plus - minus) * direction[k - 1];
  }

  const ContactProgram& program_;
  const PackedProgram& packed_;
  const Iterate& x_;
  const std::vector<double>& slack_;
  ContactSolution& solution_;
  double root_;
};

}  // namespace

void unpack(const ContactProgram& program, const PackedProgram& packed, const Iterate& x,
            const std::vector<double>& slack, ContactSolution& solution) {
  const double root = std::sqrt(packed.energy);
  solution.delta.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) solution.delta[i] = root * x.v[packed.column_of[i]];
  const Unpacker unpacker(program, packed, x, slack, solution);
  const int n = static_cast<int>(program.contacts.size());
  solution.force.resize(n);
  solution.gap.resize(n);
  solution.ray_multipliers.clear();
  solution.slack.clear();
  for (int i = 0; i < n; ++i) {
    unpacker.contact(i);
    solution.gap[i] = program.contacts[i].gap + row_value(program, i, 0, solution.delta);
  }
  solution.linear_multipliers.resize(packed.block_of_linear.size());
  for (std::size_t i = 0; i < packed.block_of_linear.size(); ++i)
    solution.linear_multipliers[i] = unpacker.linear_multiplier(static_cast<int>(i));
  solution.equality_multipliers.resize(packed.block_of_equality.size());
  for (std::size_t i = 0; i < packed.block_of_equality.size(); ++i)
    solution.equality_multipliers[i] = unpacker.row_multiplier(packed.block_of_equality[i]);
  const bool bounded = program.lower.size() > 0 || program.upper.size() > 0;
  solution.bound_multipliers.resize(bounded ? program.nv : 0);
  for (int i = 0; i < solution.bound_multipliers.size(); ++i) {
    const int lower = i < program.lower.size() ? packed.block_of_lower[i] : -1;
    const int upper = i < program.upper.size() ? packed.block_of_upper[i] : -1;
    solution.bound_multipliers[i] =
        unpacker.row_multiplier(lower) - (upper == lower ? 0.0 : unpacker.row_multiplier(upper));
  }
}

}  // namespace deft::solvers::contact
