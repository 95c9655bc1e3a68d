#include "deft/dynamics/convex_solve.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "deft/core/stopwatch.hpp"

namespace deft::dynamics {
namespace {

void check_vector(const char* what, const Eigen::VectorXd& v, int expected) {
  if (v.size() != expected)
    throw std::invalid_argument(fmt::format("{} has {} entries, the scene needs {}", what, v.size(), expected));
  if (!v.allFinite()) throw std::invalid_argument(fmt::format("{} has an entry that is not finite", what));
}

}  // namespace

double required_step_length(const scene::Scene& scene) {
  const auto& h = scene.spec().step.h;
  if (!h)
    throw InputError({scene.spec().file, 0, 0},
                     "step.h is missing: stepping needs a step length in seconds (step: {h: 0.1}, or --h 0.1)");
  return *h;
}

void check_start(const scene::Scene& scene, const State& start, const Eigen::VectorXd& u) {
  check_vector("q", start.q, scene.nq());
  if (start.v.size() > 0) check_vector("v", start.v, scene.nv());
  check_vector("u", u, scene.nu());
}

Eigen::VectorXd joint_damping(const scene::Scene& scene) {
  const scene::JointValues& values = scene.spec().step.joint_damping;
  Eigen::VectorXd damping = Eigen::VectorXd::Constant(scene.nu(), values.all.value_or(0.0));
  const std::vector<std::string> names = scene.names_u();
  if (!values.list.empty()) {
    if (static_cast<int>(values.list.size()) != scene.nu()) {
      throw InputError(values.where,
                       fmt::format("step.joint_damping: {} values expected (one per robot joint), the list has {}",
                                   scene.nu(), values.list.size()));
    }
    damping = Eigen::Map<const Eigen::VectorXd>(values.list.data(), scene.nu());
  }
  for (const auto& [name, value] : values.by_name) {
    bool found = false;
    for (int i = 0; i < scene.nu(); ++i) {
      if (names[i] != name && !names[i].ends_with("/" + name)) continue;
      damping(i) = value;
      found = true;
    }
    if (!found)
      throw InputError(values.where, fmt::format("step.joint_damping: there is no robot joint '{}'{}", name,
                                                 did_you_mean(name, names)));
  }
  return damping;
}

double quadratic_energy(const solvers::ContactProgram& program, const Eigen::VectorXd& delta) {
  double energy = program.b.dot(delta);
  for (int k = 0; k < program.Q.num_blocks(); ++k) {
    const auto d = delta.segment(program.Q.start(k), program.Q.size(k));
    energy += 0.5 * d.dot(program.Q.block(k) * d);
  }
  return energy;
}

ConvexSolve::ConvexSolve(const scene::Scene& scene) : scene_(&scene), assembler_(scene), state_(scene.make_state()) {
  const scene::StepSettings& settings = scene.spec().step;
  const SourceLocation where{scene.spec().file, 0, 0};
  if (settings.effort_limits) throw InputError(where, "not available yet: step.effort_limits: true");
  if (settings.forces == scene::Forces::kLeastNorm)
    throw InputError(where, "not available yet: step.forces: least_norm; valid: any");
}

void ConvexSolve::find_contacts(const Eigen::VectorXd& q, StepResult& result) {
  const scene::StepSettings& settings = scene_->spec().step;
  scene_->update(q, state_);
  scene_->find_contacts(settings.contact_margin, state_);
  assembler_.assemble(state_, {.midpoint_forces = settings.midpoint_forces}, result.problem);
}

void ConvexSolve::make_program(const contact::ContactProblem& problem, solvers::ContactProgram& program) const {
  const scene::StepSettings& settings = scene_->spec().step;
  program.nv = problem.nv;
  program.Q = problem.Q;
  program.b = problem.b;
  program.J = problem.J;
  program.masses = problem.masses;
  program.model =
      settings.cone == scene::Cone::kCone ? solvers::FrictionModel::kCone : solvers::FrictionModel::kPyramid;
  program.rays = scene_->plane() == scene::Plane::kSpace ? settings.rays : 2;
  program.kappa = settings.kappa;
  program.contacts.clear();
  for (const contact::Contact& contact : problem.contacts) {
    solvers::ContactLaw& law = program.contacts.emplace_back();
    law.gap = contact.gap;
    law.mu = contact.mu;
    law.compliance = settings.compliance;
    law.id = contact.id;
  }
  set_joint_limits(program);
}

void ConvexSolve::set_joint_limits(solvers::ContactProgram& program) const {
  if (!scene_->spec().step.joint_limits) {
    program.lower.resize(0);
    program.upper.resize(0);
    return;
  }
  program.lower.setConstant(program.nv, -scene::kInfinity);
  program.upper.setConstant(program.nv, scene::kInfinity);
  const auto velocities = scene_->model().velocities();
  for (int i = 0; i < scene_->nv(); ++i) {
    if (velocities[i].q_index < 0) continue;
    program.lower(i) = velocities[i].lower - state_.q(velocities[i].q_index);
    program.upper(i) = velocities[i].upper - state_.q(velocities[i].q_index);
  }
  for (const scene::Object& object : scene_->objects()) {
    if (!object.frozen) continue;
    program.lower.segment(object.first_v, object.nv).setConstant(-scene::kInfinity);
    program.upper.segment(object.first_v, object.nv).setConstant(scene::kInfinity);
  }
}

double ConvexSolve::solve(StepResult& result) {
  make_program(result.problem, result.program);
  const solvers::SolveInfo info = solver_.solve(result.program, solver_settings_, result.solution);
  result.iterations = info.iterations;
  result.solve_us = info.solve_us;

  const Stopwatch watch;
  result.certificate = solvers::certify(result.program, result.solution);
  const double certifying_us = watch.microseconds();
  result.status = solvers::confirmed(info.status, result.certificate);
  result.delta = result.solution.delta;
  if (!solvers::usable(result.status)) result.delta.setZero(scene_->nv());
  return certifying_us;
}

}  // namespace deft::dynamics
