#include "deft/dynamics/energy_step.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "deft/core/stopwatch.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::dynamics {
namespace {

void check_vector(const char* what, const Eigen::VectorXd& v, int expected) {
  if (v.size() != expected)
    throw std::invalid_argument(fmt::format("{} has {} entries, the scene needs {}", what, v.size(), expected));
  if (!v.allFinite()) throw std::invalid_argument(fmt::format("{} has an entry that is not finite", what));
}

}  // namespace

double required_step_length(const scene::Scene& scene) {
  const auto& h = scene.settings().step.h;
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
  const scene::JointValues& values = scene.settings().step.joint_damping;
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

double quadratic_energy(const solvers::contact::ContactProgram& program, const Eigen::VectorXd& delta) {
  return 0.5 * quadratic_form(program.Q, delta) + program.b.dot(delta);
}

EnergyStep::EnergyStep(const scene::Scene& scene, Order order, EnergyLayout layout, Eigen::VectorXd damping)
    : scene_(&scene),
      h_(required_step_length(scene)),
      second_order_(order == Order::kSecond),
      layout_(std::move(layout)),
      damping_(std::move(damping)),
      contacts_(scene),
      scratch_{.forces = Eigen::VectorXd(scene.nv())},
      end_(scene.make_state()),
      at_rest_(Eigen::VectorXd::Zero(scene.nv())),
      rolling_(scene) {}

void EnergyStep::reset() {
  contacts_.forget();
  ended_ = false;
  loads_.clear();
  rolling_.forget();
  forget();
}

// A step that parts what penetrates at once leaves it with the velocity depth/h, which has no cause.
bool EnergyStep::limit_recovery(contact::ContactProblem& problem) {
  const double deepest = -scene_->settings().step.recovery_speed * h_;
  left_inside_.clear();
  for (contact::Contact& contact : problem.contacts) {
    if (contact.gap >= deepest) continue;
    left_inside_.emplace_back(contact.id, deepest - contact.gap);
    contact.gap = deepest;
  }
  return !left_inside_.empty();
}

void EnergyStep::keep_recovery_limit(contact::ContactProblem& problem) const {
  for (const auto& [id, depth] : left_inside_) {
    for (contact::Contact& contact : problem.contacts)
      if (contact.id == id) contact.gap += depth;
  }
}

// With the normal forces of the step before, if this one starts where that ended.
bool EnergyStep::resist_rolling(const State& start, const Eigen::VectorXd& v, contact::ContactProblem& problem) {
  if (loads_.empty() || start.q != q_loads_) {
    rolling_.forget();
    return false;
  }
  torques_.clear();
  rolling_.torques(loads_, contacts_.state(), v, h_, problem.Q, torques_);
  forces_.setZero(scene_->nv());
  rolling_.add_generalized(torques_, contacts_.state(), forces_);
  problem.b -= forces_;
  return !torques_.empty();
}

void EnergyStep::remember_loads(const StepResult& result) {
  loads_.clear();
  if (!solvers::usable(result.status)) return;
  q_loads_ = result.q_next;
  for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
    const contact::Contact& contact = result.problem.contacts[i];
    const double force = result.solution.force[i][0];
    if (force > 0 && rolling_.acts_on(contact.geometry_a, contact.geometry_b))
      loads_.push_back({contact.geometry_a, contact.geometry_b, contact.n_W, force});
  }
}

void EnergyStep::step(const State& start, const Eigen::VectorXd& u, StepResult& result) {
  check_start(*scene_, start, u);
  const Stopwatch watch;
  const Eigen::VectorXd& v = second_order_ && start.v.size() == 0 ? at_rest_ : start.v;
  // A step mostly begins where the last one ended, with the kinematics and the mass matrix of its energy.
  const bool goes_on = ended_ && end_.q == start.q;
  if (goes_on) contacts_.place(end_);
  ended_ = false;
  contacts_.find(start.q, result.problem);
  std::string_view left_out;  // of derivatives
  if (second_order_ && limit_recovery(result.problem)) left_out = "step.recovery_speed, which it reached";
  scene::SceneState& state = contacts_.state();
  if (!goes_on) scene_->model().mass_matrix(state.kinematics, M_);
  add_energy({*scene_, state, v, u, start.t, h_, M_}, result.problem);
  if (second_order_ && !rolling_.none() && resist_rolling(start, v, result.problem))
    left_out = "rolling friction, which acted in it";
  const double certifying_us = solve(start, u, result);
  result.without_derivative = left_out;
  scene_->model().integrate(start.q, result.delta, result.q_next);
  if (second_order_ && !rolling_.none()) remember_loads(result);
  if (!second_order_) {
    result.v_next.resize(0);
    result.step_us = watch.microseconds() - certifying_us;
    result.energy = quadratic_energy(result.program, motion_of_energy(result));
    return;
  }
  if (solvers::usable(result.status)) {
    result.v_next = result.delta / h_;
  } else {
    result.v_next = v;
  }
  result.step_us = watch.microseconds() - certifying_us;
  scene_->update(result.q_next, end_);
  result.energy = mechanical_energy(*scene_, end_, result.v_next, u, M_);
  ended_ = true;
}

}  // namespace deft::dynamics
