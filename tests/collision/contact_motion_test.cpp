// Derivatives of gaps, normals and witness points against sixth-order differences, for every pair of shapes.

#include "deft/collision/patches/contact_motion.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "deft/collision/collision_world.hpp"
#include "reference_shapes.hpp"
#include "support/differences.hpp"

namespace deft::collision {
namespace contact_motion_test {

using namespace reference;
using Twist = Eigen::Matrix<double, 6, 1>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStep = 2e-5;       // short, so that features stay the same; sizes are 0.1 m: no truncation
constexpr double kTolerance = 1e-7;  // witness points are exact to 1e-13 … 1e-12 m: noise up to 1e-12/2e-5

/// Two geometries on bodies 1 and 2.
struct Pair {
  CollisionWorld world;
  CollisionWorkspace workspace;
  std::vector<RigidTransform> X{3, RigidTransform::Identity()};

  Pair(const multibody::ShapeSpec& a, const multibody::ShapeSpec& b)
      : world(make(a, b)), workspace(world.make_workspace()) {}

  std::vector<ContactPair> find(const std::vector<RigidTransform>& poses, double margin) {
    std::vector<ContactPair> contacts;
    world.find_contacts(poses, margin, workspace, contacts);
    return contacts;
  }

 private:
  static CollisionWorld make(const multibody::ShapeSpec& a, const multibody::ShapeSpec& b) {
    Diagnostics diagnostics;
    return CollisionWorld::build({{.name = "a", .body = 1, .shape = a}, {.name = "b", .body = 2, .shape = b}},
                                 {1, 1, 1, 1}, diagnostics);
  }
};

VectorXd numbers(const ContactPair& c) {
  VectorXd x(10);
  x << c.nhat_BA_W, c.p_WA, c.p_WB, c.gap;
  return x;
}

MatrixXd numbers(const ContactMotion& m) {
  MatrixXd x(10, 12);
  x << m.dn, m.dp_A, m.dp_B, m.dgap;
  return x;
}

/// Differences of one contact per twist of either body at the world origin; nothing if it is not there at every point.
std::optional<MatrixXd> differences(Pair& pair, const ContactPair& contact, double margin, double step) {
  MatrixXd result(10, 12);
  for (int i = 0; i < 12; ++i) {
    bool is_kept = true;
    result.col(i) = test::difference(
        [&](double s) -> VectorXd {
          std::vector<RigidTransform> X = pair.X;
          RigidTransform& moved = X[1 + i / 6];
          if (i % 6 < 3)
            moved = make_transform(exp_so3(s * Vector3d::Unit(i % 3)), Vector3d::Zero()) * moved;
          else
            moved.translation() += s * Vector3d::Unit(i % 3);
          const auto contacts = pair.find(X, margin);
          const auto found =
              std::find_if(contacts.begin(), contacts.end(), [&](const ContactPair& c) { return c.id == contact.id; });
          if (found != contacts.end()) return numbers(*found);
          is_kept = false;
          return VectorXd::Zero(10);
        },
        step);
    if (!is_kept) return std::nullopt;
  }
  return result;
}

/// Columns from twists at the world origin instead of at the witness points.
MatrixXd at_origin(const MatrixXd& map, const ContactPair& c) {
  MatrixXd result = map;
  result.middleCols(0, 3) -= map.middleCols(3, 3) * skew(c.p_WA);
  result.middleCols(6, 3) -= map.middleCols(9, 3) * skew(c.p_WB);
  return result;
}

struct Tally {
  int checked = 0, nonsmooth_points = 0, left = 0;
  double worst = 0;
};

/// Every contact of the pair at its pose. `left` counts contacts whose features change within the stencil: they vanish,
/// or two steps disagree.
void check(Pair& pair, double margin, const std::string& what, Tally& tally) {
  const auto contacts = pair.find(pair.X, margin);
  std::vector<ContactMotion> motions;
  pair.world.find_motions(pair.X, contacts, pair.workspace, motions);
  ASSERT_EQ(motions.size(), contacts.size());
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (motions[k].nonsmooth != NonsmoothPoint::kNone) {
      ++tally.nonsmooth_points;
      continue;
    }
    // Three step lengths: a short one keeps the features and suits normals that turn fast, a long one drowns the
    // rounding of steep faces.
    const auto narrow = differences(pair, contacts[k], margin + 0.1, kStep),
               half = differences(pair, contacts[k], margin + 0.1, 0.3 * kStep);
    if (!narrow || test::relative_error(*half, *narrow) > 1e-5) {
      ++tally.left;
      continue;
    }
    const MatrixXd motion = at_origin(numbers(motions[k]), contacts[k]);
    double error = std::min(test::relative_error(motion, *narrow), test::relative_error(motion, *half));
    if (const auto wide = differences(pair, contacts[k], margin + 0.1, 10 * kStep))
      error = std::min(error, test::relative_error(motion, *wide));
    EXPECT_LT(error, kTolerance) << what << " contact " << k << " of " << contacts.size() << " id " << std::hex
                                 << contacts[k].id;
    tally.worst = std::max(tally.worst, error);
    ++tally.checked;
  }
}

std::vector<Body> bodies() {
  return {sphere(0.1),
          capsule(0.06, 0.3),
          box({0.3, 0.24, 0.2}),
          prism(5, 0.15, 0.3),
          cylinder(0.12, 0.26),
          ellipsoid({0.1, 0.16, 0.22}),
          mesh(DEFT_SOURCE_DIR "/tests/collision/data/ball.obj")};
}

TEST(ContactMotion, FollowsDifferencesForEveryPairOfShapes) {
  const auto shapes = bodies();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = 0; j < shapes.size(); ++j) {
      Random random(17 * i + j);
      Pair pair(shapes[i].spec, shapes[j].spec);
      Tally tally;
      // Fine hulls give many contacts; many normals are nearly as deep and take turns, and edges in single
      // precision are parallel to faces only nearly.
      const bool has_mesh = std::max(i, j) + 1 == shapes.size();
      for (int trial = 0; trial < (has_mesh ? 5 : 20); ++trial) {
        const double gap = trial % 3 == 0 && !has_mesh ? -uniform(random, 1e-3, 4e-3) : uniform(random, 1e-3, 2e-2);
        const auto [x_a, m_a] = shapes[i].random_surface_point(random);
        const auto [x_b, m_b] = shapes[j].random_surface_point(random);
        const Matrix3d R_B = random_rotation(random);
        const Vector3d n = R_B * m_b, p_B(uniform(random, -0.3, 0.3), 0.2, -0.1);
        const Matrix3d R_A = random_rotation_taking(m_a, -n, random);
        pair.X[2] = make_transform(R_B, p_B);
        pair.X[1] = make_transform(R_A, p_B + R_B * x_b + gap * n - R_A * x_a);
        check(pair, std::max(gap, 0.0) + 0.01,
              shapes[i].name + " – " + shapes[j].name + " trial " + std::to_string(trial), tally);
      }
      RecordProperty(shapes[i].name + "_" + shapes[j].name,
                     fmt::format("{} contacts, worst {:.1e}", tally.checked, tally.worst));
      EXPECT_GE(tally.checked, has_mesh ? 3 : 8) << shapes[i].name << " – " << shapes[j].name;
      if (!has_mesh) {
        EXPECT_LE(tally.left, tally.checked / 3) << shapes[i].name << " – " << shapes[j].name;
      }
    }
  }
}

TEST(ContactMotion, FollowsDifferencesOnHalfSpacesInBothOrders) {
  const multibody::HalfSpaceSpec ground{Vector3d(1, 2, 3).normalized(), 0.05};
  const auto shapes = bodies();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (const bool is_first : {false, true}) {
      Random random(i + 100);
      Pair pair(is_first ? multibody::ShapeSpec(ground) : shapes[i].spec,
                is_first ? shapes[i].spec : multibody::ShapeSpec(ground));
      Tally tally;
      for (int trial = 0; trial < 6; ++trial) {
        const Matrix3d R = random_rotation(random);
        const RigidTransform X_ground = make_transform(random_rotation(random), {0.1, -0.2, 0.3});
        const Vector3d n = X_ground.linear() * ground.normal;
        const double gap = uniform(random, -0.004, 0.02);
        const double height =
            ground.offset + n.dot(X_ground.translation()) + gap + shapes[i].support(-(R.transpose() * n));
        pair.X[is_first ? 1 : 2] = X_ground;
        pair.X[is_first ? 2 : 1] = make_transform(R, height * n + n.unitOrthogonal() * 0.3);
        check(pair, 0.03, shapes[i].name + " on ground, trial " + std::to_string(trial), tally);
      }
      EXPECT_GE(tally.checked, 6) << shapes[i].name;
      EXPECT_EQ(tally.nonsmooth_points, 0) << shapes[i].name;
    }
  }
}

/// Kinks of the contacts of a over b at X_A, b at the origin.
std::set<NonsmoothPoint> nonsmooth_points_of(const multibody::ShapeSpec& a, const multibody::ShapeSpec& b,
                                             const RigidTransform& X_A) {
  Pair pair(a, b);
  pair.X[1] = X_A;
  const auto contacts = pair.find(pair.X, 0.02);
  std::vector<ContactMotion> motions;
  pair.world.find_motions(pair.X, contacts, pair.workspace, motions);
  std::set<NonsmoothPoint> nonsmooth_points;
  for (const ContactMotion& m : motions) nonsmooth_points.insert(m.nonsmooth);
  return nonsmooth_points;
}

TEST(ContactMotion, FlagsWhereOnlyOneSideHasADerivative) {
  const auto at = [](double x, double y, double z) { return make_transform(Matrix3d::Identity(), {x, y, z}); };
  const multibody::BoxSpec table{{1, 1, 0.2}}, cube{{0.2, 0.2, 0.2}};
  const multibody::SphereSpec ball{0.1};
  const multibody::HalfSpaceSpec ground{Vector3d::UnitZ(), 0};
  EXPECT_EQ(nonsmooth_points_of(ball, table, at(0.3, 0, 0.21)), std::set{NonsmoothPoint::kNone});
  EXPECT_EQ(nonsmooth_points_of(ball, table, at(0.5, 0, 0.21)), std::set{NonsmoothPoint::kBorder}) << "over an edge";
  EXPECT_EQ(nonsmooth_points_of(cube, table, at(0.3, 0, 0.205)), std::set{NonsmoothPoint::kNone})
      << "every corner over the table's face";
  EXPECT_EQ(nonsmooth_points_of(table, cube, at(0.3, 0, 0.205)), std::set{NonsmoothPoint::kNone})
      << "the same, the other way round";
  EXPECT_TRUE(nonsmooth_points_of(cube, table, at(0.5, 0, 0.205)).contains(NonsmoothPoint::kParallel))
      << "half over the edge of the table";
  EXPECT_EQ(nonsmooth_points_of(cube, ground, at(0, 0, 0.1)), std::set{NonsmoothPoint::kNone});
  EXPECT_TRUE(
      nonsmooth_points_of(multibody::CylinderSpec{0.1, 0.2}, ground, at(0, 0, 0.1)).contains(NonsmoothPoint::kUpright));
  EXPECT_EQ(nonsmooth_points_of(ball, ball, at(0, 0, 0)), std::set{NonsmoothPoint::kDegenerate});
  EXPECT_EQ(to_string(NonsmoothPoint::kParallel), "parallel");
}

TEST(ContactMotion, OfACubeFlatOnATableFollowsDifferences) {
  // Both faces lie in each other; the table's leads because the cube's corners are all over it.
  for (const bool table_first : {false, true}) {
    Random random(3);
    const multibody::ShapeSpec table = multibody::BoxSpec{{1, 1, 0.2}}, cube = multibody::BoxSpec{{0.2, 0.16, 0.1}};
    Pair pair(table_first ? table : cube, table_first ? cube : table);
    const RigidTransform X_table = make_transform(random_rotation(random), {0.1, 0.2, 0.3});
    pair.X[table_first ? 1 : 2] = X_table;
    pair.X[table_first ? 2 : 1] = X_table * make_transform(exp_so3({0, 0, 0.3}), {0.1, -0.05, 0.152});
    Tally tally;
    check(pair, 0.02, "cube on table", tally);
    EXPECT_EQ(tally.checked, 4);
    EXPECT_EQ(tally.nonsmooth_points + tally.left, 0);
  }
}

}  // namespace contact_motion_test
}  // namespace deft::collision
