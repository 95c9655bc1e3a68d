#include "deft/dynamics/convex_step.hpp"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "deft/core/stopwatch.hpp"

namespace deft::dynamics {
namespace {

double required_step_length(const scene::Scene& scene) {
  const auto& h = scene.spec().step.h;
  if (!h) throw InputError({scene.spec().file, 0, 0}, "step.h is missing: stepping needs a step length in seconds (step: {h: 0.1}, or --h 0.1)");
  return *h;
}

/// One value per command: a number for all, a list over the joints of all robots, or a map by "joint" or "robot/joint".
Eigen::VectorXd joint_damping(const scene::JointValues& values, const scene::Scene& scene) {
  Eigen::VectorXd damping = Eigen::VectorXd::Constant(scene.nu(), values.all.value_or(0.0));
  const std::vector<std::string> names = scene.names_u();
  if (!values.list.empty()) {
    if (static_cast<int>(values.list.size()) != scene.nu()) {
      throw InputError(values.where, fmt::format("step.joint_damping: {} values expected (one per robot joint), the list has {}", scene.nu(), values.list.size()));
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
    if (!found) throw InputError(values.where, fmt::format("step.joint_damping: there is no robot joint '{}'{}", name, did_you_mean(name, names)));
  }
  return damping;
}

void check_size(const char* what, const Eigen::VectorXd& v, int expected) {
  if (v.size() != expected) throw std::invalid_argument(fmt::format("{} has {} entries, the scene needs {}", what, v.size(), expected));
  if (!v.allFinite()) throw std::invalid_argument(fmt::format("{} has an entry that is not finite", what));
}

}  // namespace

ConvexStep::ConvexStep(const scene::Scene& scene)
    : scene_(&scene), settings_(scene.spec().step), h_(required_step_length(scene)), stiffness_min_(0), assembler_(scene), state_(scene.make_state()),
      M_(scene.nv(), scene.nv()), tau_gravity_(scene.nv()) {
  const SourceLocation where{scene.spec().file, 0, 0};
  if (settings_.effort_limits) throw InputError(where, "not available yet: step.effort_limits: true");
  if (settings_.forces == scene::Forces::kLeastNorm) throw InputError(where, "not available yet: step.forces: least_norm; valid: any");
  damping_ = joint_damping(settings_.joint_damping, scene);
  for (const scene::Robot& robot : scene.robots()) {
    const double smallest = robot.stiffness.minCoeff();
    stiffness_min_ = stiffness_min_ > 0 ? std::min(stiffness_min_, smallest) : smallest;
  }
}

double ConvexStep::mass_factor(const scene::Object& object) const {
  // The field's rule: M_u ← M_u · min(K_a) h² / (max diag M_u · s). None, or s = 0 (solved with the true mass, then not moved): true mass.
  const auto& s = settings_.unactuated_mass_scale;
  if (!s || *s == 0 || stiffness_min_ == 0) return 1.0;
  const double largest = M_.diagonal().segment(object.first_v, object.nv).maxCoeff();
  return stiffness_min_ * h_ * h_ / (largest * *s);
}

void ConvexStep::fill_energy(const Eigen::VectorXd& q, const Eigen::VectorXd& u, contact::ContactProblem& problem) {
  const multibody::Model& model = scene_->model();
  model.mass_matrix(state_.kinematics, M_);
  model.gravity_force(state_.kinematics, scene_->spec().gravity_W, tau_gravity_);

  problem.Q.clear();
  problem.masses.clear();
  problem.b.setZero(scene_->nv());
  // Blocks must ascend in velocity order: robots and objects are merged by their first index.
  std::size_t r = 0, o = 0;
  const auto robots = scene_->robots();
  const auto objects = scene_->objects();
  while (r < robots.size() || o < objects.size()) {
    if (o == objects.size() || (r < robots.size() && robots[r].first_v < objects[o].first_v)) {
      const scene::Robot& robot = robots[r++];
      for (int i = 0; i < robot.nu; ++i) {
        const double K = robot.stiffness(i);
        problem.Q.append(robot.first_v + i, 1)(0, 0) = K + damping_(robot.first_u + i) / h_;
        double torque = K * (u(robot.first_u + i) - q(robot.first_q + i));
        if (settings_.robot_gravity) torque += tau_gravity_(robot.first_v + i);
        problem.b(robot.first_v + i) = -torque;
      }
      continue;
    }
    const scene::Object& object = objects[o++];
    const auto inertia = M_.block(object.first_v, object.first_v, object.nv, object.nv) * (mass_factor(object) / (h_ * h_));
    if (settings_.dynamics == scene::Dynamics::kQuasidynamic || object.frozen) {
      problem.Q.append(object.first_v, object.nv) = inertia;
    } else {
      problem.masses.append(object.first_v, object.nv) = inertia;
    }
    if (!object.frozen) problem.b.segment(object.first_v, object.nv) = -tau_gravity_.segment(object.first_v, object.nv);
  }
}

void ConvexStep::make_program(const Eigen::VectorXd& q, const contact::ContactProblem& problem, solvers::ContactProgram& program) const {
  program.nv = problem.nv;
  program.Q = problem.Q;
  program.b = problem.b;
  program.J = problem.J;
  program.masses = problem.masses;
  program.model = settings_.cone == scene::Cone::kCone ? solvers::FrictionModel::kCone : solvers::FrictionModel::kPyramid;
  program.rays = scene_->plane() == scene::Plane::kSpace ? settings_.rays : 2;
  program.kappa = settings_.kappa;
  program.contacts.clear();
  for (const contact::Contact& contact : problem.contacts) {
    solvers::ContactLaw& law = program.contacts.emplace_back();
    law.gap = contact.gap;
    law.mu = contact.mu;
    law.compliance = settings_.compliance;
    law.id = contact.id;
  }
  if (!settings_.joint_limits) {
    program.lower.resize(0);
    program.upper.resize(0);
    return;
  }
  program.lower.setConstant(problem.nv, -scene::kInfinity);
  program.upper.setConstant(problem.nv, scene::kInfinity);
  const auto velocities = scene_->model().velocities();
  for (int i = 0; i < problem.nv; ++i) {
    if (velocities[i].q_index < 0) continue;
    program.lower(i) = velocities[i].lower - q(velocities[i].q_index);
    program.upper(i) = velocities[i].upper - q(velocities[i].q_index);
  }
  for (const scene::Object& object : scene_->objects()) {
    if (!object.frozen) continue;
    program.lower.segment(object.first_v, object.nv).setConstant(-scene::kInfinity);
    program.upper.segment(object.first_v, object.nv).setConstant(scene::kInfinity);
  }
}

void ConvexStep::step(const Eigen::VectorXd& q, const Eigen::VectorXd& u, StepResult& result) {
  check_size("q", q, scene_->nq());
  check_size("u", u, scene_->nu());
  const Stopwatch watch;

  // Geometry at the start of the step.
  scene_->update(q, state_);
  scene_->find_contacts(settings_.contact_margin, state_);
  assembler_.assemble(state_, {.midpoint_forces = settings_.midpoint_forces}, result.problem);

  // One convex program.
  fill_energy(q, u, result.problem);
  make_program(q, result.problem, result.program);
  const solvers::SolveInfo info = solver_.solve(result.program, solver_settings_, result.solution);
  result.iterations = info.iterations;
  result.solve_us = info.solve_us;

  // The certificate judges what was solved, from the raw program; a solution that it does not confirm is none.
  const double until_solved_us = watch.microseconds();
  result.certificate = solvers::certify(result.program, result.solution);
  const Stopwatch after;
  result.status = solvers::confirmed(info.status, result.certificate);
  result.delta = result.solution.delta;
  if (!solvers::usable(result.status)) result.delta.setZero(scene_->nv());  // a failed step moves nothing

  // s = 0: the objects stay where they are.
  if (settings_.unactuated_mass_scale && *settings_.unactuated_mass_scale == 0) {
    for (const scene::Object& object : scene_->objects()) result.delta.segment(object.first_v, object.nv).setZero();
  }
  scene_->model().integrate(q, result.delta, result.q_next);
  result.step_us = until_solved_us + after.microseconds();

  result.energy = 0;
  for (int k = 0; k < result.program.Q.num_blocks(); ++k) {
    const auto d = result.solution.delta.segment(result.program.Q.start(k), result.program.Q.size(k));
    result.energy += 0.5 * d.dot(result.program.Q.block(k) * d);
  }
  result.energy += result.program.b.dot(result.solution.delta);
}

}  // namespace deft::dynamics
