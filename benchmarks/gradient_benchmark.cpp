// P12: derivatives of the step against sixth-order central differences of steps solved to 1e-13, over random states.
//   gradient_benchmark [--states N]      N measured per row and barrier, default 250
// One row per pair of shapes, per kind of joint, per barrier, and per barrier under Coulomb's law: relative errors
// (largest entry of the difference over the largest entry, of B at least 1e-3: a joint that contacts hold follows no
// command), median and largest. States are drawn until N of them are measured. Left out and counted: those without a
// step (proved to be infeasible: an arm that has entered a wall and is jammed there), those at a nonsmooth point, which
// the derivative flags itself, those where the contacts, or the rows that carry force, change within every stencil, and
// those that could not be solved to 1e-13. Forces count where they are the only ones (an exact step may share them
// among redundant contacts).

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "dynamics/parameter_differences.hpp"
#include "dynamics/step_differences.hpp"

namespace {

using namespace deft;
using namespace deft::dynamics;
using namespace deft::collision::reference;

constexpr double kSolved = 1e-13;
constexpr double kGoodEnough = 1e-9;  // an error below which no other step length is tried
constexpr int kMostTries = 4;         // per state

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const std::size_t k = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k), values.end());
  return values[k];
}

/// Errors over the states of a row.
struct Row {
  std::vector<double> A, B, force_q, force_u;
  int infeasible = 0, nonsmooth_points = 0, changes = 0, failures = 0;

  void print(const std::string& name) const {
    fmt::print("| {} | {} | {}, {}, {}, {} |", name, A.size(), infeasible, nonsmooth_points, changes, failures);
    for (const auto* errors : {&A, &B, &force_q, &force_u})
      fmt::print(" {:.0e}, {:.0e} |", percentile(*errors, 0.5), percentile(*errors, 1));
    fmt::print("\n");
    std::fflush(stdout);
  }
};

void print_head(const char* what) {
  fmt::print(
      "\n{}\n| | states | left out: no step, kinks, changes in the stencil, not solved | A p50, max | B | ∂f/∂q | "
      "∂f/∂u "
      "|\n|---|---|---|---|---|---|---|\n",
      what);
}

/// @returns whether the state was measured.
bool measure(const scene::SceneSpec& spec, Random& random, std::vector<Row*> rows) {
  StepDifferences state(spec);
  state.solve_again_to = kSolved;
  state.smallest_B = 1e-3;
  for (Eigen::Index i = 0; i < state.u.size(); ++i) state.u(i) = uniform(random, -0.15, 0.15);
  const auto count = [&](int Row::* what) {
    for (Row* row : rows) ++(row->*what);
    return false;
  };
  if (!state.take_derivative())
    return count(state.result.status == solvers::Status::kInfeasible ? &Row::infeasible : &Row::failures);
  if (state.differentiator.is_nonsmooth()) return count(&Row::nonsmooth_points);
  const auto by_q = state.errors(StepDifferences::By::kQ), by_u = state.errors(StepDifferences::By::kU);
  if (!by_q || !by_u) return count(&Row::changes);
  for (Row* row : rows) {
    row->A.push_back(by_q->motion);
    row->B.push_back(by_u->motion);
    if (!state.result.solution.forces_unique) continue;
    row->force_q.push_back(by_q->force);
    row->force_u.push_back(by_u->force);
  }
  return true;
}

/// Calls `measure_one` until it measured `states` times, or in vain for too long.
template <typename MeasureOne>
void repeat(int states, const MeasureOne& measure_one) {
  for (int tries = 0, measured = 0; measured < states && tries < kMostTries * states; ++tries)
    measured += measure_one();
}

std::vector<Body> shapes() {
  return {sphere(0.05),        capsule(0.03, 0.12), box({0.12, 0.1, 0.08}),
          prism(5, 0.06, 0.1), cylinder(0.05, 0.1), ellipsoid({0.04, 0.06, 0.08})};
}

const std::vector<double> kBarriers{10, 100, 1e4, kInfinity};
std::string name_of(double kappa) { return std::isfinite(kappa) ? fmt::format("κ = {:g}", kappa) : "exact"; }

/// A scene with settings that vary from state to state.
void vary(scene::SceneSpec& spec, double kappa, Random& random) {
  spec.step.kappa = kappa;
  spec.step.cone = random() % 2 == 0 ? scene::Cone::kPyramid : scene::Cone::kCone;
}

double random_gap(Random& random) { return uniform(random, -4e-3, 4e-3); }

void by_pair(int states, std::map<double, Row>& by_barrier) {
  auto all = shapes();
  all.push_back(mesh(DEFT_SOURCE_DIR "/tests/collision/data/ball.obj"));
  print_head("By pair of shapes: three-joint arm against a free body (half-space: the arm against the world)");
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j <= all.size(); ++j) {
      const bool is_half_space = j == all.size();
      Row row;
      Random random(100 * i + j);
      for (const double kappa : kBarriers) {
        repeat(states, [&] {
          const bool is_swapped = !is_half_space && random() % 2 == 0;
          scene::SceneSpec spec = is_half_space ? arm_and_half_space(all[i], random_gap(random), random)
                                                : arm_and_body(all[is_swapped ? j : i], all[is_swapped ? i : j],
                                                               random_gap(random), random);
          vary(spec, kappa, random);
          return measure(spec, random, {&row, &by_barrier[kappa]});
        });
      }
      row.print(fmt::format("{} – {}", all[i].name, is_half_space ? "half-space" : all[j].name));
    }
  }
}

void by_joint(int states) {
  const auto all = shapes();
  print_head("By joint of the object, shapes at random (an arm of hinges and slides touches it)");
  const std::pair<const char*, const char*> joints[] = {{"free", ""},       {"planar", "p"},   {"translation", "t"},
                                                        {"prismatic", "s"}, {"revolute", "h"}, {"ball", "b"}};
  for (const auto& [name, code] : joints) {
    Row row;
    Random random(std::strlen(name));
    for (const double kappa : kBarriers) {
      repeat(states, [&] {
        const Body &on_arm = all[random() % all.size()], &on_object = all[random() % all.size()];
        const char* arms[] = {"hhh", "shh", "hsh", "hhs"};
        scene::SceneSpec spec = arm_and_body(on_arm, on_object, random_gap(random), random, arms[random() % 4], code);
        vary(spec, kappa, random);
        return measure(spec, random, {&row});
      });
    }
    row.print(name);
  }
}

void by_law(int states) {
  const auto all = shapes();
  print_head("Coulomb's law, shapes at random, by barrier");
  for (const double kappa : kBarriers) {
    Row row;
    Random random(55);
    repeat(states, [&] {
      scene::SceneSpec spec =
          arm_and_body(all[random() % all.size()], all[random() % all.size()], random_gap(random), random);
      vary(spec, kappa, random);
      spec.step.friction_law = scene::FrictionLaw::kCoulomb;
      return measure(spec, random, {&row});
    });
    row.print(name_of(kappa));
  }
}

/// The smallest error of four step lengths; what is nothing but the rounding of differences counts as zero.
std::optional<std::pair<double, double>> parameter_error(const ParameterCase& parameter, const scene::SceneSpec& spec,
                                                         const StepDifferences& state, const Eigen::VectorXd& motion,
                                                         const Eigen::VectorXd& force) {
  std::optional<std::pair<double, double>> best;
  for (const double scale : {10.0, 1.0, 0.1, 0.01}) {
    const auto expected = parameter_differences(parameter, spec, state, scale);
    if (!expected) continue;
    const auto error = [&](const Eigen::VectorXd& computed, const Eigen::VectorXd& differences) {
      const double noise = 1e-12 / (scale * parameter.step);
      const bool is_zero = computed.size() == 0 ||
                           (computed.cwiseAbs().maxCoeff() < noise && differences.cwiseAbs().maxCoeff() < 1e2 * noise);
      return is_zero ? 0.0 : test::relative_error(computed, differences);
    };
    const std::pair<double, double> e{error(motion, expected->head(motion.size())),
                                      error(force, expected->tail(force.size()))};
    if (!best) best = e;
    best->first = std::min(best->first, e.first);
    best->second = std::min(best->second, e.second);
    if (std::max(best->first, best->second) < kGoodEnough) break;
  }
  return best;
}

void by_parameter(int states) {
  fmt::print(
      "\nParameters, shapes at random, every barrier; bar 1e-5\n| | states | left out | ∂q⁺ p50, max | ∂f p50, max "
      "|\n|---|---|---|---|---|\n");
  struct Errors {
    std::vector<double> motion, force;
    int left = 0;
  };
  std::map<std::string, Errors> rows;
  const auto all = shapes();
  Random random(77);
  for (const double kappa : kBarriers) {
    repeat(states, [&] {
      scene::SceneSpec spec =
          arm_and_body(all[random() % all.size()], all[random() % all.size()], random_gap(random), random);
      spec.robots[0].stiffness = {.list = {60, 80, 100}};
      vary(spec, kappa, random);
      StepDifferences state(spec);
      state.solve_again_to = kSolved;
      if (!state.take_derivative() || state.differentiator.is_nonsmooth()) return false;
      const std::vector<ParameterCase> cases = parameter_cases(state, 0.6);
      std::vector<Parameter> parameters;
      for (const ParameterCase& each : cases) parameters.push_back(each.parameter);
      Eigen::MatrixXd motion, force;
      state.differentiator.parameters(parameters, motion, force);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        const auto error = parameter_error(cases[i], spec, state, motion.col(column), force.col(column));
        Errors& row = rows[cases[i].name];
        if (!error) {
          ++row.left;
          continue;
        }
        row.motion.push_back(error->first);
        row.force.push_back(error->second);
      }
      return true;
    });
  }
  for (const auto& [name, row] : rows)
    fmt::print("| {} | {} | {} | {:.0e}, {:.0e} | {:.0e}, {:.0e} |\n", name, row.motion.size(), row.left,
               percentile(row.motion, 0.5), percentile(row.motion, 1), percentile(row.force, 0.5),
               percentile(row.force, 1));
}

}  // namespace

int main(int argc, char** argv) {
  int states = 250;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--states") == 0) states = std::max(1, std::atoi(argv[i + 1]));
  }
  fmt::print("P12 relative errors of derivatives against sixth-order differences of steps solved to {:.0e}; bar 1e-6\n",
             kSolved);
  std::map<double, Row> by_barrier;
  by_joint(states);
  by_pair(states, by_barrier);
  print_head("By barrier, all pairs");
  for (const auto& [kappa, row] : by_barrier) row.print(name_of(kappa));
  by_law(states);
  by_parameter(states);
  return 0;
}
