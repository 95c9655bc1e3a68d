#pragma once
// Random linear complementarity problems of frictional contact, which Lemke's method must solve, and small ones of any
// kind.

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>

#include "deft/solvers/lcp/complementarity_program.hpp"

namespace deft::testing {

/// Draws problems; the same seed draws the same ones.
class ComplementarityProblems {
 public:
  explicit ComplementarityProblems(std::uint64_t seed) : random_(seed) {}

  /// What a contact problem may look like.
  struct Limits {
    int max_size = 120;  // of the problem
    double max_mu = 1.5;
    double mass_low = 0.01, mass_high = 100;
  };

  /// Stewart and Trinkle's time step, velocities eliminated: unknowns f_n, β (2, 4, 6 or 8 rays) and λ per contact,
  ///   M = [W E; μ −Eᵀ 0], q = (φ/h + J_n v, D J_t v, 0), φ ≥ 0.
  /// Bodies of random mass touch each other and the world; a third of the contacts of some problems come twice.
  solvers::lcp::ComplementarityProgram stewart_trinkle(const Limits& limits) {
    const bool planar = chance(0.5);
    const int rays = planar ? 2 : 2 * pick(1, 4);
    return stewart_trinkle(limits, planar, rays, pick(1, std::max(1, limits.max_size / (rays + 2))));
  }

  /// The same in the plane with so many contacts: four unknowns each.
  solvers::lcp::ComplementarityProgram planar_stewart_trinkle(int contacts) {
    return stewart_trinkle({}, true, 2, contacts);
  }

  /// The time step of planar pushing with a limit surface: W = J_o A J_oᵀ + c J_m B J_mᵀ, q = (h J_m u + φ, …, 0), c >
  /// 0, φ ≥ 0.
  solvers::lcp::ComplementarityProgram limit_surface(const Limits& limits) {
    const int contacts = pick(1, std::max(1, limits.max_size / 4)), objects = pick(1, std::max(1, contacts / 3)),
              fingers = pick(1, 5);
    const double c = log_uniform(1e-6, 1), h = log_uniform(1e-3, 0.1);
    Eigen::MatrixXd Jo = Eigen::MatrixXd::Zero(3 * contacts, 3 * objects),
                    Jm = Eigen::MatrixXd::Zero(3 * contacts, 2 * fingers);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(3 * objects, 3 * objects),
                    B = Eigen::MatrixXd::Zero(2 * fingers, 2 * fingers);
    for (int o = 0; o < objects; ++o) A.block<3, 3>(3 * o, 3 * o) = definite(3);
    for (int f = 0; f < fingers; ++f) B.block<2, 2>(2 * f, 2 * f) = definite(2);
    for (int i = 0; i < contacts; ++i) {
      const double angle = uniform(0, 2 * std::numbers::pi), size = log_uniform(0.03, 1);
      const Eigen::Vector2d n(std::cos(angle), std::sin(angle)), t(-n[1], n[0]),
          arm = size * Eigen::Vector2d(normal(), normal());
      const int object = pick(0, objects - 1);
      const double against = uniform(0, 1);
      Eigen::Matrix<double, 3, 2> axes;
      axes << n.transpose(), t.transpose(), -t.transpose();
      Eigen::Matrix<double, 2, 3> at;
      at << 1, 0, -arm[1], 0, 1, arm[0];
      Jo.block<3, 3>(3 * i, 3 * object) = -axes * at;
      if (against < 0.6)
        Jm.block<3, 2>(3 * i, 2 * pick(0, fingers - 1)) = axes;
      else if (against < 0.8 && objects > 1)
        Jo.block<3, 3>(3 * i, 3 * ((object + 1) % objects)) += axes * at;
    }
    Eigen::VectorXd u(2 * fingers);
    for (double& entry : u) entry = normal();
    Eigen::VectorXd q = h * (Jm * u);
    for (int i = 0; i < contacts; ++i) q[3 * i] += chance(0.5) ? 0.0 : log_uniform(1e-6, 0.05);
    return assemble(Jo * A * Jo.transpose() + c * (Jm * B * Jm.transpose()), q, contacts, 2, limits.max_mu);
  }

  /// Any small problem: `kind` 0 dense numbers, 1 small integers with many zeros (degenerate, often without or with
  /// several solutions), 2 contact without compliance (c = 0: jammed or indifferent), 3 as 1 with free variables, 4
  /// quasistatic contact: objects without stiffness (free variables, zero free block) touched by
  /// rigid fingers.
  solvers::lcp::ComplementarityProgram small(int kind, int max_size) {
    solvers::lcp::ComplementarityProgram out;
    if (kind == 2) {
      const int contacts = pick(1, max_size / 4);
      out = limit_surface({.max_size = 4 * contacts});
      rigid(out);
      return out;
    }
    if (kind == 4) return quasistatic(std::max(1, (max_size - 3) / 4));
    const int n = pick(1, max_size);
    out.M.resize(n, n);
    out.q.resize(n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) out.M(i, j) = kind == 0 ? normal() : (chance(0.5) ? 0 : pick(-2, 2));
      out.q[j] = kind == 0 ? normal() : pick(-2, 2);
    }
    for (int i = 0; i < n && kind == 3; ++i) {
      if (chance(0.3)) out.free.push_back(i);
    }
    return out;
  }

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  double normal() { return std::normal_distribution<double>()(random_); }
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(double p) { return uniform(0, 1) < p; }

 private:
  solvers::lcp::ComplementarityProgram stewart_trinkle(const Limits& limits, bool planar, int rays, int contacts) {
    const int bodies = pick(1, std::max(1, contacts / 2));
    const int dofs = planar ? 3 : 6;
    Eigen::VectorXd inverse_mass(bodies * dofs);
    for (int b = 0; b < bodies; ++b) {
      const double mass = log_uniform(limits.mass_low, limits.mass_high), size = log_uniform(0.03, 1);
      for (int k = 0; k < dofs; ++k) {
        const bool turn = planar ? k == 2 : k >= 3;
        inverse_mass[b * dofs + k] = 1 / (turn ? mass * size * size * uniform(0.1, 0.5) : mass);
      }
    }
    Eigen::MatrixXd J = contact_rows(contacts, rays, planar, bodies, dofs);
    const double h = log_uniform(1e-3, 0.1);
    Eigen::VectorXd v(bodies * dofs);
    for (double& entry : v) entry = normal();
    const Eigen::MatrixXd W = J * inverse_mass.asDiagonal() * J.transpose();
    Eigen::VectorXd motion = J * v;
    for (int i = 0; i < contacts; ++i)
      motion[i * (rays + 1)] += chance(0.5) ? 0.0 : log_uniform(1e-6, 0.05) / h;  // φ/h
    return assemble(W, motion, contacts, rays, limits.max_mu);
  }

  /// Rows n, d_1 … d_rays per contact.
  Eigen::MatrixXd contact_rows(int contacts, int rays, bool planar, int bodies, int dofs) {
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(contacts * (rays + 1), bodies * dofs);
    const bool twice = chance(0.3);
    for (int i = 0; i < contacts; ++i) {
      if (twice && i > 0 && chance(1.0 / 3)) {
        J.middleRows(i * (rays + 1), rays + 1) = J.middleRows((i - 1) * (rays + 1), rays + 1);
        continue;
      }
      Eigen::Vector3d n(normal(), normal(), planar ? 0 : normal());
      n.normalize();
      const Eigen::Vector3d t1 = planar ? Eigen::Vector3d(-n[1], n[0], 0) : n.unitOrthogonal(), t2 = n.cross(t1);
      const int a = pick(0, bodies - 1), b = chance(0.5) ? -1 : pick(0, bodies - 1);
      for (const int body : {a, b}) {
        if (body < 0) continue;
        const double sign = body == a ? 1 : -1;
        const Eigen::Vector3d arm = log_uniform(0.03, 1) * Eigen::Vector3d(normal(), normal(), planar ? 0 : normal());
        for (int r = 0; r <= rays; ++r) {
          const double angle = 2 * std::numbers::pi * (r - 1) / rays;
          const Eigen::Vector3d d = r == 0 ? n : Eigen::Vector3d(std::cos(angle) * t1 + std::sin(angle) * t2);
          auto row = J.row(i * (rays + 1) + r).segment(body * dofs, dofs);
          const Eigen::Vector3d moment = arm.cross(d);
          if (planar)
            row += sign * Eigen::RowVector3d(d[0], d[1], moment[2]);
          else {
            row.head(3) += sign * d.transpose();
            row.tail(3) += sign * moment.transpose();
          }
        }
        if (a == b) break;  // one body alone: against the world
      }
    }
    return J;
  }

  solvers::lcp::ComplementarityProgram assemble(const Eigen::MatrixXd& W, const Eigen::VectorXd& motion, int contacts,
                                                int rays, double max_mu) {
    const int rows = rays + 2, n = contacts * rows;
    solvers::lcp::ComplementarityProgram out;
    out.M = Eigen::MatrixXd::Zero(n, n);
    out.q = Eigen::VectorXd::Zero(n);
    const bool smooth = chance(0.15);
    for (int i = 0; i < contacts; ++i) {
      for (int j = 0; j < contacts; ++j)
        out.M.block(i * rows, j * rows, rays + 1, rays + 1) =
            W.block(i * (rays + 1), j * (rays + 1), rays + 1, rays + 1);
      out.q.segment(i * rows, rays + 1) = motion.segment(i * (rays + 1), rays + 1);
      const int lambda = i * rows + rays + 1;
      out.M(lambda, i * rows) = smooth ? 0.0 : uniform(0, max_mu);
      for (int r = 1; r <= rays; ++r) {
        out.M(i * rows + r, lambda) = 1;
        out.M(lambda, i * rows + r) = -1;
      }
    }
    return out;
  }

  /// Takes most of the compliance away: fingers that hardly comply.
  void rigid(solvers::lcp::ComplementarityProgram& program) {
    const int contacts = static_cast<int>(program.q.size()) / 4;
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(3 * contacts, 3);
    for (int i = 0; i < contacts; ++i) {
      const double angle = pick(0, 3) * std::numbers::pi / 2;
      const Eigen::Vector2d n(std::cos(angle), std::sin(angle)), t(-n[1], n[0]);
      const Eigen::Vector2d arm(pick(-1, 1), pick(-1, 1));
      J.row(3 * i) << n[0], n[1], arm[0] * n[1] - arm[1] * n[0];
      J.row(3 * i + 1) << t[0], t[1], arm[0] * t[1] - arm[1] * t[0];
      J.row(3 * i + 2) = -J.row(3 * i + 1);
    }
    const Eigen::MatrixXd W = J * definite(3) * J.transpose();
    for (int i = 0; i < contacts; ++i) {
      for (int j = 0; j < contacts; ++j) program.M.block<3, 3>(4 * i, 4 * j) = W.block<3, 3>(3 * i, 3 * j);
      program.q.segment<4>(4 * i) << 0.1 * pick(-2, 2), 0.1 * pick(-1, 1), 0, 0;
      program.q[4 * i + 2] = -program.q[4 * i + 1];
      program.M(4 * i + 3, 4 * i) = 0.25 * pick(0, 4);
    }
  }

  /// δ_u free: rows Jᵀf + τ = 0; contact rows Jδ_u + (motion of the fingers).
  solvers::lcp::ComplementarityProgram quasistatic(int max_contacts) {
    const int contacts = pick(1, max_contacts), n = 3 + 4 * contacts;
    solvers::lcp::ComplementarityProgram out;
    out.M = Eigen::MatrixXd::Zero(n, n);
    out.q = Eigen::VectorXd::Zero(n);
    out.free = {0, 1, 2};
    if (chance(0.5)) out.q.head<3>() << 0, chance(0.5) ? -1.0 : -normal(), 0;
    for (int i = 0; i < contacts; ++i) {
      const double angle = pick(0, 3) * std::numbers::pi / 2;
      const Eigen::Vector2d n_W(std::cos(angle), std::sin(angle)), t_W(-n_W[1], n_W[0]);
      const Eigen::Vector2d arm(pick(-1, 1), pick(-1, 1));
      const Eigen::RowVector3d normal_row(n_W[0], n_W[1], arm[0] * n_W[1] - arm[1] * n_W[0]);
      const Eigen::RowVector3d tangent_row(t_W[0], t_W[1], arm[0] * t_W[1] - arm[1] * t_W[0]);
      const int at = 3 + 4 * i;
      out.M.row(at).head<3>() = normal_row;
      out.M.row(at + 1).head<3>() = tangent_row;
      out.M.row(at + 2).head<3>() = -tangent_row;
      out.M.block(0, at, 3, 3) = out.M.block(at, 0, 3, 3).transpose();
      out.M(at + 1, at + 3) = out.M(at + 2, at + 3) = 1;
      out.M(at + 3, at + 1) = out.M(at + 3, at + 2) = -1;
      out.M(at + 3, at) = 0.25 * pick(0, 4);
      out.q[at] = 0.05 * pick(-1, 2);
      out.q[at + 1] = 0.05 * pick(-1, 1);
      out.q[at + 2] = -out.q[at + 1];
    }
    out.motion = Eigen::MatrixXd::Zero(3, n);
    out.motion.leftCols(3).setIdentity();
    return out;
  }

  Eigen::MatrixXd definite(int n) {
    Eigen::MatrixXd root(n, n);
    for (double& entry : root.reshaped()) entry = normal();
    return root * root.transpose() + 0.05 * Eigen::MatrixXd::Identity(n, n);
  }

  std::mt19937_64 random_;
};

}  // namespace deft::testing
