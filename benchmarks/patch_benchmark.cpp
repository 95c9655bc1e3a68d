// Line and surface contact in bulk and by the clock.
//   patch_benchmark drops [--count N] [--seed S]   N random starts each of a cube, a cylinder and an ellipsoid, dropped
//   and thrown on a plane, 5 s of
//                                                  steps of 1 to 20 ms: failures, penetration, energy against its
//                                                  bound, and whether rest is rest
//   patch_benchmark wild [--count N] [--seed S]    the same with steps to 0.1 s, μ to 5, sizes 1:50, 10 m/s and 40
//   rad/s (half a radian per step): failures are counted patch_benchmark pairs [--count N] [--seed S]   the same as
//   drops of two bodies of random kinds that also meet each other; what balances on another body
//                                                  may rest and fall later
//   patch_benchmark steps SCENE STEPS…             times and iterations of the steps of scenes (P8); one JSON object on
//   standard output

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/patch/equivalent_contact_point.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/math/random.hpp"
#include "support/scene_builder.hpp"

namespace {

using namespace deft;
using namespace deft::dynamics;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kDuration_s = 5, kRestFrom_s = 4, kAtRest = 1e-9, kPenetration_m = 1e-8;
constexpr const char* kShapes[] = {"cube", "cylinder", "ellipsoid"};

double quantile(std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[p * static_cast<double>(values.size() - 1) + 0.5];
}

/// The numbers of one start, drawn one after the other.
struct RandomStream {
  std::uint64_t seed = 0, item = 0;
  std::uint32_t next = 0;
  double uniform(double low, double high) { return low + (high - low) * random_uniform(seed, item, next++); }
  double logarithmic(double low, double high) { return low * std::pow(high / low, uniform(0, 1)); }
  Vector3d ball(double radius) {
    const Vector3d v(random_normal(seed, item, next), random_normal(seed, item, next + 1),
                     random_normal(seed, item, next + 2));
    next += 3;
    return v.normalized() * radius * std::cbrt(uniform(0, 1));
  }
  Matrix3d rotation() {
    const Eigen::Vector4d q(random_normal(seed, item, next), random_normal(seed, item, next + 1),
                            random_normal(seed, item, next + 2), random_normal(seed, item, next + 3));
    next += 4;
    return rotation_from_quat_wxyz(q.normalized());
  }
};

/// A solid of random size and its inertia.
multibody::ModelSpec solid(RandomStream& draw, int shape, const std::string& name, double mu, double height,
                           bool upright, bool wild = false) {
  const auto size = [&] { return wild ? draw.logarithmic(0.01, 0.5) : draw.uniform(0.05, 0.5); };
  const double mass = draw.logarithmic(0.1, 10), a = size(), b = size(), c = size();
  multibody::ShapeSpec spec;
  Vector3d inertia;
  double reach = 0;
  if (shape == 0) {
    spec = multibody::BoxSpec{{a, b, c}};
    inertia = mass / 12 * Vector3d(b * b + c * c, a * a + c * c, a * a + b * b);
    reach = 0.5 * Vector3d(a, b, c).norm();
  } else if (shape == 1) {
    spec = multibody::CylinderSpec{a / 2, b};
    inertia = mass * Vector3d(a * a / 16 + b * b / 12, a * a / 16 + b * b / 12, a * a / 8);
    reach = std::hypot(a / 2, b / 2);
  } else {
    spec = multibody::EllipsoidSpec{{a / 2, b / 2, c / 2}};
    inertia = mass / 20 * Vector3d(b * b + c * c, a * a + c * c, a * a + b * b);
    reach = 0.5 * std::max({a, b, c});
  }
  const Matrix3d R = upright ? Matrix3d::Identity() : draw.rotation();
  multibody::ModelSpec body =
      test::free_body(name, spec, mass, 1, mu,
                      make_transform(R, Vector3d(draw.uniform(-0.1, 0.1), draw.uniform(-0.1, 0.1), height + reach)));
  body.links[0].inertial->I_Com_L = inertia.asDiagonal();
  return body;
}

double energy(const PatchWorld& world, std::span<const PatchState> states) {
  double sum = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const PatchState& s = states[i];
    const Vector3d omega_B = rotation_from_quat_wxyz(s.quat_wxyz).transpose() * s.omega_W;
    sum += 0.5 * world.bodies[i].mass * s.v_WC.squaredNorm() + 0.5 * omega_B.dot(world.bodies[i].I_BCm_B * omega_B) -
           world.bodies[i].mass * world.gravity_W.dot(s.p_WC);
  }
  return sum;
}

/// What a step may gain: ½h²‖ω × Iω‖² in I⁻¹ per body, and ½ h p_n |ω⁺|² |ρ| per contact and body (dynamics/README.md).
double energy_bound(const PatchWorld& world, std::span<const PatchState> start, const PatchResult& step) {
  double bound = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const Matrix3d R = rotation_from_quat_wxyz(start[i].quat_wxyz), I = R * world.bodies[i].I_BCm_B * R.transpose();
    const Vector3d torque = start[i].omega_W.cross(I * start[i].omega_W);
    bound += 0.5 * world.h * world.h * torque.dot(I.inverse() * torque);
  }
  for (const PatchContact& contact : step.contacts) {
    const PatchPair& pair = world.pairs[contact.pair];
    for (const int geometry : {pair.a, pair.b}) {
      const int body = world.geometries[geometry].moving;
      if (body < 0) continue;
      const PatchState& s = step.end[body];
      bound += 0.5 * world.h * contact.p_n * s.omega_W.squaredNorm() * (contact.point_W - s.p_WC).norm();
    }
  }
  return bound;
}

/// What many runs did.
struct Tally {
  int runs = 0, failed = 0, moving = 0, rose = 0, crept = 0, penetrated = 0, shown = 0;
  long steps = 0, iterations = 0, hard = 0;
  double penetration_m = 0, residual = 0, creep_m = 0, gain = -1e300, total_us = 0;
  std::map<int, long> attempts;
  std::vector<double> step_us;

  void complain(const std::string& what) {
    if (++shown <= 20) fmt::print("  {}\n", what);
  }
};

/// One run. @param must_rest  whether friction must have stopped the bodies before the last second.
void run(const scene::SceneSpec& spec, const std::string& name, std::vector<PatchState> state, bool is_pair,
         bool must_rest, Tally& tally) {
  Diagnostics diagnostics;
  const scene::Scene scene = scene::Scene::build(spec, diagnostics);
  PatchStepper stepper(make_patch_world(scene));
  const PatchWorld& world = stepper.world();
  std::vector<PatchState> from;
  read_states(scene, world, scene.initial_configuration(), {}, from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    state[i].quat_wxyz = from[i].quat_wxyz;
    state[i].p_WC = from[i].p_WC;
  }
  const std::vector<PatchImpulse> none(state.size());
  const int steps = static_cast<int>(std::lround(kDuration_s / world.h)),
            watched = static_cast<int>(std::lround(kRestFrom_s / world.h));
  std::vector<PatchState> rest;
  bool at_rest = false, slow = true;
  PatchResult step;
  double before = energy(world, state);
  ++tally.runs;
  for (int k = 0; k < steps; ++k) {
    const Stopwatch watch;
    stepper.step(state, none, step);
    const double us = watch.microseconds();
    tally.step_us.push_back(us);
    tally.total_us += us;
    ++tally.steps;
    tally.iterations += step.iterations;
    ++tally.attempts[step.attempts];
    tally.hard += std::strcmp(step.method, "free") != 0 && std::strcmp(step.method, "newton") != 0;
    if (!solvers::usable(step.status) || !(step.certificate.max_scaled() <= solvers::contact::kCertified)) {
      ++tally.failed;
      tally.complain(
          fmt::format("{}: step {} of {:.4g} s ends {} after {} starts, residual {:.1e}; it turned by {:.2g} rad in "
                      "the step before",
                      name, k, world.h, solvers::to_string(step.status), step.attempts, step.certificate.max_scaled(),
                      world.h * state[0].omega_W.norm()));
      return;
    }
    tally.residual = std::max(tally.residual, step.certificate.max_scaled());
    tally.penetration_m = std::max(tally.penetration_m, step.certificate.penetration_m);
    if (step.certificate.penetration_m > kPenetration_m) ++tally.penetrated;
    if (!is_pair) {
      const double after = energy(world, step.end), gain = after - before - energy_bound(world, state, step);
      tally.gain = std::max(tally.gain, gain / std::max(1e-3, std::abs(before)));
      if (gain > 1e-9 * std::max(1.0, std::abs(before))) {
        ++tally.rose;
        tally.complain(fmt::format("{}: step {} gains {:.3e} J beyond the bound", name, k, gain));
      }
      before = after;
    }
    state = step.end;
    const auto fastest = [&] {
      double speed = 0;
      for (const PatchState& s : state) speed = std::max({speed, s.v_WC.norm(), s.omega_W.norm() * world.length});
      return speed;
    };
    // What rocks is slow at its turning points: at rest is what has been slow for half a second.
    if (k + 1 < watched && (k + 1) * world.h > kRestFrom_s - 0.5) slow = slow && fastest() < kAtRest;
    if (k + 1 == watched) {
      rest = state;
      at_rest = slow && fastest() < kAtRest;
    }
    if (!at_rest || k + 1 < watched) continue;
    double creep = 0;
    for (std::size_t i = 0; i < state.size(); ++i) creep = std::max(creep, (state[i].p_WC - rest[i].p_WC).norm());
    tally.creep_m = std::max(tally.creep_m, creep);
    if (fastest() >= kAtRest || creep >= kAtRest) {
      ++tally.crept;
      tally.complain(
          fmt::format("{}: rests at 4 s and moves in step {}: {:.1e} m/s, {:.1e} m", name, k, fastest(), creep));
      return;
    }
  }
  if (!at_rest) {
    ++tally.moving;
    if (must_rest) tally.complain(fmt::format("{}: still moves at 4 s", name));
  }
}

scene::SceneSpec scene_of(std::vector<multibody::ModelSpec> bodies, double mu, const std::array<double, 3>& ellipsoid,
                          double h) {
  bodies.push_back(test::fixed_body("ground", multibody::HalfSpaceSpec{Vector3d::UnitZ(), 0}, mu));
  scene::SceneSpec spec = test::scene_spec(std::move(bodies));
  spec.gravity_W = {0, 0, -9.81};
  spec.friction.ellipsoid = ellipsoid;
  spec.step.model = scene::ModelKind::kEquivalentContactPoint;
  spec.step.h = h;
  return spec;
}

bool report(const std::string& what, Tally& tally) {
  fmt::print(
      "{}: {} runs, {} steps, {} failed; penetration {:.1e} m, residual {:.1e}; energy beyond its bound {} times "
      "(largest {:.1e} of the energy)\n",
      what, tally.runs, tally.steps, tally.failed, tally.penetration_m, tally.residual, tally.rose, tally.gain);
  fmt::print("  at rest from 4 s: {}, crept {} (largest {:.1e} m), still moving {}\n",
             tally.runs - tally.failed - tally.moving, tally.crept, tally.creep_m, tally.moving);
  fmt::print(
      "  systems per step {:.2f}; µs per step: mean {:.1f}  p50 {:.1f}  p95 {:.1f}  p99 {:.1f}  max {:.0f}; starts:",
      static_cast<double>(tally.iterations) / static_cast<double>(tally.steps),
      tally.total_us / static_cast<double>(tally.steps), quantile(tally.step_us, 0.5), quantile(tally.step_us, 0.95),
      quantile(tally.step_us, 0.99), quantile(tally.step_us, 1));
  for (const auto& [attempts, count] : tally.attempts) fmt::print(" {}×{}", attempts, count);
  fmt::print("; by fallbacks {}\n", tally.hard);
  return tally.failed == 0 && tally.rose == 0 && tally.penetrated == 0;
}

bool drops(int count, std::uint64_t seed, bool wild) {
  bool good = true;
  for (int shape = 0; shape < 3; ++shape) {
    Tally tally;
    for (int i = 0; i < count; ++i) {
      RandomStream draw{.seed = seed, .item = static_cast<std::uint64_t>(3 * i + shape)};
      const double h = wild ? draw.logarithmic(1e-3, 0.1) : draw.logarithmic(1e-3, 2e-2),
                   mu = draw.uniform(0, 1) < 0.1 ? 0.0
                        : wild                   ? draw.logarithmic(0.01, 5)
                                                 : draw.uniform(0.2, 1.2);
      const auto axis = [&] { return wild ? draw.logarithmic(0.1, 10) : draw.uniform(0.5, 1.5); };
      const std::array<double, 3> e{axis(), axis(), wild ? draw.logarithmic(1e-4, 10) : draw.logarithmic(0.02, 1)};
      const bool thrown = draw.uniform(0, 1) < 0.7, upright = draw.uniform(0, 1) < 0.2;
      std::vector<PatchState> state(1);
      if (thrown) {
        state[0].v_WC = draw.ball(wild ? 10 : 3);
        state[0].omega_W = draw.ball(wild ? std::min(40.0, 0.5 / h) : 8);
      }
      const scene::SceneSpec spec =
          scene_of({solid(draw, shape, "body", mu, draw.uniform(0, 0.5), upright, wild)}, mu, e, h);
      run(spec,
          fmt::format("{} {} (seed {}; μ {:.2g}, e {:.2g} {:.2g} {:.2g}, h {:.2g})", kShapes[shape], i, seed, mu, e[0],
                      e[1], e[2], h),
          state, false, !wild && shape == 0 && mu > 0, tally);
    }
    good &= report(kShapes[shape], tally) && tally.crept == 0;
  }
  return good;
}

bool pairs(int count, std::uint64_t seed) {
  bool good = true;
  for (int first = 0; first < 3; ++first) {
    for (int second = 0; second < 3; ++second) {
      Tally tally;
      for (int i = 0; i < count; ++i) {
        RandomStream draw{.seed = seed + 1, .item = static_cast<std::uint64_t>(9 * i + 3 * first + second)};
        const double h = draw.logarithmic(1e-3, 2e-2), mu = draw.uniform(0.1, 1);
        const bool upright = draw.uniform(0, 1) < 0.5;
        std::vector<PatchState> state(2);
        for (PatchState& s : state) {
          if (draw.uniform(0, 1) < 0.5) continue;
          s.v_WC = draw.ball(1);
          s.omega_W = draw.ball(2);
        }
        const scene::SceneSpec spec =
            scene_of({solid(draw, first, "lower", mu, 0.02, upright), solid(draw, second, "upper", mu, 0.9, upright)},
                     mu, {1, 1, draw.logarithmic(0.02, 0.5)}, h);
        run(spec, fmt::format("{} below {} {} (seed {})", kShapes[first], kShapes[second], i, seed), state, true, false,
            tally);
      }
      good &= report(fmt::format("{} below {}", kShapes[first], kShapes[second]), tally);
    }
  }
  return good;
}

/// Three rounds of each scene; the best of each step counts.
void steps_of(const std::vector<std::string>& arguments) {
  fmt::print("[");
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const int steps = std::stoi(arguments[i + 1]);
    std::vector<double> best(steps, 1e300), iterations(to_size(steps), 0.0);
    double residual = 0, penetration = 0;
    for (int round = 0; round < 3; ++round) {
      Diagnostics diagnostics;
      const scene::Scene scene = io::load_scene(arguments[i], {}, diagnostics);
      const std::unique_ptr<StepModel> model = make_step_model(scene);
      State state = initial_state(*model);
      StepResult result;
      for (int k = 0; k < steps; ++k) {
        state.t = k * model->h();
        model->step(state, Eigen::VectorXd(0), result);
        if (!solvers::usable(result.status))
          throw std::runtime_error(
              fmt::format("{}: step {} ends {}", arguments[i], k, solvers::to_string(result.status)));
        best[k] = std::min(best[k], result.step_us);
        iterations[k] = result.iterations;
        residual = std::max(residual, result.certificate.max_scaled());
        penetration = std::max(penetration, result.certificate.primal_m);
        state.q = result.q_next;
        state.v = result.v_next;
      }
    }
    const double mean = std::accumulate(best.begin(), best.end(), 0.0) / steps,
                 mean_iterations = std::accumulate(iterations.begin(), iterations.end(), 0.0) / steps;
    fmt::print(
        R"({}{{"scene": "{}", "steps": {}, "mean_us": {:.2f}, "p50_us": {:.2f}, "p95_us": {:.2f}, "p99_us": {:.2f}, "max_us": {:.2f}, "iterations_mean": {:.2f}, "iterations_max": {:.0f}, "residual": {:.3e}, "penetration_m": {:.3e}}})",
        i > 0 ? ", " : "", arguments[i], steps, mean, quantile(best, 0.5), quantile(best, 0.95), quantile(best, 0.99),
        quantile(best, 1), mean_iterations, quantile(iterations, 1), residual, penetration);
  }
  fmt::print("]\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  int count = 1000;
  std::uint64_t seed = 1;
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--count") count = std::stoi(arguments[i + 1]);
    if (arguments[i] == "--seed") seed = std::stoull(arguments[i + 1]);
  }
  if (arguments.size() >= 1 && arguments[0] == "drops") return drops(count, seed, false) ? 0 : 1;
  if (arguments.size() >= 1 && arguments[0] == "wild") return drops(count, seed, true) ? 0 : 1;
  if (arguments.size() >= 1 && arguments[0] == "pairs") return pairs(count, seed) ? 0 : 1;
  if (arguments.size() >= 3 && arguments[0] == "steps") {
    steps_of({arguments.begin() + 1, arguments.end()});
    return 0;
  }
  fmt::print(stderr, "patch_benchmark drops|wild|pairs [--count N] [--seed S]\npatch_benchmark steps SCENE STEPS…\n");
  return 2;
}
