#pragma once
// Random contact problems for tests and benchmarks: small worlds of bodies and joint chains with random contacts
// between them. Shares: 15 % without any friction, 30 % with a third of the contacts exactly duplicated; 1–200
// contacts, 2–150 velocities, 4 or 8 rays or cones, stiffness 1 … 1e5, masses 1e-3 … 1e2 kg, h 1e-3 … 0.4 s,
// penetrations to 5 mm, lengths of 3–30 cm.

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::testing {

class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : rng_(seed) {}

  struct Limits {
    int max_bodies = 25;  // six velocities each
    int max_contacts = 200;
    double mass_low = 1e-3, mass_high = 1e2;  // [kg]
    double max_mu = 1.2;
  };

  /// The next problem; always solvable: every contact can be opened, because some motion δ₀ is drawn first and gaps are
  /// chosen such that δ₀ satisfies all rows.
  solvers::contact::ContactProgram next() { return next(Limits{}); }
  solvers::contact::ContactProgram next(const Limits& limits) {
    solvers::contact::ContactProgram p;
    // Half of the problems small, the others anywhere up to the limits.
    const bool small = chance(0.5);
    const int bodies = integer(0, small ? std::min(3, limits.max_bodies) : limits.max_bodies);
    const int joints =
        integer(bodies == 0 ? 2 : 0, small ? 4 : std::max(2, 150 - 6 * bodies > 30 ? 30 : 150 - 6 * bodies));
    p.nv = joints + 6 * bodies;
    max_mu_ = limits.max_mu;
    const double h = log_uniform(1e-3, 0.4), stiffness = log_uniform(1, 1e5);
    p.b.resize(p.nv);
    for (int i = 0; i < joints; ++i) {
      const double K = stiffness * log_uniform(0.5, 2);
      p.Q.append(i, 1)(0, 0) = K;
      p.b[i] = -K * normal() * 0.1;
    }
    for (int k = 0; k < bodies; ++k) {
      const double mass = log_uniform(limits.mass_low, limits.mass_high), size = uniform(0.03, 0.3);
      auto Q = p.Q.append(joints + 6 * k, 6);
      const Eigen::Matrix3d R = rotation();
      const Eigen::Vector3d moments =
          mass * size * size * Eigen::Vector3d(uniform(0.1, 0.4), uniform(0.1, 0.4), uniform(0.1, 0.4));
      Q.topLeftCorner(3, 3) = R * moments.asDiagonal() * R.transpose() / (h * h);
      Q.bottomRightCorner(3, 3) = Eigen::Matrix3d::Identity() * mass / (h * h);
      p.b.segment(joints + 6 * k, 6) << mass * size * 2 * normal(), mass * size * 2 * normal(),
          mass * size * 2 * normal(), mass * 5 * normal(), mass * 5 * normal(), mass * (9.81 + normal());
    }
    const double model = uniform(0, 1);
    p.model = model < 0.6 ? solvers::contact::FrictionModel::kPyramid : solvers::contact::FrictionModel::kCone;
    p.rays = chance(0.5) ? 4 : 8;
    const bool no_friction = chance(0.15);
    const int contacts = integer(1, small ? std::min(10, limits.max_contacts) : limits.max_contacts);
    Eigen::VectorXd feasible(p.nv);
    for (int i = 0; i < p.nv; ++i) feasible[i] = 0.01 * normal();
    for (int i = 0; i < contacts; ++i) add_contact(p, joints, bodies, no_friction, feasible);
    if (chance(0.3)) {
      for (int i = 0; i < (contacts + 2) / 3; ++i) duplicate(p, integer(0, contacts - 1));
    }
    return p;
  }

  /// A body squeezed between two fixed walls that both penetrate it: no motion satisfies the rows.
  solvers::contact::ContactProgram next_jammed() {
    solvers::contact::ContactProgram p = next({.max_bodies = 3, .max_contacts = 10});
    const int body = p.nv;
    p.nv += 6;
    p.b.conservativeResize(p.nv);
    p.b.tail(6) << 0, 0, 0, normal(), normal(), normal();
    const double mass = log_uniform(1e-3, 1e2);
    p.Q.append(body, 6) = mass * Eigen::Matrix<double, 6, 6>::Identity();
    const Eigen::Vector3d n = Eigen::Vector3d(normal(), normal(), normal()).normalized();
    for (int side : {1, -1}) {
      std::array<int, 6> cols{body, body + 1, body + 2, body + 3, body + 4, body + 5};
      auto J = p.J.append(3, cols);
      J.setZero();
      J.row(0).tail(3) = side * n;
      const Eigen::Vector3d t = n.unitOrthogonal();
      J.row(1).tail(3) = t;
      J.row(2).tail(3) = (side * n).cross(t);
      p.contacts.push_back({.gap = -uniform(1e-4, 5e-3), .mu = chance(0.3) ? 0.0 : uniform(0.1, 1)});
    }
    return p;
  }

  /// Objects without inertia (Q_u = 0, their masses given) that touch or nearly touch a floor, each other and fingers
  /// on springs; gravity, sideways loads or none. No row is violated at δ = 0, so every problem is Solved, NotUnique or
  /// Unbounded.
  solvers::contact::ContactProgram next_quasistatic() {
    solvers::contact::ContactProgram p;
    const int fingers = integer(0, 4), objects = integer(1, 3);
    p.nv = 3 * fingers + 6 * objects;
    p.b = Eigen::VectorXd::Zero(p.nv);
    p.model = chance(0.5) ? solvers::contact::FrictionModel::kPyramid : solvers::contact::FrictionModel::kCone;
    p.rays = chance(0.5) ? 4 : 8;
    const double h = log_uniform(1e-3, 0.4), stiffness = log_uniform(10, 1e4);
    for (int i = 0; i < 3 * fingers; ++i) {
      p.Q.append(i, 1)(0, 0) = stiffness;
      p.b[i] = -stiffness * 0.02 * normal();
    }
    const double gravity = chance(0.7) ? 9.81 : 0.0, push = chance(0.3) ? log_uniform(1e-2, 10) : 0.0;
    const bool flat = chance(0.3);  // forces and arms on a grid, as in scenes: degenerate
    std::vector<double> sizes;
    for (int k = 0; k < objects; ++k) {
      const double mass = log_uniform(0.1, 10), size = uniform(0.03, 0.2);
      sizes.push_back(size);
      auto M = p.masses.append(3 * fingers + 6 * k, 6);
      M.setZero();
      M.diagonal() << Eigen::Vector3d::Constant(0.4 * mass * size * size), Eigen::Vector3d::Constant(mass);
      M /= h * h;
      p.b.segment(3 * fingers + 6 * k + 3, 3) << -push * mass * (flat ? 1.0 : normal()),
          -push * mass * (flat ? 0.0 : normal()), mass * gravity;
    }
    const double friction = chance(0.2) ? 0.0 : uniform(0.1, 1.0);
    const auto contact = [&](int object, int other, int finger, const Eigen::Vector3d& n, const Eigen::Vector3d& arm) {
      const Eigen::Vector3d t = n.unitOrthogonal();
      Eigen::Matrix3d frame;
      frame << n.transpose(), t.transpose(), n.cross(t).transpose();
      std::vector<int> cols;
      std::vector<Eigen::Vector3d> columns;
      for (int i = 0; i < 3 && finger >= 0; ++i) {
        cols.push_back(3 * finger + i);
        columns.push_back(-frame.col(i));
      }
      for (const int k : {object, other}) {
        for (int axis = 0; axis < 6 && k >= 0; ++axis) {
          const Eigen::Vector3d e = Eigen::Vector3d::Unit(axis % 3), at = k == object ? arm : Eigen::Vector3d(-arm);
          cols.push_back(3 * fingers + 6 * k + axis);
          columns.push_back((k == object ? 1.0 : -1.0) * (frame * (axis < 3 ? Eigen::Vector3d(e.cross(at)) : e)));
        }
      }
      auto J = p.J.append(3, cols);
      for (std::size_t c = 0; c < columns.size(); ++c) J.col(static_cast<Eigen::Index>(c)) = columns[c];
      p.contacts.push_back({.gap = chance(0.7) ? 0.0 : uniform(0, 0.01), .mu = friction});
    };
    for (int k = 0; k < objects; ++k) {
      const double size = sizes[k];
      const int feet = chance(0.15) ? 0 : chance(0.5) ? 1 : chance(0.5) ? 4 : integer(2, 3);
      for (int i = 0; i < feet; ++i) {
        const double x = feet == 1 ? 0 : i % 2 ? -size : size, y = feet == 1 ? 0 : i / 2 ? -size : size;
        contact(k, -1, -1, Eigen::Vector3d::UnitZ(), {x, y, -size});
      }
      if (k > 0 && chance(0.5)) {
        const Eigen::Vector3d n =
            flat ? Eigen::Vector3d::UnitX() : Eigen::Vector3d(normal(), normal(), normal()).normalized();
        contact(k - 1, k, -1, n, -size * n);
      }
    }
    for (int f = 0; f < fingers; ++f) {
      const int k = integer(0, objects - 1);
      Eigen::Vector3d n(normal(), normal(), normal());
      if (flat) n = Eigen::Vector3d(chance(0.5) ? 1 : -1, 0, 0);
      n.normalize();
      contact(k, -1, f, n, -sizes[k] * n);
    }
    return p;
  }

  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng_); }
  double log_uniform(double a, double b) { return std::exp(uniform(std::log(a), std::log(b))); }
  double normal() { return std::normal_distribution<double>()(rng_); }
  int integer(int a, int b) { return std::uniform_int_distribution<int>(a, b)(rng_); }
  bool chance(double share) { return uniform(0, 1) < share; }

 private:
  Eigen::Matrix3d rotation() {
    return Eigen::Quaterniond(Eigen::Vector4d(normal(), normal(), normal(), normal()).normalized()).toRotationMatrix();
  }

  // Contact of a body (or a chain of joints) with another one or the world.
  void add_contact(solvers::contact::ContactProgram& p, int joints, int bodies, bool no_friction,
                   const Eigen::VectorXd& feasible) {
    const Eigen::Matrix3d frame = rotation();  // rows n, t1, t2
    std::vector<int> cols;
    std::vector<Eigen::Vector3d> columns;
    const auto add_chain = [&] {
      const int length = std::min(joints, integer(2, 7)), first = integer(0, joints - length);
      for (int i = first; i < first + length; ++i) {
        cols.push_back(i);
        columns.push_back(frame * Eigen::Vector3d(normal(), normal(), normal()) * 0.2);
      }
    };
    const auto add_body = [&](int k, double sign) {
      const Eigen::Vector3d arm = Eigen::Vector3d(normal(), normal(), normal()) * 0.05;
      for (int axis = 0; axis < 6; ++axis) {
        const Eigen::Vector3d e = Eigen::Vector3d::Unit(axis % 3);
        cols.push_back(joints + 6 * k + axis);
        columns.push_back(sign * (frame * (axis < 3 ? Eigen::Vector3d(e.cross(arm)) : e)));
      }
    };
    if (bodies == 0) {
      add_chain();
    } else {
      const int a = integer(0, bodies - 1), b = integer(0, bodies - 1);
      if (joints > 0 && chance(0.3)) {
        add_chain();
        add_body(a, 1);
      } else if (a == b || chance(0.4)) {
        add_body(a, 1);
      } else {
        add_body(std::min(a, b), a < b ? 1 : -1);
        add_body(std::max(a, b), a < b ? -1 : 1);
      }
    }
    const bool frictionless = chance(0.05);
    auto J = p.J.append(3, cols);
    for (std::size_t c = 0; c < columns.size(); ++c) J.col(static_cast<Eigen::Index>(c)) = columns[c];
    solvers::contact::ContactLaw law;
    law.frictionless = frictionless;
    law.mu = no_friction || chance(0.03) ? 0.0 : uniform(0.05, max_mu_);
    law.gap = chance(0.3) ? 0.0 : chance(0.5) ? -uniform(0, 5e-3) : uniform(0, 0.02);
    // Raise the gap until the drawn motion is feasible, by 1 µm at least: without that the rows may have no common
    // interior.
    Eigen::Vector3d z = Eigen::Vector3d::Zero();
    for (std::size_t c = 0; c < cols.size(); ++c) z += J.col(static_cast<Eigen::Index>(c)) * feasible[cols[c]];
    law.gap =
        std::max(law.gap, (frictionless ? 0.0 : law.mu) * std::hypot(z[1], z[2]) - z[0] + log_uniform(1e-6, 1e-3));
    p.contacts.push_back(law);
  }

  static void duplicate(solvers::contact::ContactProgram& p, int i) {
    const std::vector<int> cols(p.J.cols(i).begin(), p.J.cols(i).end());
    const Eigen::MatrixXd copy = p.J.block(i);
    p.J.append(static_cast<int>(copy.rows()), cols) = copy;
    p.contacts.push_back(solvers::contact::ContactLaw(p.contacts[i]));
  }

  std::mt19937_64 rng_;
  double max_mu_ = 1.2;
};

}  // namespace deft::testing
