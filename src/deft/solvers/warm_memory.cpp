#include "deft/solvers/warm_memory.hpp"

#include <algorithm>
#include <cmath>

namespace deft::solvers {

void WarmMemory::append(const PackedProgram& packed, int block, double scale, std::uint64_t id, const Iterate& x) {
  auto& list = id == 0 ? others_ : contacts_;
  if (block < 0) {
    list.push_back({id, 0, 0});
    return;
  }
  const PackedBlock& b = packed.blocks[block];
  list.push_back({id, static_cast<int>(lambda_.size()), b.slacks});
  for (int k = 0; k < b.slacks; ++k)
    lambda_.push_back(x.lambda[b.first_slack + k] * scale / (b.scale * b.multiplicity));
}

void WarmMemory::store(const ContactProgram& program, const PackedProgram& packed, const Iterate& x) {
  const double root = std::sqrt(packed.energy);
  delta_.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) delta_[i] = root * x.v[packed.column_of[i]];
  lambda_.clear();
  contacts_.clear();
  others_.clear();
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    if (program.contacts[i].id != 0) append(packed, packed.block_of_contact[i], root, program.contacts[i].id, x);
  }
  for (const auto* list :
       {&packed.block_of_linear, &packed.block_of_equality, &packed.block_of_lower, &packed.block_of_upper}) {
    for (int block : *list) append(packed, block, root, 0, x);
  }
  sorted_.clear();
  for (std::size_t k = 0; k < contacts_.size(); ++k) sorted_.emplace_back(contacts_[k].id, static_cast<int>(k));
  std::sort(sorted_.begin(), sorted_.end());
  valid_ = true;
}

const WarmMemory::Remembered* WarmMemory::find(std::uint64_t id, std::size_t guess) {
  if (guess < contacts_.size() && contacts_[guess].id == id) return &contacts_[guess];
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::uint64_t, int>{id, 0});
  return at != sorted_.end() && at->first == id ? &contacts_[at->second] : nullptr;
}

void WarmMemory::add(const Remembered& from, const PackedProgram& packed, int block, Iterate& x) const {
  if (block < 0 || packed.blocks[block].slacks != from.count) return;
  const PackedBlock& b = packed.blocks[block];
  const double scale = b.scale / std::sqrt(packed.energy);
  for (int k = 0; k < from.count; ++k) x.lambda[b.first_slack + k] += lambda_[from.first + k] * scale;
}

void WarmMemory::recall(const ContactProgram& program, const PackedProgram& packed, Iterate& x) {
  const double root = std::sqrt(packed.energy);
  x.v.resize(program.nv);
  for (int i = 0; i < program.nv; ++i) x.v[packed.column_of[i]] = delta_[i] / root;
  x.lambda.assign(packed.num_slacks, 0.0);
  std::size_t guess = 0;
  for (std::size_t i = 0; i < program.contacts.size(); ++i) {
    if (program.contacts[i].id == 0) continue;
    if (const Remembered* from = find(program.contacts[i].id, guess)) {
      guess = static_cast<std::size_t>(from - contacts_.data()) + 1;
      add(*from, packed, packed.block_of_contact[i], x);
    }
  }
  std::size_t count = 0;
  const auto lists = {&packed.block_of_linear, &packed.block_of_equality, &packed.block_of_lower,
                      &packed.block_of_upper};
  for (const auto* list : lists) count += list->size();
  if (count != others_.size()) return;
  std::size_t at = 0;
  for (const auto* list : lists) {
    for (int block : *list) add(others_[at++], packed, block, x);
  }
}

}  // namespace deft::solvers
