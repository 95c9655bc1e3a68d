#pragma once
// What a search holds, for tests of its parts.

#include "deft/planning/feasibility/fingers.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"

namespace deft::test {

/// A scene as a search takes it, its first goal, the hand that is to move the objects of that, and steps.
struct SearchBench {
  scene::Scene scene;
  planning::Goal goal;
  planning::Hand hand;
  planning::PlanningSteps steps;

  explicit SearchBench(const scene::Scene& loaded, bool wrap_angles = false)
      : scene(planning::planning_scene(loaded)),
        goal(scene, scene.spec().goals.front(), wrap_angles),
        hand(scene, goal),
        steps(scene) {}
};

}  // namespace deft::test
