#include "deft/solvers/contact/active_set/row_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/solvers/kernels/isa.hpp"

namespace deft::solvers::contact {
namespace {

using Kind = RowName::Kind;

constexpr double kViolated = 2e-12;  // a row with a scaled slack below −this is violated
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();  // of the terms of a slack: nothing below it
                                                                          // is known
constexpr double kNothing = 1e-300;  // ‖g‖² of a row that no column moves: violated, it comes first
constexpr int kUnlisted = -1;

}  // namespace

void RowScan::begin(ConstraintRows& rows, const RowIsland& island, const MetricInverse& inverse, double E0) {
  constraints_ = &rows;
  inverse_ = &inverse;
  island_ = island;
  E0_ = E0;
  entries_.clear();
  const ContactProgram& program = rows.program();
  const std::size_t counts[] = {program.contacts.size(), program.linear.rhs.size(), 0, to_size(program.lower.size()),
                                to_size(program.upper.size())};
  for (int kind = 0; kind < 5; ++kind) entry_of_[kind].assign(counts[kind], kUnlisted);
}

// Lists the rows that δ violates, of contacts all rays. @returns whether there are new ones.
bool RowScan::list_violated() {
  const std::size_t before = entries_.size();
  constraints_->for_each_violated(island_, [&](const RowName& name) {
    int& entry = entry_of_[static_cast<int>(name.kind)][name.index];
    if (entry != kUnlisted) return;
    entry = static_cast<int>(entries_.size());
    entries_.push_back(name);
  });
  if (entries_.size() == before) return false;
  pack();
  return true;
}

void RowScan::pack() {
  tangents_ = 0;
  rays_ = 1;
  for (const RowName& name : entries_) {
    if (name.kind != Kind::kRay) continue;
    rays_ = std::max(rays_, constraints_->rays_of(name.index));
    tangents_ = std::max(tangents_, constraints_->rows_of(name.index) - 1);
  }
  stride_ = kernels::padded(static_cast<int>(entries_.size()));
  place_.resize(constraints_->program().nv);
  for (std::size_t k = 0; k < island_.columns.size(); ++k) place_[island_.columns[k]] = static_cast<int>(k);
  matrix_.assign(to_size(1 + tangents_) * stride_ * island_.columns.size(), 0.0);
  offset_.assign(3 * to_size(stride_), 0.0);
  value_.assign(3 * to_size(stride_), 0.0);
  for (std::vector<double>* of_rays : {&along_, &across_, &weight_, &left_})
    of_rays->assign(to_size(rays_) * stride_, 0.0);
  for (int at = 0; at < static_cast<int>(entries_.size()); ++at) {
    if (entries_[at].kind == Kind::kRay)
      pack_contact(at);
    else
      pack_other(at);
  }
}

void RowScan::pack_contact(int at) {
  const int i = entries_[at].index;
  const ContactProgram& program = constraints_->program();
  const ContactLaw& law = program.contacts[i];
  const double* J = program.J.block(i).data();
  for (int r = 0; r < constraints_->rows_of(i); ++r) {
    double* entry = matrix_.data() + to_size(r) * stride_ + at;
    offset_[to_size(r) * stride_ + at] = r == 0 ? law.gap : law.offset[r - 1];
    for (const int c : program.J.cols(i)) entry[to_size(place_[c]) * (1 + tangents_) * stride_] = *J++;
  }
  for (int k = 0; k < constraints_->rays_of(i); ++k) {
    const RowName ray{Kind::kRay, i, k};
    along_[to_size(k) * stride_ + at] = constraints_->along(ray);
    across_[to_size(k) * stride_ + at] = constraints_->across(ray);
    weigh(ray, to_size(k) * stride_ + at);
  }
}

void RowScan::pack_other(int at) {
  offset_[at] = constraints_->offset(entries_[at]);
  constraints_->for_each_entry(
      entries_[at], [&](int c, double g) { matrix_[to_size(place_[c]) * (1 + tangents_) * stride_ + at] = g; });
  weigh(entries_[at], at);
}

void RowScan::weigh(const RowName& name, std::size_t place) {
  const double square = constraints_->rough_square(name, *inverse_);
  weight_[place] = 1 / std::max(square, kNothing);
  if (!constraints_->active(name)) left_[place] = weight_[place];
}

void RowScan::set_active(const RowName& name, bool on) {
  const std::vector<int>& entries = entry_of_[static_cast<int>(name.kind)];
  if (name.kind == Kind::kEquality || entries[name.index] == kUnlisted) return;
  const std::size_t place = to_size(name.ray) * stride_ + entries[name.index];
  left_[place] = on ? 0.0 : weight_[place];
}

std::optional<RowName> RowScan::worst_listed(const double* local, const double* delta) {
  if (entries_.empty()) return std::nullopt;
  const int numbers = (1 + tangents_) * stride_;
  std::copy(offset_.begin(), offset_.begin() + numbers, value_.begin());
  kernels::dense_kernels().multiply_many(1, static_cast<int>(island_.columns.size()), 1.0, local, 0, 1, matrix_.data(),
                                         numbers, value_.data(), 0, numbers);
  const double *n = value_.data(), *t = n + stride_, *o = t + stride_;
  std::optional<RowName> found;
  unknown_.clear();
  while (!found) {
    const int place = kernels::dense_kernels().most_violated(rays_, stride_, n, t, o, along_.data(), across_.data(),
                                                             left_.data(), kViolated * kViolated * E0_);
    if (place < 0) break;
    const int at = place % stride_;
    RowName name = entries_[at];
    name.ray = place / stride_;
    const double slack = n[at] + along_[place] * t[at] + across_[place] * o[at];
    if (-slack > kRounding * constraints_->magnitude(name, delta)) {
      found = name;
    } else {  // the next one may be violated by more than rounding
      left_[place] = 0;
      unknown_.push_back(place);
    }
  }
  for (const int place : unknown_) left_[place] = weight_[place];
  return found;
}

std::optional<RowName> RowScan::most_violated(const double* local, const double* delta) {
  if (const std::optional<RowName> worst = worst_listed(local, delta)) return worst;
  constraints_->evaluate(island_, delta);
  return list_violated() ? worst_listed(local, delta) : std::nullopt;
}

}  // namespace deft::solvers::contact
