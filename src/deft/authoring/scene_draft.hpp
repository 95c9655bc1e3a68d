#pragma once
// A scene that runs, written from a robot, objects and a goal.

#include <optional>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"

namespace deft::authoring {

/// Whether the base of a robot is fixed to the world.
enum class Base { kFixed, kFloating };

/// What is asked for.
struct DraftRequest {
  std::string robot;                       // a model file, or the name of a bundled one
  std::vector<std::string> objects;        // likewise
  std::string goal;                        // read_goal_text, of the first object; empty: none
  std::string out;                         // the file that will hold it: model files are named relative to its folder
  std::optional<Base> base;                // none: floating where a joint of the file frees it, else fixed
  double frequency = 10;                   // [Hz] that joints without a drive in their file get (joint_stiffness)
  std::vector<std::string> package_paths;  // folders where packages are looked for first
  std::string bundled_scenes;              // folder of package://deft_scenes
};

/// Names that stand for bundled robots.
std::vector<std::string> bundled_robots(const std::string& bundled_scenes);
/// Names that stand for bundled objects, ascending.
std::vector<std::string> bundled_objects(const std::string& bundled_scenes);

/// The text of a scene file with comments: the robot's base fixed to the world (a hand's with its palm up) or floating
/// with its lowest point on the ground, stiffnesses, ground, objects, a start inside limits and free of penetration,
/// and the goal. Warnings go to `diagnostics`, one at the place of `out` if no such start was found.
/// @throws InputError for what cannot be read, a robot that has no joints to drive or cannot touch anything, an object
/// that cannot be put down, a goal without object.
std::string draft_scene(const DraftRequest& request, Diagnostics& diagnostics);

}  // namespace deft::authoring
