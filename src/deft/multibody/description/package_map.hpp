#pragma once

#include <string>
#include <vector>

namespace deft::multibody {

/// Finds the files behind URIs, never on the network.
/// package://NAME/PATH: the given package paths (a folder NAME below, or the folder itself when so named or its
/// package.xml says so), then upwards from the file that speaks (a folder NAME, or a package.xml with that name),
/// ROS_PACKAGE_PATH, AMENT_PREFIX_PATH (PREFIX/share/NAME), then deft's own scenes for package deft_scenes, and last,
/// for packages copied without their package.xml under another name, PATH itself in the package paths and upwards from
/// the file that speaks. file://PATH and plain paths: relative to the file that speaks. model://NAME/PATH is looked up
/// like package://.
class PackageMap {
 public:
  void add_package_path(std::string folder) { package_paths_.push_back(std::move(folder)); }
  /// The folder that package://deft_scenes/… names.
  void set_bundled_scenes(std::string folder) { bundled_scenes_ = std::move(folder); }

  struct Result {
    std::string path;                // canonical; empty if not found
    std::vector<std::string> tried;  // every path looked at, for the error message
  };
  Result resolve(const std::string& uri, const std::string& speaking_file) const;

 private:
  std::vector<std::string> package_paths_;
  std::string bundled_scenes_;
};

}  // namespace deft::multibody
