#include "deft/core/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <utility>

namespace deft {
namespace {

constexpr std::size_t kMaxListedChoices = 12;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

/// Least number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment), by dynamic programming over three rows.
int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t n = b.size();
  std::vector<int> older(n + 1), previous(n + 1), current(n + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      const int replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], older[j - 2] + 1);
    }
    older.swap(previous);
    previous.swap(current);
  }
  return previous[n];
}

/// How unlike two names are; 0 when they differ in case only. A name that contains the other is near whatever its
/// length.
int unlikeness(std::string_view name, std::string_view candidate) {
  const std::string a = lower_case(name), b = lower_case(candidate);
  const bool contained = a.size() >= 3 && b.size() >= 3 && (a.find(b) != a.npos || b.find(a) != b.npos);
  const int distance = edit_distance(a, b);
  return contained ? std::min(distance, 2) : distance;
}

/// A line each, warnings of one kind as one, errors last.
std::string joined(std::span<const Diagnostic> diagnostics) {
  std::vector<Diagnostic> lines = gathered(diagnostics);
  std::stable_partition(lines.begin(), lines.end(),
                        [](const Diagnostic& line) { return line.severity == Severity::kWarning; });
  std::string text;
  for (const Diagnostic& diagnostic : lines) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.where.file;
  if (!text.empty()) text += ':';
  if (diagnostic.where.line > 0) {
    text += fmt::format("{}:", diagnostic.where.line);
    if (diagnostic.where.column > 0) text += fmt::format("{}:", diagnostic.where.column);
  }
  if (!text.empty()) text += ' ';
  return text + (diagnostic.severity == Severity::kError ? "error: " : "warning: ") + diagnostic.message;
}

std::vector<Diagnostic> gathered(std::span<const Diagnostic> diagnostics, std::string_view hint) {
  std::vector<Diagnostic> lines;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, int>> seen;  // kind, file: its line, how many
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.kind.empty()) {
      lines.push_back(diagnostic);
      continue;
    }
    const auto [entry, is_first] = seen.try_emplace({diagnostic.kind, diagnostic.where.file}, lines.size(), 1);
    if (is_first)
      lines.push_back(diagnostic);
    else
      ++entry->second.second;
  }
  for (const auto& [key, entry] : seen) {
    const auto& [line, count] = entry;
    if (count > 1) lines[line].message = fmt::format("{} {} (this is the first{})", count, key.first, hint);
  }
  return lines;
}

void Diagnostics::error(const SourceLocation& where, std::string message) {
  entries_.push_back({Severity::kError, where, std::move(message)});
  ++errors_;
}

void Diagnostics::warning(const SourceLocation& where, std::string message, std::string kind) {
  entries_.push_back({Severity::kWarning, where, std::move(message), std::move(kind)});
}

void Diagnostics::warning_once(std::string_view key, const SourceLocation& where, std::string message) {
  if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return;
  keys_.emplace_back(key);
  warning(where, std::move(message));
}

void Diagnostics::throw_if_errors() const {
  if (has_errors()) throw InputError(entries_);
}

InputError::InputError(std::span<const Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(diagnostics.begin(), diagnostics.end()) {}

InputError::InputError(const SourceLocation& where, std::string message)
    : InputError(std::vector<Diagnostic>{{Severity::kError, where, std::move(message)}}) {}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  if (candidates.empty()) return "";
  const auto nearest = std::min_element(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return unlikeness(name, a) < unlikeness(name, b);
  });
  const int tolerated = std::max<int>(2, static_cast<int>(name.size()) / 3);
  const bool longer_than_distance =
      unlikeness(name, *nearest) < static_cast<int>(std::min(name.size(), nearest->size()));
  if (unlikeness(name, *nearest) <= tolerated && longer_than_distance)
    return fmt::format("; did you mean '{}'?", *nearest);
  if (candidates.size() <= kMaxListedChoices) return fmt::format("; valid: {}", fmt::join(candidates, ", "));
  return fmt::format("; valid: {}, … ({} in all)", fmt::join(candidates.first(kMaxListedChoices), ", "),
                     candidates.size());
}

}  // namespace deft
