// The laws that every step model obeys, on random worlds and on the bundled scenes. A later model joins kModels.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <map>

#include "conformance/bundled_scenes.hpp"
#include "conformance/laws.hpp"
#include "conformance/random_scene.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::dynamics {
namespace conformance_test {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::RandomScenes;

constexpr scene::ModelKind kModels[] = {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder};

/// Where everything is at the end of a step, by name; of second order with velocities.
std::map<std::string, Eigen::Matrix4d> poses(const scene::Scene& scene, const VectorXd& q) {
  scene::SceneState state = scene.make_state();
  scene.update(q, state);
  std::map<std::string, Eigen::Matrix4d> all;
  const auto names = scene.names_bodies();
  for (std::size_t i = 0; i < names.size(); ++i) all[names[i]] = state.X_WB()[i].matrix();
  return all;
}

double largest_difference(const std::map<std::string, Eigen::Matrix4d>& a,
                          const std::map<std::string, Eigen::Matrix4d>& b,
                          const RigidTransform& X = RigidTransform::Identity()) {
  double worst = 0;
  for (const auto& [name, pose] : a) {
    if (name != "world") worst = std::max(worst, (X.matrix() * pose - b.at(name)).cwiseAbs().maxCoeff());
  }
  return worst;
}

/// How far from the optimum the motion of a step may be: ½‖δ − δ*‖²_Q is at most the complementarity left, r E0 per
/// row.
double uncertainty(const StepResult& result) {
  double softest = kInfinity;
  for (int k = 0; k < result.program.Q.num_blocks(); ++k) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(result.program.Q.block(k), Eigen::EigenvaluesOnly);
    softest = std::min(softest, eigen.eigenvalues()(0));
  }
  const auto& c = result.certificate;
  return std::sqrt(2 * static_cast<double>(result.program.contacts.size()) * c.max_scaled() * c.E0_J / softest);
}

/// Two steps, so that second-order models start the second one in motion.
struct TwoSteps {
  StepResult last;
  double uncertainty = 0;  // of the place at the end: a body in motion goes on by as much as it was off after one step
};

TwoSteps two_steps(const scene::Scene& scene, const VectorXd& u) {
  const auto model = make_step_model(scene);
  TwoSteps steps;
  State state{.q = scene.initial_configuration()};
  for (int k = 0; k < 2; ++k) {
    state.t = k * model->h();
    model->step(state, u, steps.last);
    steps.uncertainty = 2 * steps.uncertainty + uncertainty(steps.last);
    state.q = steps.last.q_next;
    state.v = steps.last.v_next;
  }
  return steps;
}

/// How far apart two solutions of the same steps may be.
double tolerance(const TwoSteps& a, const TwoSteps& b) { return 1e-7 + a.uncertainty + b.uncertainty; }

TEST(Conformance, RandomScenesObeyTheLawsOfContact) {
  RandomScenes random(1);
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    const VectorXd u = random.command();
    for (const scene::ModelKind kind : kModels) {
      spec.step.model = kind;
      for (const double kappa : {kInfinity, 1e3}) {
        spec.step.kappa = kappa;
        SCOPED_TRACE("scene " + std::to_string(k) + " model " + std::string(to_string(kind)) + " kappa " +
                     std::to_string(kappa));
        test::expect_contact_laws(two_steps(test::build(spec), u).last, std::isinf(kappa));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Conformance, ARigidMotionOfTheWorldMovesTheStepWithIt) {
  RandomScenes random(2);
  int compared = 0;
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    spec.step.cone = scene::Cone::kCone;  // a pyramid turns with its tangents only
    const VectorXd u = random.command();
    const RigidTransform X = make_transform(random.rotation(), {random.normal(), random.normal(), random.normal()});
    for (const scene::ModelKind kind : kModels) {
      spec.step.model = kind;
      const scene::Scene here = test::build(spec), there = test::build(test::moved(spec, X));
      const TwoSteps a = two_steps(here, u), b = two_steps(there, u);
      ASSERT_EQ(a.last.status, b.last.status) << k;
      EXPECT_LT(largest_difference(poses(here, a.last.q_next), poses(there, b.last.q_next), X), tolerance(a, b))
          << "scene " << k << " " << to_string(kind);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2000);
}

TEST(Conformance, NamesAndOrderOfBodiesDoNotMatter) {
  RandomScenes random(3);
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    const VectorXd u = random.command();
    scene::SceneSpec reversed = spec;
    std::reverse(reversed.world.models.begin(), reversed.world.models.end());
    for (const scene::ModelKind kind : kModels) {
      spec.step.model = reversed.step.model = kind;
      const scene::Scene a = test::build(spec), b = test::build(reversed);
      // Reversing the order swaps A and B of a pair, so that normals and the pyramid's first tangent turn around: the
      // same polygon.
      const TwoSteps x = two_steps(a, u), y = two_steps(b, u);
      EXPECT_LT(largest_difference(poses(a, x.last.q_next), poses(b, y.last.q_next)), tolerance(x, y))
          << "scene " << k << " " << to_string(kind);
    }
  }
}

/// Σ of the barrier's weights: the smoothed motion is at most that over κ above the least energy.
double barrier_weight(const solvers::contact::ContactProgram& program) {
  double sum = 0;
  for (int i = 0; i < program.J.size(); ++i) {
    sum += program.contacts[i].frictionless        ? 1
           : solvers::contact::is_cone(program, i) ? 2
           : program.J.rows(i) == 2                ? 2
                                                   : program.rays;
  }
  for (const auto* bound : {&program.lower, &program.upper})
    sum += static_cast<double>(bound->array().isFinite().count());
  return sum;
}

TEST(Conformance, SmoothedStepsConvergeToTheExactOneAsFastAsTheirBarrierSays) {
  RandomScenes random(4);
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    spec.step.effort_limits = false;  // the bound below is that of a fixed Q
    const VectorXd u = random.command();
    for (const scene::ModelKind kind : kModels) {
      spec.step.model = kind;
      const auto step = [&](double kappa) {
        spec.step.kappa = kappa;
        const scene::Scene scene = test::build(spec);
        const auto model = make_step_model(scene);
        StepResult result;
        model->step(State{.q = scene.initial_configuration()}, u, result);
        EXPECT_EQ(result.status, solvers::Status::kSolved) << k;
        return result;
      };
      const StepResult exact = step(kInfinity);
      for (const double kappa : {1e2, 1e4, 1e6}) {
        const StepResult smoothed = step(kappa);
        const VectorXd difference = smoothed.delta - exact.delta;
        const double energy = 0.5 * quadratic_form(exact.program.Q, difference);
        // ½‖δ_κ − δ‖²_Q ≤ E(δ_κ) − E(δ) ≤ Σ weights/κ.
        EXPECT_LE(energy, barrier_weight(exact.program) / kappa + 1e-9) << "scene " << k << " kappa " << kappa;
      }
    }
  }
}

TEST(Conformance, AStepFromRestWithoutPenetrationLowersTheEnergy) {
  RandomScenes random(5);
  for (int k = 0; k < 1000; ++k) {
    const scene::Scene scene = test::build(random.next());
    const auto model = make_step_model(scene);
    StepResult result;
    model->step(scene.initial_configuration(), random.command(), result);
    double deepest = 0;
    for (const auto& contact : result.problem.contacts) deepest = std::min(deepest, contact.gap);
    // Not to move is allowed then, and has energy 0.
    if (deepest >= 0) {
      EXPECT_LE(result.energy, 1e-12) << k;
    }
  }
}

TEST(Conformance, SecondOrderBodiesLeftAloneLoseEnergy) {
  RandomScenes random(6);
  for (int k = 0; k < 300; ++k) {
    scene::SceneSpec spec = random.next();
    spec.step.model = scene::ModelKind::kConvexSecondOrder;
    spec.step.h = 0.005;
    spec.wrenches.clear();
    const scene::Scene scene = test::build(spec);
    const auto model = make_step_model(scene);
    StepResult result;
    State state{.q = scene.initial_configuration()};
    const VectorXd u = VectorXd::Zero(3);
    double last = kInfinity, scale = 0;
    for (int step = 0; step < 40; ++step) {
      model->step(state, u, result);
      ASSERT_TRUE(solvers::usable(result.status)) << k;
      scale = std::max(scale, std::abs(result.energy));
      // Explicit gyroscopic forces and the curvature of contact may add a little, of second order in h.
      EXPECT_LE(result.energy, last + 1e-4 * scale + 1e-9) << "scene " << k << " step " << step;
      last = result.energy;
      state = {.q = result.q_next, .v = result.v_next, .t = (step + 1) * 0.005};
    }
  }
}

/// Its status and motion, as a step of length h from rest.
StepResult first_step(scene::SceneSpec spec, scene::Dynamics dynamics, double h, const VectorXd& u) {
  spec.step.dynamics = dynamics;
  spec.step.h = h;
  const scene::Scene scene = test::build(spec);
  const auto model = make_step_model(scene);
  StepResult result;
  model->step(scene.initial_configuration(), u, result);
  return result;
}

TEST(Conformance, QuasistaticIsTheLimitOfQuasidynamic) {
  // A row of balls on a line, pushed: Q_u = M/h² vanishes as h grows, and the motion becomes the quasistatic one.
  std::vector<multibody::ModelSpec> models;
  for (int i = 0; i < 4; ++i) {
    models.push_back(test::body(i == 0 ? "finger" : "ball" + std::to_string(i), multibody::JointKind::kAxes,
                                {test::slide("x", Vector3d::UnitX())}, multibody::SphereSpec{0.1}, 1 + i, 0.004, 0.5,
                                test::at(0.21 * i, 0, 0)));
  }
  scene::SceneSpec spec = test::scene_spec(models, {{"finger", 500}});
  const auto step = [&](scene::Dynamics dynamics, double h) {
    const StepResult result = first_step(spec, dynamics, h, VectorXd::Constant(1, 0.06));
    EXPECT_TRUE(solvers::usable(result.status));
    return result.delta;
  };
  const VectorXd limit = step(scene::Dynamics::kQuasistatic, 1);
  EXPECT_NEAR(limit[3], 0.03, 1e-8);
  double last = 1;
  for (const double h : {1.0, 10.0, 100.0}) {
    const double difference = (step(scene::Dynamics::kQuasidynamic, h) - limit).norm();
    EXPECT_LT(difference, 0.02 * last) << h;
    last = difference;
  }
}

TEST(Conformance, QuasistaticIsTheLimitOfQuasidynamicOnRandomScenes) {
  RandomScenes random(7);
  int compared = 0;
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    spec.wrenches.clear();  // their mean over the step depends on its length
    spec.step.joint_damping.all = 0;
    const VectorXd u = random.command();
    const StepResult limit = first_step(spec, scene::Dynamics::kQuasistatic, 1, u);
    if (!solvers::usable(limit.status)) continue;  // nothing carries some body
    ++compared;
    double last = kInfinity;
    for (const double h : {1.0, 10.0, 100.0}) {
      const StepResult near = first_step(spec, scene::Dynamics::kQuasidynamic, h, u);
      ASSERT_TRUE(solvers::usable(near.status)) << k;
      const double difference = (near.delta - limit.delta).cwiseAbs().maxCoeff();
      EXPECT_LT(difference, 0.1 * last + 1e-7 + uncertainty(near)) << "scene " << k << " h " << h;
      last = difference;
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(Conformance, BundledScenesObeyTheLawsOfContact) {
  const std::vector<std::string> files = test::bundled_scenes();
  const std::vector<std::vector<std::string>> kinds = {{"step.model=convex"},
                                                       {"step.model=convex", "step.cone=cone"},
                                                       {"step.model=convex", "step.kappa=1000"},
                                                       {"step.model=convex-second-order", "step.h=0.005"}};
  for (const std::string& file : files) {
    for (const auto& settings : kinds) {
      SCOPED_TRACE(file + " " + settings.front() + " " + settings.back());
      const scene::Scene scene = test::load_bundled(file, settings);
      const auto model = make_step_model(scene);
      const bool exact = std::isinf(scene.settings().step.kappa);
      State state = initial_state(*model);
      StepResult result;
      VectorXd u(scene.nu());
      for (int k = 0; k < 12; ++k) {
        state.t = k * model->h();
        scene.command(state.t, model->h(), u);
        model->step(state, u, result);
        test::expect_contact_laws(result, exact);
        if (HasFatalFailure()) return;
        state.q = result.q_next;
        state.v = result.v_next;
      }
    }
  }
  EXPECT_GE(files.size(), 20u);
}

}  // namespace conformance_test
}  // namespace deft::dynamics
