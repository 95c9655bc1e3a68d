// Flat contacts must not flicker: what a step does depends continuously on a small tilt.

#include <gtest/gtest.h>

#include <cmath>

#include "deft/dynamics/convex/convex_step.hpp"
#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace flat_contact_test {

using Eigen::Vector3d;
using multibody::BoxSpec;
using multibody::HalfSpaceSpec;

constexpr double kSide = 0.06;

struct Support {
  const char* name;
  multibody::ModelSpec body;
  double step_deg;  // between neighbouring tilts
};

/// Largest change of the pose after one step under gravity between neighbouring tilts from −2° to 2°.
struct Change { double position_m = 0, rotation_rad = 0; };

Change largest_change(const Support& support, const Vector3d& axis) {
  scene::SceneSpec spec =
      test::scene_spec({test::free_body("cube", BoxSpec{{kSide, kSide, kSide}}, 0.5, 3e-4, 0.5), support.body});
  spec.gravity_W = {0, 0, -9.81};
  const scene::Scene scene = test::build(spec);
  ConvexStep step(scene);
  Change change;
  StepResult result;
  Eigen::VectorXd last;
  const int half = static_cast<int>(std::lround(2 / support.step_deg));
  for (int i = -half; i <= half; ++i) {
    const double angle = i * support.step_deg * M_PI / 180;
    const Eigen::Matrix3d R = exp_so3(angle * axis.normalized());
    // The lowest corner touches the support's top at z = 0.
    const double height = 0.5 * kSide * R.row(2).cwiseAbs().sum();
    Eigen::VectorXd q(7);
    q << quat_wxyz_from_rotation(R), 0.004, -0.003, height;
    step.step(q, Eigen::VectorXd(), result);
    EXPECT_EQ(result.status, solvers::Status::kSolved) << i;
    EXPECT_GE(result.problem.contacts.size(), 1u);
    if (last.size() > 0) {
      change.position_m = std::max(change.position_m, (result.q_next.tail<3>() - last.tail<3>()).norm());
      const Eigen::Matrix3d turn =
          rotation_from_quat_wxyz(result.q_next.head<4>()) * rotation_from_quat_wxyz(last.head<4>()).transpose();
      change.rotation_rad = std::max(change.rotation_rad, log_so3(turn).norm());
    }
    last = result.q_next;
  }
  return change;
}

TEST(FlatContact, ATiltedCubeStepsContinuously) {
  const Support supports[] = {
      {"half-space", test::fixed_body("floor", HalfSpaceSpec{Vector3d::UnitZ(), 0}, 0.5), 0.01},
      {"equal cube", test::fixed_body("cube2", BoxSpec{{kSide, kSide, kSide}}, 0.5, test::at(0, 0, -0.5 * kSide)),
       0.01},
      // On a turned cube the fall changes from one pair of corners to another at −0.7°: steep, but continuous, which
      // finer steps show.
      {"turned cube",
       test::fixed_body("cube2", BoxSpec{{kSide, kSide, kSide}}, 0.5,
                        make_transform(exp_so3({0, 0, M_PI / 6}), {0, 0, -0.5 * kSide})),
       0.001},
      {"large box", test::fixed_body("table", BoxSpec{{0.5, 0.5, 0.1}}, 0.5, test::at(0, 0, -0.05)), 0.01},
  };
  for (const Support& support : supports) {
    for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0, 1, 0), Vector3d(1, 1, 0), Vector3d(1, 0.3, 0)}) {
      const Change change = largest_change(support, axis);
      RecordProperty(std::string(support.name) + "_m", std::to_string(change.position_m));
      EXPECT_LT(change.position_m, 1e-4) << support.name << " axis " << axis.transpose();
      EXPECT_LT(change.rotation_rad, 1e-4) << support.name << " axis " << axis.transpose();
    }
  }
}

}  // namespace flat_contact_test
}  // namespace deft::dynamics
