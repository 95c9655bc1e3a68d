#pragma once
// Default classes of MJCF: what an element that does not state an attribute takes from its class.

#include <map>
#include <string>
#include <vector>

#include "deft/multibody/mjcf/mjcf_values.hpp"

namespace deft::multibody::mjcf {

/// The classes of one file. A class inherits from the one that it stands in; the outermost is "main".
class Defaults {
 public:
  /// Reads every `<default>` of the root element. Mistakes go to `values`: a second class of a name, one without a
  /// name.
  Defaults(const Element& root, const Values& values);

  /// The element with the attributes that it leaves out, from the class that it names, or else from `childclass`, or
  /// else from main. Sizes and frictions of which it states the first numbers only keep the others of the class.
  /// @param childclass  that of the nearest body or frame; empty: none.
  Element resolved(const Element& element, const std::string& childclass, const Values& values) const;
  /// The elements of these tags in the defaults that apply, those of main first: what each adds to the ones before.
  std::vector<const Element*> chain(const Element& element, const std::vector<std::string>& tags,
                                    const std::string& childclass, const Values& values) const;

 private:
  struct Class {
    std::string parent;                    // empty for main
    std::vector<const Element*> elements;  // file order
  };
  void read(const Element& element, const std::string& parent, const Values& values);

  std::map<std::string, Class> classes_;
};

}  // namespace deft::multibody::mjcf
