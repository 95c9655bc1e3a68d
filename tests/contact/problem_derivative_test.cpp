// ds, dτ and the frame, each at fixed δ and f, against sixth-order differences of the assembled rows.

#include "deft/contact/problem_derivative.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/differences.hpp"
#include "support/scene_builder.hpp"

namespace deft::contact {
namespace problem_derivative_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::ShapeSpec;

constexpr double kStep = 5e-5, kTolerance = 1e-9;

VectorXd random_vector(int size, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  return VectorXd::NullaryExpr(size, [&] { return normal(rng); });
}

/// A chain of skew joints on the world; every link carries `shape`.
multibody::ModelSpec chain(const std::string& name, const std::string& joints, const ShapeSpec& shape,
                           const Vector3d& base) {
  multibody::ModelSpec model;
  model.name = name;
  const Vector3d axes[] = {Vector3d(0.2, 0.1, 1).normalized(), Vector3d(1, 0.3, -0.2).normalized(),
                           Vector3d(0.1, 1, 0.4).normalized()};
  model.links.push_back({.name = "base"});
  for (std::size_t k = 0; k < joints.size(); ++k) {
    multibody::LinkSpec link{.name = "link" + std::to_string(k)};
    link.inertial = multibody::InertialSpec{1, Vector3d::Zero(), 0.01 * Eigen::Matrix3d::Identity()};
    multibody::GeometrySpec geometry;
    geometry.name = "shape";
    geometry.shape = shape;
    geometry.X_LG = make_transform(rotation_from_rpy({0.3, 0.1 * k, -0.2}), {0.02, 0.01, 0.03});
    geometry.mu = 0.5;
    link.collisions.push_back(geometry);
    model.links.push_back(link);
    multibody::JointSpec joint{.name = "joint" + std::to_string(k)};
    joint.kind = joints[k] == 'b' ? multibody::JointKind::kBall : multibody::JointKind::kAxes;
    joint.parent = k == 0 ? "base" : "link" + std::to_string(k - 1);
    joint.child = link.name;
    if (joints[k] != 'b')
      joint.axes = {{.coordinate = joint.name, .rotational = joints[k] == 'h', .axis_J = axes[k % 3]}};
    joint.X_PJ = make_transform(rotation_from_rpy({0.4, -0.3, 0.5}), k == 0 ? base : Vector3d(0.05, 0.2, 0.15));
    model.joints.push_back(joint);
  }
  return model;
}

/// Two chains (one with a slide and a ball joint, touching itself), a free body, the ground.
scene::SceneSpec crowd(const ShapeSpec& on_left, const ShapeSpec& on_right, const ShapeSpec& free) {
  scene::SceneSpec spec = test::scene_spec(
      {chain("left", "hshb", on_left, {0, 0, 0}), chain("right", "hh", on_right, {0.3, 0.1, 0.1}),
       test::free_body("free", free, 1, 0.01, 0.5,
                       make_transform(rotation_from_rpy({0.7, 0.2, 0.1}), {0.15, 0.4, 0.35})),
       test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d(0.1, 0.2, 1).normalized(), -0.1}, 0.5)});
  for (const char* name : {"left", "right"})
    spec.world.welds.push_back({.parent = "world", .child = std::string(name) + "::base"});
  return spec;
}

struct Rows { VectorXd s, tau, force; };

/// Everything that the derivative describes, at q, for fixed δ and forces; contacts as in `nominal`.
Rows evaluate(const scene::Scene& scene, const VectorXd& q, double margin, const AssembleOptions& options,
              const VectorXd& delta, const std::vector<std::array<double, 4>>& force, const ContactProblem& nominal,
              bool& is_same) {
  scene::SceneState state = scene.make_state();
  scene.update(q, state);
  scene.find_contacts(margin, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, options, problem);
  Rows rows{.s = VectorXd::Zero(3 * nominal.contacts.size()),
            .tau = VectorXd::Zero(scene.nv()),
            .force = VectorXd::Zero(3 * nominal.contacts.size())};
  is_same &= problem.contacts.size() == nominal.contacts.size();
  for (std::size_t i = 0; is_same && i < problem.contacts.size(); ++i) {
    const Contact& c = problem.contacts[i];
    is_same &= c.id == nominal.contacts[i].id && c.t1_W.dot(nominal.contacts[i].t1_W) > 0.9;
    const auto block = problem.J.block(static_cast<int>(i));
    const auto cols = problem.J.cols(static_cast<int>(i));
    const Vector3d f(force[i][0], force[i][1], force[i][2]);
    Vector3d s(c.gap, 0, 0);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      s += block.col(k) * delta(cols[k]);
      rows.tau(cols[k]) += block.col(k).dot(f);
    }
    rows.s.segment<3>(3 * i) = s;
    rows.force.segment<3>(3 * i) = f(0) * c.n_W + f(1) * c.t1_W + f(2) * c.t2_W;
  }
  return rows;
}

TEST(ProblemDerivative, EachTermFollowsDifferencesAtFixedForcesAndMotion) {
  std::mt19937 rng(4);
  int contacts = 0;
  double columns_share = 0;
  const ShapeSpec shapes[] = {multibody::SphereSpec{0.06}, multibody::CapsuleSpec{0.03, 0.12},
                              multibody::BoxSpec{{0.1, 0.08, 0.12}}, multibody::EllipsoidSpec{{0.05, 0.06, 0.08}},
                              multibody::CylinderSpec{0.05, 0.1}};
  for (int trial = 0; trial < 10; ++trial) {
    scene::SceneSpec spec = crowd(shapes[trial % 5], shapes[(trial + 1) % 5], shapes[(trial / 5 + trial + 2) % 5]);
    spec.robots.push_back({.name = "right", .self_collision = true});
    spec.robots[0].stiffness.all = 1;
    const scene::Scene scene = test::build(spec);
    const AssembleOptions options{.midpoint_forces = trial % 2 == 1};
    const double margin = 0.2;
    VectorXd q;
    scene.model().integrate(scene.initial_configuration(), 0.3 * random_vector(scene.nv(), rng), q);
    const VectorXd delta = 0.3 * random_vector(scene.nv(), rng);
    scene::SceneState state = scene.make_state();
    scene.update(q, state);
    scene.find_contacts(margin, state);
    ContactProblem problem;
    Assembler(scene).assemble(state, options, problem);
    std::vector<std::array<double, 4>> force;
    for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
      const VectorXd f = random_vector(3, rng);
      force.push_back({f(0), f(1), f(2), 0});
    }
    ContactProblemDerivative derivative;
    RowDifferentiator(scene).differentiate(state, options, problem, delta, force, derivative);

    const int nv = scene.nv(), n = static_cast<int>(problem.contacts.size());
    MatrixXd s = MatrixXd::Zero(3 * n, nv), tau = MatrixXd::Zero(nv, nv), turn = MatrixXd::Zero(3 * n, nv),
             columns = tau;
    for (int i = 0; i < n; ++i) {
      const auto cols = derivative.ds.cols(i);
      for (std::size_t k = 0; k < cols.size(); ++k) {
        s.col(cols[k]).segment<3>(3 * i) = derivative.ds.block(i).col(k);
        turn.col(cols[k]).segment<3>(3 * i) = derivative.turn.block(i).col(k);
        for (std::size_t r = 0; r < cols.size(); ++r) tau(cols[r], cols[k]) += derivative.dtau.block(i)(r, k);
      }
    }
    for (const auto& entry : derivative.dtau_columns) columns(entry.row, entry.col) += entry.value;
    MatrixXd s_expected(3 * n, nv), tau_expected(nv, nv), turn_expected(3 * n, nv);
    bool is_same = true;
    for (int v = 0; v < nv; ++v) {
      const VectorXd column = test::difference(
          [&](double step) -> VectorXd {
            VectorXd moved;
            scene.model().integrate(q, step * VectorXd::Unit(nv, v), moved);
            const Rows rows = evaluate(scene, moved, margin, options, delta, force, problem, is_same);
            VectorXd all(6 * n + nv);
            all << rows.s, rows.tau, rows.force;
            return all;
          },
          kStep);
      s_expected.col(v) = column.head(3 * n);
      tau_expected.col(v) = column.segment(3 * n, nv);
      turn_expected.col(v) = column.tail(3 * n);
    }
    if (!is_same) continue;
    // A nonsmooth point of one contact spoils its rows, and τ.
    bool is_smooth = true;
    for (int i = 0; i < n; ++i) {
      if (derivative.nonsmooth_points[i] != collision::NonsmoothPoint::kNone) {
        is_smooth = false;
        continue;
      }
      ++contacts;
      EXPECT_LT(test::relative_error(s.middleRows(3 * i, 3), s_expected.middleRows(3 * i, 3)), kTolerance)
          << trial << " contact " << i;
      EXPECT_LT(test::relative_error(turn.middleRows(3 * i, 3), turn_expected.middleRows(3 * i, 3)), kTolerance)
          << trial << " contact " << i;
    }
    if (!is_smooth) continue;
    EXPECT_LT(test::relative_error(tau + columns, tau_expected), kTolerance) << trial;
    columns_share = std::max(columns_share, test::relative_error(tau, tau_expected));
  }
  EXPECT_GE(contacts, 25);
  EXPECT_GT(columns_share, 1e-4) << "leaving out the turning columns is found";
}

TEST(ProblemDerivative, TangentsFollowTheNormal) {
  Eigen::Matrix3d T1, T2;
  Vector3d t1, t2, moved1, moved2;
  for (const scene::Plane plane : {scene::Plane::kSpace, scene::Plane::kXZ}) {
    const Vector3d n = plane == scene::Plane::kSpace ? Vector3d(0.2, -0.5, 0.8).normalized() : Vector3d(0.6, 0, 0.8);
    const Vector3d d = n.cross(plane == scene::Plane::kSpace ? Vector3d(1, 2, 3) : Vector3d::UnitY()).normalized();
    tangent_rates(n, plane, T1, T2);
    const VectorXd expected = test::difference(
        [&](double step) -> VectorXd {
          tangents((n + step * d).normalized(), plane, t1, t2);
          VectorXd both(6);
          both << t1, t2;
          return both;
        },
        1e-3);
    VectorXd both(6);
    both << T1 * d, T2 * d;
    EXPECT_LT(test::relative_error(both, expected), 1e-11);
  }
}

TEST(ProblemDerivative, RefusesAStateWithoutTheContactsOfTheProblem) {
  const scene::Scene scene =
      test::build(crowd(multibody::SphereSpec{0.06}, multibody::SphereSpec{0.05}, multibody::SphereSpec{0.08}));
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(0.3, state);
  ContactProblem problem;
  Assembler(scene).assemble(state, {}, problem);
  ASSERT_FALSE(problem.contacts.empty());
  const std::vector<std::array<double, 4>> force(problem.contacts.size());
  RowDifferentiator rows(scene);
  ContactProblemDerivative derivative;
  EXPECT_THROW(rows.differentiate(state, {}, problem, VectorXd::Zero(2), force, derivative), std::invalid_argument);
  EXPECT_THROW(rows.differentiate(state, {}, problem, VectorXd::Zero(scene.nv()), {}, derivative),
               std::invalid_argument);
  state.contacts.clear();
  EXPECT_THROW(rows.differentiate(state, {}, problem, VectorXd::Zero(scene.nv()), force, derivative),
               std::invalid_argument);
}

}  // namespace problem_derivative_test
}  // namespace deft::contact
