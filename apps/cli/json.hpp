#pragma once
// JSON on standard output: keys in the order of writing, infinite numbers as "inf" and "-inf", what is absent as null,
// no NaN.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

namespace deft::cli {

/// JSON that keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// A number, "inf" or "-inf"; null for not-a-number.
inline Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
/// The same; null for none.
inline Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

/// A list of `number` of every value.
template <typename Range>
Json numbers(const Range& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

/// Shortest digits that read back to the same double; text that is not UTF-8 is repaired.
inline std::string text_of(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// One line on standard output.
inline void print_json(const Json& value) { fmt::print("{}\n", text_of(value)); }

}  // namespace deft::cli
