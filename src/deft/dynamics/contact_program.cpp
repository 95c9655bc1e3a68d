#include "deft/dynamics/contact_program.hpp"

namespace deft::dynamics {

void make_contact_program(const scene::Scene& scene, const contact::ContactProblem& problem,
                          solvers::contact::ContactProgram& program) {
  const scene::StepSettings& settings = scene.settings().step;
  program.nv = problem.nv;
  program.linear.rows.clear();
  program.linear.rhs.clear();
  program.Q = problem.Q;
  program.b = problem.b;
  program.J = problem.J;
  program.masses = problem.masses;
  program.model = settings.cone == scene::Cone::kCone ? solvers::contact::FrictionModel::kCone
                                                      : solvers::contact::FrictionModel::kPyramid;
  program.rays = scene.plane() == scene::Plane::kSpace ? settings.rays : 2;
  program.kappa = kInfinity;
  program.contacts.clear();
  for (const contact::Contact& contact : problem.contacts) {
    solvers::contact::ContactLaw& law = program.contacts.emplace_back();
    law.gap = contact.gap;
    law.mu = contact.mu;
    law.frictionless = contact.frictionless;
    law.cone = contact.patch;
    law.ellipsoid = contact.ellipsoid;
    law.offset = contact.offset;
    law.compliance = settings.compliance;
    law.id = contact.id;
  }
}

void set_joint_limits(const scene::Scene& scene, const Eigen::VectorXd& q, solvers::contact::ContactProgram& program) {
  if (!scene.settings().step.joint_limits) {
    program.lower.resize(0);
    program.upper.resize(0);
    return;
  }
  program.lower.setConstant(program.nv, -kInfinity);
  program.upper.setConstant(program.nv, kInfinity);
  const auto velocities = scene.model().velocities();
  for (int i = 0; i < scene.nv(); ++i) {
    if (velocities[i].q_index < 0) continue;
    program.lower(i) = velocities[i].lower - q(velocities[i].q_index);
    program.upper(i) = velocities[i].upper - q(velocities[i].q_index);
  }
  for (const scene::Object& object : scene.objects()) {
    if (!object.frozen) continue;
    program.lower.segment(object.first_v, object.nv).setConstant(-kInfinity);
    program.upper.segment(object.first_v, object.nv).setConstant(kInfinity);
  }
}

}  // namespace deft::dynamics
