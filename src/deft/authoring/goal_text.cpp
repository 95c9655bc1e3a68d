#include "deft/authoring/goal_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"

namespace deft::authoring {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw InputError(
      {}, fmt::format("--goal '{}': {}; valid: 'turn x|y|z DEGREES', 'move X Y Z' and 'lift H' in metres", text, why));
}

double number_of(std::string_view word, std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem != std::errc{} || end != word.data() + word.size() || !std::isfinite(value))
    refuse(text, fmt::format("'{}' is no number", word));
  return value;
}

}  // namespace

RigidTransform Displacement::of(const RigidTransform& X_WB) const {
  return make_transform(exp_so3(rotation_W) * X_WB.linear(), X_WB.translation() + translation_W);
}

Displacement read_goal_text(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const auto expect = [&](std::size_t count) {
    if (words.size() != count + 1)
      refuse(text, fmt::format("'{}' needs {} more word{}", words[0], count, count == 1 ? "" : "s"));
  };
  Displacement goal;
  if (words.empty()) refuse(text, "it is empty");
  if (words[0] == "turn") {
    expect(2);
    const std::size_t axis = words[1].size() == 1 ? std::string_view("xyz").find(words[1]) : std::string_view::npos;
    if (axis == std::string_view::npos) refuse(text, fmt::format("'{}' is no axis", words[1]));
    goal.rotation_W[static_cast<Eigen::Index>(axis)] = number_of(words[2], text) * std::numbers::pi / 180;
  } else if (words[0] == "move") {
    expect(3);
    for (int k = 0; k < 3; ++k) goal.translation_W[k] = number_of(words[static_cast<std::size_t>(k) + 1], text);
  } else if (words[0] == "lift") {
    expect(1);
    goal.translation_W.z() = number_of(words[1], text);
  } else {
    refuse(text, fmt::format("'{}' is none of the goals", words[0]));
  }
  return goal;
}

}  // namespace deft::authoring
