#include "deft/solvers/unpack.hpp"

#include <cmath>

namespace deft::solvers {
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

 private:
  void cone_slack_without_friction(double s, int rows) const {
    solution_.slack.push_back(s);
    for (int k = 1; k < rows; ++k) solution_.slack.push_back(0.0);
  }

  // Left out as open, or nothing moves it: then its force acts on nobody and follows from its gap alone.
  void without_block(int i) const {
    const ContactLaw& law = program_.contacts[i];
    const double gap = law.gap + row_value(program_, i, 0, solution_.delta);
    double slide[3] = {};
    for (int k = 1; k < (law.frictionless ? 1 : program_.J.rows(i)); ++k)
      slide[k - 1] = law.offset[k - 1] + row_value(program_, i, k, solution_.delta);
    const int rows = law.frictionless ? 1 : program_.J.rows(i);
    const double weight = packed_.smoothed ? 1 / program_.kappa : 0.0;
    auto& force = solution_.force[i];
    if (!is_cone(program_, i)) {
      const int rays = rows == 1 ? 1 : rows == 2 ? 2 : program_.rays;
      const PackedBlock shape{.rows = rows, .slacks = rays};
      for (int k = 0; k < rays; ++k) {
        const double c = rows == 1 ? 0.0 : packed_.cos_of(shape, k), s_k = rows == 1 ? 0.0 : packed_.sin_of(shape, k);
        const double slack = gap + law.mu * (c * slide[0] + s_k * slide[1]);
        const double beta = weight > 0 ? weight / slack : 0.0;
        force[0] += beta, force[1] += law.mu * c * beta, force[2] += law.mu * s_k * beta;
        solution_.slack.push_back(slack);
        solution_.ray_multipliers.push_back(beta);
      }
      return;
    }
    double tangent[3] = {}, squared = gap * gap;
    for (int k = 1; k < rows; ++k) {
      tangent[k - 1] = law.mu * law.ellipsoid[k - 1] * slide[k - 1];
      squared -= tangent[k - 1] * tangent[k - 1];
    }
    solution_.slack.push_back(gap);
    force[0] = weight > 0 ? (law.frictionless ? 1 : 2) * weight * gap / squared : 0.0;
    for (int k = 1; k < rows; ++k) {
      solution_.slack.push_back(tangent[k - 1]);
      if (weight > 0) force[k] = -2 * weight * tangent[k - 1] / squared * law.mu * law.ellipsoid[k - 1];
    }
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
    solution.linear_multipliers[i] = unpacker.row_multiplier(packed.block_of_linear[i]);
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

}  // namespace deft::solvers
