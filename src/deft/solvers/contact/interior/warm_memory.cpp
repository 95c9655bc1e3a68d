#include "deft/solvers/contact/interior/warm_memory.hpp"

#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"

namespace deft::solvers::contact {

void WarmMemory::open(std::span<const double> delta) {
  delta_.assign(delta.begin(), delta.end());
  lambda_.clear();
  contacts_.clear();
  others_.clear();
}

void WarmMemory::close() {
  sorted_.clear();
  valid_ = true;
}

// The place of a contact that is not where it was expected. @returns false where there is none.
bool WarmMemory::search(std::uint64_t id, std::size_t& place) {
  if (sorted_.size() < contacts_.size()) {  // the order of contacts has changed for the first time
    sorted_.clear();
    for (std::size_t k = 0; k < contacts_.size(); ++k) sorted_.emplace_back(contacts_[k].id, static_cast<int>(k));
    std::sort(sorted_.begin(), sorted_.end());
  }
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::uint64_t, int>{id, 0});
  if (at == sorted_.end() || at->first != id) return false;
  place = to_size(at->second);
  return true;
}

void WarmMemory::append(const PackedProgram& packed, int block, double scale, std::uint64_t id, const Iterate& x) {
  scaled_.clear();
  if (block >= 0) {
    const PackedBlock& b = packed.blocks[block];
    for (int k = 0; k < b.slacks; ++k)
      scaled_.push_back(x.lambda[b.first_slack + k] * scale / (b.scale * b.multiplicity));
  }
  add(id, scaled_);
}

void WarmMemory::store(const ContactProgram& program, const PackedProgram& packed, const Iterate& x) {
  const double root = std::sqrt(packed.energy);
  scaled_.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) scaled_[i] = root * x.v[packed.column_of[i]];
  open(scaled_);
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    if (program.contacts[i].id != 0) append(packed, packed.block_of_contact[i], root, program.contacts[i].id, x);
  }
  for (const auto* list :
       {&packed.block_of_linear, &packed.block_of_equality, &packed.block_of_lower, &packed.block_of_upper}) {
    for (int block : *list) append(packed, block, root, 0, x);
  }
  close();
}

void WarmMemory::add_scaled(std::span<const double> lambda, const PackedProgram& packed, int block, Iterate& x) {
  if (block < 0 || packed.blocks[block].slacks != static_cast<int>(lambda.size())) return;
  const PackedBlock& b = packed.blocks[block];
  const double scale = b.scale / std::sqrt(packed.energy);
  for (std::size_t k = 0; k < lambda.size(); ++k) x.lambda[b.first_slack + k] += lambda[k] * scale;
}

void WarmMemory::recall(const ContactProgram& program, const PackedProgram& packed, Iterate& x) {
  const double root = std::sqrt(packed.energy);
  x.v.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) x.v[packed.column_of[i]] = delta_[i] / root;
  x.lambda.assign(packed.num_slacks, 0.0);
  std::size_t guess = 0;
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    if (program.contacts[i].id != 0)
      add_scaled(find(program.contacts[i].id, guess), packed, packed.block_of_contact[i], x);
  }
  std::size_t count = 0;
  const auto lists = {&packed.block_of_linear, &packed.block_of_equality, &packed.block_of_lower,
                      &packed.block_of_upper};
  for (const auto* list : lists) count += list->size();
  if (count != others_.size()) return;
  std::size_t at = 0;
  for (const auto* list : lists) {
    for (int block : *list) {
      const Remembered& from = others_[at++];
      add_scaled({lambda_.data() + from.first, to_size(from.count)}, packed, block, x);
    }
  }
}

}  // namespace deft::solvers::contact
