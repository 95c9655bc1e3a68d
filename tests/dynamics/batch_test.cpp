// Batches: the same numbers as steps one by one, whatever the threads; bad items harm nobody; stopped batches keep what
// they have.

#include "deft/dynamics/batch/batch.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "support/scene_builder.hpp"

namespace deft::dynamics {
namespace batch_test {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using test::at;
using test::slide;

/// A finger on three slides beside a box and a ball on a floor.
scene::SceneSpec finger_scene() {
  scene::SceneSpec spec = test::scene_spec(
      {test::body("finger", JointKind::kAxes,
                  {slide("x", Vector3d::UnitX()), slide("y", Vector3d::UnitY()), slide("z", Vector3d::UnitZ())},
                  multibody::SphereSpec{0.05}, 1, 0.001, 0.7),
       test::free_body("ball", multibody::SphereSpec{0.1}, 0.5, 0.002, 0.7, at(0.2, 0.01, 0.1)),
       test::free_body("box", multibody::BoxSpec{{0.2, 0.2, 0.2}}, 1, 0.007, 0.5, at(0, 0.3, 0.1)),
       test::fixed_body("floor", multibody::BoxSpec{{2, 2, 0.2}}, 0.5, at(0, 0, -0.1))},
      {{"finger", 300}});
  spec.gravity_W = {0, 0, -9.81};
  spec.step.contact_margin = 0.05;
  return spec;
}

/// Starts and commands scattered about the initial ones.
BatchInput scattered(const scene::Scene& scene, int count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  BatchInput input{.q = scene.initial_configuration().replicate(1, count), .u = MatrixXd(scene.nu(), count)};
  for (int i = 0; i < count; ++i) {
    VectorXd shift = VectorXd::NullaryExpr(scene.nv(), [&] { return 0.004 * normal(random); });
    VectorXd q;
    scene.model().integrate(scene.initial_configuration(), shift, q);
    const auto at = scene.command_coordinates();
    for (int k = 0; k < scene.nu(); ++k) {
      q(at[k]) = 0.05 * (k == 2) + 0.03 * normal(random);
      input.u(k, i) = q(at[k]) + 0.1 * normal(random);
    }
    input.q.col(i) = q;
  }
  return input;
}

bool same_bits(const MatrixXd& a, const MatrixXd& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * to_size(a.size())) == 0);
}

void expect_same(const BatchResult& a, const BatchResult& b) {
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.nonsmooth, b.nonsmooth);
  EXPECT_EQ(a.errors, b.errors);
  EXPECT_TRUE(same_bits(a.q_next, b.q_next));
  EXPECT_TRUE(same_bits(a.delta, b.delta));
  EXPECT_TRUE(same_bits(a.v_next, b.v_next));
  EXPECT_TRUE(same_bits(a.A, b.A));
  EXPECT_TRUE(same_bits(a.B, b.B));
  EXPECT_EQ(a.contact_offset, b.contact_offset);
  ASSERT_EQ(a.contacts.size(), b.contacts.size());
  for (std::size_t i = 0; i < a.contacts.size(); ++i) {
    EXPECT_EQ(a.contacts[i].a, b.contacts[i].a);
    EXPECT_EQ(a.contacts[i].force_W, b.contacts[i].force_W);
    EXPECT_EQ(a.contacts[i].point_W, b.contacts[i].point_W);
  }
}

BatchOptions everything() { return {.jacobians = BatchJacobians::kAB, .contacts = true}; }

TEST(Batch, EqualsStepsOneByOne) {
  const scene::Scene scene = test::build(finger_scene());
  const BatchInput input = scattered(scene, 20);
  BatchOptions options = everything();
  options.chunk = 1;
  Batch batch(scene);
  BatchResult result;
  batch.run(input, options, result);
  ASSERT_TRUE(result.completed());
  const auto model = make_step_model(scene);
  StepDifferentiator differentiator(scene);
  StepResult step;
  StepDerivative derivative;
  double largest_force = 0;
  for (int i = 0; i < 20; ++i) {
    const VectorXd q = input.q.col(i), u = input.u.col(i);
    model->reset();
    model->step(q, u, step);
    differentiator.linearize(q, u, step);
    differentiator.jacobians(derivative);
    EXPECT_EQ(result.state[i], ItemState::kDone);
    EXPECT_TRUE(same_bits(result.q_next.col(i), step.q_next));
    EXPECT_TRUE(same_bits(result.A_of(i), derivative.A));
    EXPECT_TRUE(same_bits(result.B_of(i), derivative.B));
    EXPECT_EQ(result.nonsmooth[i] != 0, differentiator.is_nonsmooth());
    ASSERT_EQ(result.contact_offset[i + 1] - result.contact_offset[i], step.problem.contacts.size());
    for (std::size_t k = 0; k < step.problem.contacts.size(); ++k) {
      const BatchContact& contact = result.contacts[result.contact_offset[i] + k];
      const Vector3d force_W(contact.force_W.data());
      EXPECT_NEAR(force_W.dot(step.problem.contacts[k].n_W), step.solution.force[k][0], 1e-12 * (1 + force_W.norm()));
      largest_force = std::max(largest_force, force_W.norm());
    }
  }
  EXPECT_GT(largest_force, 1);  // the finger does touch
}

TEST(Batch, WithoutVelocitiesItStartsAtRestWhateverItRanBefore) {
  scene::SceneSpec spec = finger_scene();
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  const scene::Scene scene = test::build(spec);
  BatchInput at_rest = scattered(scene, 5), moving = at_rest;
  moving.v = MatrixXd::Constant(scene.nv(), 5, 0.1);
  BatchResult fresh, after;
  Batch(scene).run(at_rest, {.threads = 1}, fresh);
  Batch batch(scene);
  batch.run(moving, {.threads = 1}, after);
  EXPECT_FALSE(same_bits(after.v_next, fresh.v_next));
  batch.run(at_rest, {.threads = 1}, after);
  EXPECT_TRUE(same_bits(after.v_next, fresh.v_next));
}

TEST(Batch, IsTheSameForAnyNumberOfThreads) {
  for (const double kappa : {kInfinity, 200.0}) {
    scene::SceneSpec spec = finger_scene();
    spec.step.kappa = kappa;
    const scene::Scene scene = test::build(spec);
    const BatchInput input = scattered(scene, 101);
    BatchResult one, other;
    BatchOptions options = everything();
    options.threads = 1;
    Batch(scene).run(input, options, one);
    ASSERT_EQ(std::count(one.state.begin(), one.state.end(), ItemState::kDone), 101);
    Batch batch(scene);  // the second run finds what the first one left
    for (const int threads : {2, 7}) {
      options.threads = threads;
      batch.run(input, options, other);
      expect_same(one, other);
    }
  }
}

TEST(Batch, StepsAtAnotherKappaIfAsked) {
  scene::SceneSpec spec = finger_scene();
  spec.step.kappa = 50;
  const scene::Scene smooth = test::build(spec), exact = test::build(finger_scene());
  const BatchInput input = scattered(exact, 10);
  BatchResult a, b;
  Batch batch(exact);
  batch.run(input, {.kappa = 50}, a);
  Batch(smooth).run(input, {}, b);
  expect_same(a, b);
  batch.run(input, {}, a);  // not for good
  Batch(smooth).run(input, {.kappa = kInfinity}, b);
  expect_same(a, b);
}

TEST(Batch, SecondOrderStepsCarryTheVelocity) {
  scene::SceneSpec spec = finger_scene();
  spec.step.model = scene::ModelKind::kConvexSecondOrder;
  spec.step.h = 0.01;
  const scene::Scene scene = test::build(spec);
  BatchInput input = scattered(scene, 9);
  input.v = VectorXd::LinSpaced(scene.nv(), -0.1, 0.2);
  BatchResult result;
  Batch(scene).run(input, {.jacobians = BatchJacobians::kAB, .threads = 2}, result);
  ASSERT_TRUE(result.completed());
  const auto model = make_step_model(scene);
  StepResult step;
  StepDerivative derivative;
  StepDifferentiator differentiator(scene);
  model->step(State{.q = input.q.col(0), .v = input.v.col(0)}, input.u.col(0), step);
  EXPECT_TRUE(same_bits(result.v_next.col(0), step.v_next));
  differentiator.linearize(State{.q = input.q.col(0), .v = input.v.col(0)}, input.u.col(0), step);
  differentiator.jacobians(derivative);
  EXPECT_TRUE(same_bits(result.of(result.A, 0), derivative.A));
  EXPECT_TRUE(same_bits(result.of(result.A_v, 0), derivative.A_v));
  EXPECT_TRUE(same_bits(result.of(result.dv_dq, 0), derivative.dv_dq));
  EXPECT_TRUE(same_bits(result.of(result.dv_dv, 0), derivative.dv_dv));
  EXPECT_TRUE(same_bits(result.of(result.dv_du, 0), derivative.dv_du));
  Batch(scene).run(input, {}, result);
  EXPECT_EQ(result.A.size() + result.B.size() + result.A_v.size() + result.dv_du.size(), 0);
}

TEST(Batch, BadItemsCarryTheirStateAndHarmNobody) {
  scene::SceneSpec spec = finger_scene();
  spec.step.dynamics = scene::Dynamics::kQuasistatic;
  const scene::Scene scene = test::build(spec);
  BatchInput input = scattered(scene, 4);
  input.q = scene.initial_configuration().replicate(1, 4);
  input.q(2, 1) = std::nan("");
  const int ball = scene.objects()[0].first_q;
  input.q(ball + 6, 2) += 1;  // in the air: nothing holds it
  BatchResult result;
  BatchOptions options = everything();
  options.chunk = 2;
  Batch(scene).run(input, options, result);
  using enum ItemState;
  EXPECT_EQ(result.state, (std::vector{kDone, kError, kFailed, kDone}));
  EXPECT_EQ(result.status[2], solvers::Status::kUnbounded);
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].first, 1);
  EXPECT_NE(result.errors[0].second.find("not finite"), std::string::npos);
  EXPECT_TRUE(result.q_next.col(1).array().isNaN().all());
  EXPECT_TRUE(result.B.col(2).array().isNaN().all());
  EXPECT_TRUE(result.q_next.col(2) == input.q.col(2));  // a failed step moves nothing
  EXPECT_TRUE(result.B.col(3).allFinite());
  EXPECT_TRUE(result.completed());
}

TEST(Batch, OneColumnIsForAllItems) {
  const scene::Scene scene = test::build(finger_scene());
  BatchInput input = scattered(scene, 5);
  input.q = MatrixXd(input.q.col(0));
  BatchResult shared, spread;
  Batch batch(scene);
  batch.run(input, {}, shared);
  input.q = input.q.replicate(1, 5).eval();
  batch.run(input, {}, spread);
  EXPECT_EQ(shared.size(), 5);
  expect_same(shared, spread);
  input.u.resize(scene.nu(), 0);
  input.q.resize(scene.nq(), 0);
  batch.run(input, everything(), shared);
  EXPECT_EQ(shared.size(), 0);
  EXPECT_TRUE(shared.completed());
}

// A model that steps again from the same configuration keeps its kinematics and contacts; nothing may have touched
// them.
TEST(Batch, AnotherStepFromTheSameStartHasTheProblemOfAFreshModel) {
  for (const scene::ModelKind kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
    scene::SceneSpec spec = finger_scene();
    spec.step.model = kind;
    spec.step.robot_gravity = true;
    const scene::Scene scene = test::build(spec);
    const BatchInput input = scattered(scene, 2);
    const State start{.q = input.q.col(0), .v = VectorXd::LinSpaced(scene.nv(), -0.1, 0.2)};
    const VectorXd u0 = input.u.col(0), u1 = input.u.col(1);
    StepResult again, fresh;
    const auto model = make_step_model(scene);
    model->step(start, u0, again);
    StepDifferentiator differentiator(scene);
    StepDerivative derivative;
    differentiator.linearize(*model, start, u0, again);  // uses what the model keeps
    differentiator.jacobians(derivative);
    model->step(start, u0, again);  // makes again what it lent
    model->step(start, u1, again);  // from what it keeps
    make_step_model(scene)->step(start, u1, fresh);
    const contact::ContactProblem &a = again.problem, &b = fresh.problem;
    EXPECT_TRUE(same_bits(a.b, b.b));
    ASSERT_EQ(a.Q.num_blocks(), b.Q.num_blocks());
    for (int k = 0; k < a.Q.num_blocks(); ++k) EXPECT_TRUE(same_bits(a.Q.block(k), b.Q.block(k)));
    ASSERT_EQ(a.J.size(), b.J.size());
    EXPECT_GT(a.J.size(), 4);
    for (int k = 0; k < a.J.size(); ++k) {
      EXPECT_TRUE(same_bits(a.J.block(k), b.J.block(k)));
      EXPECT_EQ(a.contacts[k].gap, b.contacts[k].gap);
      EXPECT_EQ(a.contacts[k].id, b.contacts[k].id);
    }
  }
}

TEST(Batch, RefusesWrongSizesBeforeItBegins) {
  const scene::Scene scene = test::build(finger_scene());
  const BatchInput good = scattered(scene, 3);
  Batch batch(scene);
  BatchResult result;
  const auto message = [&](const BatchInput& input, const BatchOptions& options = {}) -> std::string {
    try {
      batch.run(input, options, result);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(good), "");
  BatchInput bad = good;
  bad.u = MatrixXd::Zero(scene.nu() + 1, 3);
  EXPECT_EQ(message(bad), "batch: u has 4 rows, the scene needs 3");
  bad = good;
  bad.q = good.q.leftCols(2);
  EXPECT_EQ(message(bad), "batch: u has 3 columns, others have 2; 1 or as many");
  bad = good;
  bad.v = MatrixXd::Zero(2, 3);
  EXPECT_NE(message(bad).find("v has 2 rows"), std::string::npos);
  EXPECT_NE(message(good, {.chunk = 0}).find("chunk"), std::string::npos);
  EXPECT_NE(message(good, {.threads = -1}).find("threads"), std::string::npos);
}

TEST(Batch, AStoppedBatchKeepsWhatItHas) {
  const scene::Scene scene = test::build(finger_scene());
  const BatchInput input = scattered(scene, 200);
  BatchResult whole, part;
  Batch batch(scene);
  batch.run(input, everything(), whole);
  for (const int threads : {1, 2}) {
    std::stop_source source;
    std::vector<int> reports;
    BatchOptions options = everything();
    options.threads = threads;
    options.stop = source.get_token();
    options.on_progress = [&](int done, int total) {
      EXPECT_EQ(total, 200);
      reports.push_back(done);
      if (done > 20) source.request_stop();
    };
    batch.run(input, options, part);
    // A second thread may be through before the first one reports.
    EXPECT_TRUE(part.done == 24 || threads > 1);
    EXPECT_EQ(part.done, 200 - std::count(part.state.begin(), part.state.end(), ItemState::kNotDone));
    EXPECT_EQ(reports.back(), part.done);
    EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
    for (int i = 0; i < 200; ++i) {
      if (part.state[i] == ItemState::kNotDone) {
        EXPECT_TRUE(part.q_next.col(i).array().isNaN().all() && part.A.col(i).array().isNaN().all());
        EXPECT_EQ(part.contact_offset[i], part.contact_offset[i + 1]);
      } else {
        EXPECT_TRUE(same_bits(part.q_next.col(i), whole.q_next.col(i)));
        EXPECT_TRUE(same_bits(part.A.col(i), whole.A.col(i)));
      }
    }
  }
}

TEST(Batch, WhatTheReportThrowsArrives) {
  const scene::Scene scene = test::build(finger_scene());
  const BatchInput input = scattered(scene, 40);
  BatchOptions options{.threads = 2};
  options.on_progress = [](int, int) { throw std::runtime_error("enough"); };
  Batch batch(scene);
  BatchResult result;
  EXPECT_THROW(batch.run(input, options, result), std::runtime_error);
  options.on_progress = nullptr;
  batch.run(input, options, result);
  EXPECT_TRUE(result.completed());
}

}  // namespace batch_test
}  // namespace deft::dynamics
