#pragma once
// A place in a JSON document that knows its file and its path, so that every complaint names the field. Internal to io.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deft::io {

/// A value of a document together with where it stands, "contacts[3].normal.cols". Points into the document, which must
/// outlive it.
class JsonField {
 public:
  /// The root of a document.
  JsonField(const nlohmann::json& value, std::string file) : value_(&value), file_(std::move(file)) {}

  /// @throws InputError `FILE: field 'PATH': error: message`.
  [[noreturn]] void fail(const std::string& message) const;
  /// `FILE: field 'PATH'`, for complaints that others make.
  std::string place() const;

  /// Member `key`. @throws InputError if this is not an object, or the member is absent or null.
  JsonField at(const std::string& key) const;
  /// The same; nothing if the member is absent or null. @throws InputError if this is not an object.
  std::optional<JsonField> find(const std::string& key) const;
  /// Element i of a list that is long enough, which is not checked.
  JsonField element(std::size_t i) const;

  // Values of the right type, or an InputError that shows what was found.
  double number() const;                       // finite
  double bound() const;                        // finite, "inf" or "-inf"
  int integer(int lowest, int highest) const;  // 3.0 counts as 3
  bool boolean() const;                        // true or false
  bool is_list() const;                        // whether it is a list; never an error
  std::string text() const;                    // a string, empty ones too
  std::size_t list_size() const;               // length of a list
  std::vector<double> numbers() const;         // a list of finite numbers
  std::vector<double> numbers(std::size_t size, std::string_view meaning) const;  // exactly `size`, `meaning` says why
  std::vector<double> bounds(std::size_t size) const;                             // exactly `size` of `bound`

 private:
  JsonField(const nlohmann::json& value, std::string file, std::string path)
      : value_(&value), file_(std::move(file)), path_(std::move(path)) {}
  std::string shown() const;

  const nlohmann::json* value_;
  std::string file_;
  std::string path_;
};

}  // namespace deft::io
