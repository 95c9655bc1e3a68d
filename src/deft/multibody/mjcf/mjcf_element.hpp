#pragma once
// The elements of an MJCF file, with what it includes in the place of `<include>`. Plain data, so that defaults, frames
// and copies can be worked out on it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deft/core/diagnostics.hpp"

namespace deft::multibody::mjcf {

/// One element.
struct Element {
  std::string tag;                                              // "geom"
  std::vector<std::pair<std::string, std::string>> attributes;  // file order
  std::vector<Element> children;                                // file order
  SourceLocation where;                                         // file and line of its start

  /// The attribute's value as it stands; null without it.
  const std::string* find(const std::string& name) const;
  /// Sets an attribute, or adds it.
  void set(const std::string& name, std::string value);
  /// Calls action(child) for every child of that tag, in file order.
  template <typename Action>
  void for_each(const std::string& tag_of_child, Action action) const {
    for (const Element& child : children)
      if (child.tag == tag_of_child) action(child);
  }
};

/// Reads a file whose root is `<mujoco>`; `<include>` stands for the children of the named file's root, which is looked
/// for beside the main file first, then beside the file that names it. @returns nothing after an error: a missing file,
/// one that is not well-formed or includes itself, more than 64 files inside each other.
std::optional<Element> read_elements(const std::string& path, Diagnostics& diagnostics);

}  // namespace deft::multibody::mjcf
