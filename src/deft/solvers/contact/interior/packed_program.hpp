#pragma once
// The contact program as the methods of this module work on it: scaled, duplicates merged, columns sorted into islands.
//
// Scaled quantities: δ = √E δ̂, contact rows Ĵ = J/w, slacks s = w√E ŝ, multipliers λ = (√E/w) λ̂, energies E. In these
// units J Q̃⁻¹Jᵀ has diagonal entries near 1, so that every tolerance is an absolute number. Rows of a cone's tangents
// carry μ e.

#include <cstdint>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"
#include "deft/solvers/kernels/dense_kernels.hpp"

namespace deft::solvers::contact {

/// Polyhedral rows (rays, a single row, a bound), a second-order cone, or an equality with a free multiplier.
enum class Law : std::uint8_t { kRays, kCone, kEquality };

/// One contact, bound or linear row: `rows` rows of Ĵ and `slacks` slack variables. For kRays with 2 or 3 rows slack k
/// is z_n + μ (c_k z_t1 + s_k z_t2) of the row values z; otherwise slacks are the row values themselves.
struct PackedBlock {
  Law law = Law::kRays;                // what its slacks must satisfy
  int rows = 0, slacks = 0;            // at least one each
  int first_row = 0, first_slack = 0;  // in the order of all rows and of all slacks
  double mu = 0.0;                     // of kRays with 2 or 3 rows [-]
  double weight = 1.0;                 // barrier target in units of 1/κ, 0 for a hard row
  double compliance = 0.0;             // R̂ = R/w²
  double scale = 1.0;                  // w
  int multiplicity = 1;                // identical contacts merged into this one
};

/// Consecutive blocks on the same columns: one dense matrix, [num_rows × ld] row-major, zero beyond num_cols.
struct RowGroup {
  int island = 0;                       // of all its columns
  int first_block = 0, num_blocks = 0;  // in PackedProgram::blocks
  int first_row = 0, num_rows = 0;      // in the order of all rows
  int num_cols = 0, ld = 0;             // columns, and the padded length of a row
  int first_col = 0;                    // into PackedProgram::cols
  std::size_t first_value = 0;          // into PackedProgram::values
  bool contiguous = false;              // its columns follow each other without gaps
};

/// A connected component of columns: its own dense Newton matrix.
struct Island {
  int start = 0, size = 0, ld = 0;  // columns start … start+size−1 in packed order; padded length of a row
};

/// A block of Q̂ and the Cholesky factor of the same block of Q̃ (formulation: README.md, "Scales").
struct MetricBlock {
  int start = 0, size = 0, ld = 0;  // columns start … start+size−1 in packed order; padded length of a row
  int island = 0;                   // of all its columns
  std::size_t first_value = 0;      // into Q_values and metric_factor, [size × ld] row-major
  bool singular = false;            // Q̃ differs from Q here
};

/// Whether contacts i and j have the same rows and the same law, to the bit.
bool same_contact(const ContactProgram& program, int i, int j);

/// The packed program: data of one solve, constant while iterating.
struct PackedProgram {
  int nv = 0, num_rows = 0, num_slacks = 0;  // columns; rows and slacks of all blocks
  double energy = 1.0;                       // E of the scaling [J]
  double target = 0.0;                       // 1/(κE), 0 when exact
  double extra_compliance = 0.0;             // artificial R̂ of every inequality, see set_extra_compliance
  bool smoothed = false;                     // κ < ∞, unless the barrier moves nothing
  bool has_hard_rows = false;                // inequalities without a barrier in a smoothed program
  bool has_cones = false;                    // a block is a second-order cone
  bool has_singular_blocks = false;          // Q ≻ 0 does not hold: a MetricBlock is singular
  bool lower_above_upper = false;            // Infeasible at once
  bool rigid_violation = false;              // a row that nothing moves is violated: Infeasible at once

  std::vector<int> column_of;                    // program column → packed column
  std::vector<int> island_of_packed;             // packed column → island
  std::vector<Island> islands;                   // numbered by their first program column
  std::vector<MetricBlock> metric;               // covers all columns, in program order
  std::vector<double> Q_values;                  // Q by metric blocks, with its proximal part where singular
  std::vector<double> metric_factor;             // U of Q̃ = UᵀU by metric blocks, with reciprocals on its diagonal
  std::vector<double> metric_floor;              // scratch: smallest pivots of the block at work
  std::vector<double> flat_values;               // ε(Q̃ − Q), part of Q_values; only where has_singular_blocks
  std::vector<double> b;                         // b̂ in packed order, less ε(Q̃ − Q) times the centre
  std::vector<double> b_own;                     // b̂ itself; only where has_singular_blocks
  std::vector<PackedBlock> blocks;               // contacts, then linear rows, equalities, bounds
  std::vector<RowGroup> groups;                  // all blocks but the bounds
  std::vector<int> cols;                         // of groups: packed column − island start
  std::vector<int> unit_cols;                    // of bounds: packed column, one per bound block
  std::vector<double> unit_values;               // ±1/w
  int first_unit_block = 0, first_unit_row = 0;  // where the bounds begin
  std::vector<double> values;                    // Ĵ of the groups
  std::vector<double> g;                         // ĝ per slack: slack = g + E z + R̂ λ̂
  std::vector<double> ray_cos, ray_sin;          // of 2πk/rays

  std::vector<int> block_of_contact;                    // −1: not packed, or nothing moves it
  std::vector<int> block_of_linear, block_of_equality;  // per row, −1: nothing moves it
  std::vector<int> block_of_lower, block_of_upper;      // per column of the program, −1: none; empty without bounds

  /// Fills everything from a checked `program`; allocates only while sizes grow. `kept` (size of its contacts, or
  /// empty: all) says which contacts are packed; the others have no block.
  /// @throws std::invalid_argument if Q is not positive semidefinite.
  void pack(const ContactProgram& program, const std::vector<char>& kept);

  /// Sets the artificial compliance of all inequality blocks (elastic mode: jammed problems become solvable).
  void set_extra_compliance(double R);

  /// Where Q is singular the program that is solved has ε/2 |v − centre|² in the metric of Q̃ − Q added (the proximal
  /// point method: at v = centre its residuals are those of the program itself). Moves the centre.
  void recentre(const std::vector<double>& centre);
  /// ε ← factor ε in Q alone: call recentre next.
  void scale_proximal(double factor);

  /// Turns the packed program into that of least violation: Q = 0, b = 0, unit compliance R̂ on every row, gaps less
  /// `margin` on rows with a barrier, all gaps in units of the worst. Its multipliers satisfy Jᵀλ = 0, λ ∈ K* and
  /// gᵀλ = −|λ|².
  void to_least_violation(double margin);
  /// The same seen from the motion found, where the gaps are `slack` − λ, in units of the largest λ.
  void rescale_violation(const std::vector<double>& lambda, const std::vector<double>& slack);

  /// xᵀQ̃⁻¹x of a vector in packed order.
  double metric_norm_squared(const std::vector<double>& x, std::vector<double>& scratch) const;

  /// Tangential direction of slack k of a block with friction: its first component; 1 and −1 where there is one
  /// tangent.
  double cos_of(const PackedBlock& block, int k) const {
    return block.slacks == 2 ? (k == 0 ? 1.0 : -1.0) : ray_cos[k];
  }
  /// The second component; 0 where there is one tangent.
  double sin_of(const PackedBlock& block, int k) const { return block.slacks == 2 ? 0.0 : ray_sin[k]; }

 private:
  bool is_packed(int contact) const { return kept_->empty() || (*kept_)[contact]; }
  void find_islands(const ContactProgram& program);
  void pack_metric(const ContactProgram& program);
  void partition_columns(const ContactProgram& program);
  void pack_energy(const ContactProgram& program);
  void find_missing_rows();
  void fill_from_masses(const BlockDiagonal& masses);
  void factor_metric(MetricBlock& block, double mean);
  void invert_factor(const MetricBlock& block);
  void add_proximal(const MetricBlock& block);
  void make_flat();
  void pack_contacts(const ContactProgram& program);
  void pack_contact(const ContactProgram& program, int i);
  void pack_linear(const LinearRows& rows, Law law, double weight, std::vector<int>& block_of);
  void pack_bounds(const ContactProgram& program);
  void pack_unit(int col, double sign, double gap, Law law, double weight);
  void push_block(PackedBlock block, double norm_squared, double violation);
  void equilibrate(const ContactProgram& program);
  void find_duplicates(const ContactProgram& program);
  void begin_group(const RowBlocks& J, int i, int rows);
  double row_norm_squared(const RowGroup& group, const double* row);
  void remove_last_block();

  std::vector<int> parent_, island_of_root_, island_of_column_, size_at_column_, merged_cols_, representative_, table_;
  std::vector<int> metric_at_column_, metric_of_packed_;
  std::vector<double> scratch_, metric_inverse_;
  std::vector<char> missing_;
  const std::vector<char>* kept_ = nullptr;  // while packing
};

}  // namespace deft::solvers::contact
