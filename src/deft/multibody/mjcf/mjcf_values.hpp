#pragma once
// Attributes of MJCF elements as numbers and words. Mistakes go to the diagnostics with the place of the element, and
// reading goes on with what the attribute's absence means.

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "deft/multibody/mjcf/mjcf_element.hpp"

namespace deft::multibody::mjcf {

/// Reads attributes.
class Values {
 public:
  /// @param diagnostics  must outlive this object.
  explicit Values(Diagnostics& diagnostics) : diagnostics_(diagnostics), errors_before_(diagnostics.error_count()) {}

  /// An error at the element.
  void error(const Element& element, std::string message) const {
    diagnostics_.error(element.where, std::move(message));
  }
  /// A warning at the element, of a kind if there may be many.
  void warning(const Element& element, std::string message, std::string kind = {}) const {
    diagnostics_.warning(element.where, std::move(message), std::move(kind));
  }
  /// Whether errors were added since this object was made.
  bool has_errors() const { return diagnostics_.error_count() > errors_before_; }
  /// Where the errors and warnings go.
  Diagnostics& diagnostics() const { return diagnostics_; }

  /// The attribute without blanks at its ends, or `fallback`.
  std::string text(const Element& element, const char* name, const std::string& fallback = {}) const;
  /// The attribute, which must be there; "" after an error.
  std::string required(const Element& element, const char* name) const;
  /// At least `least` and at most `most` finite numbers; nothing without the attribute or after an error.
  std::optional<std::vector<double>> numbers(const Element& element, const char* name, std::size_t least,
                                             std::size_t most) const;
  /// One number, or `fallback`.
  double number(const Element& element, const char* name, double fallback) const;
  /// A whole number, or `fallback`.
  int integer(const Element& element, const char* name, int fallback) const;
  /// Three numbers, or `fallback`.
  Eigen::Vector3d vector(const Element& element, const char* name, const Eigen::Vector3d& fallback) const;
  /// `rgba`: red, green, blue and opacity (1 if left out), each 0 … 1; nothing without it.
  std::optional<std::array<double, 4>> colour(const Element& element) const;
  /// true or false, or `fallback`.
  bool boolean(const Element& element, const char* name, bool fallback) const;
  /// true or false; nothing for auto, and without the attribute.
  std::optional<bool> unless_auto(const Element& element, const char* name) const;
  /// The index of the attribute among `valid`, or `fallback`.
  int keyword(const Element& element, const char* name, const std::vector<std::string>& valid, int fallback) const;

 private:
  Diagnostics& diagnostics_;
  int errors_before_;
};

}  // namespace deft::multibody::mjcf
