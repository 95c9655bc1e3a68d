#pragma once
// The last solution in physical units, found again by contact id when the next program comes. Private to
// src/deft/solvers.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "deft/solvers/kkt_state.hpp"

namespace deft::solvers {

/// Memory of one solver object; holds no pointers into the program.
class WarmMemory {
 public:
  void clear() { valid_ = false; }
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

 private:
  struct Remembered {
    std::uint64_t id;
    int first, count;  // into lambda_
  };
  void append(const PackedProgram& packed, int block, double scale, std::uint64_t id, const Iterate& x);
  const Remembered* find(std::uint64_t id, std::size_t guess);
  void add(const Remembered& from, const PackedProgram& packed, int block, Iterate& x) const;

  bool valid_ = false;
  std::vector<double> delta_, lambda_;
  std::vector<Remembered> contacts_, others_;
  std::vector<std::pair<std::uint64_t, int>> sorted_;
};

}  // namespace deft::solvers
