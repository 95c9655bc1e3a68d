#include "deft/collision/decomposition/part_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "deft/collision/decomposition/convex_parts.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/hash.hpp"
#include "deft/core/log.hpp"

namespace deft::collision {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEdition = 2;  // of what stands in the cache: one more whenever other parts would come out

std::string key_of(const TriangleMesh& mesh, const multibody::DecompositionSpec& how) {
  const std::array<double, 3> settings{static_cast<double>(kEdition), static_cast<double>(how.parts), how.concavity};
  const std::uint64_t corners = fnv1a(std::span<const double>(mesh.vertices), fnv1a(""));
  const std::uint64_t triangles = fnv1a(std::span<const int>(mesh.triangles), corners);
  return hash_text(fnv1a(std::span<const double>(settings), triangles));
}

/// The parts in a folder of the cache, nothing if some are missing: how many there should be is in their names.
std::optional<std::vector<std::string>> kept_in(const fs::path& folder) {
  std::vector<std::string> files;
  if (!fs::is_directory(folder)) return std::nullopt;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); ++i)
    if (fs::path(files[i]).filename() != fmt::format("of_{}_{:03}.obj", files.size(), i)) return std::nullopt;
  return files.empty() ? std::nullopt : std::optional(files);
}

/// Fills a folder of its own beside the final place and moves it there; another program may have been faster.
void keep(const std::vector<TriangleMesh>& parts, const fs::path& folder) {
  fs::create_directories(folder.parent_path());
  std::string name = folder.string() + ".XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made there");
  std::error_code taken, gone;
  try {
    write_parts(parts, name, fmt::format("of_{}", parts.size()));
  } catch (...) {
    fs::remove_all(name, gone);
    throw;
  }
  if (!kept_in(folder)) fs::remove_all(folder, gone);  // what is left of an earlier one
  fs::rename(name, folder, taken);
  if (taken) fs::remove_all(name, gone);
}

}  // namespace

fs::path cache_folder() {
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path own = set("DEFT_CACHE_DIR"); !own.empty()) return own;
  if (const fs::path cache = set("XDG_CACHE_HOME"); !cache.empty()) return cache / "deft";
  if (const fs::path home = set("HOME"); !home.empty()) return home / ".cache" / "deft";
  throw InputError({}, "there is no folder to keep convex parts in: set DEFT_CACHE_DIR to one");
}

void write_obj(const TriangleMesh& mesh, const fs::path& file) {
  std::ofstream out(file);
  for (std::size_t i = 0; i < mesh.vertices.size(); i += 3)
    out << fmt::format("v {} {} {}\n", mesh.vertices[i], mesh.vertices[i + 1], mesh.vertices[i + 2]);
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 3)
    out << fmt::format("f {} {} {}\n", mesh.triangles[t] + 1, mesh.triangles[t + 1] + 1, mesh.triangles[t + 2] + 1);
  out.close();
  if (!out) throw std::runtime_error(fmt::format("'{}' cannot be written", file.string()));
}

std::vector<std::string> write_parts(const std::vector<TriangleMesh>& parts, const fs::path& folder,
                                     const std::string& name) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    files.push_back((folder / fmt::format("{}_{:03}.obj", name, i)).string());
    write_obj(parts[i], files.back());
  }
  return files;
}

std::vector<std::string> part_files(const multibody::MeshSpec& mesh) {
  const TriangleMesh surface = read_mesh(mesh);
  const fs::path folder = cache_folder() / "convex" / key_of(surface, *mesh.decompose);
  if (const auto kept = kept_in(folder)) return *kept;
  log::info(fmt::format("decomposing '{}' into convex parts, kept in '{}'", mesh.path, folder.string()));
  std::vector<TriangleMesh> parts;
  try {
    parts = convex_parts(surface, *mesh.decompose);
  } catch (const std::runtime_error& error) {
    throw InputError({mesh.path, 0, 0}, error.what());
  }
  try {
    keep(parts, folder);
  } catch (const std::exception& error) {
    throw InputError(
        {}, fmt::format("convex parts of '{}' cannot be kept: {}; set DEFT_CACHE_DIR to a folder that can be written",
                        mesh.path, error.what()));
  }
  if (const auto kept = kept_in(folder)) return *kept;
  throw InputError({}, fmt::format("convex parts of '{}' were taken away from '{}' while they were read", mesh.path,
                                   folder.string()));
}

}  // namespace deft::collision
