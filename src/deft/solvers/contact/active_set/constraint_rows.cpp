#include "deft/solvers/contact/active_set/constraint_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/interior/packed_program.hpp"

namespace deft::solvers::contact {

bool ConstraintRows::assign(const ContactProgram& program) {
  constexpr int kMaxRays = 64;
  if (std::isfinite(program.kappa) || program.rays > kMaxRays) return false;
  program_ = &program;
  const int n = static_cast<int>(program.contacts.size());
  layouts_.resize(n);
  first_ray_.resize(n + 1);
  first_ray_[0] = 0;
  for (int i = 0; i < n; ++i) {
    layouts_[i] = ray_layout(program, i);
    if (layouts_[i].slacks == 0) return false;
    first_ray_[i + 1] = first_ray_[i] + layouts_[i].slacks;
  }
  if (static_cast<int>(ray_cos_.size()) != program.rays) ray_directions(program.rays, ray_cos_, ray_sin_);
  if (static_cast<int>(column_.size()) < program.nv) {
    column_.resize(program.nv);
    std::iota(column_.begin(), column_.end(), 0);
  }
  values_.resize(3 * to_size(n));
  grams_.resize(n);
  for (Gram& gram : grams_) gram.known = false;
  const std::size_t counts[] = {to_size(first_ray_[n]), program.linear.rhs.size(), program.equality.rhs.size(),
                                to_size(program.lower.size()), to_size(program.upper.size())};
  for (int kind = 0; kind < 5; ++kind) active_[kind].assign(counts[kind], 0);
  duplicate_.assign(n, 0);
  return true;
}

std::size_t ConstraintRows::num_others() const {
  std::size_t count = 0;
  for (int kind = 1; kind < 5; ++kind) count += active_[kind].size();
  return count;
}

void ConstraintRows::list_others(std::vector<RowName>& names) const {
  names.clear();
  const auto list = [&](Kind kind, Eigen::Index count, auto counts) {
    for (int i = 0; i < count; ++i) {
      if (counts(i)) names.push_back({kind, i, 0});
    }
  };
  const auto always = [](int) { return true; };
  list(Kind::kEquality, program_->equality.rows.size(), always);
  list(Kind::kLinear, program_->linear.rows.size(), always);
  list(Kind::kLower, program_->lower.size(), [&](int i) { return std::isfinite(program_->lower[i]); });
  list(Kind::kUpper, program_->upper.size(), [&](int i) { return std::isfinite(program_->upper[i]); });
}

std::span<const int> ConstraintRows::cols(const RowName& row) const {
  switch (row.kind) {
    case Kind::kRay:
      return program_->J.cols(row.index);
    case Kind::kLinear:
      return program_->linear.rows.cols(row.index);
    case Kind::kEquality:
      return program_->equality.rows.cols(row.index);
    default:
      return {column_.data() + row.index, 1};
  }
}

double ConstraintRows::offset(const RowName& row) const {
  switch (row.kind) {
    case Kind::kRay: {
      const RayLayout& layout = layouts_[row.index];
      const ContactLaw& law = program_->contacts[row.index];
      double offset = law.gap;
      if (layout.rows > 1) offset += layout.mu * cosine(layout, row.ray) * law.offset[0];
      if (layout.rows > 2) offset += layout.mu * sine(layout, row.ray) * law.offset[1];
      return offset;
    }
    case Kind::kLinear:
      return -program_->linear.rhs[row.index];
    case Kind::kEquality:
      return -program_->equality.rhs[row.index];
    case Kind::kLower:
      return -program_->lower[row.index];
    default:
      return program_->upper[row.index];
  }
}

double ConstraintRows::rough_square(const RowName& row, const MetricInverse& inverse) {
  if (row.kind != Kind::kRay) {
    double squared = 0;
    for_each_entry(row, [&](int c, double g) { squared += g * g * inverse.diagonal(c); });
    return squared;
  }
  constexpr double kCancelled = 1e-12;  // of |n|² + μ²|t|²: rounding of rows that nearly cancel
  const RayLayout& layout = layouts_[row.index];
  Gram& gram = grams_[row.index];
  if (!gram.known) {
    double nn = 0, nt = 0, no = 0, tt = 0, to = 0, oo = 0;
    const auto cols = program_->J.cols(row.index);
    const double* n = program_->J.block(row.index).data();
    const double* t = n + (layout.rows > 1 ? cols.size() : 0);  // without tangents μ = 0
    const double* o = n + (layout.rows > 2 ? 2 * cols.size() : 0);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      const double d = inverse.diagonal(cols[k]), dn = d * n[k], dt = d * t[k];
      nn += dn * n[k], nt += dn * t[k], no += dn * o[k], tt += dt * t[k], to += dt * o[k], oo += d * o[k] * o[k];
    }
    gram = {true, nn, nt, no, tt, to, oo};
  }
  const double c = layout.mu * cosine(layout, row.ray), s = layout.mu * sine(layout, row.ray);
  const double squared = gram.nn + c * c * gram.tt + s * s * gram.oo;
  return std::max(squared + 2 * (c * gram.nt + s * gram.no + c * s * gram.to), kCancelled * squared);
}

double ConstraintRows::magnitude(const RowName& row, const double* delta) const {
  double size = std::abs(offset(row));
  for_each_entry(row, [&](int c, double g) { size += std::abs(g * delta[c]); });
  return size;
}

void ConstraintRows::evaluate(const RowIsland& island, const double* delta) {
  delta_ = delta;
  for (const int i : island.contacts) {
    const ContactLaw& law = program_->contacts[i];
    const auto cols = program_->J.cols(i);
    const std::size_t count = cols.size();
    const double* n = program_->J.block(i).data();
    double* value = values_.data() + 3 * i;
    double normal = law.gap, first = law.offset[0], second = law.offset[1];
    if (layouts_[i].rows == 1) {
      for (std::size_t k = 0; k < count; ++k) normal += n[k] * delta[cols[k]];
    } else if (layouts_[i].rows == 2) {
      for (std::size_t k = 0; k < count; ++k) {
        const double d = delta[cols[k]];
        normal += n[k] * d;
        first += n[count + k] * d;
      }
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        const double d = delta[cols[k]];
        normal += n[k] * d;
        first += n[count + k] * d;
        second += n[2 * count + k] * d;
      }
    }
    value[0] = normal;
    value[1] = first;
    value[2] = second;
  }
}

double ConstraintRows::other_slack(const RowName& row) const {
  if (row.kind == Kind::kLower) return delta_[row.index] - program_->lower[row.index];
  if (row.kind == Kind::kUpper) return program_->upper[row.index] - delta_[row.index];
  double slack = offset(row);
  for_each_entry(row, [&](int c, double g) { slack += g * delta_[c]; });
  return slack;
}

void ConstraintRows::recall(WarmMemory* memory) {
  for (int kind = 0; kind < 5; ++kind) lambda_[kind].assign(active_[kind].size(), 0.0);
  recalled_ = memory != nullptr;
  if (!recalled_) return;
  std::size_t guess = 0;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::uint64_t id = program_->contacts[i].id;
    if (id == 0) continue;
    const auto lambda = memory->find(id, guess);
    if (static_cast<int>(lambda.size()) != layouts_[i].slacks) continue;
    for (std::size_t k = 0; k < lambda.size(); ++k) lambda_[0][first_ray_[i] + k] = lambda[k];
  }
  if (memory->num_others() != num_others()) return;
  std::size_t at = 0;
  for (int kind = 1; kind < 5; ++kind) {
    for (double& lambda : lambda_[kind]) lambda = memory->other(at++);
  }
}

int ConstraintRows::num_loaded(const RowIsland& island) const {
  std::ptrdiff_t count = 0;
  const auto loaded = [](double lambda) { return lambda > 0; };
  for (const int i : island.contacts)
    count += std::count_if(lambda_[0].begin() + first_ray_[i], lambda_[0].begin() + first_ray_[i + 1], loaded);
  for (const RowName& name : island.others) count += loaded(lambda_[kind_of(name)][name.index]);
  return static_cast<int>(count);
}

void ConstraintRows::share_among_duplicates(const RowIsland& island, int i) {
  const ContactProgram& program = *program_;
  if (duplicate_[i]) return;
  const double gap = program.contacts[i].gap;
  const auto as_far = [&](int j) { return program.contacts[j].gap == gap; };
  if (std::count_if(island.contacts.begin(), island.contacts.end(), as_far) == 1) return;
  duplicates_.clear();
  for (const int j : island.contacts) {
    if (as_far(j) && (j == i || same_contact(program, i, j))) duplicates_.push_back(j);
  }
  for (int k = 0; k < layouts_[i].slacks; ++k) {
    double total = 0;
    for (const int j : duplicates_) total += lambda_[0][first_ray_[j] + k];
    for (const int j : duplicates_) lambda_[0][first_ray_[j] + k] = total / static_cast<double>(duplicates_.size());
  }
  for (const int j : duplicates_) duplicate_[j] = j != duplicates_[0];
}

void ConstraintRows::store(const double* delta, WarmMemory& memory) const {
  memory.open({delta, to_size(program_->nv)});
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::uint64_t id = program_->contacts[i].id;
    if (id != 0) memory.add(id, {lambda_[0].data() + first_ray_[i], to_size(layouts_[i].slacks)});
  }
  for (int kind = 1; kind < 5; ++kind) {
    for (const double& lambda : lambda_[kind]) memory.add(0, {&lambda, 1});
  }
  memory.close();
}

void ConstraintRows::unpack(const double* delta, ContactSolution& solution) const {
  const ContactProgram& program = *program_;
  const int n = static_cast<int>(layouts_.size());
  solution.delta = Eigen::Map<const Eigen::VectorXd>(delta, program.nv);
  solution.force.resize(n);
  solution.gap.resize(n);
  int most = 0;
  for (const RayLayout& layout : layouts_) most += std::max(4, layout.slacks * layout.shares);
  solution.ray_multipliers.resize(most);
  solution.slack.resize(most);
  double* next_slack = solution.slack.data();
  double* next_multiplier = solution.ray_multipliers.data();
  for (int i = 0; i < n; ++i) {
    const RayLayout layout = layouts_[i];  // copies: what is written below could change the originals
    const bool pyramid = !is_cone(program, i);
    const std::array<double, 3> value{values_[3 * i], values_[3 * i + 1], values_[3 * i + 2]};
    const double* lambda = lambda_[0].data() + first_ray_[i];
    std::array<double, 4> force{};
    for (int k = 0; k < layout.slacks; ++k) {
      const double c = layout.mu * cosine(layout, k), s = layout.mu * sine(layout, k), beta = lambda[k];
      const double slack = value[0] + c * value[1] + s * value[2] + layout.compliance * beta;
      const double share = layout.shares == 1 ? beta : beta / layout.shares;
      for (int same = 0; pyramid && same < layout.shares; ++same) {
        *next_slack++ = slack;
        *next_multiplier++ = share;
      }
      force[0] += beta, force[1] += c * beta, force[2] += s * beta;
    }
    solution.gap[i] = value[0];
    solution.force[i] = force;
    if (pyramid) continue;
    const double R = layout.rows == 2 ? 0.5 * layout.compliance : layout.compliance;  // of (f_n, f_t/μ)
    *next_slack++ = value[0] + R * force[0];
    const int rows = program.contacts[i].frictionless ? 1 : program.J.rows(i);
    for (int r = 1; r < rows; ++r)
      *next_slack++ = layout.rows == 2 ? layout.mu * value[1] + R * (lambda[0] - lambda[1]) : 0.0;
  }
  solution.slack.resize(next_slack - solution.slack.data());
  solution.ray_multipliers.resize(next_multiplier - solution.ray_multipliers.data());
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  };
  solution.linear_multipliers = vector(lambda_[static_cast<int>(Kind::kLinear)]);
  solution.equality_multipliers = vector(lambda_[static_cast<int>(Kind::kEquality)]);
  const bool bounded = program.lower.size() > 0 || program.upper.size() > 0;
  solution.bound_multipliers.setZero(bounded ? program.nv : 0);
  if (program.lower.size() > 0) solution.bound_multipliers += vector(lambda_[static_cast<int>(Kind::kLower)]);
  if (program.upper.size() > 0) solution.bound_multipliers -= vector(lambda_[static_cast<int>(Kind::kUpper)]);
}

}  // namespace deft::solvers::contact
