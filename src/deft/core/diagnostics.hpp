#pragma once
// What is wrong or suspicious in a user's files: collected while reading, reported all at once.

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace deft {

/// A place in a user's file. An empty file name means the command line.
struct SourceLocation {
  std::string file;          // path
  int line = 0, column = 0;  // from 1; 0: unknown
};

/// Errors stop the reading once all are collected; warnings do not.
enum class Severity { kError, kWarning };

/// One thing that is wrong or suspicious, and where.
struct Diagnostic {
  Severity severity = Severity::kError;  // kError: the input is refused
  SourceLocation where;                  // what it is about
  std::string message;                   // without place and severity, which to_string adds
  std::string kind;                      // what warnings of a kind say of several: "geometries state no friction";
                                         // empty: stands alone
};

/// `file:line:column: error: message`, leaving out what is unknown.
std::string to_string(const Diagnostic& diagnostic);

/// The same with one line for the warnings of a kind in a file, at the place of the first, with their number. What is
/// the only one of its kind, and errors, stay as they are.
/// @param hint  how to see them all, behind "this is the first".
std::vector<Diagnostic> gathered(std::span<const Diagnostic> diagnostics, std::string_view hint = {});

/// Collects the errors and warnings of one reading, in the order found.
class Diagnostics {
 public:
  /// Adds an error; reading may go on.
  void error(const SourceLocation& where, std::string message);
  /// Adds a warning, of a kind if there may be many.
  void warning(const SourceLocation& where, std::string message, std::string kind = {});
  /// A warning given once per `key`, however often the cause occurs (one per unsupported tag, say).
  void warning_once(std::string_view key, const SourceLocation& where, std::string message);

  bool has_errors() const { return errors_ > 0; }               // whether any entry is an error
  int error_count() const { return errors_; }                   // entries that are errors
  std::span<const Diagnostic> all() const { return entries_; }  // in the order found; valid until the next is added

  /// @throws InputError with every entry if there is an error among them.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> entries_;
  std::vector<std::string> keys_;
  int errors_ = 0;
};

/// Bad input: one message of what was found, warnings gathered and before the errors. The command line turns it into
/// exit code 2.
class InputError : public std::runtime_error {
 public:
  /// Keeps a copy of the diagnostics; what() has a line for each but for those gathered.
  explicit InputError(std::span<const Diagnostic> diagnostics);
  /// A single error.
  InputError(const SourceLocation& where, std::string message);
  /// The copies, warnings among them; they live as long as this object.
  std::span<const Diagnostic> diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The end of a message about an unknown name: "; did you mean 'palm_link'?" for the candidate nearest to `name` by
/// edit distance (case ignored), or "; valid: a, b, c" (the first twelve) when none is near, or "" without candidates.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace deft
