#pragma once
// Formulas of one variable as scene files write them: "pi/10 * 5.5 * sin(pi*t/10)".

#include <string>
#include <string_view>
#include <vector>

namespace deft {

/// A number that depends on t: + − * / ^ (from the right, before the sign: −2^2 = −4), parentheses, numbers, `pi`, `t`, and the functions
/// sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs floor (one argument) and min max atan2 (two). Immutable, safe to share
/// between threads.
class Formula {
 public:
  /// The constant 0.
  Formula() = default;
  /// @throws std::invalid_argument with the place and what was expected.
  explicit Formula(std::string_view text);
  /// Its value at t; NaN where it has none. No allocation.
  double operator()(double t) const;

 private:
  friend class FormulaReader;
  struct Operation {
    int code = 0;       // of formula.cpp
    double value = 0;   // of a number
  };
  std::vector<Operation> operations_;  // in the order of a stack machine
};

}  // namespace deft
