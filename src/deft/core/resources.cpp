#include "deft/core/resources.hpp"

#include <filesystem>
#include <utility>

namespace deft {
namespace {

std::string& root() {
  static std::string folder = DEFT_SOURCE_ROOT;
  return folder;
}

}  // namespace

std::string resource(std::string_view place) { return (std::filesystem::path(root()) / place).string(); }

void set_resource_root(std::string folder) { root() = std::move(folder); }

}  // namespace deft
