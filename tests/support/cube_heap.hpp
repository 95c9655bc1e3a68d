#pragma once
// A block of cubes: many more rows than motions, one island.

#include <Eigen/Geometry>
#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers {

/// Four corners of unit cubes `below` and `above` (−1: the ground) touch; the normal is `axis`, from below to above.
inline void touch(int below, int above, int axis, double gap, contact::ContactProgram& p) {
  for (int corner = 0; corner < 4; ++corner) {
    std::vector<int> cols;
    for (const int body : {below, above}) {
      for (int i = 0; body >= 0 && i < 6; ++i) cols.push_back(6 * body + i);
    }
    auto J = p.J.append(3, cols);
    int at = 0;
    for (const int body : {below, above}) {
      if (body < 0) continue;
      const double sign = body == above ? 1 : -1;
      Eigen::Vector3d arm;
      arm[axis] = -0.5 * sign;
      arm[(axis + 1) % 3] = corner & 1 ? 0.5 : -0.5;
      arm[(axis + 2) % 3] = corner & 2 ? 0.5 : -0.5;
      for (int r = 0; r < 3; ++r) {
        const Eigen::Vector3d row = sign * Eigen::Vector3d::Unit((axis + r) % 3);
        J.block(r, at, 1, 3) = arm.cross(row).transpose();
        J.block(r, at + 3, 1, 3) = row.transpose();
      }
      at += 6;
    }
    p.contacts.push_back({.gap = gap, .mu = 0.5, .id = p.contacts.size() + 1});
  }
}

/// `side`³ cubes on the ground, each resting on the one below; those beside each other 1 mm apart, four points a face:
/// one island.
inline contact::ContactProgram heap(int side) {
  contact::ContactProgram p;
  const int boxes = side * side * side;
  p.nv = 6 * boxes;
  p.b = Eigen::VectorXd::Zero(p.nv);
  for (int k = 0; k < boxes; ++k) {
    p.Q.append(6 * k, 6) = Eigen::Matrix<double, 6, 6>::Identity() * (1 + 0.1 * (k % 7));
    p.b[6 * k + 5] = 10 * (1 + 0.1 * (k % 7));
  }
  const auto box = [side](int x, int y, int z) { return x + side * (y + side * z); };
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        touch(z == 0 ? -1 : box(x, y, z - 1), box(x, y, z), 2, 0.0, p);
        if (x > 0) touch(box(x - 1, y, z), box(x, y, z), 0, 1e-3, p);
        if (y > 0) touch(box(x, y - 1, z), box(x, y, z), 1, 1e-3, p);
      }
    }
  }
  return p;
}

}  // namespace deft::solvers
