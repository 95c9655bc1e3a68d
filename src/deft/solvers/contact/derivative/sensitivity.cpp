#include "deft/solvers/contact/derivative/sensitivity.hpp"

#include <stdexcept>

#include "deft/solvers/contact/derivative/sensitivity_islands.hpp"

namespace deft::solvers::contact {

Sensitivity::Sensitivity() : islands_(std::make_unique<Islands>()) {}
Sensitivity::~Sensitivity() = default;
Sensitivity::Sensitivity(Sensitivity&&) noexcept = default;
Sensitivity& Sensitivity::operator=(Sensitivity&&) noexcept = default;

bool Sensitivity::is_nonsmooth() const { return islands_->is_nonsmooth(); }
bool Sensitivity::is_unique() const { return islands_->is_unique(); }
int Sensitivity::num_rows() const { return islands_->terms().num_rows; }
int Sensitivity::first_row(int contact) const { return islands_->terms().contacts[contact].first_row; }

void Sensitivity::factor(const ContactProgram& program, const ContactSolution& solution, double energy_J,
                         double residual) {
  if (solution.delta.size() != program.nv || solution.force.size() != program.contacts.size() || !(energy_J > 0)) {
    throw std::invalid_argument("sensitivity: the solution is not one of this program, or its energy is not positive");
  }
  islands_->factor(program, solution, energy_J, residual);
}

void Sensitivity::solve(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
                        std::span<const char> wanted) {
  if (!wanted.empty() && wanted.size() != program.contacts.size())
    throw std::invalid_argument("sensitivity: one entry of `wanted` per contact, or none");
  islands_->apply(program, {change.gradient, -1, change.rows, &change.lower, &change.upper, wanted},
                  {result.delta, result.force});
  islands_->check_implied(program, change, result);
}

void Sensitivity::probe(const ContactProgram& program, const ProgramChange& change, SolutionChange& result,
                        std::span<const char> wanted) {
  const bool is_nonsmooth = islands_->is_nonsmooth();
  islands_->apply(program, {change.gradient, -1, change.rows, &change.lower, &change.upper, wanted},
                  {result.delta, result.force});
  islands_->set_nonsmooth(is_nonsmooth);
}

void Sensitivity::solve_transposed(const ContactProgram& program, const Directions& delta, const Directions& force,
                                   ProgramChange& result) {
  islands_->apply(program, {delta, 1, force, nullptr, nullptr}, {result.gradient, result.rows, &result});
  result.gradient *= -1;
}

}  // namespace deft::solvers::contact
