#pragma once
// Most contacts of a scene are too far away to matter in one step. An exact solve looks at those that the motion may
// reach and proves afterwards that the others stay open.

#include <span>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// The contacts that are solved for; scratch is kept between calls. Redundant contacts are left out from the start and
/// need no proof.
class Screening {
 public:
  /// Chooses the contacts whose slack at `guess` [rad, m] (empty: no motion) is at most what their rows may still move,
  /// Σ_k |J_k| reach_k, and those with a gap below zero, which enter the scale E0. Chooses all where that does not pay
  /// or Q has a zero on its diagonal.
  /// @param redundant  as SolverSettings::redundant; must live as long as this choice.
  void start(const ContactProgram& program, std::span<const double> guess, std::span<const char> redundant);

  /// True if every contact that was left out and is not redundant has a positive slack at `delta` [m, rad], the
  /// solution for the others, which then solves the whole program. Otherwise adds what is missing; after two rounds all
  /// that are not redundant.
  bool holds(const ContactProgram& program, std::span<const double> delta);

  /// Solves for all contacts from now on, redundant ones too.
  void keep_all() { kept_.clear(); }
  /// Whether all contacts are solved for.
  bool keeps_all() const { return kept_.empty(); }
  /// Whether redundant contacts are left out, which could carry a share of the others' force.
  bool leaves_redundant() const { return !kept_.empty() && has_redundant_; }

  /// Per contact whether it is solved for; empty if all are.
  const std::vector<char>& kept() const { return kept_; }

 private:
  int keep_near(const ContactProgram& program, std::span<const double> delta, double factor);
  bool is_redundant(std::size_t contact) const { return has_redundant_ && redundant_[contact] != 0; }

  std::vector<char> kept_;
  std::vector<double> reach_, still_;  // per column [rad, m]; zeros
  std::span<const char> redundant_;
  bool has_redundant_ = false;
  int rounds_ = 0;
};

}  // namespace deft::solvers::contact
