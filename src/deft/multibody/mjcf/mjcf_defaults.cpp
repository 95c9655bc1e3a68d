#include "deft/multibody/mjcf/mjcf_defaults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "deft/multibody/description/number_text.hpp"

namespace deft::multibody::mjcf {
namespace {

constexpr const char* kMain = "main";

/// Ways to say the same: one of the element puts aside those of its class.
constexpr std::array<std::string_view, 5> kOrientations{"quat", "axisangle", "euler", "xyaxes", "zaxis"};

bool is_orientation(std::string_view name) {
  return std::find(kOrientations.begin(), kOrientations.end(), name) != kOrientations.end();
}

/// The numbers of `own`, then those that `inherited` has beyond them.
std::string continued(const std::string& own, const std::string& inherited) {
  std::vector<std::string> result = words(own);
  const std::vector<std::string> longer = words(inherited);
  for (std::size_t i = result.size(); i < longer.size(); ++i) result.push_back(longer[i]);
  return fmt::format("{}", fmt::join(result, " "));
}

void add(const Element& from, Element& to) {
  for (const auto& [name, value] : from.attributes) {
    if (name == "class") continue;
    const std::string* const before = to.find(name);
    const bool continues = before != nullptr && (name == "size" || name == "friction");
    std::string whole = continues ? continued(value, *before) : value;
    if (is_orientation(name))
      std::erase_if(to.attributes, [](const auto& attribute) { return is_orientation(attribute.first); });
    to.set(name, std::move(whole));
  }
}

}  // namespace

Defaults::Defaults(const Element& root, const Values& values) {
  classes_[kMain] = {};
  root.for_each("default", [&](const Element& element) {
    const std::string name = values.text(element, "class", kMain);
    if (name != kMain)
      values.error(element, fmt::format("the outermost <default> is the class 'main', not '{}'", name));
    read(element, "", values);
  });
}

void Defaults::read(const Element& element, const std::string& parent, const Values& values) {
  const std::string name = parent.empty() ? kMain : values.required(element, "class");
  if (!parent.empty()) {
    if (name.empty()) return;
    if (!classes_.emplace(name, Class{.parent = parent, .elements = {}}).second)
      return values.error(element, fmt::format("a second default class '{}'", name));
  }
  for (const Element& child : element.children) {
    if (child.tag == "default")
      read(child, name, values);
    else
      classes_[name].elements.push_back(&child);
  }
}

std::vector<const Element*> Defaults::chain(const Element& element, const std::vector<std::string>& tags,
                                            const std::string& childclass, const Values& values) const {
  std::string name = values.text(element, "class", childclass.empty() ? kMain : childclass);
  if (!classes_.contains(name)) {
    std::vector<std::string> names;
    for (const auto& [known, ignored] : classes_) names.push_back(known);
    values.error(element, fmt::format("default class '{}' is unknown{}", name, did_you_mean(name, names)));
    name = kMain;
  }
  std::vector<const Class*> line;
  for (; !name.empty(); name = classes_.at(name).parent) line.push_back(&classes_.at(name));
  std::vector<const Element*> result;
  for (auto of = line.rbegin(); of != line.rend(); ++of)
    for (const Element* candidate : (*of)->elements)
      if (std::find(tags.begin(), tags.end(), candidate->tag) != tags.end()) result.push_back(candidate);
  return result;
}

Element Defaults::resolved(const Element& element, const std::string& childclass, const Values& values) const {
  Element result{.tag = element.tag, .attributes = {}, .children = {}, .where = element.where};
  for (const Element* inherited : chain(element, {element.tag}, childclass, values)) add(*inherited, result);
  add(element, result);
  return result;
}

}  // namespace deft::multibody::mjcf
