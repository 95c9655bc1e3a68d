#include "deft/collision/shapes/msh_file.hpp"

#include <fmt/core.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "deft/core/index.hpp"

namespace deft::collision {
namespace {

template <typename Number>
std::vector<Number> read(std::ifstream& file, std::size_t count) {
  static_assert(sizeof(Number) == 4 && std::endian::native == std::endian::little);
  std::vector<Number> numbers(count);
  file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(4 * count));
  if (!file) throw std::runtime_error("the file ends early");
  return numbers;
}

}  // namespace

TriangleMesh load_msh(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("the mesh cannot be read");
  const std::uintmax_t bytes = std::filesystem::file_size(path);
  const std::vector<std::int32_t> counts = read<std::int32_t>(file, 4);
  std::uintmax_t expected = 4 * counts.size();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] < 0) throw std::runtime_error("a count of vertices, normals, coordinates or faces is negative");
    expected += 4 * (k == 2 ? 2 : 3) * static_cast<std::uintmax_t>(counts[k]);
  }
  if (bytes != expected)
    throw std::runtime_error(
        fmt::format("it has {} bytes; its counts of {} vertices, {} normals, {} texture "
                    "coordinates and {} faces need {}",
                    bytes, counts[0], counts[1], counts[2], counts[3], expected));
  TriangleMesh mesh;
  const std::vector<float> vertices = read<float>(file, 3 * to_size(counts[0]));
  mesh.vertices.assign(vertices.begin(), vertices.end());
  read<float>(file, 3 * to_size(counts[1]) + 2 * to_size(counts[2]));
  const std::vector<std::int32_t> faces = read<std::int32_t>(file, 3 * to_size(counts[3]));
  for (const std::int32_t v : faces)
    if (v < 0 || v >= counts[0])
      throw std::runtime_error(fmt::format("a face names the vertex {}; there are {}", v, counts[0]));
  mesh.triangles.assign(faces.begin(), faces.end());
  return mesh;
}

}  // namespace deft::collision
