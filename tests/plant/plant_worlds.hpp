#pragma once
// Worlds that tests of plants share, and how they are run.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "deft/plant/plant.hpp"
#include "support/scene_builder.hpp"

namespace deft::plant::testing {

inline const std::vector<PlantKind> kAll{PlantKind::kQuasidynamic, PlantKind::kConvexSecondOrder,
                                         PlantKind::kStewartTrinkle, PlantKind::kMujoco};
/// Drake among them where DEFT_DRAKE_PYTHON names an interpreter that has it, as `./run bench plants` does: starting it
/// takes a second each time.
inline std::vector<PlantKind> second_order_plants() {
  std::vector<PlantKind> kinds{PlantKind::kConvexSecondOrder, PlantKind::kStewartTrinkle, PlantKind::kMujoco};
  const char* const python = std::getenv("DEFT_DRAKE_PYTHON");
  if (python != nullptr && *python != '\0') kinds.push_back(PlantKind::kDrake);
  return kinds;
}

inline std::string test_name(const ::testing::TestParamInfo<PlantKind>& info) {
  std::string name(to_string(info.param));
  std::erase(name, '-');
  return name;
}

/// Whether the build has MuJoCo. Where it has, its plant is tested: one that does not load is a failure.
#ifdef DEFT_HAS_MUJOCO
inline constexpr bool kHasMujoco = true;
#else
inline constexpr bool kHasMujoco = false;
#endif

#define DEFT_SKIP_WITHOUT_MUJOCO(kind) \
  if ((kind) == PlantKind::kMujoco && !testing::kHasMujoco) GTEST_SKIP() << "no MuJoCo at build time"

/// `seconds` in periods of 10 ms with the targets held at u.
inline void hold(Plant& plant, const Eigen::VectorXd& u, double seconds, double period_s = 0.01) {
  const int periods = static_cast<int>(std::lround(seconds / period_s));
  for (int k = 0; k < periods; ++k)
    ASSERT_EQ(plant.advance(u, period_s), PlantStatus::kOk) << plant.name() << " at " << plant.state().t;
}

/// The first `n` numbers.
inline Eigen::VectorXd numbers(std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.begin(), static_cast<Eigen::Index>(values.size()));
}

/// A robot "finger" on a slide along x in front of a puck on slides x, y and a hinge about z; no gravity.
inline scene::SceneSpec pusher(double h) {
  using multibody::JointKind;
  scene::SceneSpec spec = test::scene_spec(
      {test::body("finger", JointKind::kAxes, {test::slide("x", {1, 0, 0})}, multibody::SphereSpec{0.05}, 0.2, 0.001,
                  0.5),
       test::body("puck", JointKind::kAxes,
                  {test::slide("x", {1, 0, 0}), test::slide("y", {0, 1, 0}), test::turn("theta", {0, 0, 1})},
                  multibody::BoxSpec{{0.2, 0.2, 0.1}}, 1, 0.0067, 0.5, test::at(0.2, 0, 0))},
      {{"finger", 1000}});
  spec.step.h = h;
  return spec;
}

}  // namespace deft::plant::testing
