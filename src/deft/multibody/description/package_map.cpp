#include "deft/multibody/description/package_map.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace deft::multibody {
namespace {

namespace fs = std::filesystem;

/// Looks at paths one by one and remembers them for the error message.
class Search {
 public:
  bool found() const { return !result_.path.empty(); }
  void look_at(const fs::path& path) {
    if (found()) return;
    std::error_code ignored;  // a path that cannot be looked at is not there
    result_.tried.push_back(path.lexically_normal().string());
    if (fs::exists(path, ignored)) result_.path = fs::weakly_canonical(path, ignored).string();
  }
  PackageMap::Result take() { return std::move(result_); }

 private:
  PackageMap::Result result_;
};

/// The text of <name> in a package.xml; empty if there is none.
std::string package_name(const fs::path& folder) {
  std::ifstream file(folder / "package.xml");
  std::stringstream text;
  text << file.rdbuf();
  const std::string xml = text.str();
  const auto begin = xml.find("<name>"), end = xml.find("</name>");
  if (begin == xml.npos || end == xml.npos || end < begin + 6) return "";
  std::string name = xml.substr(begin + 6, end - begin - 6);
  const auto first = name.find_first_not_of(" \t\r\n"), last = name.find_last_not_of(" \t\r\n");
  return first == name.npos ? "" : name.substr(first, last - first + 1);
}

bool is_package(const fs::path& folder, const std::string& name) {
  return folder.filename() == name || package_name(folder) == name;
}

/// The folder may be the package itself, or hold it.
void look_in(const fs::path& folder, const std::string& package, const fs::path& rest, Search& search) {
  const fs::path clean = folder.has_filename() ? folder : folder.parent_path();
  if (is_package(clean, package)) search.look_at(clean / rest);
  search.look_at(clean / package / rest);
}

std::vector<std::string> folders_of(const char* variable) {
  std::vector<std::string> folders;
  const char* value = std::getenv(variable);
  std::stringstream list(value == nullptr ? "" : value);
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  return folders;
}

std::optional<std::string_view> without_prefix(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

fs::path folder_of(const std::string& referring_file) {
  std::error_code ignored;
  const fs::path file = referring_file.empty() ? fs::current_path() / "." : fs::path(referring_file);
  return fs::absolute(file, ignored).parent_path();
}

}  // namespace

PackageMap::Result PackageMap::resolve(const std::string& uri, const std::string& referring_file) const {
  Search search;
  const fs::path here = folder_of(referring_file);
  std::optional<std::string_view> in_package = without_prefix(uri, "package://");
  if (!in_package) in_package = without_prefix(uri, "model://");
  if (!in_package) {
    search.look_at(here / fs::path(without_prefix(uri, "file://").value_or(uri)));
    return search.take();
  }

  const auto slash = in_package->find('/');
  const std::string package(in_package->substr(0, slash));
  const fs::path rest = slash == in_package->npos ? fs::path() : fs::path(in_package->substr(slash + 1));
  for (const std::string& folder : package_paths_) look_in(fs::absolute(folder), package, rest, search);
  for (fs::path up = here; !search.found(); up = up.parent_path()) {
    look_in(up, package, rest, search);
    if (up == up.parent_path()) break;
  }
  for (const std::string& folder : folders_of("ROS_PACKAGE_PATH")) look_in(folder, package, rest, search);
  for (const std::string& prefix : folders_of("AMENT_PREFIX_PATH"))
    search.look_at(fs::path(prefix) / "share" / package / rest);
  if (package == "deft_scenes" && !bundled_scenes_.empty()) search.look_at(fs::path(bundled_scenes_) / rest);

  // A package copied without its package.xml under another name: its files as such.
  if (rest.empty()) return search.take();
  for (const std::string& folder : package_paths_) search.look_at(fs::absolute(folder) / rest);
  for (fs::path up = here; !search.found(); up = up.parent_path()) {
    search.look_at(up / rest);
    if (up == up.parent_path()) break;
  }
  return search.take();
}

}  // namespace deft::multibody
