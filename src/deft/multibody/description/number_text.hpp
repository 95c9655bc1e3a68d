#pragma once
// Numbers and words in the text of model files.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deft::multibody {

/// Without the blanks at both ends.
std::string trimmed(std::string_view text);
/// What blanks separate.
std::vector<std::string> words(std::string_view text);
/// The number that the whole word is, a leading + allowed; nothing if it is none. Infinity and NaN are numbers here.
std::optional<double> parse_number(std::string_view word);

}  // namespace deft::multibody
