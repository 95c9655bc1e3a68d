#pragma once
// Exported models put together: Drake's model directives, and a scene around them.

#include <string>
#include <vector>

#include "deft/exporters/model_parts.hpp"

namespace deft::exporters {

/// `directives:` for files FOLDER/MODEL + ending, as package://NAME/MODEL…: add_model with joints at their start
/// values, add_weld of what is welded to other models, and a group for each body that does not collide with another.
std::string directive_text(const LinkTree& links, const std::string& package, const std::string& ending,
                           std::vector<std::string>& notes);

/// A scene of deft on these directives, or on a file of them, with all that the scene says beside its models: robots,
/// friction, settings, configurations, commands, goals. What
/// names links that had to be renamed (LinkTree::link_name) keeps their old names.
std::string overlay_text(const LinkTree& links, const std::string& directives, std::vector<std::string>& notes);

/// package.xml of ROS, which lets package://NAME be found.
std::string package_text(const std::string& name);

}  // namespace deft::exporters
