// The laws of exact Coulomb friction, on random worlds and on the bundled scenes.

#include <gtest/gtest.h>

#include <map>

#include "conformance/bundled_scenes.hpp"
#include "conformance/laws.hpp"
#include "conformance/random_scene.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"

namespace deft::dynamics {
namespace coulomb_conformance_test {

using Eigen::VectorXd;
using scene::ModelKind;
using solvers::Status;
using test::RandomScenes;

/// A random scene without what these models do not have.
scene::SceneSpec with_polygons(scene::SceneSpec spec, ModelKind model) {
  spec.step.model = model;
  spec.step.cone = scene::Cone::kPyramid;
  spec.step.effort_limits = false;
  std::erase_if(spec.friction.pairs, [](const auto& pair) { return pair.ellipsoid.has_value(); });
  return spec;
}

TEST(CoulombConformance, SecondOrderStepsOfRandomScenesObeyTheLaws) {
  RandomScenes random(21);
  for (int k = 0; k < 400; ++k) {
    scene::SceneSpec spec = with_polygons(random.next(), ModelKind::kStewartTrinkle);
    spec.step.rays = 4 + 2 * (k % 4);
    const VectorXd u = random.command();
    const scene::Scene scene = test::build(std::move(spec));
    const auto model = make_step_model(scene);
    State state{.q = scene.initial_configuration()};
    StepResult result;
    for (int step = 0; step < 3; ++step) {
      SCOPED_TRACE("scene " + std::to_string(k) + " step " + std::to_string(step));
      state.t = step * model->h();
      model->step(state, u, result);
      test::expect_coulomb_laws(result);
      if (HasFatalFailure()) return;
      state.q = result.q_next;
      state.v = result.v_next;
    }
  }
}

/// The law at round cones: no penetration, no force at a distance, forces in the cone and against the sliding.
void expect_law_of_cones(const StepResult& result) {
  ASSERT_LE(result.certificate.max_scaled(), solvers::contact::kCertified);
  double force_scale = 1e-9, length_scale = result.delta.lpNorm<Eigen::Infinity>();
  for (const auto& f : result.solution.force) force_scale = std::max(force_scale, f[0]);
  const double energy = 1e-7 * force_scale * length_scale + 1e-10 + 1e-9 * result.certificate.E0_J;
  for (int i = 0; i < result.program.J.size(); ++i) {
    const auto& f = result.solution.force[i];
    const contact::Contact& contact = result.problem.contacts[i];
    const Eigen::Vector4d motion = test::contact_motion(result, i);
    const double gap = contact.gap + motion[0];
    EXPECT_GE(gap, -1e-8 * length_scale - 1e-10) << "contact " << i;
    EXPECT_NEAR(f[0] * gap, 0, energy) << "contact " << i;
    const Eigen::Vector3d e(contact.ellipsoid[0], contact.ellipsoid[1], contact.ellipsoid[2]);
    const double mu = contact.frictionless ? 0 : contact.mu, slip = motion.tail<3>().cwiseProduct(e).norm();
    const Eigen::Vector3d friction(f[1], f[2], f[3]);
    EXPECT_LE(friction.cwiseQuotient(e).norm(), mu * f[0] + 1e-7 * force_scale + 1e-12) << "contact " << i;
    EXPECT_NEAR(friction.dot(motion.tail<3>()), -mu * f[0] * slip, energy) << "contact " << i;
  }
}

// The convex steps under Coulomb's law, a fixed point of their gaps, always find it: cones and pyramids, both orders.
TEST(CoulombConformance, ConvexStepsUnderCoulombsLawObeyIt) {
  for (const ModelKind kind : {ModelKind::kConvex, ModelKind::kConvexSecondOrder}) {
    for (const scene::Cone cone : {scene::Cone::kCone, scene::Cone::kPyramid}) {
      RandomScenes random(23);
      for (int k = 0; k < 100; ++k) {
        scene::SceneSpec spec = random.next();
        if (cone == scene::Cone::kPyramid) spec = with_polygons(std::move(spec), kind);
        spec.step.model = kind;
        spec.step.cone = cone;
        spec.step.kappa = kInfinity;
        spec.step.compliance = 0;
        spec.step.friction_law = scene::FrictionLaw::kCoulomb;
        const VectorXd u = random.command();
        const scene::Scene scene = test::build(std::move(spec));
        const auto model = make_step_model(scene);
        State state{.q = scene.initial_configuration()};
        StepResult result;
        for (int step = 0; step < 3; ++step) {
          SCOPED_TRACE("scene " + std::to_string(k) + " step " + std::to_string(step) + " " +
                       std::string(to_string(kind)) + " " + std::string(to_string(cone)));
          state.t = step * model->h();
          model->step(state, u, result);
          ASSERT_EQ(result.status, Status::kSolved);
          if (cone == scene::Cone::kPyramid)
            test::expect_coulomb_laws(result);
          else
            expect_law_of_cones(result);
          if (HasFatalFailure()) return;
          state.q = result.q_next;
          state.v = result.v_next;
        }
      }
    }
  }
}

/// A hand that holds an object in a step of 0.1 s.
struct Grip {
  const char* scene;
  std::vector<double> q, u;
};

// Steps of hands that squeeze, where the fixed points of barriers turn back to softer ones on the way to the exact one:
// the associated law has a solution, and so has Coulomb's.
TEST(CoulombConformance, StepsWhosePathOfBarriersTurnsBackObeyTheLaw) {
  const Grip grips[] = {
      {"allegro_ball",
       {0.217844134, 0.161237918,  0.865797614, 0.77083751,  0.47,         0.469442794,    1.13598938, 0.827962149,
        -0.17449787, 1.23252704,   0.573621122, 0.571635704, 0.922517221,  -0.0808352583,  1.60142844, 0.632092279,
        0.979276778, 0.0677763456, 0.107432778, 0.157738892, -0.075686088, -0.00306324712, 0.0711},
       {0.217746087, 0.161168349, 0.865797614, 0.77083751, 0.442935959, 0.477322642, 1.21680993, 0.888030762,
        -0.316118731, 1.44585207, 0.581403815, 0.519512981, 0.870231183, -0.105, 1.51446407, 0.629024481}},
      {"allegro_cube",
       {-0.397951824, 1.52972147,    0.848644706,   0.680644006, -0.3597849,    1.36514913,    1.2155576,   1.02374406,
        -0.010172817, 1.56039627,    1.02029008,    0.262353933, 1.396,         0.345985903,   1.41719088,  1.4246825,
        0.913727416,  -0.0526205847, -0.0231645478, 0.40223959,  -0.0115138461, -0.0290960158, 0.0443476657},
       {-0.363832599, 1.46916818, 0.738375998, 0.603229313, -0.238825986, 1.23695234, 1.12376122, 0.990431627,
        0.035190452, 1.61, 0.99018688, 0.230883252, 1.396, 0.239277683, 1.33050221, 1.42388638}},
      {"allegro_ball",
       {-0.47,        0.073256318,  1.70497089,    1.58670851,     -0.160021287, 0.832037264,
        0.643026732,  0.460131237,  -0.0774694283, 0.801165063,    0.838680147,  0.906534966,
        1.02236858,   1.14950328,   0.421673387,   0.248134027,    0.99985821,   0.0105246054,
        0.0112045166, 0.0068739807, -0.0787257367, 0.000597243885, 0.0711},
       {-0.47, 0.0921295854, 1.70313371, 1.57152805, -0.226449253, 1.00880289, 0.674979138, 0.465422719, -0.166625504,
        0.864725696, 0.872748399, 0.913400117, 0.864796904, 1.02556341, 0.426779287, 0.255276067}},
  };
  for (const Grip& grip : grips) {
    const scene::Scene scene = test::load_bundled(
        std::string(DEFT_SOURCE_DIR) + "/scenes/planning/" + grip.scene + ".deft.yaml", {"step.friction_law=coulomb"});
    const auto model = make_step_model(scene);
    StepResult result;
    model->step(Eigen::Map<const VectorXd>(grip.q.data(), scene.nq()),
                Eigen::Map<const VectorXd>(grip.u.data(), scene.nu()), result);
    ASSERT_EQ(result.status, Status::kSolved) << grip.scene;
    test::expect_coulomb_laws(result);
  }
}

// Quasistatic steps may have no solution; those that have one obey the laws, and others are not said to be solved.
TEST(CoulombConformance, QuasistaticStepsOfRandomScenesObeyTheLawsOrHaveNoSolution) {
  RandomScenes random(22);
  std::map<Status, int> counts;
  for (int k = 0; k < 120; ++k) {
    scene::SceneSpec spec = random.next();
    spec.gravity_W.head<2>() *= 0.1;
    const VectorXd u = random.command();
    for (const ModelKind kind : {ModelKind::kImpedance, ModelKind::kPerfectTracking}) {
      const scene::Scene scene = test::build(with_polygons(spec, kind));
      const auto model = make_step_model(scene);
      StepResult result;
      model->step(scene.initial_configuration(), u, result);
      SCOPED_TRACE("scene " + std::to_string(k) + " " + std::string(to_string(kind)) + " " +
                   std::string(solvers::to_string(result.status)));
      ++counts[result.status];
      if (solvers::usable(result.status)) {
        test::expect_coulomb_laws(result);
        if (HasFatalFailure()) return;
      } else {
        EXPECT_NE(result.status, Status::kUnbounded);
        EXPECT_NE(result.status, Status::kNumericalFailure);
        EXPECT_EQ(result.delta, VectorXd::Zero(scene.nv()));
        if (result.status == Status::kInfeasible) {
          EXPECT_LE(result.certificate.infeasible, solvers::contact::kCertified);
        }
      }
    }
  }
  EXPECT_GT(counts[Status::kSolved], 20);
  EXPECT_GT(counts[Status::kInfeasible], 50);
  EXPECT_LE(counts[Status::kRayTermination], 5) << "statuses are found";
}

TEST(CoulombConformance, BundledScenesObeyTheLaws) {
  for (const std::string& file : test::bundled_scenes()) {
    SCOPED_TRACE(file);
    const scene::Scene scene = test::load_bundled(file, {"step.model=stewart-trinkle", "step.h=0.005", "step.kappa=inf",
                                                         "step.cone=pyramid", "step.effort_limits=false"});
    const auto model = make_step_model(scene);
    State state = initial_state(*model);
    StepResult result;
    VectorXd u(scene.nu());
    for (int k = 0; k < 3; ++k) {
      state.t = k * model->h();
      scene.command(state.t, model->h(), u);
      model->step(state, u, result);
      test::expect_coulomb_laws(result);
      if (HasFatalFailure()) return;
      state.q = result.q_next;
      state.v = result.v_next;
    }
  }
}

}  // namespace coulomb_conformance_test
}  // namespace deft::dynamics
