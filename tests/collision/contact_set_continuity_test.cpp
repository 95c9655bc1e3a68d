// Contact sets change continuously when shapes turn, and do not flicker at rest.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "contact_sets.hpp"

namespace deft::collision {
namespace contact_set_continuity_test {

using namespace contact_sets;

/// The allowed motion seen by a solver: h(δ) = min over points of φ + n·δ_point, for fixed random small motions δ of
/// body A about `centre`. A flickering contact set makes it jump.
std::vector<double> least_gaps(const std::vector<ContactPair>& contacts, const Vector3d& centre) {
  Random random(7);
  std::vector<double> h(200, INFINITY);
  for (double& least : h) {
    const Vector3d turn = 0.02 * random_direction(random), shift = 1e-3 * random_direction(random);
    for (const auto& c : contacts)
      least = std::min(least, c.gap + c.nhat_BA_W.dot(shift + turn.cross(c.p_WA - centre)));
  }
  return h;
}

struct Change {
  double h = 0;       // [m]
  double normal = 0;  // [rad]
  std::set<std::size_t> counts;
};

/// Turns body 1 about `axis` from −2° to 2° and records the largest change between neighbours. `place` puts the body at
/// a rotation.
template <typename Place>
Change sweep_tilt(Scene& scene, const Vector3d& axis, double step_deg, double margin, Place place) {
  Change worst;
  std::vector<double> before;
  Vector3d n_before = Vector3d::Zero();
  const int half = static_cast<int>(std::lround(2.0 / step_deg));
  for (int i = -half; i <= half; ++i) {
    place(Eigen::AngleAxisd(i * step_deg * kDegree, axis).toRotationMatrix());
    const auto& contacts = scene.find(margin);
    if (contacts.empty()) {
      ADD_FAILURE() << "no contact at step " << i;
      return worst;
    }
    expect_consistent(contacts, margin);
    worst.counts.insert(contacts.size());
    const auto h = least_gaps(contacts, scene.X[1].translation());
    if (!before.empty()) {
      for (std::size_t k = 0; k < h.size(); ++k) worst.h = std::max(worst.h, std::abs(h[k] - before[k]));
      worst.normal = std::max(worst.normal, contacts[0].nhat_BA_W.cross(n_before).norm());
    }
    before = h;
    n_before = contacts[0].nhat_BA_W;
  }
  return worst;
}

struct TiltCase {
  const char* name;
  ShapeSpec below;
  Vector3d offset;  // of the upper shape, beside the vertical gap
  double yaw;       // [rad]
};

class CubeTilt : public testing::TestWithParam<TiltCase> {};

TEST_P(CubeTilt, ChangesTheContactSetContinuously) {
  const TiltCase& t = GetParam();
  const double top =
      std::holds_alternative<multibody::BoxSpec>(t.below) ? 0.5 * std::get<multibody::BoxSpec>(t.below).size.z() : 0.0;
  Scene scene({cube(0.06), t.below});
  for (const Vector3d& axis :
       {Vector3d(1, 0, 0), Vector3d(0, 1, 0), Vector3d(1, 1, 0).normalized(), Vector3d(0.3, -0.8, 0.2).normalized()}) {
    for (const double gap : {1e-3, 0.0, -1e-4}) {
      const auto place = [&](const Matrix3d& tilt) {
        scene.X[1].linear() = tilt * Eigen::AngleAxisd(t.yaw, Vector3d::UnitZ()).toRotationMatrix();
        scene.X[1].translation() = t.offset + Vector3d(0, 0, top + 0.03 + gap);
      };
      const Change coarse = sweep_tilt(scene, axis, 0.01, 0.02, place);
      if (std::getenv("DEFT_PRINT_WORST"))
        std::printf("%s gap %g: h %.2e n %.2e deg, counts %zu..%zu\n", t.name, gap, coarse.h, coarse.normal / kDegree,
                    *coarse.counts.begin(), *coarse.counts.rbegin());
      EXPECT_LT(coarse.h, 2e-5);
      EXPECT_LT(coarse.normal, 0.02 * kDegree);
      EXPECT_GE(*coarse.counts.begin(), 4u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CubeTilt,
                         testing::Values(TiltCase{"plane", ground(), Vector3d::Zero(), 0},
                                         TiltCase{"cube_offset", cube(0.06), {0.007, 0.004, 0}, 0},
                                         TiltCase{"cube_aligned", cube(0.06), Vector3d::Zero(), 0},
                                         TiltCase{"cube_over_the_edge", cube(0.06), {0.03, 0, 0}, 0},
                                         TiltCase{"cube_yawed", cube(0.06), Vector3d::Zero(), 30 * kDegree},
                                         TiltCase{"large_box", cube(0.5), Vector3d::Zero(), 0.1}),
                         [](const auto& tilt) { return tilt.param.name; });

/// A jump would stay as large when the steps are ten times smaller.
TEST(ContactSet, ChangesTenTimesLessInTenTimesSmallerSteps) {
  Scene scene({cube(0.06), cube(0.06)});
  const auto place = [&](const Matrix3d& tilt) {
    scene.X[1].linear() = tilt;
    scene.X[1].translation() = Vector3d(0.007, 0.004, 0.06 - 1e-5);
  };
  const Vector3d axis = Vector3d(1, 0.4, 0.1).normalized();
  const Change coarse = sweep_tilt(scene, axis, 0.01, 0.02, place), fine = sweep_tilt(scene, axis, 0.001, 0.02, place);
  EXPECT_LT(fine.h, 0.15 * coarse.h);
}

TEST(ContactSet, DoesNotFlickerForARestingCube) {
  // Gaps and tilts of the size of rounding and of a solver's residual, on a plane and on another cube.
  for (const ShapeSpec& below : {ground(), cube(0.06)}) {
    Scene scene({cube(0.06), below});
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.03 : 0.0;
    Random random(3);
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 500; ++i) {
      const double gap = (i % 2 ? 1 : -1) * std::pow(10.0, -uniform(random, 4, 13));
      const double tilt = std::pow(10.0, -uniform(random, 9, 14));
      scene.X[1].linear() = Eigen::AngleAxisd(tilt, random_direction(random)).toRotationMatrix();
      scene.X[1].translation() = Vector3d(0.007, 0.004, top + 0.03 + gap);
      const auto& contacts = scene.find(0.01);
      ASSERT_EQ(contacts.size(), 4u) << "gap " << gap << " tilt " << tilt;
      for (const auto& c : contacts) {
        EXPECT_NEAR(c.gap, gap, 2e-10);
        EXPECT_LT(c.nhat_BA_W.cross(Vector3d::UnitZ()).norm(), 1e-8);
        ids.insert(c.id);
      }
    }
    EXPECT_EQ(ids.size(), 4u);
  }
}

TEST(ContactSet, OfAlignedCubesNeverLosesACorner) {
  Scene scene({cube(0.06), cube(0.06)});
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const double gap = (i % 2 ? 1 : -1) * std::pow(10.0, -uniform(random, 4, 13));
    scene.X[1].linear() =
        Eigen::AngleAxisd(std::pow(10.0, -uniform(random, 7, 14)), random_direction(random)).toRotationMatrix();
    scene.X[1].translation() = Vector3d(0, 0, 0.06 + gap);
    const auto& contacts = scene.find(0.01);
    ASSERT_GE(contacts.size(), 4u);
    for (const double x : {-0.03, 0.03}) {
      for (const double y : {-0.03, 0.03}) {
        EXPECT_TRUE(std::any_of(contacts.begin(), contacts.end(),
                                [&](const ContactPair& c) { return (c.p_WB - Vector3d(x, y, 0.03)).norm() < 1e-6; }));
      }
    }
  }
}

TEST(ContactSet, OfAStandingCylinderChangesContinuously) {
  for (const ShapeSpec& below : {ground(), cube(0.5), cube(0.05)}) {
    const double top =
        std::holds_alternative<multibody::BoxSpec>(below) ? 0.5 * std::get<multibody::BoxSpec>(below).size.z() : 0.0;
    Scene scene({multibody::CylinderSpec{0.03, 0.07}, below});
    for (const Vector3d& axis : {Vector3d(1, 0, 0), Vector3d(0.6, 0.8, 0)}) {
      for (const double gap : {1e-3, 0.0, -1e-4}) {
        const Change change = sweep_tilt(scene, axis, 0.01, 0.02, [&](const Matrix3d& tilt) {
          scene.X[1].linear() = tilt;
          scene.X[1].translation() = Vector3d(0.003, 0.002, top + 0.035 + gap);
        });
        if (std::getenv("DEFT_PRINT_WORST"))
          std::printf("cylinder top %g gap %g: h %.2e n %.2e deg, counts %zu..%zu\n", top, gap, change.h,
                      change.normal / kDegree, *change.counts.begin(), *change.counts.rbegin());
        EXPECT_LT(change.h, 2e-5);
        EXPECT_GE(*change.counts.begin(), 8u);
      }
    }
  }
}

}  // namespace contact_set_continuity_test
}  // namespace deft::collision
