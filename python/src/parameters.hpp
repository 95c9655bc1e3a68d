#pragma once
// The numbers of a scene that derivatives can be taken for, by name: the vector θ.

#include <map>
#include <string>
#include <vector>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/scene/scene.hpp"

namespace deft::python {

/// An entry of θ; where it stands for several numbers of the scene, these are equal and change together.
struct NamedParameter {
  std::string name;  // "mu:tip|box", "mass:box", "stiffness:hand/joint_1", "h", "kappa"
  double value = 0;  // [-], [kg], [N·m/rad, N/m], [s], [1/J]
  std::vector<dynamics::Parameter> of;
};

/// θ in its order: friction of the pairs of bodies that may touch (of geometries, if those of two bodies differ),
/// masses of objects, stiffness of commanded joints, h, κ.
std::vector<NamedParameter> parameters_of(const scene::Scene& scene);

/// The scene with other values of entries of θ, by name; its world is built again. @throws InputError for names that
/// there are not, and for values that have no place there (a negative mass).
scene::Scene with_parameters(const scene::Scene& scene, const std::map<std::string, double>& values);

}  // namespace deft::python
