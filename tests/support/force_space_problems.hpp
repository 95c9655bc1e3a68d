#pragma once
// Random problems in force space, u = Wr + q, after the families of published collections: walls of boxes on four-point
// faces, towers with mass ratios to 1e6, logs and capsules with two points, heaps of spheres at rest, sheared between
// plates or hit by impacts, disks in the plane, chains under tension, wedged bodies. W is rank-deficient wherever
// bodies have fewer velocities than contact rows. q = J(v + h M⁻¹f).

#include <Eigen/Geometry>
#include <Eigen/SparseCore>
#include <array>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "deft/solvers/force_space/delassus_program.hpp"

namespace deft::testing {

class ForceSpaceProblems {
 public:
  static constexpr std::array<std::string_view, 10> kFamilies{"box wall", "tower",  "logs",  "capsules", "granular",
                                                              "shear",    "impact", "disks", "chain",    "wedge"};

  explicit ForceSpaceProblems(std::uint64_t seed) : rng_(seed) {}

  /// A problem of kFamilies[family] with about `contacts` contacts (at least a few), Coulomb's law.
  solvers::force_space::DelassusProgram next(int family, int contacts) {
    bodies_.clear();
    touching_.clear();
    h_ = std::pow(10.0, uniform(-3, -1));
    mu_low_ = uniform(0.1, 0.6);
    mu_high_ = mu_low_ + (chance(0.5) ? 0.0 : uniform(0.0, 0.7));
    plane_ = family == 7;
    switch (family) {
      case 0:
        box_wall(contacts);
        break;
      case 1:
        tower(contacts);
        break;
      case 2:
        logs(contacts);
        break;
      case 3:
        heap(contacts, Kind::kCapsules);
        break;
      case 4:
        heap(contacts, Kind::kRest);
        break;
      case 5:
        heap(contacts, Kind::kShear);
        break;
      case 6:
        heap(contacts, Kind::kImpact);
        break;
      case 7:
        disks(contacts);
        break;
      case 8:
        chain(contacts);
        break;
      default:
        wedge(contacts);
        break;
    }
    return assemble();
  }

 private:
  using Vector3 = Eigen::Vector3d;
  enum class Kind { kRest, kShear, kImpact, kCapsules };
  struct Body {
    double mass = 1;
    Vector3 inertia = Vector3::Ones(), p = Vector3::Zero();
    Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
    Vector3 v = Vector3::Zero(), w = Vector3::Zero(), force = Vector3::Zero();
  };
  struct Touch {
    int a = 0, b = -1;  // n points from b to a; b < 0: the world
    Vector3 point, n;
  };

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  bool chance(double p) { return uniform(0, 1) < p; }
  Vector3 normal3() {
    std::normal_distribution<double> normal;
    return {normal(rng_), normal(rng_), normal(rng_)};
  }

  int add_box(const Vector3& p, const Vector3& size, double mass) {
    Body body;
    body.mass = mass;
    body.p = p;
    const Vector3 s = size.cwiseProduct(size);
    body.inertia = mass / 12 * Vector3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y());
    bodies_.push_back(body);
    return static_cast<int>(bodies_.size()) - 1;
  }
  int add_sphere(const Vector3& p, double radius, double mass) {
    Body body;
    body.mass = mass;
    body.p = p;
    body.inertia.setConstant(0.4 * mass * radius * radius);
    bodies_.push_back(body);
    return static_cast<int>(bodies_.size()) - 1;
  }
  // Four points on a rectangle of half sides x, y.
  void face(int a, int b, const Vector3& centre, const Vector3& n, const Vector3& x, const Vector3& y) {
    for (const double s : {-1.0, 1.0}) {
      for (const double t : {-1.0, 1.0}) touching_.push_back({a, b, centre + s * x + t * y, n});
    }
  }

  // k × k boxes, some of them overhanging, pushed or hit at random.
  void box_wall(int contacts) {
    const int k = std::max(1, static_cast<int>(std::lround(std::sqrt(contacts / 6.0))));
    const double side = uniform(0.05, 0.5), density = std::pow(10.0, uniform(2, 3.7));
    const bool sideways = chance(0.5), moved = chance(0.5);
    for (int row = 0; row < k; ++row) {
      const double shift = chance(0.3) ? uniform(-0.2, 0.2) * side : 0.0;
      for (int column = 0; column < k; ++column) {
        const Vector3 p(column * side + shift, 0, (row + 0.5) * side);
        const int a = add_box(p, Vector3::Constant(side), density * side * side * side);
        if (moved) bodies_[a].v = 0.1 * normal3();
        const Vector3 x(0.4 * side, 0, 0), y(0, 0.5 * side, 0), z(0, 0, 0.5 * side);
        face(a, row ? a - k : -1, p - z, Vector3::UnitZ(), x, y);
        if (sideways && column > 0) face(a, a - 1, p - Vector3(0.5 * side, 0, 0), Vector3::UnitX(), y, z);
      }
    }
    if (chance(0.5)) bodies_.back().force = bodies_.back().mass * uniform(0, 10) * Vector3(1, 0.3, 0);
  }

  void tower(int contacts) {
    const int k = std::max(1, contacts / 4);
    const double ratio = uniform(0, 6), side = 0.2;
    const bool heavy_above = chance(0.7);
    for (int i = 0; i < k; ++i) {
      const double t = k > 1 ? static_cast<double>(i) / (k - 1) : 0.0;
      const Vector3 p(uniform(-0.02, 0.02), uniform(-0.02, 0.02), (i + 0.5) * side);
      const int a = add_box(p, Vector3::Constant(side), std::pow(10.0, ratio * (heavy_above ? t : chance(0.5)) - 3));
      if (chance(0.2)) bodies_[a].v = uniform(0, 1) * normal3();
      face(a, a - 1, p - Vector3(0, 0, 0.5 * side), Vector3::UnitZ(), {0.4 * side, 0, 0}, {0, 0.4 * side, 0});
    }
  }

  // Parallel cylinders in hexagonal order, two points per line of contact, between side walls.
  void logs(int contacts) {
    const int k = std::max(2, static_cast<int>(std::lround(std::sqrt(contacts / 6.0))));
    const double r = 0.1, length = 0.6;
    const double noise = chance(0.5) ? 0.0 : 0.05;
    std::vector<std::vector<int>> rows;
    const Vector3 half(0, 0.5 * length, 0);
    const auto line = [&](int a, int b, const Vector3& centre, Vector3 n) {
      n = (n + noise * normal3()).normalized();
      touching_.push_back({a, b, centre - half, n});
      touching_.push_back({a, b, centre + half, n});
    };
    for (int row = 0; row < k; ++row) {
      rows.emplace_back();
      const int count = k - (row % 2);
      for (int column = 0; column < std::max(1, count); ++column) {
        const Vector3 p((2 * column + row % 2) * r, 0, r + row * std::sqrt(3.0) * r);
        const double mass = std::pow(10.0, uniform(-0.5, 0.5));
        const int a = add_sphere(p, r, mass);
        bodies_[a].inertia = mass * Vector3(length * length / 12, r * r / 2, length * length / 12);
        rows.back().push_back(a);
        if (row == 0) line(a, -1, p - Vector3(0, 0, r), Vector3::UnitZ());
        if (column == 0 && row % 2 == 0) line(a, -1, p - Vector3(r, 0, 0), Vector3::UnitX());
        if (column == count - 1 && row % 2 == 0) line(a, -1, p + Vector3(r, 0, 0), -Vector3::UnitX());
        if (column > 0 && chance(0.7)) line(a, a - 1, p - Vector3(r, 0, 0), Vector3::UnitX());
        if (row == 0) continue;
        for (const int b : rows[row - 1]) {
          const Vector3 d = p - bodies_[b].p;
          if (d.norm() < 2.01 * r) line(a, b, 0.5 * (p + bodies_[b].p), d.normalized());
        }
      }
    }
  }

  // Bodies on a jittered lattice; neighbours touch along the line of their centres.
  void heap(int contacts, Kind kind) {
    const int k = std::max(2, static_cast<int>(std::lround(std::cbrt(contacts / 3.2))));
    const double r = uniform(0.005, 0.1), jitter = uniform(0.05, 0.35), spread = chance(0.1) ? 3.0 : 0.3;
    const double shear = uniform(0.01, 1);
    const int lid = kind == Kind::kShear ? add_box(Vector3(k, k, 2 * k) * r, Vector3(2 * k, 2 * k, 1) * r,
                                                   8e3 * k * k * k * r * r * r * std::pow(10.0, uniform(-1, 2)))
                                         : -1;
    if (lid >= 0) bodies_[lid].v = Vector3(shear, 0, 0);
    for (int z = 0; z < k; ++z) {
      for (int y = 0; y < k; ++y) {
        for (int x = 0; x < k; ++x) {
          const Vector3 p =
              2 * r * (Vector3(x, y, z) + jitter * Vector3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)));
          const int a = add_sphere(p, r, 8e3 * r * r * r * std::pow(10.0, uniform(-spread, spread)));
          if (kind == Kind::kImpact) {
            bodies_[a].v = normal3();
            bodies_[a].w = normal3() / r;
          }
          if (kind == Kind::kCapsules) {
            bodies_[a].R =
                Eigen::Quaterniond(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), 1.0).normalized().toRotationMatrix();
            bodies_[a].inertia = bodies_[a].mass * r * r * Vector3(3.0, 3.0, 0.5);
          }
          const double sides[3] = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
          for (int axis = 0; axis < 3; ++axis) {
            const bool low = sides[axis] == 0, high = sides[axis] == k - 1;
            if (low) wall(a, axis, 1, r);
            if (high && axis < 2) wall(a, axis, -1, r);
            if (high && axis == 2 && lid >= 0)
              touching_.push_back({lid, a, bodies_[a].p + r * Vector3::UnitZ(), Vector3::UnitZ()});
          }
        }
      }
    }
    connect(r, kind == Kind::kCapsules, lid);
  }
  void wall(int a, int axis, double sign, double r) {
    const Vector3 n = sign * Vector3::Unit(axis);
    touching_.push_back({a, -1, bodies_[a].p - r * n, n});
  }
  // All but the body `lid`.
  void connect(double r, bool two_points, int lid = -1) {
    const int n = static_cast<int>(bodies_.size());
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < a; ++b) {
        const Vector3 d = bodies_[a].p - bodies_[b].p;
        if (d.norm() > 2.1 * r || a == lid || b == lid) continue;
        const Vector3 middle = 0.5 * (bodies_[a].p + bodies_[b].p);
        Vector3 normal = d.normalized();
        if (two_points) normal = (normal + 0.3 * normal3()).normalized();
        if (two_points && chance(0.4)) {  // side by side
          const Vector3 along = normal.unitOrthogonal() * r;
          touching_.push_back({a, b, middle + along, normal});
          touching_.push_back({a, b, middle - along, normal});
        } else {
          touching_.push_back({a, b, middle, normal});
        }
      }
    }
  }

  void disks(int contacts) {
    const int k = std::max(2, static_cast<int>(std::lround(std::sqrt(contacts / 2.2))));
    const double r = 0.05, jitter = uniform(0.05, 0.35);
    const bool moving = chance(0.5);
    for (int z = 0; z < k; ++z) {
      for (int x = 0; x < k; ++x) {
        const int a = add_sphere(2 * r * Vector3(x + jitter * uniform(-1, 1), 0, z + jitter * uniform(-1, 1)), r,
                                 std::pow(10.0, uniform(-1, 1)));
        if (moving) bodies_[a].v = normal3();
        if (x == 0) wall(a, 0, 1, r);
        if (x == k - 1) wall(a, 0, -1, r);
        if (z == 0) wall(a, 2, 1, r);
      }
    }
    connect(r, false);
  }

  // Links that pull on each other through two crossed contacts, hung at one or both ends.
  void chain(int contacts) {
    const int k = std::max(2, contacts / 2);
    const double pitch = 0.1;
    const bool both_ends = chance(0.5);
    for (int i = 0; i < k; ++i) {
      const double t = both_ends ? static_cast<double>(i) / k - 0.5 : 0.0;
      const int a = add_sphere({pitch * i * (both_ends ? 1 : 0.2), 0, -pitch * i * (both_ends ? t : 1)}, 0.05,
                               std::pow(10.0, uniform(-1, 1)));
      bodies_[a].v = 0.1 * normal3();
      const Vector3 along = both_ends ? Vector3(1, 0, -2 * t).normalized() : Vector3(0.2, 0, -1).normalized();
      const Vector3 side = along.unitOrthogonal() * 0.01, hook = bodies_[a].p - 0.5 * pitch * along;
      const Vector3 n = (-along + 0.2 * normal3()).normalized();
      touching_.push_back({a, a - 1, hook + side, n});
      touching_.push_back({a, a - 1, hook - side, (n + 0.1 * normal3()).normalized()});
      if (both_ends && i == k - 1) touching_.push_back({a, -1, bodies_[a].p + 0.5 * pitch * along, along});
    }
  }

  // Bodies pressed by their weight and by forces into steep grooves, where friction may hold more than gravity asks.
  void wedge(int contacts) {
    const int k = std::max(1, contacts / 8);
    const double angle = uniform(0.1, 0.6), side = 0.1;
    const Vector3 left = Eigen::AngleAxisd(angle, Vector3::UnitY()) * Vector3::UnitX(), right(-left.x(), 0, left.z());
    for (int i = 0; i < k; ++i) {
      const Vector3 p(0, 0, i * side);
      const int a = add_box(p, Vector3::Constant(side), std::pow(10.0, uniform(-2, 2)));
      bodies_[a].force = bodies_[a].mass * Vector3(uniform(-20, 20), uniform(-20, 20), -uniform(0, 200));
      const Vector3 x(0.5 * side, 0, 0), y(0, 0.4 * side, 0), z(0, 0, 0.4 * side);
      for (const double s : {-1.0, 1.0}) {
        touching_.push_back({a, -1, p - x + s * y, left});
        touching_.push_back({a, -1, p + x + s * y, right});
      }
      if (i > 0) face(a, a - 1, p - Vector3(0, 0, 0.5 * side), Vector3::UnitZ(), 0.8 * x, y);
    }
    mu_low_ = mu_high_ = uniform(0.3, 1.2);
  }

  solvers::force_space::DelassusProgram assemble() {
    const int dim = plane_ ? 2 : 3, n = static_cast<int>(touching_.size()), nb = static_cast<int>(bodies_.size());
    solvers::force_space::DelassusProgram out;
    out.dim = dim;
    out.law = solvers::force_space::SlidingLaw::kCoulomb;
    out.q.resize(dim * n);
    std::vector<Eigen::Triplet<double>> entries;  // of J M^−½
    for (int i = 0; i < n; ++i) {
      const Touch& c = touching_[i];
      out.mu.push_back(uniform(mu_low_, mu_high_ + 1e-9));
      Eigen::Matrix3d frame;
      frame.col(0) = c.n;
      frame.col(1) = plane_ ? Vector3(c.n.z(), 0, -c.n.x()) : Vector3(c.n.unitOrthogonal());
      frame.col(2) = c.n.cross(frame.col(1));
      Vector3 velocity = Vector3::Zero();
      for (const int side : {0, 1}) {
        const int index = side == 0 ? c.a : c.b;
        if (index < 0) continue;
        const double sign = side == 0 ? 1 : -1;
        const Body& body = bodies_[index];
        const Vector3 arm = c.point - body.p;
        const Vector3 v = body.v + h_ * (body.force / body.mass + Vector3(0, 0, -9.81));
        velocity += sign * (v + body.w.cross(arm));
        for (int k = 0; k < dim; ++k) {
          const Vector3 linear = sign * frame.col(k);
          const Vector3 turning = body.R.transpose() * arm.cross(linear);
          for (int j = 0; j < 3; ++j) {
            if (plane_ && j == 1) continue;
            entries.emplace_back(dim * i + k, 6 * index + j, linear[j] / std::sqrt(body.mass));
          }
          for (int j = 0; j < 3; ++j) {
            if (plane_ && j != 1) continue;
            entries.emplace_back(dim * i + k, 6 * index + 3 + j, turning[j] / std::sqrt(body.inertia[j]));
          }
        }
      }
      for (int k = 0; k < dim; ++k) out.q[dim * i + k] = frame.col(k).dot(velocity);
    }
    Eigen::SparseMatrix<double> J(dim * n, 6 * nb);
    J.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SparseMatrix<double> transposed = J.transpose();
    out.W = J * transposed;
    return out;
  }

  std::mt19937_64 rng_;
  std::vector<Body> bodies_;
  std::vector<Touch> touching_;
  double h_ = 0.01, mu_low_ = 0.5, mu_high_ = 0.5;
  bool plane_ = false;
};

}  // namespace deft::testing
