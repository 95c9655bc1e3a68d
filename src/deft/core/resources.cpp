#include "deft/core/resources.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <stdexcept>

namespace deft {
namespace {

namespace fs = std::filesystem;

/// The file of the library or program that this function is in.
fs::path own_file() {
  Dl_info found{};
  void* object = nullptr;  // without a name for the program itself
  if (dladdr1(reinterpret_cast<const void*>(&own_file), &found, &object, RTLD_DL_LINKMAP) != 0 && object != nullptr)
    if (const char* const name = static_cast<const link_map*>(object)->l_name; name != nullptr && *name != '\0')
      return fs::canonical(name);
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
