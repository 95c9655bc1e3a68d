#include "deft/math/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace deft {
namespace {

constexpr int kDeepest = 64;  // values that wait on the stack, and parentheses within each other

enum Code { kNumber, kTime, kNegate, kAdd, kSubtract, kMultiply, kDivide, kPower, kFirstFunction };

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

}  // namespace

/// Recursive descent: sum → product → sign → power → value.
class FormulaReader {
 public:
  FormulaReader(std::string_view text, Formula& formula) : text_(text), formula_(formula) {}

  void read() {
    sum();
    if (at_ < text_.size()) fail("the end or an operator");
  }

 private:
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
  void emit(int code, double value = 0) {
    const bool pushes = code == kNumber || code == kTime;
    const bool joins = (code >= kAdd && code <= kPower) ||
                       (code >= kFirstFunction && kFunctions[static_cast<std::size_t>(code - kFirstFunction)].two);
    waiting_ += pushes ? 1 : joins ? -1 : 0;
    if (waiting_ > kDeepest) fail("a shorter formula");
    formula_.operations_.push_back({code, value});
  }

  void sum() {
    if (++depth_ > kDeepest) fail("fewer parentheses");
    product();
    for (;;) {
      if (take('+')) {
        product();
        emit(kAdd);
      } else if (take('-')) {
        product();
        emit(kSubtract);
      } else {
        break;
      }
    }
    --depth_;
  }
  void product() {
    sign();
    for (;;) {
      if (take('*')) {
        sign();
        emit(kMultiply);
      } else if (take('/')) {
        sign();
        emit(kDivide);
      } else {
        break;
      }
    }
  }
  void sign() {
    bool negative = false;
    for (;;) {
      if (take('-'))
        negative = !negative;
      else if (!take('+'))
        break;
    }
    power();
    if (negative) emit(kNegate);
  }
  void power() {
    value();
    if (!take('^')) return;
    if (++depth_ > kDeepest) fail("fewer powers");
    sign();
    --depth_;
    emit(kPower);
  }
  void value() {
    skip_blanks();
    if (take('(')) {
      sum();
      if (!take(')')) fail("')'");
    } else if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) {
      number();
    } else if (at_ < text_.size() && is_letter(text_[at_])) {
      name();
    } else {
      fail("a number, t, pi, a function or '('");
    }
    skip_blanks();
  }
  void number() {
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, problem] = std::from_chars(text_.data() + at_, end, value);
    if (problem != std::errc{} || !std::isfinite(value)) fail("a finite number");
    at_ = static_cast<std::size_t>(stop - text_.data());
    emit(kNumber, value);
  }
  void name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "t" || word == "pi") {
      at_ = end;
      return word == "t" ? emit(kTime) : emit(kNumber, std::numbers::pi);
    }
    const auto found =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == word; });
    if (found == kFunctions.end()) {
      std::vector<std::string_view> names{"t", "pi"};
      for (const Function& f : kFunctions) names.push_back(f.name);
      fail(fmt::format("one of {} instead of '{}'", fmt::join(names, ", "), word));
    }
    at_ = end;
    if (!take('(')) fail("'('");
    sum();
    if (found->two != nullptr) {
      if (!take(',')) fail("','");
      sum();
    }
    if (!take(')')) fail("')'");
    emit(kFirstFunction + static_cast<int>(found - kFunctions.begin()));
  }

  std::string_view text_;
  Formula& formula_;
  std::size_t at_ = 0;
  int depth_ = 0, waiting_ = 0;
};

Formula::Formula(std::string_view text) { FormulaReader(text, *this).read(); }

double Formula::operator()(double t) const {
  std::array<double, kDeepest + 1> stack{};
  std::size_t size = 0;
  for (const Operation& operation : operations_) {
    if (operation.code == kNumber || operation.code == kTime) {
      stack[size++] = operation.code == kTime ? t : operation.value;
      continue;
    }
    double& top = stack[size - 1];
    if (operation.code == kNegate) {
      top = -top;
      continue;
    }
    const Function* const function = operation.code >= kFirstFunction
                                         ? &kFunctions[static_cast<std::size_t>(operation.code - kFirstFunction)]
                                         : nullptr;
    if (function != nullptr && function->one != nullptr) {
      top = function->one(top);
      continue;
    }
    --size;
    double& left = stack[size - 1];
    const double right = top;
    switch (operation.code) {
      case kAdd:
        left += right;
        break;
      case kSubtract:
        left -= right;
        break;
      case kMultiply:
        left *= right;
        break;
      case kDivide:
        left /= right;
        break;
      case kPower:
        left = std::pow(left, right);
        break;
      default:
        left = function->two(left, right);
    }
  }
  return size > 0 ? stack[0] : 0.0;
}

}  // namespace deft
