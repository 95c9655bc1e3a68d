#pragma once
// Formulas as scene files write them: numbers, "pi/10 * 5.5 * sin(pi*t/10)", and conditions, "abs(omega_z) < 1e-6 && z
// > 0.1".

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

/// The names of a formula's variables where none are given: t alone.
inline constexpr std::array<std::string_view, 1> kTimeAlone{"t"};

/// A number that depends on named variables: + − * / ^ (from the right, before the sign: −2^2 = −4), parentheses,
/// numbers, `pi`, the variables, and the functions sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs floor
/// (one argument) and min max atan2 (two). Immutable, safe to share between threads.
class Formula {
 public:
  /// The constant 0.
  Formula() = default;
  /// @param variables  their names, letters, digits and _; a name hides `pi` and functions.
  /// @throws std::invalid_argument with the place and what was expected; for an unknown name, with the known ones.
  explicit Formula(std::string_view text, std::span<const std::string_view> variables = kTimeAlone);
  /// Its value; NaN where it has none. No allocation.  @param values  one per variable, in the order of their names.
  double operator()(std::span<const double> values) const;
  /// The same of one variable, t.
  double operator()(double t) const { return (*this)(std::span<const double>(&t, 1)); }
  /// Whether it names the variable of that index.
  bool depends_on(std::size_t variable) const;

 private:
  friend class FormulaReader;
  friend class Condition;
  enum class Kind { kNumber, kCondition };
  struct Operation {
    int code = 0;      // of formula.cpp
    double value = 0;  // of a number; the index of a variable
  };
  Formula(std::string_view text, std::span<const std::string_view> variables, Kind kind);
  std::vector<Operation> operations_;  // in the order of a stack machine; a condition is 0 or 1
};

/// Something that is true or not: formulas compared by < <= > >= == !=, joined by && || ! (or `and`, `or`, `not`), from
/// the loosest: ||, &&, !, comparisons, sums. ! applies to all of the comparison that follows: !a < b is !(a < b).
/// Numbers are no conditions and conditions no numbers: a < b < c and !a are errors. Comparisons with what has no value
/// (NaN) are false, != is true.
class Condition {
 public:
  /// @throws std::invalid_argument as Formula.
  explicit Condition(std::string_view text, std::span<const std::string_view> variables = kTimeAlone);
  /// No allocation.  @param values  one per variable, in the order of their names.
  bool operator()(std::span<const double> values) const;
  /// Whether it names the variable of that index.
  bool depends_on(std::size_t variable) const { return formula_.depends_on(variable); }

 private:
  Formula formula_;
};

}  // namespace deft
