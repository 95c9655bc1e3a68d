#pragma once
// JSON files as text: gzip, size and nesting limits, and errors with a place. Internal to io.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace deft::io {

inline constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 30;  // 1 GiB, packed or unpacked
inline constexpr int kMaxJsonDepth = 64;                            // levels of lists and objects

/// The whole text of a file; a name ending in `.gz` is unpacked. @throws InputError if it cannot be read, is not gzip,
/// is cut short, or is larger than kMaxJsonBytes.
std::string read_text(const std::string& path);

/// Writes a file by a temporary name and renames it; a name ending in `.gz` is packed. @throws std::runtime_error with
/// the reason.
void write_text(const std::string& path, const std::string& text);

/// Parses RFC 8259 JSON. @throws InputError `FILE:line:column: error: …` for bad syntax, numbers beyond double
/// precision's range and nesting deeper than kMaxJsonDepth.
nlohmann::json parse_json(const std::string& path, const std::string& text);

/// One line of JSON for people's scripts: shortest digits that read back to the same double (at most 17), bad UTF-8
/// replaced.
std::string to_text(const nlohmann::ordered_json& value, int indent = -1);

/// A number as JSON may hold it: infinities become "inf" and "-inf", not-a-number becomes null.
nlohmann::ordered_json json_number(double value);

}  // namespace deft::io
