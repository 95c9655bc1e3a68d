#pragma once
// Elements of an XML file: strict numbers, locations, and a warning about every tag that is not read. Private to
// model_reader and load_*.cpp; shows tinyxml2.

#include <tinyxml2.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::multibody {

using tinyxml2::XMLElement;

/// Calls action(child) for every child element of that name, in file order.
template <typename Action>
void for_each(const XMLElement& owner, const char* tag, Action action) {
  for (const XMLElement* child = owner.FirstChildElement(tag); child != nullptr; child = child->NextSiblingElement(tag))
    action(*child);
}

/// The attribute, trimmed, or `fallback` without it.
std::string attribute_or(const XMLElement& element, const char* name, const std::string& fallback);

/// Reads and parses a file into `document`. @returns its root element, or null after an error.
const XMLElement* open_xml(const std::string& path, tinyxml2::XMLDocument& document, Diagnostics& diagnostics);

/// One model file being read. Problems go to the diagnostics with the line of the element; numbers are NaN then.
class XmlReader {
 public:
  /// @param packages, diagnostics  must outlive this object.
  XmlReader(std::string path, const PackageMap& packages, Diagnostics& diagnostics)
      : path_(std::move(path)),
        packages_(packages),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()) {}

  /// Opens and parses the file. @returns its root element, or null after an error.
  const XMLElement* open() { return open_xml(path_, document_, diagnostics_); }
  /// Whether errors were added to the diagnostics since this object was made.
  bool has_errors() const { return diagnostics_.error_count() > errors_before_; }

  /// File and line of an element.
  SourceLocation where(const XMLElement& element) const { return {path_, element.GetLineNum(), 0}; }
  /// An error at the line of the element; a warning where what is read is only drawn.
  void error(const XMLElement& element, std::string message);
  /// Reads by `read` what is only drawn: mistakes in it are warnings, and stop nothing. @returns what was read, or
  /// nothing if there were any.
  template <typename Read>
  auto drawn(Read read) -> decltype(read());
  /// A warning at the line of the element, of a kind if there may be many.
  void warning(const XMLElement& element, std::string message, std::string kind = {}) {
    diagnostics_.warning(where(element), std::move(message), std::move(kind));
  }
  /// A warning given once per `key` in all files that share the diagnostics.
  void warning_once(const std::string& key, const XMLElement& element, std::string message) {
    diagnostics_.warning_once(key, where(element), std::move(message));
  }

  /// Warns once per tag of every child element whose name is not among `read`.
  void warn_of_others(const XMLElement& element, const std::vector<const char*>& read);
  /// The child element of that name, null without one; a second one is an error.
  const XMLElement* only_child(const XMLElement& element, const char* name);

  /// Attribute `name`, trimmed; missing or blank it is an error, and "".
  std::string required_attribute(const XMLElement& element, const char* name);
  /// Trimmed text of the element.
  std::string text(const XMLElement& element) const;
  /// The element's text as true, 1, false or 0; anything else is an error, and false.
  bool boolean(const XMLElement& element);

  /// `count` numbers of `text` (in `element`), separated by blanks, nothing else. NaN is refused; so is infinity unless
  /// allowed. All are NaN after an error.
  std::vector<double> numbers(const XMLElement& element, const std::string& text, std::size_t count,
                              bool allow_infinity = false);
  /// The element's text as one number.
  double number(const XMLElement& element, bool allow_infinity = false) {
    return numbers(element, text(element), 1, allow_infinity)[0];
  }
  /// The element's text as three numbers.
  Eigen::Vector3d vector(const XMLElement& element) { return to_vector(numbers(element, text(element), 3)); }
  /// Attribute `name` as one number; nothing without it.
  std::optional<double> number_attribute(const XMLElement& element, const char* name, bool allow_infinity = false);
  /// Attribute `name` as three numbers; nothing without it.
  std::optional<Eigen::Vector3d> vector_attribute(const XMLElement& element, const char* name);
  /// Red, green, blue and opacity, three (opaque) or four numbers of `text` (in `element`).
  std::array<double, 4> rgba(const XMLElement& element, const std::string& text);
  /// Returns `value`, called `what` in the error if it is not > 0 (or ≥ 0).
  double positive(const XMLElement& element, const char* what, double value, bool zero_allowed = false);

  /// Finds the mesh file behind `uri`. A missing one is an error for collisions and a warning for visuals. @returns
  /// nothing if not found.
  std::optional<MeshSpec> mesh(const XMLElement& element, const std::string& uri, const Eigen::Vector3d& scale,
                               bool is_collision);
  /// A geometry that is not read: contact would silently be missing, so an error for collisions, a warning for visuals.
  /// @param valid  the geometries that are read, for the message.
  void unsupported_geometry(const XMLElement& element, const char* valid, bool is_collision);

 private:
  static Eigen::Vector3d to_vector(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

  std::string path_;
  const PackageMap& packages_;
  Diagnostics& diagnostics_;
  int errors_before_;
  bool only_draws_ = false;
  int mistakes_drawn_ = 0;  // in what is only drawn
  tinyxml2::XMLDocument document_;
};

/// As declared above.
template <typename Read>
auto XmlReader::drawn(Read read) -> decltype(read()) {
  const bool outer = std::exchange(only_draws_, true);
  const int before = std::exchange(mistakes_drawn_, 0);
  auto result = read();
  only_draws_ = outer;
  const bool is_right = mistakes_drawn_ == 0;
  mistakes_drawn_ = before;  // a part without its colour is drawn all the same
  if (is_right) return result;
  return {};
}

}  // namespace deft::multibody
