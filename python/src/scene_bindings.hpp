#pragma once
// deft.Scene and the contacts of a configuration.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::python {

namespace nb = nanobind;

/// Contacts of a scene at one configuration, with what their arrays are made of.
struct Contacts {
  scene::Scene scene;
  Eigen::VectorXd q;                          // size nq, where they were found
  std::vector<collision::ContactPair> pairs;  // as found, or as a step was given them
  std::vector<double> mu;                     // friction coefficient of each
};

/// d gap and slips: row block i is the velocity of a's witness point minus b's, 3 × nv, world axes; row-major, stacked.
std::vector<double> witness_jacobians(const Contacts& contacts);

void bind_scene(nb::module_& module);

}  // namespace deft::python
