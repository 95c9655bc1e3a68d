#include "deft/collision/shapes/collada_check.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <stdexcept>
#include <string_view>

#include "deft/core/text_file.hpp"

namespace deft::collision {
namespace {

constexpr std::string_view kNumbers = "0123456789+- \t\r\n";

bool is_list_of_indices(std::string_view tag) { return tag == "p" || tag == "h" || tag == "v" || tag == "vcount"; }

/// Stops at the first list of indices that holds something else.
class IndexLists : public tinyxml2::XMLVisitor {
 public:
  bool VisitEnter(const tinyxml2::XMLElement& element, const tinyxml2::XMLAttribute*) override {
    if (!is_list_of_indices(element.Name())) return true;
    for (const tinyxml2::XMLNode* node = element.FirstChild(); node != nullptr; node = node->NextSibling()) {
      const std::string_view text = node->ToText() == nullptr ? "<" : node->Value();
      const std::size_t at = text.find_first_not_of(kNumbers);
      if (at != text.npos)
        throw std::runtime_error(fmt::format("line {}: <{}> is a list of whole numbers, and has a '{}'",
                                             element.GetLineNum(), element.Name(), text[at]));
    }
    return true;
  }
};

}  // namespace

void check_collada(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw std::runtime_error("cannot be read");
  if (const auto wrong = find_not_utf8(*text))
    throw std::runtime_error(fmt::format("line {}, column {}: {}", wrong->line, wrong->column, wrong->message));
  tinyxml2::XMLDocument document;
  if (document.Parse(text->data(), text->size()) != tinyxml2::XML_SUCCESS)
    throw std::runtime_error(
        fmt::format("line {}: not well-formed XML: {}", document.ErrorLineNum(), document.ErrorName()));
  IndexLists lists;
  document.Accept(&lists);
}

}  // namespace deft::collision
