// Every model's derivatives against differences of its own steps, on random worlds and on the bundled scenes.

#include <gtest/gtest.h>

#include <optional>

#include "conformance/bundled_scenes.hpp"
#include "conformance/random_scene.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "support/differences.hpp"

namespace deft::dynamics {
namespace gradient_test {

using Eigen::VectorXd;
using test::RandomScenes;

/// A line through (q, u) along random directions, the step along it, and its derivative.
class Line {
 public:
  Line(const scene::Scene& scene, State start, VectorXd u, RandomScenes& random)
      : scene_(scene),
        model_(make_step_model(scene)),
        differentiator_(scene),
        start_(std::move(start)),
        u_(std::move(u)) {
    const auto normal = [&](int size) {
      return VectorXd(VectorXd::NullaryExpr(size, [&] { return random.normal(); }));
    };
    dq_ = normal(scene.nv());
    du_ = normal(scene.nu());
    model_->step(start_, u_, nominal_);
  }

  bool solved() const { return nominal_.status == solvers::Status::kSolved; }

  /// Relative error of A dq + B du, nothing where the step has a nonsmooth point or contacts come and go within the
  /// stencil.
  std::optional<double> error() {
    differentiator_.linearize(start_, u_, nominal_);
    const VectorXd computed = differentiator_.forward(dq_, du_);
    if (differentiator_.is_nonsmooth()) return std::nullopt;
    std::optional<double> best;
    for (const double eta : {1e-4, 1e-5, 1e-6, 1e-7}) {
      bool is_same = true;
      const VectorXd expected = test::difference([&](double s) { return shift(s, is_same); }, eta);
      if (is_same) best = std::min(best.value_or(kInfinity), test::relative_error(computed, expected));
    }
    return best;
  }

 private:
  VectorXd shift(double s, bool& is_same) {
    State moved = start_;
    scene_.model().integrate(start_.q, s * dq_, moved.q);
    StepResult result;
    model_->reset();
    model_->step(moved, u_ + s * du_, result);
    const auto& a = nominal_.problem.contacts;
    const auto& b = result.problem.contacts;
    is_same = is_same && result.status == solvers::Status::kSolved && is_as_closed(result) &&
              std::equal(a.begin(), a.end(), b.begin(), b.end(),
                         [](const auto& x, const auto& y) { return x.id == y.id && x.t1_W.dot(y.t1_W) > 0.9; });
    return is_same ? scene_.model().difference(nominal_.q_next, result.q_next) : VectorXd::Zero(scene_.nv());
  }

  /// The same rays are closed; otherwise exact steps have a nonsmooth point between.
  bool is_as_closed(const StepResult& other) const {
    const auto& a = nominal_.solution.slack;
    const auto& b = other.solution.slack;
    return std::isfinite(nominal_.program.kappa) ||
           std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return (x > 1e-12) == (y > 1e-12); });
  }

  const scene::Scene& scene_;
  std::unique_ptr<StepModel> model_;
  StepDifferentiator differentiator_;
  State start_;
  VectorXd u_, dq_, du_;
  StepResult nominal_;
};

/// Errors of the models' smoothed steps on `scene`, moving at random where velocities are part of the state.
void check(const scene::SceneSpec& spec, const VectorXd& u, RandomScenes& random, const std::string& what,
           int& checked) {
  const scene::Scene scene = test::build(spec);
  State start{.q = scene.initial_configuration()};
  if (spec.step.model == scene::ModelKind::kConvexSecondOrder)
    start.v = VectorXd::NullaryExpr(scene.nv(), [&] { return 0.1 * random.normal(); });
  Line line(scene, start, u, random);
  ASSERT_TRUE(line.solved()) << what;
  const auto error = line.error();
  if (!error) return;
  ++checked;
  EXPECT_LT(*error, 1e-6) << what;
}

TEST(ConformanceOfGradients, RandomScenes) {
  RandomScenes random(11);
  int exact = 0, smoothed = 0;
  for (int k = 0; k < 1000; ++k) {
    scene::SceneSpec spec = random.next();
    const VectorXd u = random.command();
    const double kappa = random.log_uniform(10, 1e4);
    for (const auto kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
      spec.step.model = kind;
      const std::string what = "scene " + std::to_string(k) + " " + std::string(to_string(kind));
      spec.step.kappa = kappa;
      check(spec, u, random, what + " smoothed", smoothed);
      // Exact cones are solved to 1e-9, which is too rough for differences.
      if (spec.step.cone == scene::Cone::kCone || !spec.friction.pairs.empty()) continue;
      spec.step.kappa = kInfinity;
      check(spec, u, random, what + " exact", exact);
      if (HasFatalFailure()) return;
    }
  }
  // The rest has nonsmooth points: upright cylinders, parallel edges, points on the border of features, and of exact
  // steps loads that are shared or about to change.
  EXPECT_GT(smoothed, 1000);
  EXPECT_GT(exact, 300);
}

// Gaps that follow the sliding of the step itself.
TEST(ConformanceOfGradients, RandomScenesUnderCoulombsLaw) {
  RandomScenes random(13);
  int exact = 0, smoothed = 0;
  for (int k = 0; k < 250; ++k) {
    scene::SceneSpec spec = random.next();
    spec.step.compliance = 0;
    spec.step.friction_law = scene::FrictionLaw::kCoulomb;
    const VectorXd u = random.command();
    const double kappa = random.log_uniform(10, 1e4);
    for (const auto kind : {scene::ModelKind::kConvex, scene::ModelKind::kConvexSecondOrder}) {
      spec.step.model = kind;
      const std::string what = "scene " + std::to_string(k) + " " + std::string(to_string(kind));
      spec.step.kappa = kappa;
      check(spec, u, random, what + " smoothed", smoothed);
      if (spec.step.cone == scene::Cone::kCone || !spec.friction.pairs.empty()) continue;
      spec.step.kappa = kInfinity;
      check(spec, u, random, what + " exact", exact);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(smoothed, 250);
  EXPECT_GT(exact, 60);
}

TEST(ConformanceOfGradients, BundledScenes) {
  RandomScenes random(12);
  const std::vector<std::string> files = test::bundled_scenes();
  std::size_t checked = 0;
  for (const std::string& file : files) {
    for (const char* model : {"convex", "convex-second-order"}) {
      SCOPED_TRACE(file + " " + model);
      const scene::Scene scene = test::load_bundled(file, {"step.kappa=1000", std::string("step.model=") + model});
      const auto step = make_step_model(scene);
      VectorXd u(scene.nu());
      scene.command(0, step->h(), u);
      Line line(scene, initial_state(*step), u, random);
      ASSERT_TRUE(line.solved());
      const auto error = line.error();
      if (!error) continue;
      ++checked;
      EXPECT_LT(*error, 1e-6);
    }
  }
  EXPECT_GT(checked, files.size());
}

}  // namespace gradient_test
}  // namespace deft::dynamics
