#pragma once
// Where the files that come with deft are: the scene library, scripts that run in processes of their own.

#include <string>
#include <string_view>

namespace deft {

/// The path of a file or folder of deft, by its place in the source tree: "scenes", "src/deft/plant/drake_server.py".
/// Below the source tree from which this library was built, unless `set_resource_root` has said otherwise.
std::string resource(std::string_view place);

/// Files of deft are below `root` from now on, by the same places: an installed package has them beside it. Not while
/// other threads look for any.
void set_resource_root(std::string root);

}  // namespace deft
