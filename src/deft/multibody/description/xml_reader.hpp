#pragma once
// What the URDF and SDFormat readers share: strict numbers, locations, and a word about every tag that is not read.
// Private to load_*.cpp; shows tinyxml2.

#include <tinyxml2.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"
#include "deft/multibody/description/package_map.hpp"

namespace deft::multibody {

using tinyxml2::XMLElement;

/// One model file being read. Problems go to the diagnostics with the line of the element; numbers are NaN then.
class XmlReader {
 public:
  XmlReader(std::string path, const PackageMap& packages, Diagnostics& diagnostics)
      : path_(std::move(path)),
        packages_(packages),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()) {}

  /// Opens and parses the file. @returns its root element, or null after an error.
  const XMLElement* open();
  bool has_errors() const { return diagnostics_.error_count() > errors_before_; }
  const std::string& path() const { return path_; }

  SourceLocation where(const XMLElement& element) const { return {path_, element.GetLineNum(), 0}; }
  void error(const XMLElement& element, std::string message) { diagnostics_.error(where(element), std::move(message)); }
  void warning(const XMLElement& element, std::string message) {
    diagnostics_.warning(where(element), std::move(message));
  }
  /// Once per `key` in all files of a reading.
  void warning_once(const std::string& key, const XMLElement& element, std::string message) {
    diagnostics_.warning_once(key, where(element), std::move(message));
  }

  /// Warns once per tag of every child whose name is not among `read`.
  void warn_of_others(const XMLElement& element, std::initializer_list<const char*> read);
  /// A second element of a kind that may appear once is an error.
  const XMLElement* only_child(const XMLElement& element, const char* name);

  /// Attribute `name`; without it an error, and "".
  std::string required_attribute(const XMLElement& element, const char* name);
  /// Trimmed text of the element.
  std::string text(const XMLElement& element) const;
  bool boolean(const XMLElement& element);

  /// `count` numbers separated by blanks, nothing else. NaN is refused; so is infinity unless allowed.
  std::vector<double> numbers(const XMLElement& element, const std::string& text, std::size_t count,
                              bool allow_infinity = false);
  double number(const XMLElement& element, bool allow_infinity = false) {
    return numbers(element, text(element), 1, allow_infinity)[0];
  }
  Eigen::Vector3d vector(const XMLElement& element) { return to_vector(numbers(element, text(element), 3)); }
  std::optional<double> number_attribute(const XMLElement& element, const char* name, bool allow_infinity = false);
  std::optional<Eigen::Vector3d> vector_attribute(const XMLElement& element, const char* name);
  /// A length that must be > 0 (or ≥ 0).
  double positive(const XMLElement& element, const char* what, double value, bool zero_allowed = false);

  /// Finds a mesh file. A missing one is an error for collisions and a warning for visuals. @returns nothing if not
  /// found.
  std::optional<MeshSpec> mesh(const XMLElement& element, const std::string& uri, const Eigen::Vector3d& scale,
                               bool is_collision);
  /// A geometry no reader knows: contact would silently be missing, so an error for collisions, a warning for visuals.
  void unsupported_geometry(const XMLElement& element, const char* valid, bool is_collision);

  static Eigen::Vector3d to_vector(const std::vector<double>& v) { return {v[0], v[1], v[2]}; }

 private:
  std::string path_;
  const PackageMap& packages_;
  Diagnostics& diagnostics_;
  int errors_before_;
  tinyxml2::XMLDocument document_;
};

}  // namespace deft::multibody
