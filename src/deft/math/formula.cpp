#include "deft/math/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "deft/core/index.hpp"

namespace deft {
namespace {

constexpr int kDeepest = 64;  // values on the stack, and parentheses within each other

enum Code {
  kNumber,
  kVariable,
  // of one
  kNegate,
  kNot,
  // of two
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kFirstFunction
};
constexpr std::array<std::pair<std::string_view, Code>, 6> kComparisons{
    {{"<=", kLessEqual}, {">=", kGreaterEqual}, {"==", kEqual}, {"!=", kNotEqual}, {"<", kLess}, {">", kGreater}}};

struct Function {
  std::string_view name;
  double (*one)(double);
  double (*two)(double, double);
};
constexpr std::array<Function, 17> kFunctions{{
    {"sin", [](double x) { return std::sin(x); }, nullptr},
    {"cos", [](double x) { return std::cos(x); }, nullptr},
    {"tan", [](double x) { return std::tan(x); }, nullptr},
    {"asin", [](double x) { return std::asin(x); }, nullptr},
    {"acos", [](double x) { return std::acos(x); }, nullptr},
    {"atan", [](double x) { return std::atan(x); }, nullptr},
    {"sinh", [](double x) { return std::sinh(x); }, nullptr},
    {"cosh", [](double x) { return std::cosh(x); }, nullptr},
    {"tanh", [](double x) { return std::tanh(x); }, nullptr},
    {"exp", [](double x) { return std::exp(x); }, nullptr},
    {"log", [](double x) { return std::log(x); }, nullptr},
    {"sqrt", [](double x) { return std::sqrt(x); }, nullptr},
    {"abs", [](double x) { return std::abs(x); }, nullptr},
    {"floor", [](double x) { return std::floor(x); }, nullptr},
    {"min", nullptr, [](double x, double y) { return std::min(x, y); }},
    {"max", nullptr, [](double x, double y) { return std::max(x, y); }},
    {"atan2", nullptr, [](double y, double x) { return std::atan2(y, x); }},
}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

double combine(int code, double left, double right) {
  switch (code) {
    case kAdd:
      return left + right;
    case kSubtract:
      return left - right;
    case kMultiply:
      return left * right;
    case kDivide:
      return left / right;
    case kPower:
      return std::pow(left, right);
    case kLess:
      return left < right;
    case kLessEqual:
      return left <= right;
    case kGreater:
      return left > right;
    case kGreaterEqual:
      return left >= right;
    case kEqual:
      return left == right;
    case kNotEqual:
      return left != right;
    case kAnd:
      return left != 0 && right != 0;
    case kOr:
      return left != 0 || right != 0;
    default:
      return kFunctions[code - kFirstFunction].two(left, right);
  }
}

}  // namespace

/// Recursive descent: alternatives → conjunction → negation → comparison → sum → product → sign → power → value. Each
/// returns whether it read a number or a condition; those that join two check what they join.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, std::span<const std::string_view> variables, Formula& formula)
      : text_(text), variables_(variables), formula_(formula) {}

  void read(Formula::Kind kind) {
    skip_blanks();
    const std::size_t start = at_;
    const Formula::Kind found = alternatives();
    if (at_ < text_.size()) fail("the end or an operator");
    need(kind, found, start);
  }

 private:
  using Kind = Formula::Kind;

  [[noreturn]] void fail(std::string_view expected) const {
    throw std::invalid_argument(fmt::format("formula '{}': expected {} at column {}", text_, expected, at_ + 1));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }
  /// A sign of one or two characters, or a word.
  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const std::size_t end = at_ + sign.size();
    if (is_letter(sign[0]) && end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    at_ = end;
    skip_blanks();
    return true;
  }
  void need(Kind kind, Kind found, std::size_t start) {
    if (kind == found) return;
    at_ = start;
    kind == Kind::kNumber ? fail("a number instead of a condition")
                          : fail("a condition, such as a < b, instead of a number");
  }
  void emit(int code, double value = 0) {
    const bool pushes = code == kNumber || code == kVariable;
    const bool joins =
        (code >= kAdd && code <= kOr) || (code >= kFirstFunction && kFunctions[code - kFirstFunction].two);
    waiting_ += pushes ? 1 : joins ? -1 : 0;
    if (waiting_ > kDeepest) fail("a shorter formula");
    formula_.operations_.push_back({code, value});
  }

  /// The right side of an operator between two of `kind`, whose left side was read from `start` on.
  void join(int code, Kind kind, Kind left, std::size_t start, Kind (FormulaReader::*next)()) {
    need(kind, left, start);
    const std::size_t right = at_;
    need(kind, (this->*next)(), right);
    emit(code);
  }

  Kind alternatives() {
    if (++depth_ > kDeepest) fail("fewer parentheses");
    skip_blanks();
    const std::size_t start = at_;
    const Kind kind = conjunction();
    while (take("||") || take("or")) join(kOr, Kind::kCondition, kind, start, &FormulaReader::conjunction);
    --depth_;
    return kind;
  }
  Kind conjunction() {
    const std::size_t start = at_;
    const Kind kind = negation();
    while (take("&&") || take("and")) join(kAnd, Kind::kCondition, kind, start, &FormulaReader::negation);
    return kind;
  }
  Kind negation() {
    bool found = false, negative = false;
    while (take("!") || take("not")) {
      found = true;
      negative = !negative;
    }
    const std::size_t start = at_;
    const Kind kind = comparison();
    if (found) need(Kind::kCondition, kind, start);
    if (negative) emit(kNot);
    return kind;
  }
  Kind comparison() {
    const std::size_t start = at_;
    const Kind kind = sum();
    if (!compare(kind, start)) return kind;
    for (const auto& [sign, code] : kComparisons) {
      if (text_.substr(at_).starts_with(sign)) fail("'&&' or '||' between two comparisons");
    }
    return Kind::kCondition;
  }
  bool compare(Kind left, std::size_t start) {
    for (const auto& [sign, code] : kComparisons) {
      if (!take(sign)) continue;
      join(code, Kind::kNumber, left, start, &FormulaReader::sum);
      return true;
    }
    return false;
  }
  Kind sum() {
    const std::size_t start = at_;
    const Kind kind = product();
    for (;;) {
      if (take('+'))
        join(kAdd, Kind::kNumber, kind, start, &FormulaReader::product);
      else if (take('-'))
        join(kSubtract, Kind::kNumber, kind, start, &FormulaReader::product);
      else
        return kind;
    }
  }
  Kind product() {
    const std::size_t start = at_;
    const Kind kind = sign();
    for (;;) {
      if (take('*'))
        join(kMultiply, Kind::kNumber, kind, start, &FormulaReader::sign);
      else if (take('/'))
        join(kDivide, Kind::kNumber, kind, start, &FormulaReader::sign);
      else
        return kind;
    }
  }
  Kind sign() {
    bool found = false, negative = false;
    for (;;) {
      if (take('-'))
        negative = !negative;
      else if (!take('+'))
        break;
      found = true;
    }
    const std::size_t start = at_;
    const Kind kind = power();
    if (found) need(Kind::kNumber, kind, start);
    if (negative) emit(kNegate);
    return kind;
  }
  Kind power() {
    const std::size_t start = at_;
    const Kind kind = value();
    if (!take('^')) return kind;
    if (++depth_ > kDeepest) fail("fewer powers");
    join(kPower, Kind::kNumber, kind, start, &FormulaReader::sign);
    --depth_;
    return kind;
  }
  Kind value() {
    skip_blanks();
    Kind kind = Kind::kNumber;
    if (take('(')) {
      kind = alternatives();
      if (!take(')')) fail("')'");
    } else if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      number();
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      name();
    } else {
      fail(fmt::format("a number, {}, pi, a function or '('", fmt::join(variables_, ", ")));
    }
    skip_blanks();
    return kind;
  }
  void argument() {
    skip_blanks();
    const std::size_t start = at_;
    need(Kind::kNumber, alternatives(), start);
  }
  void number() {
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(text_.data() + at_, end, value);
    if (problem != std::errc{} || !std::isfinite(value)) fail("a finite number");
    at_ = to_size(stop - text_.data());
    emit(kNumber, value);
  }
  void name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const auto variable = std::find(variables_.begin(), variables_.end(), word);
    if (variable != variables_.end() || word == "pi") {
      at_ = end;
      return variable != variables_.end() ? emit(kVariable, static_cast<double>(variable - variables_.begin()))
                                          : emit(kNumber, std::numbers::pi);
    }
    const auto found =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == word; });
    if (found == kFunctions.end()) {
      std::vector<std::string_view> names(variables_.begin(), variables_.end());
      names.push_back("pi");
      for (const Function& f : kFunctions) names.push_back(f.name);
      fail(fmt::format("one of {} instead of '{}'", fmt::join(names, ", "), word));
    }
    at_ = end;
    if (!take('(')) fail("'('");
    argument();
    if (found->two != nullptr) {
      if (!take(',')) fail("','");
      argument();
    }
    if (!take(')')) fail("')'");
    emit(kFirstFunction + static_cast<int>(found - kFunctions.begin()));
  }

  std::string_view text_;
  std::span<const std::string_view> variables_;
  Formula& formula_;
  std::size_t at_ = 0;
  int depth_ = 0, waiting_ = 0;
};

Formula::Formula(std::string_view text, std::span<const std::string_view> variables)
    : Formula(text, variables, Kind::kNumber) {}

Formula::Formula(std::string_view text, std::span<const std::string_view> variables, Kind kind) {
  FormulaReader(text, variables, *this).read(kind);
}

bool Formula::depends_on(std::size_t variable) const {
  return std::any_of(operations_.begin(), operations_.end(), [&](const Operation& operation) {
    return operation.code == kVariable && static_cast<std::size_t>(operation.value) == variable;
  });
}

double Formula::operator()(std::span<const double> values) const {
  std::array<double, kDeepest + 1> stack{};
  std::size_t size = 0;
  for (const Operation& operation : operations_) {
    const int code = operation.code;
    if (code == kNumber) {
      stack[size++] = operation.value;
    } else if (code == kVariable) {
      stack[size++] = values[operation.value];
    } else if (code == kNegate) {
      stack[size - 1] = -stack[size - 1];
    } else if (code == kNot) {
      stack[size - 1] = stack[size - 1] == 0;
    } else if (code >= kFirstFunction && kFunctions[code - kFirstFunction].one != nullptr) {
      stack[size - 1] = kFunctions[code - kFirstFunction].one(stack[size - 1]);
    } else {
      --size;
      stack[size - 1] = combine(code, stack[size - 1], stack[size]);
    }
  }
  return size > 0 ? stack[0] : 0.0;
}

Condition::Condition(std::string_view text, std::span<const std::string_view> variables)
    : formula_(text, variables, Formula::Kind::kCondition) {}

bool Condition::operator()(std::span<const double> values) const { return formula_(values) != 0; }

}  // namespace deft
