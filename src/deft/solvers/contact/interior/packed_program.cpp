#include "deft/solvers/contact/interior/packed_program.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/program/ray_layout.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

constexpr double kSmallestEnergy = 1e-12;  // floor of E0 [J]
constexpr double kExact = 1e20;            // κE0 beyond which the barrier moves nothing by more than 1e-10, √(1/κE0)
constexpr double kNegligible = 1e-60;  // entries of J below it are zeros that rounding left: they only make denormals

// The block of contact i without its place and scale.
PackedBlock shape_of(const ContactProgram& program, int i) {
  const RayLayout layout = ray_layout(program, i);
  PackedBlock block{.rows = layout.rows,
                    .slacks = layout.slacks,
                    .mu = layout.mu,
                    .weight = layout.weight,
                    .compliance = layout.compliance};
  if (layout.slacks == 0) {
    block.law = Law::kCone;
    block.rows = block.slacks = program.J.rows(i);
    block.weight = 2;
  }
  return block;
}

}  // namespace

bool same_contact(const ContactProgram& p, int i, int j) {
  const ContactLaw &a = p.contacts[i], &b = p.contacts[j];
  if (a.gap != b.gap || a.mu != b.mu || a.frictionless != b.frictionless || a.cone != b.cone ||
      a.compliance != b.compliance || a.ellipsoid != b.ellipsoid || a.offset != b.offset ||
      p.J.rows(i) != p.J.rows(j)) {
    return false;
  }
  const auto cols = p.J.cols(i), other = p.J.cols(j);
  if (!std::equal(cols.begin(), cols.end(), other.begin(), other.end())) return false;
  const auto block = p.J.block(i), block_j = p.J.block(j);
  return std::equal(block.data(), block.data() + block.size(), block_j.data());
}

void PackedProgram::pack(const ContactProgram& program, const std::vector<char>& kept) {
  kept_ = &kept;
  nv = program.nv;
  smoothed = std::isfinite(program.kappa);
  num_rows = num_slacks = 0;
  extra_compliance = 0.0;
  has_hard_rows = has_cones = has_singular_blocks = lower_above_upper = rigid_violation = false;
  blocks.clear();
  groups.clear();
  cols.clear();
  unit_cols.clear();
  unit_values.clear();
  values.clear();
  g.clear();
  find_islands(program);
  pack_metric(program);
  pack_contacts(program);
  const double weight = smoothed && program.hard ? 0.0 : 1.0;
  pack_linear(program.linear, Law::kRays, weight, block_of_linear);
  pack_linear(program.equality, Law::kEquality, 0.0, block_of_equality);
  pack_bounds(program);
  equilibrate(program);
}

void PackedProgram::find_islands(const ContactProgram& program) {
  parent_.resize(nv);
  for (int i = 0; i < nv; ++i) parent_[i] = i;
  const auto root = [&](int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  };
  // The smaller index becomes the root, so islands are numbered by their first column.
  const auto join = [&](int i, int j) {
    const int first = root(i), second = root(j);
    parent_[std::max(first, second)] = std::min(first, second);
  };
  for (const BlockDiagonal* Q : {&program.Q, &program.masses}) {
    for (int k = 0; k < Q->num_blocks(); ++k) {
      for (int i = 1; i < Q->size(k); ++i) join(Q->start(k), Q->start(k) + i);
    }
  }
  for (const RowBlocks* J : {&program.J, &program.linear.rows, &program.equality.rows}) {
    for (int i = 0; i < J->size(); ++i) {
      if (J == &program.J && !is_packed(i)) continue;
      const auto block_cols = J->cols(i);
      for (std::size_t k = 1; k < block_cols.size(); ++k) join(block_cols[0], block_cols[k]);
    }
  }
  islands.clear();
  column_of.resize(nv);
  island_of_root_.assign(nv, -1);
  for (int i = 0; i < nv; ++i) {
    const int r = root(i);
    if (island_of_root_[r] < 0) {
      island_of_root_[r] = static_cast<int>(islands.size());
      islands.emplace_back();
    }
    column_of[i] = islands[island_of_root_[r]].size++;  // position inside the island, made absolute below
  }
  int start = 0;
  for (Island& island : islands) {
    island.start = start;
    island.ld = kernels::padded(island.size);
    start += island.size;
  }
  island_of_column_.resize(nv);
  island_of_packed.resize(nv);
  for (int i = 0; i < nv; ++i) {
    island_of_column_[i] = island_of_root_[root(i)];
    column_of[i] += islands[island_of_column_[i]].start;
    island_of_packed[column_of[i]] = island_of_column_[i];
  }
}

void PackedProgram::find_duplicates(const ContactProgram& program) {
  const int n = static_cast<int>(program.contacts.size());
  representative_.resize(n);
  const std::size_t table_size = std::bit_ceil(to_size(2 * n + 1));
  table_.assign(table_size, -1);
  for (int i = 0; i < n; ++i) {
    if (!is_packed(i)) continue;
    const auto block = program.J.block(i);
    std::uint64_t hash = std::bit_cast<std::uint64_t>(program.contacts[i].gap) * 0x9E3779B97F4A7C15u;
    for (Eigen::Index k = 0; k < block.size(); k += 3)
      hash = (hash ^ std::bit_cast<std::uint64_t>(block.data()[k])) * 0xFF51AFD7ED558CCDu;
    std::size_t slot = (hash ^ (hash >> 32)) & (table_size - 1);
    while (table_[slot] >= 0 && !same_contact(program, table_[slot], i)) slot = (slot + 1) & (table_size - 1);
    if (table_[slot] < 0) table_[slot] = i;
    representative_[i] = table_[slot];
  }
}

// Opens or continues the group on the columns of J's block i, widened to whole metric blocks.
void PackedProgram::begin_group(const RowBlocks& J, int i, int rows) {
  merged_cols_.clear();
  int last_block = -1;
  const auto block_cols = J.cols(i);
  for (int c : block_cols) {
    const int k = metric_at_column_[c];
    if (k == last_block) continue;
    last_block = k;
    for (int j = 0; j < metric[k].size; ++j) merged_cols_.push_back(metric[k].start + j);
  }
  const int island = block_cols.empty() ? 0 : island_of_column_[block_cols[0]];
  const int offset = islands.empty() ? 0 : islands[island].start;
  for (int& c : merged_cols_) c -= offset;
  const int num_cols = static_cast<int>(merged_cols_.size());
  const bool same = !groups.empty() && groups.back().island == island && groups.back().num_cols == num_cols &&
                    std::equal(merged_cols_.begin(), merged_cols_.end(), cols.begin() + groups.back().first_col);
  if (!same) {
    RowGroup group;
    group.island = island;
    group.first_block = static_cast<int>(blocks.size());
    group.first_row = num_rows;
    group.num_cols = num_cols;
    group.ld = std::max(kernels::kLane, kernels::padded(num_cols));
    group.first_col = static_cast<int>(cols.size());
    group.first_value = values.size();
    group.contiguous = num_cols > 0 && merged_cols_.back() - merged_cols_.front() == num_cols - 1;
    cols.insert(cols.end(), merged_cols_.begin(), merged_cols_.end());
    groups.push_back(group);
  }
  RowGroup& group = groups.back();
  group.num_blocks += 1;
  group.num_rows += rows;
  const std::size_t first = values.size();
  values.resize(first + to_size(rows) * group.ld, 0.0);
  const auto source = J.block(i);
  int position = 0;
  for (std::size_t k = 0; k < block_cols.size(); ++k) {
    const int local = column_of[block_cols[k]] - offset;
    while (cols[group.first_col + position] != local) ++position;
    for (int r = 0; r < rows; ++r) {
      const double value = source(r, k);
      values[first + to_size(r) * group.ld + position] = std::abs(value) > kNegligible ? value : 0.0;
    }
  }
}

// Appends `block`, whose rows were just written; `norm_squared` is the mean of |row|² in the metric of Q̃⁻¹. The
// violation enters E0 (kept in `energy` until equilibrate).
void PackedProgram::push_block(PackedBlock block, double norm_squared, double violation) {
  block.scale = std::sqrt(norm_squared);
  block.compliance /= norm_squared;
  block.first_slack = num_slacks;
  block.first_row = num_rows;
  num_slacks += block.slacks;
  num_rows += block.rows;
  if (violation > 0) energy = std::max(energy, violation * violation / norm_squared);
  has_cones = has_cones || block.law == Law::kCone;
  blocks.push_back(block);
}

void PackedProgram::remove_last_block() {
  RowGroup& group = groups.back();
  const int rows = static_cast<int>((values.size() - group.first_value) / group.ld) - (num_rows - group.first_row);
  group.num_rows -= rows;
  group.num_blocks -= 1;
  values.resize(values.size() - to_size(rows) * group.ld);
  if (group.num_blocks == 0) {
    cols.resize(group.first_col);
    groups.pop_back();
  }
}

void PackedProgram::pack_contacts(const ContactProgram& program) {
  energy = kSmallestEnergy;
  ray_directions(program.rays, ray_cos, ray_sin);
  find_duplicates(program);
  const int n = static_cast<int>(program.contacts.size());
  block_of_contact.assign(n, -1);
  for (int i = 0; i < n; ++i) {
    if (!is_packed(i)) continue;
    if (representative_[i] == i) {
      pack_contact(program, i);
      continue;
    }
    const int shared = block_of_contact[representative_[i]];
    block_of_contact[i] = shared;
    if (shared >= 0) blocks[shared].multiplicity += 1;
  }
  for (PackedBlock& block : blocks) {
    block.weight *= block.multiplicity;
    block.compliance /= block.multiplicity;
  }
}

// One contact: its scaled rows, its block and its gaps; none where nothing moves it.
void PackedProgram::pack_contact(const ContactProgram& program, int i) {
  const ContactLaw& law = program.contacts[i];
  PackedBlock block = shape_of(program, i);
  double slide = 0.0;  // |offset| seen by the friction constraint
  if (block.law == Law::kRays && block.rows > 1)
    slide = block.mu * std::hypot(law.offset[0], block.rows > 2 ? law.offset[1] : 0.0);
  begin_group(program.J, i, block.rows);
  RowGroup& group = groups.back();
  double* rows = values.data() + values.size() - to_size(block.rows) * group.ld;
  double norm_squared = 0.0;
  for (int r = 0; r < block.rows; ++r)
    norm_squared += row_norm_squared(group, rows + to_size(r) * group.ld) / block.rows;
  double tangent[3] = {};
  if (block.law == Law::kCone) {
    for (int k = 0; k < block.rows - 1; ++k) {
      const double factor = law.mu * law.ellipsoid[k];
      tangent[k] = factor * law.offset[k];
      for (int c = 0; c < group.num_cols; ++c) rows[(k + 1) * group.ld + c] *= factor;
    }
    slide = std::sqrt(tangent[0] * tangent[0] + tangent[1] * tangent[1] + tangent[2] * tangent[2]);
  }
  if (!(norm_squared > 0)) {  // nothing moves this contact
    remove_last_block();
    const bool open = smoothed ? law.gap > slide : law.gap >= slide;
    rigid_violation = rigid_violation || !(open || law.compliance > 0);
    return;
  }
  const double scale = std::sqrt(norm_squared);
  for (std::size_t k = 0; k < to_size(block.rows) * group.ld; ++k) rows[k] /= scale;
  block_of_contact[i] = static_cast<int>(blocks.size());
  push_block(block, norm_squared, -law.gap);
  for (int k = 0; k < block.slacks; ++k) {
    double gap = law.gap;
    if (block.law == Law::kCone && k > 0) gap = tangent[k - 1];
    if (block.law == Law::kRays && block.rows > 1)
      gap += block.mu * (cos_of(block, k) * law.offset[0] + sin_of(block, k) * law.offset[1]);
    g.push_back(gap / scale);
  }
}

void PackedProgram::pack_linear(const LinearRows& rows, Law law, double weight, std::vector<int>& block_of) {
  block_of.assign(rows.rows.size(), -1);
  for (int i = 0; i < rows.rows.size(); ++i) {
    begin_group(rows.rows, i, 1);
    RowGroup& group = groups.back();
    double* row = values.data() + values.size() - group.ld;
    const double norm_squared = row_norm_squared(group, row);
    const double gap = -rows.rhs[i];
    if (!(norm_squared > 0)) {
      remove_last_block();
      const bool open = smoothed && weight > 0 ? gap > 0 : gap >= 0;
      rigid_violation = rigid_violation || (law == Law::kEquality ? gap != 0 : !open);
      continue;
    }
    const double scale = std::sqrt(norm_squared);
    for (int c = 0; c < group.num_cols; ++c) row[c] /= scale;
    PackedBlock block{.law = law, .rows = 1, .slacks = 1, .weight = weight};
    block_of[i] = static_cast<int>(blocks.size());
    has_hard_rows = has_hard_rows || (smoothed && law == Law::kRays && weight == 0);
    push_block(block, norm_squared, law == Law::kEquality ? std::abs(gap) : -gap);
    g.push_back(gap / scale);
  }
}

void PackedProgram::pack_unit(int col, double sign, double gap, Law law, double weight) {
  const MetricBlock& metric_block = metric[metric_at_column_[col]];
  scratch_.assign(metric_block.size, 0.0);
  scratch_[column_of[col] - metric_block.start] = 1.0;
  kernels::dense_kernels().forward(metric_block.size, metric_block.ld, metric_factor.data() + metric_block.first_value,
                                   scratch_.data());
  double norm_squared = 0.0;
  for (double x : scratch_) norm_squared += x * x;
  const double scale = std::sqrt(norm_squared);
  unit_cols.push_back(column_of[col]);
  unit_values.push_back(sign / scale);
  has_hard_rows = has_hard_rows || (smoothed && law == Law::kRays && weight == 0);
  push_block({.law = law, .rows = 1, .slacks = 1, .weight = weight}, norm_squared,
             law == Law::kEquality ? std::abs(gap) : -gap);
  g.push_back(gap / scale);
}

void PackedProgram::pack_bounds(const ContactProgram& program) {
  first_unit_block = static_cast<int>(blocks.size());
  first_unit_row = num_rows;
  block_of_lower.assign(program.lower.size(), -1);
  block_of_upper.assign(program.upper.size(), -1);
  const double weight = smoothed && program.hard ? 0.0 : 1.0;
  for (int i = 0; i < nv; ++i) {
    const double lower = program.lower.size() ? program.lower[i] : -std::numeric_limits<double>::infinity();
    const double upper = program.upper.size() ? program.upper[i] : std::numeric_limits<double>::infinity();
    if (lower > upper || (std::isinf(lower) && lower > 0) || (std::isinf(upper) && upper < 0)) {
      lower_above_upper = true;
      continue;
    }
    if (lower == upper) {
      block_of_lower[i] = block_of_upper[i] = static_cast<int>(blocks.size());
      pack_unit(i, 1.0, -lower, Law::kEquality, 0.0);
      continue;
    }
    if (std::isfinite(lower)) {
      block_of_lower[i] = static_cast<int>(blocks.size());
      pack_unit(i, 1.0, -lower, Law::kRays, weight);
    }
    if (std::isfinite(upper)) {
      block_of_upper[i] = static_cast<int>(blocks.size());
      pack_unit(i, -1.0, upper, Law::kRays, weight);
    }
  }
}

void PackedProgram::equilibrate(const ContactProgram& program) {
  b.resize(nv);
  for (int i = 0; i < nv; ++i) b[column_of[i]] = program.b[i];
  energy = std::max(energy, metric_norm_squared(b, scratch_));
  if (smoothed) energy = std::max(energy, 1 / program.kappa);  // the barrier is an energy too
  if (program.kappa * energy > kExact) smoothed = has_hard_rows = false;
  target = smoothed ? 1 / (program.kappa * energy) : 0.0;
  const double root = std::sqrt(energy);
  for (double& x : b) x /= root;
  for (double& x : g) x /= root;
  if (has_singular_blocks) b_own = b;
}

void PackedProgram::recentre(const std::vector<double>& centre) {
  for (const MetricBlock& block : metric) {
    if (!block.singular) continue;
    const double* flat = flat_values.data() + block.first_value;
    for (int r = 0; r < block.size; ++r) {
      double pull = 0.0;
      for (int c = 0; c < block.size; ++c) pull += flat[r * block.ld + c] * centre[block.start + c];
      b[block.start + r] = b_own[block.start + r] - pull;
    }
  }
}

void PackedProgram::to_least_violation(double margin) {
  smoothed = has_hard_rows = false;
  target = 0.0;
  double worst = 0.0;
  for (PackedBlock& block : blocks) {
    block.compliance = 1.0;
    double* gap = g.data() + block.first_slack;
    for (int k = 0; k < block.slacks; ++k) {
      if (block.weight > 0 && (block.law == Law::kRays || k == 0)) gap[k] -= margin;
      worst = std::max(worst, block.law == Law::kRays ? -gap[k] : std::abs(gap[k]));
    }
    block.weight = 1.0;
  }
  for (double& gap : g) gap /= worst > 0 ? worst : 1.0;
  std::fill(b.begin(), b.end(), 0.0);
  b_own = b;
  make_flat();
}

void PackedProgram::rescale_violation(const std::vector<double>& lambda, const std::vector<double>& slack) {
  double worst = 0.0;
  for (const double l : lambda) worst = std::max(worst, std::abs(l));
  if (!(worst > 0)) return;
  for (int k = 0; k < num_slacks; ++k) g[k] = (slack[k] - lambda[k]) / worst;
  recentre(std::vector<double>(nv, 0.0));
}

void PackedProgram::set_extra_compliance(double R) {
  for (PackedBlock& block : blocks) {
    if (block.law != Law::kEquality) block.compliance += R - extra_compliance;
  }
  extra_compliance = R;
}

}  // namespace deft::solvers::contact
