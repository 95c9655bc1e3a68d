#pragma once
// A scene file as text with comments. Internal to the module.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deft/authoring/goal_text.hpp"
#include "deft/math/rotation.hpp"

namespace deft::authoring {

/// What the text says of the robot.
struct RobotText {
  std::string name, file, base;                         // `base`: the link to fix; empty: the file does
  RigidTransform X_WBase = RigidTransform::Identity();  // pose of that link
  std::string floating;                                 // what the base is called if it is not fixed; else empty
  std::vector<std::pair<std::string, double>> joints;   // start, by coordinate, of those that take commands
  std::vector<double> stiffness;                        // in their order; empty: the file's own drives
  std::string stiffness_comment;                        // where it is from
};
/// What it says of an object.
struct ObjectText {
  std::string name, file;                            // of the model in the scene, and of its file; no file: the robot's
  RigidTransform X_WB = RigidTransform::Identity();  // start of its free body
};
/// All of it.
struct SceneText {
  std::string name;                        // of the scene
  RobotText robot;                         // the one that moves
  std::vector<ObjectText> objects;         // the first is what the goal is about; those of the robot's file last
  std::optional<double> ground;            // height [m]; none: there is no ground
  std::string goal;                        // as it was asked for; empty: none
  std::optional<RigidTransform> X_WGoal;   // of the first object
  std::vector<std::string> package_paths;  // folders where packages are looked for, from the folder of the file
};
/// The file. Numbers have seven digits.
std::string to_yaml(const SceneText& text);

}  // namespace deft::authoring
