#pragma once
// The linear systems behind a solution, one per island of velocities:  H = Q + Σ JᵀCJ,  G the active rows,
//
//   [H −Gᵀ; −G 0] [dδ; dλ] = [−(dg + Σ JᵀC ds); E ds],   df = −C (J dδ + ds) + Eᵀ dλ.
//
// Private to src/deft/solvers.

#include <span>
#include <vector>

#include "deft/solvers/contact/derivative/active_system.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"
#include "deft/solvers/contact/derivative/sensitivity_terms.hpp"

namespace deft::solvers::contact {

/// The islands of one program at one solution, and their factors.
class Sensitivity::Islands {
 public:
  /// A change of the data, or weights on the solution, and what is asked for.
  struct Request {
    const Directions& gradient;         // nv × k: of Qδ + b − Σ Jᵀf, or weights on δ
    double sign;                        // of the gradient on the right-hand side
    const Directions& rows;             // Σ rows × k: of the contacts' rows, or weights on forces; or empty
    const Directions *lower, *upper;    // nv × k: of the bounds; or null, or empty
    std::span<const char> wanted = {};  // 1 per contact whose forces are asked for; or empty: all
  };
  /// Where the answer goes.
  struct Answer {
    Directions &delta, &force;        // nv × k, Σ rows × k
    ProgramChange* bounds = nullptr;  // its `lower` and `upper` are weights on the bounds; or null
  };

  /// Classifies all rows at `solution`, splits the velocities into islands and factors the system of each.
  void factor(const ContactProgram& program, const ContactSolution& solution, double energy_J, double residual);
  /// dδ and df, or with weights their transposes.
  void apply(const ContactProgram& program, const Request& request, const Answer& answer);
  /// Looks whether redundant rows move with the active ones that imply them; a nonsmooth point where they do not.
  void check_implied(const ContactProgram& program, const ProgramChange& change, const SolutionChange& result);

  /// As Sensitivity::is_nonsmooth.
  bool is_nonsmooth() const { return is_nonsmooth_; }
  /// What `is_nonsmooth` answers from now on.
  void set_nonsmooth(bool is_nonsmooth) { is_nonsmooth_ = is_nonsmooth; }
  /// As Sensitivity::is_unique.
  bool is_unique() const { return is_unique_; }
  /// The terms of all rows; redundant rows that active ones do not imply have been removed.
  const SensitivityTerms& terms() const { return terms_; }

 private:
  /// Velocities that depend on each other, and what acts on them.
  struct Island {
    std::vector<int> velocities, contacts;
    std::vector<int> bounds, linear, equality;  // indices of terms
    int num_active = 0, num_compliant = 0;
    ActiveSystem system;

    void clear();
    /// Makes space for `rows` more active rows. @returns the first one.
    int add_active_rows(int rows);
  };

  // Which velocities depend on each other: a forest of parents.
  int root(int v);
  void join(std::span<const int> cols);
  void couple_velocities(const ContactProgram& program);
  void number_islands(int nv);
  void place_contacts(const ContactProgram& program);
  template <class Cols>
  void place_rows(std::vector<RowTerm>& rows, std::vector<int> Island::* list, Cols cols);
  void find_islands(const ContactProgram& program);

  // The system of an island.
  void add_blocks(const BlockDiagonal& blocks, Island& island, double factor);
  void add_contact(const ContactProgram& program, int contact, ActiveSystem& system);
  void add_row(const RowBlocks& rows, const RowTerm& row, ActiveSystem& system);
  void fill(const ContactProgram& program, Island& island);
  void set_metric(const Island& island, int size);
  void make_definite(const ContactProgram& program, Island& island);
  void factor_island(const ContactProgram& program, Island& island);
  bool is_free_row(const ContactProgram& program, const RedundantRow& redundant);

  // A solve: the directions that reach an island are packed side by side.
  void find_directions(const ContactProgram& program, const Island& island, const Request& request);
  void gather(double factor, const double* row, double* packed) const;
  void scatter(double factor, const double* packed, double* row) const;
  template <class Run>
  void for_each_run(std::span<const int> cols, Run run) const;
  double* motion(int v) { return x_.data() + to_size(local_[v]) * ld_; }
  double* multiplier(int active_row) { return y_.data() + to_size(active_row) * ld_; }
  void load_rows(const ContactTerm& term, const Request& request);
  void add_contact_change(const ContactProgram& program, int contact, const Request& request);
  void add_bound_change(const RowTerm& bound, const Request& request);
  void add_force(const ContactProgram& program, int contact, const Request& request, Directions& force);
  void add_bound_weights(const RowTerm& bound, ProgramChange& weights);
  void apply_island(const ContactProgram& program, Island& island, const Request& request, const Answer& answer);
  void apply_unmoved(const ContactProgram& program, const Request& request, Directions& force) const;

  SensitivityTerms terms_;
  bool is_nonsmooth_ = false, is_unique_ = true;
  std::vector<Island> islands_;  // the first count_ are in use
  std::size_t count_ = 0;
  std::vector<int> parent_, island_of_, local_;  // per velocity; local_: its place in its island
  std::vector<Eigen::Vector4d> block_;
  std::vector<double> metric_, row_;

  // Of the island at hand.
  std::vector<int> columns_;  // the directions that reach it
  std::vector<char> reached_;
  std::size_t ld_ = 0;     // padded number of columns_
  bool is_dense_ = false;  // columns_ are all there are
  std::vector<double> x_, y_, s_, pull_, force_;
};

}  // namespace deft::solvers::contact
