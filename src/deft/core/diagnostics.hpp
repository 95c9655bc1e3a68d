#pragma once
// What is wrong or suspicious in a user's files: collected while reading, reported all at once.

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

/// A place in a user's file. Lines and columns count from 1; 0 means unknown. An empty file name means the command
/// line.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Errors stop the reading once all are collected; warnings do not.
enum class Severity { kError, kWarning };

/// One thing that is wrong or suspicious, and where.
struct Diagnostic {
  Severity severity = Severity::kError;
  SourceLocation where;
  std::string message;
};

/// `file:line:column: error: message`, leaving out what is unknown.
std::string to_string(const Diagnostic& diagnostic);

/// Collects the errors and warnings of one reading, in the order found.
class Diagnostics {
 public:
  void error(const SourceLocation& where, std::string message);
  void warning(const SourceLocation& where, std::string message);
  /// A warning given once per `key`, however often the cause occurs (one per unsupported tag, say).
  void warning_once(std::string_view key, const SourceLocation& where, std::string message);

  bool has_errors() const { return errors_ > 0; }
  int error_count() const { return errors_; }
  std::span<const Diagnostic> all() const { return entries_; }

  /// @throws InputError with every entry if there is an error among them.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> entries_;
  std::vector<std::string> keys_;
  int errors_ = 0;
};

/// Bad input: one message that lists every diagnostic. The command line turns it into exit code 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::span<const Diagnostic> diagnostics);
  InputError(const SourceLocation& where, std::string message);
  std::span<const Diagnostic> diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// "; did you mean 'palm_link'?" for the candidate nearest to `name`, or "; valid: a, b, c" when none is near, or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace deft
