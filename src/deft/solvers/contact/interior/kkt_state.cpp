#include "deft/solvers/contact/interior/kkt_state.hpp"

#include <cmath>

namespace deft::solvers::contact {

void KktState::evaluate(const PackedProgram& program, NewtonSystem& system, const Iterate& x) {
  z_.resize(program.num_rows);
  y_.resize(program.num_rows);
  slack.resize(program.num_slacks);
  gradient.resize(program.nv);
  system.multiply(program, x.v, z_);
  for (const PackedBlock& block : program.blocks) {
    double* s = slack.data() + block.first_slack;
    const double* lambda = x.lambda.data() + block.first_slack;
    slacks_of_rows(program, block, z_.data() + block.first_row, s);
    rows_of_slacks(program, block, lambda, y_.data() + block.first_row);
    for (int k = 0; k < block.slacks; ++k) s[k] += program.g[block.first_slack + k] + block.compliance * lambda[k];
    for (int k = 0; k < block.rows; ++k) y_[block.first_row + k] = -y_[block.first_row + k];
  }
  energy_gradient(program, x.v, gradient);
  system.add_transposed(program, y_, gradient);
  stationarity = std::sqrt(program.metric_norm_squared(gradient, scratch_));
}

double KktState::exact_error(const PackedProgram& program, const Iterate& x) const {
  double error = stationarity;
  const auto raise = [&error](double value) {
    if (!(value <= error) && !std::isnan(error)) error = value;  // NaN stays
  };
  for (const PackedBlock& block : program.blocks) {
    const double* s = slack.data() + block.first_slack;
    const double* lambda = x.lambda.data() + block.first_slack;
    if (block.law == Law::kEquality) {
      raise(std::abs(s[0]));
    } else if (block.law == Law::kCone) {
      raise(linear::tail_norm(block.rows, s) - s[0]);
      raise(linear::tail_norm(block.rows, lambda) - lambda[0]);
      raise(std::abs(linear::dot(block.rows, s, lambda)));
    } else {
      for (int k = 0; k < block.slacks; ++k) {
        raise(-s[k]);
        raise(-lambda[k]);
        raise(std::abs(s[k] * lambda[k]));
      }
    }
  }
  return error;
}

}  // namespace deft::solvers::contact
