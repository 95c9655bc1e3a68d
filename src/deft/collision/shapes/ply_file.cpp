#include "deft/collision/shapes/ply_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "deft/core/text_file.hpp"

namespace deft::collision {
namespace {

enum class Scalar { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };
constexpr std::array<std::array<std::string_view, 2>, 8> kNames{{{"char", "int8"},
                                                                 {"uchar", "uint8"},
                                                                 {"short", "int16"},
                                                                 {"ushort", "uint16"},
                                                                 {"int", "int32"},
                                                                 {"uint", "uint32"},
                                                                 {"float", "float32"},
                                                                 {"double", "float64"}}};
constexpr std::array<std::size_t, 8> kSizes{1, 1, 2, 2, 4, 4, 4, 8};

struct Property {
  std::string name;
  Scalar type = Scalar::kFloat;
  std::optional<Scalar> count;  // of a list
};
struct Element {
  std::string name;
  std::size_t count = 0;
  std::vector<Property> properties;
};

Scalar scalar(const std::string& word) {
  for (std::size_t k = 0; k < kNames.size(); ++k)
    if (word == kNames[k][0] || word == kNames[k][1]) return static_cast<Scalar>(k);
  throw std::runtime_error(fmt::format("the PLY file has the unknown type '{}'", word));
}

/// What one of 1 is for a colour of a type.
double full(Scalar type) { return type == Scalar::kUint8 ? 255 : type == Scalar::kUint16 ? 65535 : 1; }

/// The data behind the header, number by number.
class Numbers {
 public:
  Numbers(std::string_view rest, bool is_text, bool is_big_endian)
      : rest_(rest), is_text_(is_text), swaps_(is_big_endian != (std::endian::native == std::endian::big)) {}

  double next(Scalar type) { return is_text_ ? next_text() : next_binary(type); }
  /// Whether so many numbers can still be there.
  bool may_hold(std::size_t numbers) const { return numbers <= rest_.size(); }

 private:
  [[noreturn]] static void refuse() {
    throw std::runtime_error("the PLY file ends before its data do, or has words for numbers");
  }

  double next_text() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    if (rest_.starts_with('+')) rest_.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  template <typename Number>
  double as() {
    std::array<char, sizeof(Number)> bytes;
    std::copy_n(rest_.begin(), bytes.size(), bytes.begin());
    if (swaps_) std::reverse(bytes.begin(), bytes.end());
    rest_.remove_prefix(bytes.size());
    return static_cast<double>(std::bit_cast<Number>(bytes));
  }
  double next_binary(Scalar type) {
    if (rest_.size() < kSizes[static_cast<std::size_t>(type)]) refuse();
    switch (type) {
      case Scalar::kInt8:
        return as<std::int8_t>();
      case Scalar::kUint8:
        return as<std::uint8_t>();
      case Scalar::kInt16:
        return as<std::int16_t>();
      case Scalar::kUint16:
        return as<std::uint16_t>();
      case Scalar::kInt32:
        return as<std::int32_t>();
      case Scalar::kUint32:
        return as<std::uint32_t>();
      case Scalar::kFloat:
        return as<float>();
      case Scalar::kDouble:
        return as<double>();
    }
    refuse();
  }

  std::string_view rest_;
  bool is_text_, swaps_;
};

struct Header {
  std::vector<Element> elements;
  std::string format;
  std::size_t end = 0;  // where the data begin
};

Header read_header(const std::string& bytes) {
  Header header;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t stop = std::min(bytes.find('\n', at), bytes.size());
    std::istringstream line(bytes.substr(at, stop - at));
    const bool is_first = at == 0;
    at = stop + 1;
    std::string word, type, name;
    line >> word;
    if (is_first && word != "ply") throw std::runtime_error("this is no PLY file");
    if (word == "format") {
      line >> header.format;
    } else if (word == "element") {
      Element element;
      if (!(line >> element.name >> element.count))
        throw std::runtime_error("the PLY file has an element without a count");
      header.elements.push_back(element);
    } else if (word == "property") {
      Property property;
      line >> type;
      if (type == "list") {
        line >> type;
        property.count = scalar(type);
        line >> type;
      }
      if (!(line >> property.name) || header.elements.empty())
        throw std::runtime_error("the PLY file has a property without a name or an element");
      property.type = scalar(type);
      header.elements.back().properties.push_back(property);
    } else if (word == "end_header") {
      header.end = std::min(at, bytes.size());
      return header;
    }
  }
  throw std::runtime_error("the PLY file has no end_header");
}

std::size_t whole(double value, const char* what) {
  if (!(value >= 0 && value <= 2147483647 && value == static_cast<std::int64_t>(value)))
    throw std::runtime_error(fmt::format("the PLY file has {} where {} should be", value, what));
  return static_cast<std::size_t>(value);
}

class Reader {
 public:
  explicit Reader(Numbers numbers) : numbers_(numbers) {}

  void read(const Element& element) {
    const bool is_vertex = element.name == "vertex", is_face = element.name == "face";
    if (element.properties.empty()) return;
    if (!numbers_.may_hold(element.count)) throw std::runtime_error("the PLY file is shorter than its header says");
    for (std::size_t row = 0; row < element.count; ++row) {
      std::array<double, 6> place_and_colour{0, 0, 0, -1, -1, -1};
      for (const Property& property : element.properties) {
        if (property.count) {
          read_list(property, is_face && (property.name == "vertex_indices" || property.name == "vertex_index"));
          continue;
        }
        constexpr std::array<std::string_view, 6> kPlaces{"x", "y", "z", "red", "green", "blue"};
        const auto place = std::find(kPlaces.begin(), kPlaces.end(), property.name) - kPlaces.begin();
        const double value = numbers_.next(property.type);
        if (place < 6)
          place_and_colour[static_cast<std::size_t>(place)] = place < 3 ? value : value / full(property.type);
      }
      if (is_vertex) add_vertex(place_and_colour);
    }
  }

  PlyMesh finished() {
    const auto vertices = static_cast<int>(out_.mesh.vertices.size() / 3);
    for (const int corner : out_.mesh.triangles)
      if (corner >= vertices)
        throw std::runtime_error(fmt::format("the PLY file has a face at vertex {} of {}", corner, vertices));
    if (out_.colours.size() != out_.mesh.vertices.size()) out_.colours.clear();
    return std::move(out_);
  }

 private:
  void add_vertex(const std::array<double, 6>& values) {
    out_.mesh.vertices.insert(out_.mesh.vertices.end(), values.begin(), values.begin() + 3);
    const auto is_colour = [](double value) { return value >= 0 && value <= 1; };
    if (std::all_of(values.begin() + 3, values.end(), is_colour))
      out_.colours.insert(out_.colours.end(), values.begin() + 3, values.end());
  }
  void read_list(const Property& property, bool is_polygon) {
    const std::size_t n = whole(numbers_.next(*property.count), "a count");
    if (!numbers_.may_hold(n)) throw std::runtime_error("the PLY file has a list beyond its end");
    std::array<int, 2> before{};  // the first corner and the last one
    for (std::size_t k = 0; k < n; ++k) {
      const double value = numbers_.next(property.type);
      if (!is_polygon) continue;
      const int corner = static_cast<int>(whole(value, "a vertex"));
      if (k >= 2) out_.mesh.triangles.insert(out_.mesh.triangles.end(), {before[0], before[1], corner});
      if (k == 0) before[0] = corner;
      before[1] = corner;
    }
  }

  Numbers numbers_;
  PlyMesh out_;
};

}  // namespace

PlyMesh load_ply(const std::string& path) {
  const std::optional<std::string> bytes = read_file(path);
  if (!bytes) throw std::runtime_error("no such file");
  const Header header = read_header(*bytes);
  const bool is_text = header.format == "ascii", is_big = header.format == "binary_big_endian";
  if (!is_text && !is_big && header.format != "binary_little_endian")
    throw std::runtime_error(fmt::format(
        "the PLY file has the format '{}'; valid: ascii, binary_little_endian, binary_big_endian", header.format));
  Reader reader(Numbers(std::string_view(*bytes).substr(header.end), is_text, is_big));
  for (const Element& element : header.elements) reader.read(element);
  return reader.finished();
}

}  // namespace deft::collision
