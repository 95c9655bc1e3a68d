// Queries of contact sets: order, identity, independence of earlier queries, filters, refused poses.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "contact_sets.hpp"
#include "deft/core/index.hpp"

namespace deft::collision {
namespace contact_set_queries_test {

using namespace contact_sets;

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

TEST(ContactSet, FoundAgainKeepsThePairsThatStay) {
  // Three cubes in a stack on the ground, and one that is looked at from a tree of boxes as well as from a list.
  for (const int cubes : {3, 40}) {
    std::vector<ShapeSpec> shapes(to_size(cubes), cube(0.06));
    shapes.push_back(ground());
    Scene scene(shapes);
    for (int k = 1; k <= cubes; ++k)
      scene.X[to_size(k)].translation() = Vector3d(0.002 * k, 0.001 * k, 0.06 * k - 0.03);
    std::vector<ContactPair> before = scene.find(0.01);
    for (ContactPair& contact : before) contact.gap = 7;  // none that is computed
    std::vector<char> stay(scene.X.size(), 1);
    stay[2] = 0;
    scene.X[2].translation() += Vector3d(1e-3, 0, 0);
    const std::vector<ContactPair> expected = scene.find(0.01);
    std::vector<ContactPair> again;
    scene.world.find_contacts_again(scene.X, 0.01, before, stay, scene.workspace, again);
    ASSERT_EQ(again.size(), expected.size());
    int kept = 0;
    for (std::size_t c = 0; c < again.size(); ++c) {
      EXPECT_EQ(again[c].id, expected[c].id);
      const bool stays = again[c].body_a != 2 && again[c].body_b != 2;
      kept += stays;
      EXPECT_EQ(again[c].gap, stays ? 7 : expected[c].gap);
    }
    EXPECT_EQ(kept, 4 * (cubes - 2));
    stay.pop_back();
    EXPECT_THROW(scene.world.find_contacts_again(scene.X, 0.01, before, stay, scene.workspace, again),
                 std::invalid_argument);
  }
}

TEST(ContactSet, WhatConcernsIsAsAmongAll) {
  // Every pair of kinds, near and far, overlapping and apart; few pairs are a list, many come from a tree of boxes.
  const std::vector<ShapeSpec> kinds{cube(0.06), multibody::SphereSpec{0.03}, multibody::CapsuleSpec{0.02, 0.06},
                                     multibody::CylinderSpec{0.03, 0.05}, multibody::EllipsoidSpec{{0.02, 0.03, 0.05}}};
  Random random(23);
  for (const std::size_t copies : {1, 5}) {
    std::vector<ShapeSpec> shapes{ground()};
    for (std::size_t k = 0; k < copies; ++k) shapes.insert(shapes.end(), kinds.begin(), kinds.end());
    Scene scene(shapes);
    int nearer = 0;
    for (int i = 0; i < 400; ++i) {
      for (std::size_t k = 2; k < scene.X.size(); ++k) {
        scene.X[k].linear() = random_rotation(random);
        scene.X[k].translation() = 0.15 * double(copies) * random_direction(random) + Vector3d(0, 0, 0.12);
      }
      const double gap = i % 2 == 0 ? 0.01 : 1e-4;
      const auto all = [](int, int) { return true; };
      const auto first = [](int a, int b) { return a == 2 || b == 2; };
      const auto contacts = scene.find(gap);
      std::vector<ContactPair> of_first, expected;
      scene.world.find_contacts(scene.X, gap, first, scene.workspace, of_first);
      std::copy_if(contacts.begin(), contacts.end(), std::back_inserter(expected),
                   [&](const ContactPair& c) { return first(c.body_a, c.body_b); });
      ASSERT_EQ(of_first.size(), expected.size()) << i;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(of_first[k].id, expected[k].id);
        EXPECT_EQ(of_first[k].gap, expected[k].gap);
      }
      const bool found = !expected.empty();
      EXPECT_EQ(scene.world.any_nearer(scene.X, gap, all, scene.workspace), !contacts.empty()) << i;
      EXPECT_EQ(scene.world.any_nearer(scene.X, gap, first, scene.workspace), found) << i;
      nearer += found;
    }
    EXPECT_GT(nearer, 40);
    EXPECT_LT(nearer, 360);
  }
  Scene scene({cube(0.06)});
  const auto all = [](int, int) { return true; };
  EXPECT_THROW(scene.world.any_nearer(scene.X, 0, all, scene.workspace), std::invalid_argument);
  EXPECT_THROW(scene.world.any_nearer(scene.X, std::nan(""), all, scene.workspace), std::invalid_argument);
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

}  // namespace contact_set_queries_test
}  // namespace deft::collision
