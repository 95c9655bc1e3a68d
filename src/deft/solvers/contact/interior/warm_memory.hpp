#pragma once
// The last solution in physical units, found again by contact id when the next program comes.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/solvers/contact/interior/kkt_state.hpp"

namespace deft::solvers::contact {

/// Memory of one solver object; holds no pointers into the program.
class WarmMemory {
 public:
  /// Drops the solution.
  void clear() { valid_ = false; }
  /// Whether a solution with as many columns as `program` is remembered.
  bool valid_for(const ContactProgram& program) const {
    return valid_ && static_cast<int>(delta_.size()) == program.nv;
  }
  /// The motion remembered [rad, m], empty without any.
  std::span<const double> motion() const {
    return valid_ ? std::span<const double>(delta_) : std::span<const double>();
  }
  /// Remembers `x`, whose multipliers belong to `packed`.
  void store(const ContactProgram& program, const PackedProgram& packed, const Iterate& x);
  /// The remembered solution in the scaling of `packed`; contacts without a partner start without force.
  void recall(const ContactProgram& program, const PackedProgram& packed, Iterate& x);

  /// Remembers a solution piece by piece, in physical units: the motion `delta` [m, rad] here, then by `add` each
  /// contact that has an id, then every linear row, equality, lower and upper bound in this order, then `close`.
  void open(std::span<const double> delta);
  /// One constraint: a contact with its `id` and its multipliers per slack [N], or (id = 0) another constraint with its
  /// one multiplier or none.
  void add(std::uint64_t id, std::span<const double> lambda) {
    (id == 0 ? others_ : contacts_).push_back({id, static_cast<int>(lambda_.size()), static_cast<int>(lambda.size())});
    lambda_.insert(lambda_.end(), lambda.begin(), lambda.end());
  }
  /// Ends what `open` began; the solution is valid from here on.
  void close();
  /// Multipliers of a contact, per slack [N], empty where nothing is remembered. `guess` is where the search begins: 0
  /// at first, then as the last call left it.
  std::span<const double> find(std::uint64_t id, std::size_t& guess) {
    if ((guess >= contacts_.size() || contacts_[guess].id != id) && !search(id, guess)) return {};
    const Remembered& found = contacts_[guess++];
    return {lambda_.data() + found.first, to_size(found.count)};
  }
  /// Multiplier of the k-th linear row, equality, lower or upper bound in the order of `open`, 0 where nothing is
  /// remembered.
  double other(std::size_t k) const { return others_[k].count == 0 ? 0.0 : lambda_[others_[k].first]; }
  /// How many linear rows, equalities and bounds are remembered.
  std::size_t num_others() const { return others_.size(); }

 private:
  struct Remembered {
    std::uint64_t id;
    int first, count;  // into lambda_
  };
  bool search(std::uint64_t id, std::size_t& place);
  void append(const PackedProgram& packed, int block, double scale, std::uint64_t id, const Iterate& x);
  static void add_scaled(std::span<const double> lambda, const PackedProgram& packed, int block, Iterate& x);

  bool valid_ = false;
  std::vector<double> delta_, lambda_, scaled_;
  std::vector<Remembered> contacts_, others_;
  std::vector<std::pair<std::uint64_t, int>> sorted_;
};

}  // namespace deft::solvers::contact
