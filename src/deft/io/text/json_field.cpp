#include "deft/io/text/json_field.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "deft/core/diagnostics.hpp"

namespace deft::io {
namespace {

constexpr std::size_t kMaxShownBytes = 40;

bool is_finite_number(const nlohmann::json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

}  // namespace

std::string JsonField::place() const { return path_.empty() ? file_ : fmt::format("{}: field '{}'", file_, path_); }

void JsonField::fail(const std::string& message) const { throw InputError({place(), 0, 0}, message); }

/// The value as the file has it, cut when long.
std::string JsonField::shown() const {
  if (value_->is_object()) return "an object";
  if (value_->is_array()) return fmt::format("a list of {}", value_->size());
  std::string text = value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxShownBytes) text = text.substr(0, kMaxShownBytes) + "…";
  return text;
}

std::optional<JsonField> JsonField::find(const std::string& key) const {
  if (!value_->is_object()) fail(fmt::format("must be an object, not {}", shown()));
  const auto member = value_->find(key);
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonField(*member, file_, path_.empty() ? key : path_ + '.' + key);
}

JsonField JsonField::at(const std::string& key) const {
  std::optional<JsonField> member = find(key);
  if (!member) JsonField(*value_, file_, path_.empty() ? key : path_ + '.' + key).fail("is missing");
  return *member;
}

JsonField JsonField::element(std::size_t i) const { return {(*value_)[i], file_, fmt::format("{}[{}]", path_, i)}; }

double JsonField::number() const {
  if (!is_finite_number(*value_)) fail(fmt::format("must be a finite number, not {}", shown()));
  return value_->get<double>();
}

double JsonField::bound() const {
  if (value_->is_string() && *value_ == "inf") return std::numeric_limits<double>::infinity();
  if (value_->is_string() && *value_ == "-inf") return -std::numeric_limits<double>::infinity();
  if (!is_finite_number(*value_)) fail(fmt::format("must be a finite number, \"inf\" or \"-inf\", not {}", shown()));
  return value_->get<double>();
}

int JsonField::integer(int lowest, int highest) const {
  const double value = value_->is_number() ? value_->get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= lowest && value <= highest && value == std::floor(value))) {
    if (lowest > highest) fail(fmt::format("must be an integer, but none is valid here (found {})", shown()));
    if (lowest == highest) fail(fmt::format("must be {}, not {}", lowest, shown()));
    fail(fmt::format("must be an integer from {} to {}, not {}", lowest, highest, shown()));
  }
  return static_cast<int>(value);
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail(fmt::format("must be true or false, not {}", shown()));
  return value_->get<bool>();
}

bool JsonField::is_list() const { return value_->is_array(); }

std::string JsonField::text() const {
  if (!value_->is_string()) fail(fmt::format("must be a string, not {}", shown()));
  return value_->get<std::string>();
}

std::size_t JsonField::list_size() const {
  if (!value_->is_array()) fail(fmt::format("must be a list, not {}", shown()));
  return value_->size();
}

std::vector<double> JsonField::numbers() const {
  std::vector<double> values(list_size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const nlohmann::json& entry = (*value_)[i];
    values[i] = is_finite_number(entry) ? entry.get<double>() : element(i).number();  // the second one throws
  }
  return values;
}

std::vector<double> JsonField::numbers(std::size_t size, std::string_view meaning) const {
  if (list_size() != size) fail(fmt::format("has {} numbers, needs {} ({})", list_size(), size, meaning));
  return numbers();
}

std::vector<double> JsonField::bounds(std::size_t size) const {
  if (list_size() != size) fail(fmt::format("has {} numbers, needs {} (nv)", list_size(), size));
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = element(i).bound();
  return values;
}

}  // namespace deft::io
