#pragma once
// What is suspicious in a scene that loads: where it starts, what it asks for, how it is stepped.

#include <map>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/scene/scene.hpp"

namespace deft::authoring {

/// One suspicious thing of a scene.
struct Finding {
  std::string kind;                      // penetration, limit, unreachable, mass_ratio, filtered_pair, step_length
  std::string message;                   // what is so, with values
  std::string cure;                      // the line of the scene file that changes it, or what to do
  std::map<std::string, double> values;  // numbers of the message: depth_m, value, limit, distance_m, ratio, …
  std::vector<std::string> names;        // of whom: two geometries, a joint, a goal, two bodies
};

/// All of them, in the order of the kinds:
/// - penetration: two geometries that may touch overlap at the start by more than 0.1 mm;
/// - limit: a joint starts beyond its limit, or a configuration leaves it at 0, which is beyond it;
/// - unreachable: a goal that no plan can reach (planning::prove_impossible), with its distance from the start;
/// - mass_ratio: two bodies that touch at the start, one more than 1000 times as heavy as the other;
/// - filtered_pair: geometries of an object and of another model overlap at the start and may not touch;
/// - step_length: a joint of a second-order model swings more than ten times within a step: h √(K/M) > 20 π.
std::vector<Finding> check_scene(const scene::Scene& scene);

}  // namespace deft::authoring
