#include "deft/multibody/description/number_text.hpp"

#include <charconv>

namespace deft::multibody {
namespace {

constexpr const char* kBlanks = " \t\r\n";

}  // namespace

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks), last = text.find_last_not_of(kBlanks);
  return first == text.npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != text.npos;) {
    const auto end = text.find_first_of(kBlanks, at);
    result.emplace_back(text.substr(at, end == text.npos ? end : end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return result;
}

std::optional<double> parse_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace deft::multibody
