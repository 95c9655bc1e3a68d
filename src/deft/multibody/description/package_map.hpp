#pragma once
// Where meshes and models are: URIs to paths.

#include <string>
#include <vector>

namespace deft::multibody {

/// Finds the files behind URIs, never on the network.
///
/// package://NAME/PATH and model://NAME/PATH: the given package paths (a folder NAME below, or the folder itself when
/// so named or when its package.xml says so), then upwards from the file that has the URI (a folder NAME, or a
/// package.xml with that name), ROS_PACKAGE_PATH, AMENT_PREFIX_PATH (PREFIX/share/NAME), then deft's own scenes for
/// package deft_scenes, and last, for packages copied without their package.xml under another name, PATH itself in the
/// package paths and upwards from that file. file://PATH and plain paths: relative to that file.
class PackageMap {
 public:
  /// A folder to look in first, in the order of the calls.
  void add_package_path(std::string folder) { package_paths_.push_back(std::move(folder)); }
  /// The folder that package://deft_scenes/… names.
  void set_bundled_scenes(std::string folder) { bundled_scenes_ = std::move(folder); }

  /// What a look-up found.
  struct Result {
    std::string path;                // canonical; empty if not found
    std::vector<std::string> tried;  // every path looked at, for the error message
  };
  /// Looks `uri` up. @param referring_file  path of the file that has the URI; empty: relative to the working folder.
  Result resolve(const std::string& uri, const std::string& referring_file) const;

 private:
  std::vector<std::string> package_paths_;
  std::string bundled_scenes_;
};

}  // namespace deft::multibody
