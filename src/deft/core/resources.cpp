#include "deft/core/resources.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

namespace deft {
namespace {

namespace fs = std::filesystem;

/// The file of the library or program that this function is in.
fs::path own_file() {
  Dl_info found{};
  // Of a program there is the name by which it was called, maybe relative to a folder that is no longer the current
  // one.
  if (dladdr(reinterpret_cast<const void*>(&own_file), &found) != 0 && found.dli_fname != nullptr) {
    std::error_code error;
    const fs::path file = fs::canonical(found.dli_fname, error);
    if (!error && fs::path(found.dli_fname).is_absolute()) return file;
  }
  return fs::read_symlink("/proc/self/exe");
}

fs::path find_root() {
  const fs::path file = own_file();
  for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (const fs::path root = folder / "share/deft"; fs::is_directory(root / "scenes")) return fs::canonical(root);
  throw std::runtime_error(
      fmt::format("the files of deft are not there: no folder above '{}' has share/deft/scenes", file.string()));
}

}  // namespace

std::string resource(std::string_view place) {
  static const fs::path root = find_root();
  return (root / place).string();
}

}  // namespace deft
