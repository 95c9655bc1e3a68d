#include "deft/multibody/description/xml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>

#include "deft/core/text_file.hpp"
#include "deft/multibody/description/number_text.hpp"

namespace deft::multibody {
namespace {

/// Stands for a number that could not be read: later checks (zero? negative?) do not complain again.
constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::string attribute_or(const XMLElement& element, const char* name, const std::string& fallback) {
  const char* value = element.Attribute(name);
  return value == nullptr ? fallback : trimmed(value);
}

const XMLElement* open_xml(const std::string& path, tinyxml2::XMLDocument& document, Diagnostics& diagnostics) {
  const auto fail = [&](const SourceLocation& where, std::string message) -> const XMLElement* {
    diagnostics.error(where, std::move(message));
    return nullptr;
  };
  const SourceLocation file{path, 0, 0};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return fail(file, "cannot open the model file: there is no such file");
  const std::optional<std::string> text = read_file(path);
  if (!text) return fail(file, "cannot open the model file: it cannot be read");
  if (const auto wrong = find_not_utf8(*text)) return fail({path, wrong->line, wrong->column}, wrong->message);
  if (document.Parse(text->data(), text->size()) != tinyxml2::XML_SUCCESS)
    return fail({path, document.ErrorLineNum(), 0}, fmt::format("not well-formed XML: {}", document.ErrorName()));
  if (document.RootElement() == nullptr) return fail(file, "the file holds no XML element");
  return document.RootElement();
}

void XmlReader::error(const XMLElement& element, std::string message) {
  if (!only_draws_) return diagnostics_.error(where(element), std::move(message));
  ++mistakes_drawn_;
  diagnostics_.warning(where(element), std::move(message), "mistakes in what is only drawn, which is left out");
}

void XmlReader::warn_of_others(const XMLElement& element, const std::vector<const char*>& read) {
  for (const XMLElement* child = element.FirstChildElement(); child != nullptr; child = child->NextSiblingElement()) {
    const std::string_view name = child->Name();
    if (std::find(read.begin(), read.end(), name) != read.end()) continue;
    if (name.starts_with("xacro:"))
      warning_once("xacro", *child, fmt::format("<{}> is ignored: expand the file with xacro first", name));
    else
      warning_once(fmt::format("<{}>", name), *child,
                   fmt::format("<{}> inside <{}> is not read", name, element.Name()));
  }
}

const XMLElement* XmlReader::only_child(const XMLElement& element, const char* name) {
  const XMLElement* child = element.FirstChildElement(name);
  if (child != nullptr && child->NextSiblingElement(name) != nullptr)
    error(*child->NextSiblingElement(name),
          fmt::format("a second <{}> inside <{}>; one is allowed", name, element.Name()));
  return child;
}

std::string XmlReader::required_attribute(const XMLElement& element, const char* name) {
  const char* value = element.Attribute(name);
  const std::string text = value == nullptr ? "" : trimmed(value);
  if (text.empty()) error(element, fmt::format("<{}> needs the attribute '{}'", element.Name(), name));
  return text;
}

std::string XmlReader::text(const XMLElement& element) const {
  return element.GetText() == nullptr ? "" : trimmed(element.GetText());
}

bool XmlReader::boolean(const XMLElement& element) {
  const std::string value = text(element);
  if (value == "true" || value == "1") return true;
  if (value != "false" && value != "0")
    error(element, fmt::format("<{}>: '{}' is neither true nor false", element.Name(), value));
  return false;
}

std::vector<double> XmlReader::numbers(const XMLElement& element, const std::string& text, std::size_t count,
                                       bool allow_infinity) {
  std::vector<double> values;
  for (const std::string& word : words(text)) {
    const std::optional<double> value = parse_number(word);
    if (!value || std::isnan(*value) || (std::isinf(*value) && !allow_infinity)) {
      error(element, fmt::format("<{}>: '{}' is not a {}number", element.Name(), word, value ? "finite " : ""));
      return std::vector<double>(count, kUnread);
    }
    values.push_back(*value);
  }
  if (values.size() != count) {
    error(element, fmt::format("<{}>: {} number{} expected, {} given", element.Name(), count, count == 1 ? "" : "s",
                               values.size()));
    values.assign(count, kUnread);
  }
  return values;
}

std::optional<double> XmlReader::number_attribute(const XMLElement& element, const char* name, bool allow_infinity) {
  const char* value = element.Attribute(name);
  if (value == nullptr) return std::nullopt;
  return numbers(element, value, 1, allow_infinity)[0];
}

std::optional<Eigen::Vector3d> XmlReader::vector_attribute(const XMLElement& element, const char* name) {
  const char* value = element.Attribute(name);
  if (value == nullptr) return std::nullopt;
  return to_vector(numbers(element, value, 3));
}

std::array<double, 4> XmlReader::rgba(const XMLElement& element, const std::string& text) {
  const std::size_t count = words(text).size() == 3 ? 3 : 4;
  const auto v = numbers(element, text, count);
  return {v[0], v[1], v[2], count == 3 ? 1.0 : v[3]};
}

double XmlReader::positive(const XMLElement& element, const char* what, double value, bool zero_allowed) {
  if (value < 0 || (value == 0 && !zero_allowed))
    error(element, fmt::format("<{}>: {} must be {}, not {}", element.Name(), what,
                               zero_allowed ? "at least 0" : "positive", value));
  return value;
}

std::optional<MeshSpec> XmlReader::mesh(const XMLElement& element, const std::string& uri, const Eigen::Vector3d& scale,
                                        bool is_collision) {
  const PackageMap::Result found = packages_.resolve(uri, path_);
  if (!found.path.empty() && !uri.empty()) return MeshSpec{found.path, scale};
  const std::string message = fmt::format("mesh '{}' not found; tried {}", uri, fmt::join(found.tried, ", "));
  if (is_collision)
    error(element, message);
  else
    warning(element, message);
  return std::nullopt;
}

void XmlReader::unsupported_geometry(const XMLElement& element, const char* valid, bool is_collision) {
  const std::string message = fmt::format("geometry <{}> is not supported; valid: {}", element.Name(), valid);
  if (is_collision)
    error(element, message);
  else
    warning_once(fmt::format("<{}>", element.Name()), element, message);
}

}  // namespace deft::multibody
