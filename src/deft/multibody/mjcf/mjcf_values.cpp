#include "deft/multibody/mjcf/mjcf_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "deft/multibody/description/number_text.hpp"

namespace deft::multibody::mjcf {

std::string Values::text(const Element& element, const char* name, const std::string& fallback) const {
  const std::string* const value = element.find(name);
  return value == nullptr ? fallback : trimmed(*value);
}

std::string Values::required(const Element& element, const char* name) const {
  std::string value = text(element, name);
  if (value.empty()) error(element, fmt::format("<{}> needs the attribute '{}'", element.tag, name));
  return value;
}

std::optional<std::vector<double>> Values::numbers(const Element& element, const char* name, std::size_t least,
                                                   std::size_t most) const {
  const std::string* const value = element.find(name);
  if (value == nullptr) return std::nullopt;
  std::vector<double> result;
  for (const std::string& word : words(*value)) {
    const std::optional<double> number = parse_number(word);
    if (!number || !std::isfinite(*number)) {
      error(element, fmt::format("<{}>: {} '{}' is not a {}number", element.tag, name, word, number ? "finite " : ""));
      return std::nullopt;
    }
    result.push_back(*number);
  }
  if (result.size() >= least && result.size() <= most) return result;
  error(element, fmt::format("<{}>: {} has {} numbers; {} expected", element.tag, name, result.size(),
                             least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
  return std::nullopt;
}

double Values::number(const Element& element, const char* name, double fallback) const {
  const auto read = numbers(element, name, 1, 1);
  return read ? read->front() : fallback;
}

int Values::integer(const Element& element, const char* name, int fallback) const {
  const double value = number(element, name, fallback);
  if (value == std::floor(value) && std::abs(value) < 2147483648.0) return static_cast<int>(value);
  error(element, fmt::format("<{}>: {} {} is not a whole number", element.tag, name, value));
  return fallback;
}

Eigen::Vector3d Values::vector(const Element& element, const char* name, const Eigen::Vector3d& fallback) const {
  const auto read = numbers(element, name, 3, 3);
  return read ? Eigen::Vector3d(read->data()) : fallback;
}

std::optional<std::array<double, 4>> Values::colour(const Element& element) const {
  const auto rgba = numbers(element, "rgba", 3, 4);
  if (!rgba) return std::nullopt;
  std::array<double, 4> result{0, 0, 0, 1};
  std::copy(rgba->begin(), rgba->end(), result.begin());
  return result;
}

bool Values::boolean(const Element& element, const char* name, bool fallback) const {
  return keyword(element, name, {"false", "true"}, fallback ? 1 : 0) == 1;
}

std::optional<bool> Values::unless_auto(const Element& element, const char* name) const {
  const int read = keyword(element, name, {"false", "true", "auto"}, 2);
  if (read == 2) return std::nullopt;
  return read == 1;
}

int Values::keyword(const Element& element, const char* name, const std::vector<std::string>& valid,
                    int fallback) const {
  const std::string* const value = element.find(name);
  if (value == nullptr) return fallback;
  const auto found = std::find(valid.begin(), valid.end(), trimmed(*value));
  if (found != valid.end()) return static_cast<int>(found - valid.begin());
  error(element, fmt::format("<{}>: {} '{}' is unknown; valid: {}", element.tag, name, *value, fmt::join(valid, ", ")));
  return fallback;
}

}  // namespace deft::multibody::mjcf
