// Contact sets: how many points, how they change when shapes turn, order, identity, filters.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <set>

#include "deft/collision/collision_world.hpp"
#include "reference_shapes.hpp"

namespace deft::collision {
namespace contact_set_test {

using namespace reference;
using multibody::ShapeSpec;

constexpr double kDegree = std::numbers::pi / 180;

/// Geometry k on body k + 1; everything may touch everything.
struct Scene {
  CollisionWorld world;
  CollisionWorkspace workspace;
  std::vector<RigidTransform> X;
  std::vector<ContactPair> contacts;

  explicit Scene(const std::vector<ShapeSpec>& shapes)
      : Scene(shapes, std::vector<unsigned char>(shapes.size() * shapes.size(), 1)) {}
  Scene(const std::vector<ShapeSpec>& shapes, std::vector<unsigned char> allowed)
      : world(make_world(shapes, std::move(allowed))),
        workspace(world.make_workspace()),
        X(shapes.size() + 1, RigidTransform::Identity()) {}

  const std::vector<ContactPair>& find(double margin) {
    world.find_contacts(X, margin, workspace, contacts);
    return contacts;
  }

 private:
  static CollisionWorld make_world(const std::vector<ShapeSpec>& shapes, std::vector<unsigned char> allowed) {
    std::vector<GeometryDescription> geometries;
    for (const auto& shape : shapes) {
      const int k = static_cast<int>(geometries.size());
      geometries.push_back({.name = "g" + std::to_string(k), .body = k + 1, .shape = shape});
    }
    Diagnostics diagnostics;
    return CollisionWorld::build(std::move(geometries), std::move(allowed), diagnostics);
  }
};

ShapeSpec cube(double size) { return multibody::BoxSpec{Vector3d::Constant(size)}; }
ShapeSpec ground() { return multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0.0}; }

double total_weight(const std::vector<ContactPair>& contacts) {
  double sum = 0;
  for (const auto& c : contacts) sum += c.weight;
  return sum;
}

void expect_consistent(const std::vector<ContactPair>& contacts, double margin) {
  for (const auto& c : contacts) {
    EXPECT_LT(c.gap, margin);
    EXPECT_LT((c.p_WA - c.p_WB - c.gap * c.nhat_BA_W).norm(), 1e-14);
    EXPECT_NEAR(c.nhat_BA_W.norm(), 1.0, 1e-14);
    EXPECT_GE(c.weight, 0.0);
  }
  if (contacts.empty()) return;
  EXPECT_NEAR(total_weight(contacts), 1.0, 1e-12);
}

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

TEST(ContactSet, HasEachVertexOfTheClippedPolygonWithItsOwnGap) {
  // A cube turned by 45° over a larger, tilted one: the square of its lower face survives.
  Scene scene({cube(0.06), cube(0.2)});
  scene.X[1].linear() = Eigen::AngleAxisd(45 * kDegree, Vector3d::UnitZ()).toRotationMatrix();
  scene.X[1].translation() = Vector3d(0.01, -0.02, 0.13);
  scene.X[2].linear() = Eigen::AngleAxisd(0.01, Vector3d::UnitY()).toRotationMatrix();
  const auto& contacts = scene.find(0.02);
  ASSERT_EQ(contacts.size(), 4u);
  const Vector3d up = scene.X[2].linear().col(2);
  for (int i = 0; i < 4; ++i) {
    const Vector3d corner = scene.X[1] * Vector3d(i & 1 ? 0.03 : -0.03, i & 2 ? 0.03 : -0.03, -0.03);
    const auto found = std::find_if(contacts.begin(), contacts.end(),
                                    [&](const ContactPair& c) { return (c.p_WA - corner).norm() < 1e-12; });
    ASSERT_NE(found, contacts.end());
    EXPECT_NEAR(found->gap, up.dot(corner) - 0.1, 1e-12);
  }
}

TEST(ContactSet, OfTwoCrossedBarsIsTheOctagonOrSquareOfTheirOverlap) {
  Scene scene({multibody::BoxSpec{{0.2, 0.04, 0.02}}, multibody::BoxSpec{{0.04, 0.2, 0.02}}});
  scene.X[1].translation() = Vector3d(0, 0, 0.0201);
  const auto& square = scene.find(0.01);
  ASSERT_EQ(square.size(), 4u);
  for (const auto& c : square) {
    EXPECT_NEAR(c.gap, 1e-4, 1e-14);
    EXPECT_NEAR(std::abs(c.p_WA.x()), 0.02, 1e-12);
    EXPECT_NEAR(std::abs(c.p_WA.y()), 0.02, 1e-12);
    EXPECT_NEAR(c.weight, 0.25, 1e-12);
  }
  Scene octagon({cube(0.06), cube(0.06)});
  octagon.X[1].linear() = Eigen::AngleAxisd(45 * kDegree, Vector3d::UnitZ()).toRotationMatrix();
  octagon.X[1].translation() = Vector3d(0, 0, 0.0601);
  EXPECT_EQ(octagon.find(0.01).size(), 8u);
}

TEST(ContactSet, NeverHasAGapBelowTheSignedDistanceNorMissesIt) {
  const std::vector<Body> shapes = {sphere(0.03),         capsule(0.02, 0.06),  box({0.06, 0.08, 0.05}),
                                    prism(5, 0.04, 0.06), cylinder(0.03, 0.07), ellipsoid({0.03, 0.045, 0.06})};
  Random random(11);
  for (const auto& a : shapes) {
    for (const auto& b : shapes) {
      Scene scene({a.spec, b.spec});
      for (int i = 0; i < 200; ++i) {
        scene.X[1].linear() = random_rotation(random);
        scene.X[2].linear() = random_rotation(random);
        scene.X[1].translation() = uniform(random, 0.05, 0.12) * random_direction(random);
        const ContactPair witness = scene.world.signed_distance(0, 1, scene.X);
        const auto& contacts = scene.find(0.02);
        if (witness.gap >= 0.02) {
          EXPECT_TRUE(contacts.empty());
          continue;
        }
        ASSERT_FALSE(contacts.empty());
        expect_consistent(contacts, 0.02);
        double least = INFINITY;
        for (const auto& c : contacts) least = std::min(least, c.gap);
        EXPECT_NEAR(least, witness.gap, 2e-9) << a.name << " on " << b.name << " pose " << i;
      }
    }
  }
}

TEST(ContactSet, OfBoxesSideBySideOnTheGroundHasNoPointBelowTheSignedDistance) {
  // Their lower faces, in one plane but for rounding, are seen edge-on from the side.
  Random random(4);
  Scene scene({multibody::BoxSpec{{0.101, 0.097, 0.103}}, multibody::BoxSpec{{0.099, 0.104, 0.098}}});
  for (int i = 0; i < 4000; ++i) {
    const double size = std::pow(10.0, uniform(random, -8, -4));
    for (int k = 1; k <= 2; ++k) {
      const Vector3d tilt(uniform(random, -size, size), uniform(random, -size, size), 0);
      scene.X[k].linear() = (Eigen::AngleAxisd(tilt.norm(), tilt.normalized()) *
                             Eigen::AngleAxisd(uniform(random, -0.1, 0.1), Vector3d::UnitZ()))
                                .toRotationMatrix();
      scene.X[k].translation() = Vector3d(k == 1 ? 0 : 0.107, uniform(random, -0.01, 0.01), k == 1 ? 0.0515 : 0.049);
    }
    const double distance = scene.world.signed_distance(0, 1, scene.X).gap;
    for (const ContactPair& contact : scene.find(0.02)) EXPECT_GE(contact.gap, distance - 1.1e-8) << i;
  }
}

TEST(ContactSet, GapsOfCornersAreExactHoweverSteepTheirFacesAre) {
  // The sides of a cube that stands nearly upright are seen nearly edge-on and end in the same corners as its bottom.
  Random random(6);
  Scene scene({cube(0.06), cube(0.2)});
  for (int i = 0; i < 500; ++i) {
    const double tilt = std::pow(10.0, -uniform(random, 3, 6));
    const Vector3d across = Vector3d(uniform(random, -1, 1), uniform(random, -1, 1), 0).normalized();
    scene.X[1].linear() =
        (Eigen::AngleAxisd(tilt, across) * Eigen::AngleAxisd(uniform(random, -1, 1), Vector3d::UnitZ()))
            .toRotationMatrix();
    scene.X[1].translation() = Vector3d(0.013, 0.007, 0.1301);
    for (const ContactPair& contact : scene.find(0.01)) {
      double nearest = INFINITY, gap = 0;
      for (int k = 0; k < 4; ++k) {
        const Vector3d corner = scene.X[1] * Vector3d(k & 1 ? 0.03 : -0.03, k & 2 ? 0.03 : -0.03, -0.03);
        const double away = (corner - contact.p_WA).norm();
        if (away < nearest) nearest = away, gap = corner.z() - 0.1;
      }
      EXPECT_NEAR(contact.gap, gap, 5e-16) << "tilt " << tilt;
    }
  }
}

TEST(ContactSet, OfASphereIsOnePoint) {
  for (const ShapeSpec& below :
       {ground(), cube(0.2), ShapeSpec(multibody::CylinderSpec{0.1, 0.2}), ShapeSpec(multibody::SphereSpec{0.1})}) {
    Scene scene({multibody::SphereSpec{0.05}, below});
    scene.X[1].translation() = Vector3d(0, 0, std::holds_alternative<multibody::HalfSpaceSpec>(below) ? 0.051 : 0.151);
    const auto& contacts = scene.find(0.01);
    ASSERT_EQ(contacts.size(), 1u);
    EXPECT_NEAR(contacts[0].gap, 1e-3, 1e-14);
    EXPECT_NEAR(contacts[0].weight, 1.0, 1e-14);
    EXPECT_TRUE(contacts[0].nhat_BA_W.isApprox(Vector3d::UnitZ()));
  }
}

TEST(ContactSet, OfCornerSpheresIsOnePointEach) {
  std::vector<ShapeSpec> shapes(8, multibody::SphereSpec{1e-7});
  shapes.push_back(ground());
  Scene scene(shapes, [] {
    std::vector<unsigned char> allowed(81, 0);
    for (int i = 0; i < 8; ++i) allowed[9 * i + 8] = allowed[72 + i] = 1;
    return allowed;
  }());
  for (int i = 0; i < 8; ++i)
    scene.X[i + 1].translation() =
        0.03 * Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1) + Vector3d(0, 0, 0.03);
  const auto& contacts = scene.find(0.01);
  ASSERT_EQ(contacts.size(), 4u);
  for (const auto& c : contacts) EXPECT_NEAR(c.gap, -1e-7, 1e-16);
}

TEST(ContactSet, OfACapsuleLyingOnAFaceIsItsTwoEnds) {
  for (const ShapeSpec& below : {ground(), cube(0.2)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.1 : 0.0;
    Scene scene({multibody::CapsuleSpec{0.02, 0.06}, below});
    for (const double tilt : {0.0, 1e-12, 1e-3, -0.01}) {
      scene.X[1].linear() = Eigen::AngleAxisd(90 * kDegree + tilt, Vector3d::UnitY()).toRotationMatrix();
      scene.X[1].translation() = Vector3d(0, 0, top + 0.021);
      const auto& contacts = scene.find(0.01);
      ASSERT_EQ(contacts.size(), 2u) << tilt;
      EXPECT_NEAR(std::min(contacts[0].gap, contacts[1].gap), 1e-3 - 0.03 * std::abs(std::sin(tilt)), 1e-12);
      EXPECT_NEAR(std::max(contacts[0].gap, contacts[1].gap), 1e-3 + 0.03 * std::abs(std::sin(tilt)), 1e-12);
    }
  }
}

TEST(ContactSet, OfParallelCapsulesHoldsBothEnds) {
  Scene scene({multibody::CapsuleSpec{0.02, 0.06}, multibody::CapsuleSpec{0.02, 0.06}});
  for (const double twist : {0.0, 1e-9, 1e-4, 0.01}) {
    scene.X[1].translation() = Vector3d(0.041, 0, 0.01);
    scene.X[1].linear() = Eigen::AngleAxisd(twist, Vector3d::UnitX()).toRotationMatrix();
    const auto& contacts = scene.find(0.01);
    double low = INFINITY, high = -INFINITY;
    for (const auto& c : contacts) low = std::min(low, c.p_WA.z()), high = std::max(high, c.p_WA.z());
    EXPECT_LT(low, -0.019);
    EXPECT_GT(high, 0.029);
  }
}

/// The lowest point of a cylinder over the plane z = 0.
double cylinder_height(const RigidTransform& X, double r, double length) {
  const double along = X.linear()(2, 2);
  return X.translation().z() - 0.5 * length * std::abs(along) - r * std::sqrt(std::max(0.0, 1 - along * along));
}

TEST(ContactSet, OfACylinderFollowsItsLowestPoint) {
  for (const ShapeSpec& below : {ground(), cube(0.5)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.25 : 0.0;
    Scene scene({multibody::CylinderSpec{0.03, 0.07}, below});
    for (int i = 0; i <= 360; ++i) {
      scene.X[1].linear() =
          (Eigen::AngleAxisd(0.25 * i * kDegree, Vector3d::UnitY()) * Eigen::AngleAxisd(0.3, Vector3d::UnitZ()))
              .toRotationMatrix();
      scene.X[1].translation() = Vector3d(0, 0, top + 0.05);
      const double height = cylinder_height(scene.X[1], 0.03, 0.07) - top;
      const auto& contacts = scene.find(0.06);
      double least = INFINITY;
      for (const auto& c : contacts) least = std::min(least, c.gap);
      EXPECT_NEAR(least, height, 0.25 * i > 0.5 ? 2e-9 : 1.3e-6);
      expect_consistent(contacts, 0.06);
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

TEST(ContactSet, OfALyingCylinderHasBothEndsOfItsLine) {
  for (const ShapeSpec& below : {ground(), cube(0.5)}) {
    const double top = std::holds_alternative<multibody::BoxSpec>(below) ? 0.25 : 0.0;
    Scene scene({multibody::CylinderSpec{0.03, 0.07}, below});
    scene.X[1].linear() = Eigen::AngleAxisd(90 * kDegree, Vector3d::UnitY()).toRotationMatrix();
    scene.X[1].translation() = Vector3d(0, 0, top + 0.03 - 1e-5);
    const auto& contacts = scene.find(1e-4);
    EXPECT_GE(contacts.size(), 2u);
    for (const double x : {-0.035, 0.035}) {
      EXPECT_TRUE(std::any_of(contacts.begin(), contacts.end(), [&](const ContactPair& c) {
        return std::abs(c.gap + 1e-5) < 1e-9 && std::abs(c.p_WA.x() - x) < 1e-9;
      }));
    }
  }
}

TEST(ContactSet, WeightsFadeToTheMargin) {
  Scene scene({cube(0.06), ground()});
  scene.X[1].linear() = Eigen::AngleAxisd(0.1, Vector3d::UnitX()).toRotationMatrix();
  scene.X[1].translation() = Vector3d(0, 0, 0.033);
  const double high = 0.033 - 0.03 * std::cos(0.1) + 0.03 * std::sin(0.1);
  const auto& contacts = scene.find(high + 1e-9);
  ASSERT_EQ(contacts.size(), 4u);
  EXPECT_NEAR(total_weight(contacts), 1.0, 1e-12);
  for (const auto& c : contacts) EXPECT_TRUE(c.weight < 1e-5 || c.weight > 0.49);
}

TEST(ContactSet, IsOrderedAndKeepsItsIds) {
  Scene scene({cube(0.06), cube(0.06), cube(0.06), ground()});
  for (int k = 1; k <= 3; ++k) scene.X[k].translation() = Vector3d(0.002 * k, 0.001 * k, 0.06 * k - 0.03);
  const auto first = scene.find(0.01);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end(),
                             [](const ContactPair& p, const ContactPair& q) { return p.id < q.id; }));
  for (const auto& c : first) EXPECT_LT(c.geometry_a, c.geometry_b);
  for (int k = 1; k <= 3; ++k) scene.X[k].translation() += Vector3d(1e-4 * k, 2e-5, 1e-5);
  const auto second = scene.find(0.01);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].id, second[i].id);
}

TEST(ContactSet, DoesNotDependOnWhatWasAskedBefore) {
  Scene fresh({cube(0.06), cube(0.06), multibody::CylinderSpec{0.03, 0.05}}),
      used({cube(0.06), cube(0.06), multibody::CylinderSpec{0.03, 0.05}});
  Random random(17);
  for (int i = 0; i < 100; ++i) {
    for (int k = 1; k <= 3; ++k) {
      used.X[k].linear() = random_rotation(random);
      used.X[k].translation() = 0.05 * random_direction(random);
    }
    const auto contacts = used.find(0.01);
    fresh.workspace = fresh.world.make_workspace();
    fresh.X = used.X;
    const auto& again = fresh.find(0.01);
    ASSERT_EQ(contacts.size(), again.size());
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      EXPECT_EQ(contacts[c].id, again[c].id);
      EXPECT_EQ(contacts[c].gap, again[c].gap);
      EXPECT_EQ(contacts[c].nhat_BA_W, again[c].nhat_BA_W);
    }
  }
}

TEST(ContactSet, ObeysTheFilter) {
  std::vector<unsigned char> allowed(9, 1);
  allowed[1] = allowed[3] = 0;  // geometries 0 and 1 may not touch
  Scene scene({cube(0.06), cube(0.06), ground()}, allowed);
  scene.X[1].translation() = Vector3d(0, 0, 0.03);
  scene.X[2].translation() = Vector3d(0.01, 0, 0.03);
  const auto& contacts = scene.find(0.01);
  EXPECT_EQ(contacts.size(), 8u);
  for (const auto& c : contacts) EXPECT_EQ(c.geometry_b, 2);
  EXPECT_LT(scene.world.signed_distance(0, 1, scene.X).gap, 0.0);
}

TEST(ContactSet, OfAHalfSpaceDeclaredFirstPointsTheSameWay) {
  Scene scene({ground(), cube(0.06)});
  scene.X[2].translation() = Vector3d(0, 0, 0.031);
  const auto& contacts = scene.find(0.01);
  ASSERT_EQ(contacts.size(), 4u);
  for (const auto& c : contacts) {
    EXPECT_EQ(c.geometry_a, 0);
    EXPECT_TRUE(c.nhat_BA_W.isApprox(-Vector3d::UnitZ()));  // from the cube to the ground
    EXPECT_NEAR(c.p_WA.z(), 0.0, 1e-15);
    EXPECT_NEAR(c.p_WB.z(), 1e-3, 1e-15);
  }
}

TEST(ContactSet, RejectsPosesThatAreNotFiniteOrMissing) {
  Scene scene({cube(0.06), ground()});
  scene.X[1].translation().x() = NAN;
  EXPECT_THROW(scene.find(0.01), std::invalid_argument);
  scene.X.pop_back();
  EXPECT_THROW(scene.find(0.01), std::invalid_argument);
}

}  // namespace contact_set_test
}  // namespace deft::collision
