#include "deft/multibody/mjcf/mjcf_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "deft/multibody/description/xml_reader.hpp"

namespace deft::multibody::mjcf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 64;          // files inside each other
constexpr std::size_t kElements = 1'000'000;  // of all files together

/// The files of one model.
class FileReader {
 public:
  FileReader(const std::string& main, Diagnostics& diagnostics)
      : folder_(fs::path(main).parent_path()), diagnostics_(diagnostics) {}

  /// The root element of a file, or nothing after an error.
  std::optional<Element> read(const std::string& path) {
    tinyxml2::XMLDocument document;
    const XMLElement* const xml = open_xml(path, document, diagnostics_);
    if (xml == nullptr) return std::nullopt;
    open_.push_back(path);
    std::optional<Element> root = convert(*xml, path);
    open_.pop_back();
    return root;
  }

 private:
  std::optional<Element> fail(const SourceLocation& where, std::string message) {
    diagnostics_.error(where, std::move(message));
    return std::nullopt;
  }

  std::optional<Element> convert(const tinyxml2::XMLElement& xml, const std::string& path) {
    Element element{.tag = xml.Name(), .where = {path, xml.GetLineNum(), 0}};
    if (++count_ > kElements) return fail(element.where, fmt::format("the model has more than {} elements", kElements));
    for (const tinyxml2::XMLAttribute* a = xml.FirstAttribute(); a != nullptr; a = a->Next())
      element.attributes.emplace_back(a->Name(), a->Value());
    for (const tinyxml2::XMLElement* child = xml.FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement()) {
      std::optional<Element> read = convert(*child, path);
      if (!read) return std::nullopt;
      if (read->tag == "include") {
        std::optional<Element> included = include(*read);
        if (!included) return std::nullopt;
        std::move(included->children.begin(), included->children.end(), std::back_inserter(element.children));
      } else {
        element.children.push_back(std::move(*read));
      }
    }
    return element;
  }

  std::optional<Element> include(const Element& element) {
    const std::string* const name = element.find("file");
    if (name == nullptr || name->empty()) return fail(element.where, "<include> needs the attribute 'file'");
    const fs::path beside_main = folder_ / *name, beside_this = fs::path(element.where.file).parent_path() / *name;
    std::error_code ignored;
    const fs::path path = fs::is_regular_file(beside_main, ignored) ? beside_main : beside_this;
    if (!fs::is_regular_file(path, ignored))
      return fail(element.where, beside_main == beside_this
                                     ? fmt::format("file '{}' not found; tried {}", *name, path.string())
                                     : fmt::format("file '{}' not found; tried {}, {}", *name, beside_main.string(),
                                                   beside_this.string()));
    const std::string normal = path.lexically_normal().string();
    if (std::find(open_.begin(), open_.end(), normal) != open_.end())
      return fail(element.where, fmt::format("file '{}' includes itself", *name));
    if (open_.size() >= kDeepest) return fail(element.where, fmt::format("more than {} files in each other", kDeepest));
    return read(normal);
  }

  fs::path folder_;
  Diagnostics& diagnostics_;
  std::vector<std::string> open_;  // being read, the main file first
  std::size_t count_ = 0;          // elements read
};

}  // namespace

const std::string* Element::find(const std::string& name) const {
  for (const auto& [key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

void Element::set(const std::string& name, std::string value) {
  for (auto& [key, old] : attributes)
    if (key == name) return void(old = std::move(value));
  attributes.emplace_back(name, std::move(value));
}

std::optional<Element> read_elements(const std::string& path, Diagnostics& diagnostics) {
  const std::string normal = fs::path(path).lexically_normal().string();
  std::optional<Element> root = FileReader(normal, diagnostics).read(normal);
  if (root && root->tag != "mujoco") {
    diagnostics.error(root->where, fmt::format("an MJCF file starts with <mujoco>, not <{}>", root->tag));
    return std::nullopt;
  }
  return root;
}

}  // namespace deft::multibody::mjcf
