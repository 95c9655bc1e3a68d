#include "deft/solvers/constraint_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "deft/solvers/packed_program.hpp"

namespace deft::solvers {

bool ConstraintRows::assign(const ContactProgram& program) {
  constexpr int kMaxRays = 64;
  if (std::isfinite(program.kappa) || program.rays > kMaxRays) return false;
  program_ = &program;
  const std::size_t n = program.contacts.size();
  layouts_.resize(n);
  first_ray_.resize(n + 1);
  first_ray_[0] = 0;
  width_ = 1;
  for (std::size_t i = 0; i < n; ++i) {
    layouts_[i] = ray_layout(program, static_cast<int>(i));
    if (layouts_[i].slacks == 0) return false;
    first_ray_[i + 1] = first_ray_[i] + layouts_[i].slacks;
    width_ = std::max(width_, static_cast<int>(program.J.cols(static_cast<int>(i)).size()));
  }
  for (const RowBlocks* rows : {&program.linear.rows, &program.equality.rows}) {
    for (int i = 0; i < rows->size(); ++i) width_ = std::max(width_, static_cast<int>(rows->cols(i).size()));
  }
  ray_directions(program.rays, ray_cos_, ray_sin_);
  if (static_cast<int>(column_.size()) < program.nv) {
    column_.resize(program.nv);
    std::iota(column_.begin(), column_.end(), 0);
  }
  values_.resize(3 * n);
  const std::size_t counts[] = {static_cast<std::size_t>(first_ray_[n]), program.linear.rhs.size(),
                                program.equality.rhs.size(), static_cast<std::size_t>(program.lower.size()),
                                static_cast<std::size_t>(program.upper.size())};
  for (int kind = 0; kind < 5; ++kind) active_[kind].assign(counts[kind], 0);
  return true;
}

int ConstraintRows::num_others() const {
  std::size_t count = 0;
  for (int kind = 1; kind < 5; ++kind) count += active_[kind].size();
  return static_cast<int>(count);
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

void ConstraintRows::evaluate(const double* delta) {
  delta_ = delta;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const ContactLaw& law = program_->contacts[i];
    const auto cols = program_->J.cols(static_cast<int>(i));
    const std::size_t count = cols.size();
    const double* n = program_->J.block(static_cast<int>(i)).data();
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

double ConstraintRows::slack(const RowName& row) const {
  switch (row.kind) {
    case Kind::kRay: {
      const RayLayout& layout = layouts_[row.index];
      const double* value = values_.data() + 3 * row.index;
      double slack = value[0];
      if (layout.rows > 1) slack += layout.mu * cosine(layout, row.ray) * value[1];
      if (layout.rows > 2) slack += layout.mu * sine(layout, row.ray) * value[2];
      return slack;
    }
    case Kind::kLower:
      return delta_[row.index] - program_->lower[row.index];
    case Kind::kUpper:
      return program_->upper[row.index] - delta_[row.index];
    default: {
      double slack = offset(row);
      for_each_entry(row, [&](int c, double g) { slack += g * delta_[c]; });
      return slack;
    }
  }
}

void ConstraintRows::clear_multipliers() {
  for (int kind = 0; kind < 5; ++kind) lambda_[kind].assign(active_[kind].size(), 0.0);
  twin_.assign(layouts_.size(), 0);
}

void ConstraintRows::set_multiplier(const RowName& row, double lambda) {
  lambda_[static_cast<int>(row.kind)][at(row)] = lambda;
}

void ConstraintRows::share_among_twins() {
  const ContactProgram& program = *program_;
  const int n = static_cast<int>(layouts_.size());
  std::vector<double>& lambda = lambda_[0];
  for (int i = 0; i < n; ++i) {
    const auto first = lambda.begin() + first_ray_[i], last = lambda.begin() + first_ray_[i + 1];
    if (twin_[i] || std::all_of(first, last, [](double x) { return x == 0; })) continue;
    twins_.clear();
    for (int j = 0; j < n; ++j) {
      if (program.contacts[j].gap == program.contacts[i].gap && same_contact(program, i, j)) twins_.push_back(j);
    }
    if (twins_.size() == 1) continue;
    for (int k = 0; k < layouts_[i].slacks; ++k) {
      double total = 0;
      for (const int j : twins_) total += lambda[first_ray_[j] + k];
      for (const int j : twins_) lambda[first_ray_[j] + k] = total / static_cast<double>(twins_.size());
    }
    for (const int j : twins_) twin_[j] = j != twins_[0];
  }
}

void ConstraintRows::store(const double* delta, WarmMemory& memory) const {
  memory.open({delta, static_cast<std::size_t>(program_->nv)});
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::uint64_t id = program_->contacts[i].id;
    if (id != 0) memory.add(id, {lambda_[0].data() + first_ray_[i], static_cast<std::size_t>(layouts_[i].slacks)});
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
  solution.ray_multipliers.clear();
  solution.slack.clear();
  for (int i = 0; i < n; ++i) {
    const RayLayout& layout = layouts_[i];
    const bool pyramid = !is_cone(program, i);
    const double* value = values_.data() + 3 * i;
    const double* lambda = lambda_[0].data() + first_ray_[i];
    auto& force = solution.force[i];
    force = {0, 0, 0, 0};
    solution.gap[i] = value[0];
    for (int k = 0; k < layout.slacks; ++k) {
      force[0] += lambda[k];
      if (layout.rows > 1) force[1] += layout.mu * cosine(layout, k) * lambda[k];
      if (layout.rows > 2) force[2] += layout.mu * sine(layout, k) * lambda[k];
      const double slack = this->slack({Kind::kRay, i, k}) + layout.compliance * lambda[k];
      for (int share = 0; pyramid && share < layout.shares; ++share) {
        solution.slack.push_back(slack);
        solution.ray_multipliers.push_back(lambda[k] / layout.shares);
      }
    }
    if (pyramid) continue;
    const double R = layout.rows == 2 ? 0.5 * layout.compliance : layout.compliance;  // of (f_n, f_t/μ)
    solution.slack.push_back(value[0] + R * force[0]);
    const int rows = program.contacts[i].frictionless ? 1 : program.J.rows(i);
    for (int r = 1; r < rows; ++r)
      solution.slack.push_back(layout.rows == 2 ? layout.mu * value[1] + R * (lambda[0] - lambda[1]) : 0.0);
  }
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

}  // namespace deft::solvers
