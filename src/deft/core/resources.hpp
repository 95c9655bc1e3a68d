#pragma once
// Where the files that come with deft are: the scene library, scripts that run in processes of their own.

#include <string>
#include <string_view>

namespace deft {

/// The path of a file or folder of deft, by its place in the source tree: "scenes", "src/deft/plant/drake_server.py".
/// They are below `share/deft` of one of the folders above the library (or program) that holds this function: of an
/// installation's prefix, of the Python package, of a build folder, where it leads to the source tree.
/// @throws std::runtime_error if none of them has such a folder
std::string resource(std::string_view place);

}  // namespace deft
