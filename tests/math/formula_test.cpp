#include "deft/math/formula.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string_view>

namespace deft {
namespace formula_test {

TEST(Formula, HasTheValuesOfItsText) {
  constexpr double pi = std::numbers::pi;
  const struct {
    const char* text;
    double t, value;
  } cases[] = {{"1", 0, 1},
               {"t", 2.5, 2.5},
               {"pi/10 * 5.5 * sin(pi*t/10)", 3, pi / 10 * 5.5 * std::sin(pi * 3 / 10)},
               {"1 - 2 - 3", 0, -4},
               {"12 / 2 / 3", 0, 2},
               {"2 + 3 * 4", 0, 14},
               {"(2 + 3) * 4", 0, 20},
               {"-2^2", 0, -4},
               {"2^3^2", 0, 512},
               {"2^-1", 0, 0.5},
               {"--3", 0, 3},
               {"1e-3 + .5 + 2.", 0, 2.501},
               {"min(t, 1) + max(t, 1)", 4, 5},
               {"atan2(1, -1)", 0, 0.75 * pi},
               {"abs(floor(-1.5)) * exp(0) * sqrt(4)", 0, 4},
               {" cos ( 0 ) ", 0, 1}};
  for (const auto& c : cases) EXPECT_NEAR(Formula(c.text)(c.t), c.value, 1e-15 * std::abs(c.value)) << c.text;
  EXPECT_EQ(Formula()(3), 0);
}

TEST(Formula, SaysWhereItIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "column 1"},       {"1 +", "column 4"}, {"2 * (3", "')' at column 7"},      {"sine(t)", "one of t, pi, sin"},
      {"sin t", "'('"},       {"min(1)", "','"},   {"1 2", "an operator at column 3"}, {"1e999", "a finite number"},
      {"x", "instead of 'x'"}};
  for (const auto& c : cases) {
    try {
      Formula formula(c.text);
      ADD_FAILURE() << c.text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Formula(std::string(1000, '(') + "1" + std::string(1000, ')')), std::invalid_argument);
  std::string deep = "1";
  for (int i = 0; i < 200; ++i) deep = "1+(" + deep + ")";
  EXPECT_THROW(Formula{deep}, std::invalid_argument);
}

constexpr std::array<std::string_view, 3> kNames{"t", "x", "omega_z"};

TEST(Formula, TakesVariablesByName) {
  const std::array<double, 3> values{2, 3, 5};
  const Formula formula("x^t - omega_z * t", kNames);
  EXPECT_EQ(formula(values), -1);
  EXPECT_TRUE(formula.depends_on(0) && formula.depends_on(1) && formula.depends_on(2));
  EXPECT_FALSE(Formula("x + max(1, 2)", kNames).depends_on(2));
  EXPECT_EQ(Formula("pi + e", std::array<std::string_view, 2>{"e", "pi"})(std::array<double, 2>{1, 2}), 3);
}

TEST(Condition, HasTheTruthOfItsText) {
  const struct {
    const char* text;
    bool truth;  // at t = 2, x = 3, omega_z = -1e-7
  } cases[] = {{"abs(omega_z) < 1e-6", true},
               {"abs(omega_z) < 1e-8", false},
               {"t <= 2", true},
               {"t >= 2.5", false},
               {"t > 2", false},
               {"t == 2", true},
               {"t != 2", false},
               {"t<2 || x>2", true},
               {"t < 2 or x > 2 and omega_z > 0", false},
               {"(t == 2 or x > 9) and omega_z > 0", false},
               {"t == 2 or x > 9 and omega_z > 0", true},  // && before ||
               {"t == 2 || x > 9 && omega_z > 0", true},
               {"!t < 1", true},
               {"not t < 1 and x == 3", true},
               {"!(t < 1 && x == 3)", true},
               {"!!(t < 1)", false},
               {"not not x == 3", true},
               {"1 + 1 == t && 2 * t - 1 == x", true},
               {"((t)) < ((x))", true},
               {"sqrt(-x) < 1", false},  // no value
               {"sqrt(-x) >= 1", false},
               {"sqrt(-x) != 1", true}};
  const std::array<double, 3> values{2, 3, -1e-7};
  for (const auto& c : cases) EXPECT_EQ(Condition(c.text, kNames)(values), c.truth) << c.text;
  EXPECT_TRUE(Condition("abs(omega_z) < 1", kNames).depends_on(2));
}

TEST(Condition, SaysWhereItIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {{"", "expected a number, t, x, omega_z, pi, a function or '(' at column 1"},
               {"omega_z", "a condition, such as a < b, instead of a number at column 1"},
               {" x && t < 1", "a condition, such as a < b, instead of a number at column 2"},
               {"t < 1 and x", "a condition, such as a < b, instead of a number at column 11"},
               {"!x", "a condition, such as a < b, instead of a number at column 2"},
               {"1 + (t < 1) > 0", "a number instead of a condition at column 5"},
               {"sin(t < 1) > 0", "a number instead of a condition at column 5"},
               {"-(t < 1)", "a number instead of a condition at column 2"},
               {"(t < 1) == (x < 1)", "a number instead of a condition at column 1"},
               {"0 < t < 1", "'&&' or '||' between two comparisons at column 7"},
               {"x = 1", "the end or an operator at column 3"},
               {"x > 1 & t > 1", "the end or an operator at column 7"},
               {"x > 1 andt > 1", "the end or an operator at column 7"},
               {"abs(omega) < 1e-6", "one of t, x, omega_z, pi, sin"},
               {"abs(omega) < 1e-6", "instead of 'omega' at column 5"},
               {"x >", "column 4"}};
  for (const auto& c : cases) {
    try {
      Condition condition(c.text, kNames);
      ADD_FAILURE() << c.text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(c.message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(Formula("t < 1"), std::invalid_argument);
}

}  // namespace formula_test
}  // namespace deft
