#pragma once
// A scene as the text that drake_server.py builds a model from. Internal to the module.

#include <string>
#include <vector>

#include "deft/plant/plant.hpp"

namespace deft::plant {

/// The text, and what a plant needs to know of it.
struct DrakeModel {
  std::string text;                // lines of README.md, "Drake"
  std::vector<int> body_of;        // per geometry of the scene: its body
  std::vector<int> springs;        // commands that are targets of springs, in the order of Drake's actuators
  Eigen::VectorXd joint_damping;   // per command [N·s/m, N·m·s/rad]
  std::vector<std::string> notes;  // what differs from the scene, a line each
};

/// @throws InputError for what Drake cannot simulate, with its name.
DrakeModel describe_for_drake(const scene::Scene& scene, const PlantOptions& options);

}  // namespace deft::plant
