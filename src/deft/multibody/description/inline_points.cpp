#include "deft/multibody/description/inline_points.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace deft::multibody {
namespace {

constexpr std::string_view kPrefix = "data:,";

}  // namespace

std::string inline_points(std::span<const Eigen::Vector3d> points) {
  std::string text(kPrefix);
  for (const Eigen::Vector3d& p : points)
    text += fmt::format("{} {} {} ", p.x(), p.y(), p.z());  // shortest digits that read back
  return text;
}

bool has_inline_points(const std::string& path) { return path.starts_with(kPrefix); }

std::vector<Eigen::Vector3d> read_inline_points(const std::string& path) {
  std::vector<double> values;
  const char* at = path.c_str() + kPrefix.size();
  for (char* end = nullptr;; at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) break;
    if (!std::isfinite(value)) throw std::runtime_error("a coordinate is not finite");
    values.push_back(value);
  }
  while (*at == ' ') ++at;
  if (*at != '\0' || values.size() % 3 != 0) throw std::runtime_error("expected three numbers per point");
  std::vector<Eigen::Vector3d> points;
  for (std::size_t i = 0; i < values.size(); i += 3) points.emplace_back(values[i], values[i + 1], values[i + 2]);
  return points;
}

}  // namespace deft::multibody
