// The contact samplers of the baseline: their grasps touch, are free of collision, and are as varied as they should be.

#include "deft/planning/grasps/baseline_sampler.hpp"

#include <gtest/gtest.h>

#include "planning/planning_scenes.hpp"

namespace deft::planning {
namespace baseline_sampler_test {

using Eigen::VectorXd;

struct Kind {
  const char *scene, *sampler, *palm;
  double touch;  // [m], within which the nearest finger touches at the least
  int least;     // grasps of 40 tries
};

class PublishedSamplers : public testing::TestWithParam<Kind> {};

TEST_P(PublishedSamplers, GraspsTouchTheObjectAndNothingElse) {
  const Kind& kind = GetParam();
  const scene::Scene scene =
      planning_scene(test::load_planning(kind.scene, {std::string("plan.sampler=") + kind.sampler, kind.palm}));
  const Goal goal(scene, scene.spec().goals.front(), false);
  const Hand hand(scene, goal);
  BaselineSampler sampler(scene, hand);
  Proximity proximity(scene);
  const std::vector<char> all(scene.nu(), 1);
  VectorXd q = scene.initial_configuration(), lowest, highest;
  int found = 0;
  for (int k = 0; k < 40; ++k) {
    RandomStream draw(3, static_cast<std::uint64_t>(k));
    const std::optional<Grasp> grasp = sampler.sample(q, draw, proximity);
    if (!grasp) continue;
    EXPECT_TRUE((grasp->joints.array() >= hand.lower.array() - 1e-9).all());
    EXPECT_TRUE((grasp->joints.array() <= hand.upper.array() + 1e-9).all());
    VectorXd q_grasp = q;
    set_joint_positions(scene, grasp->joints, q_grasp);
    proximity.place(q_grasp);
    const double gap = proximity.smallest_gap(all, 0.1);
    EXPECT_GE(gap, -2e-3);
    EXPECT_LE(gap, kind.touch);
    lowest = found == 0 ? grasp->joints : VectorXd(lowest.cwiseMin(grasp->joints));
    highest = found == 0 ? grasp->joints : VectorXd(highest.cwiseMax(grasp->joints));
    ++found;
  }
  EXPECT_GE(found, kind.least);
  EXPECT_GT((highest - lowest).norm(), 0.2);
}

INSTANTIATE_TEST_SUITE_P(
    Systems, PublishedSamplers,
    testing::Values(Kind{"planar_pushing", "pushing", "plan.palm_offset=[]", 1.01e-3, 40},
                    Kind{"planar_hand", "planar-hand", "plan.palm_offset=[]", 2e-3, 40},
                    Kind{"allegro_ball", "allegro-closing", "plan.palm_offset=[]", 1e-3, 40},
                    Kind{"allegro_pen", "allegro-closing", "plan.palm_offset=[]", 0.03, 30},
                    Kind{"allegro_plate", "allegro-closing", "plan.palm_offset=[0, 0, 0.06]", 0.02, 30},
                    Kind{"allegro_door", "allegro-closing", "plan.palm_offset=[-0.075, -0.04, -0.055]", 0.02, 30},
                    Kind{"planar_bimanual", "bimanual", "plan.palm_offset=[]", 0.05, 20}),
    [](const auto& param) { return std::string(param.param.scene); });

TEST(BaselineSampler, SaysWhichSystemsItIsFor) {
  for (const char* sampler : {"pushing", "planar-hand", "allegro-closing", "bimanual"}) {
    const scene::Scene scene =
        planning_scene(test::load_planning("bimanual_cylinder", {std::string("plan.sampler=") + sampler}));
    const Goal goal(scene, scene.spec().goals.front(), false);
    const Hand hand(scene, goal);
    EXPECT_THROW(BaselineSampler(scene, hand), InputError) << sampler;
  }
}

}  // namespace baseline_sampler_test
}  // namespace deft::planning
