#pragma once
// The names of a world's coordinates before the world is built: what a scene file may call them.

#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/description/model_spec.hpp"

namespace deft::scene {

/// One model's coordinates as configurations and commands name them, without the model's own name in front.
struct ModelNames {
  std::string name;            // of the model
  std::vector<std::string> q;  // "qw" … "z" of a free base first, then "joint_1", "x", "ball_joint/qw" … in file order
  std::vector<std::string> v;  // "wx" … "vz", "joint_1", …
  std::vector<std::string> u;  // of v those that can be commanded: joints that follow others cannot
  std::vector<std::string> free_links;                        // links that nothing holds
  bool floating_base() const { return !free_links.empty(); }  // whether it has free links
};

/// The names of every model, declaration order, and after them of the free bodies that are named apart from their
/// model ("hand/die"). Errors of the world (loops, double welds, …) go to `diagnostics`; its
/// warnings do not, since building the scene gives them. @returns what can be known in spite of errors.
std::vector<ModelNames> list_names(const multibody::MultibodySpec& world, Diagnostics& diagnostics);

}  // namespace deft::scene
