// Which points of a patch its corners stand for.

#include "deft/contact/redundant_contacts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "deft/contact/assemble.hpp"
#include "deft/math/rotation.hpp"

namespace deft::contact {
namespace redundant_contacts_test {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Spheres of a body on the floor: contacts with the frame and the friction of the floor.
std::vector<Contact> on_floor(const std::vector<Vector3d>& centres, double radius, double margin) {
  std::vector<Contact> contacts;
  for (const Vector3d& c : centres) {
    Contact contact;
    contact.body_a = 3;
    contact.body_b = 0;
    contact.n_W = Vector3d::UnitZ();
    tangents(contact.n_W, scene::Plane::kSpace, contact.t1_W, contact.t2_W);
    contact.gap = c.z() - radius;
    contact.p_WA = c - radius * contact.n_W;
    contact.p_WB = contact.p_WA - contact.gap * contact.n_W;
    contact.mu = 0.5;
    if (contact.gap < margin) contacts.push_back(contact);
  }
  return contacts;
}

/// A plate of 4 × 5 spheres, placed so that its lowest ones touch.
std::vector<Vector3d> plate(const Matrix3d& R, double radius) {
  std::vector<Vector3d> centres;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) centres.push_back(R * Vector3d(0.05 * i - 0.075, 0.05 * j - 0.1, 0));
  }
  double lowest = 1;
  for (const Vector3d& c : centres) lowest = std::min(lowest, c.z());
  for (Vector3d& c : centres) c.z() += radius - lowest;
  return centres;
}

std::vector<int> kept(const std::vector<Contact>& contacts) {
  RedundantContacts finder;
  std::vector<char> redundant;
  finder.find(contacts, redundant);
  EXPECT_EQ(redundant.size(), contacts.size());
  std::vector<int> left;
  for (std::size_t i = 0; i < redundant.size(); ++i) {
    if (redundant[i] == 0) left.push_back(static_cast<int>(i));
  }
  return left;
}

TEST(RedundantContacts, APlateOnTheFloorStandsOnItsCorners) {
  const double r = 0.025;
  EXPECT_EQ(kept(on_floor(plate(Matrix3d::Identity(), r), r, 1)), (std::vector<int>{0, 4, 15, 19}));
  // Turned and tilted, all within the margin: the same corners.
  const Matrix3d R = exp_so3(Vector3d(0.2, -0.1, 0.7));
  EXPECT_EQ(kept(on_floor(plate(R, r), r, 1)), (std::vector<int>{0, 4, 15, 19}));
  // On an edge of five spheres its two ends.
  const Matrix3d edge = exp_so3(Vector3d(0, 0, 0.4)) * exp_so3(Vector3d(0, -0.6, 0));
  const std::vector<Contact> row = on_floor(plate(edge, r), r, 0.0125);
  ASSERT_EQ(row.size(), 5u);
  EXPECT_EQ(kept(row), (std::vector<int>{0, 4}));
}

TEST(RedundantContacts, WhatSticksOutStays) {
  const double r = 0.025;
  // Not flat: one sphere lower than the others by a micrometre.
  std::vector<Vector3d> bent = plate(Matrix3d::Identity(), r);
  bent[7].z() -= 1e-6;
  EXPECT_EQ(kept(on_floor(bent, r, 1)).size(), 20u);
  // All points of a circle are corners.
  std::vector<Vector3d> round;
  for (int k = 0; k < 16; ++k) round.emplace_back(0.1 * std::cos(k * M_PI / 8), 0.1 * std::sin(k * M_PI / 8), r);
  EXPECT_EQ(kept(on_floor(round, r, 1)).size(), 16u);
  // Another friction, another normal or another body is another patch.
  std::vector<Contact> row = on_floor({{0, 0, r}, {0.1, 0, r}, {0.2, 0, r}}, r, 1);
  EXPECT_EQ(kept(row).size(), 2u);
  std::vector<Contact> slippery = row, turned = row, other = row;
  slippery[1].mu = 0.4;
  turned[1].n_W = exp_so3(Vector3d(1e-6, 0, 0)) * turned[1].n_W;
  other[1].body_b = 7;
  for (const auto& contacts : {slippery, turned, other}) EXPECT_EQ(kept(contacts).size(), 3u);
}

TEST(RedundantContacts, AreConvexCombinationsOfTheOthers) {
  // The definition, by motions: where all corners keep a distance, so do the points between them.
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  const double r = 0.025;
  for (int trial = 0; trial < 200; ++trial) {
    const Matrix3d R = exp_so3(0.4 * Vector3d(normal(rng), normal(rng), normal(rng)));
    const std::vector<Contact> contacts = on_floor(plate(R, r), r, 0.1);
    RedundantContacts finder;
    std::vector<char> redundant;
    finder.find(contacts, redundant);
    const Vector3d w(normal(rng), normal(rng), normal(rng)), v(normal(rng), normal(rng), normal(rng));
    const auto slack = [&](const Contact& c) {
      const Vector3d moved = v + w.cross(c.p_WA);
      return c.gap + c.n_W.dot(moved) - c.mu * std::hypot(c.t1_W.dot(moved), c.t2_W.dot(moved));
    };
    double least = 1e300, inner = 1e300;
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      double& lowest = redundant[i] != 0 ? inner : least;
      lowest = std::min(lowest, slack(contacts[i]));
    }
    EXPECT_GE(inner, least - 1e-11);
  }
}

}  // namespace redundant_contacts_test
}  // namespace deft::contact
