#include "deft/dynamics/rollout/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "deft/dynamics/body_poses.hpp"
#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/complementarity/support_recorder.hpp"

namespace deft::dynamics {
namespace {

std::vector<double> to_vector(const Eigen::VectorXd& v) { return {v.data(), v.data() + v.size()}; }

StepRecord record_step(const StepResult& result) {
  StepRecord record;
  record.status = static_cast<int>(result.status);
  record.residual = result.certificate.max_scaled();
  record.residual_stationarity = result.certificate.stationarity;
  record.residual_primal = result.certificate.primal;
  record.residual_complementarity = result.certificate.complementarity;
  record.iterations = result.iterations;
  record.solve_us = result.solve_us;
  record.step_us = result.step_us;
  record.energy = result.energy;
  record.gap_min = record.gap_min_linearised = kInfinity;
  if (const PatchDetail* patch = result.patch()) {
    for (const PatchContact& contact : patch->contacts)
      record.gap_min_linearised = std::min(record.gap_min_linearised, contact.gap);
    record.balance = patch->balance;
  }
  for (double gap : result.solution.gap) record.gap_min_linearised = std::min(record.gap_min_linearised, gap);
  record.motion_unique = result.solution.motion_unique;
  record.forces_unique = result.solution.forces_unique;
  record.forces_least_norm = result.forces_least_norm;
  if (const ComplementarityDetail* detail = result.complementarity()) {
    record.balance = detail->balance;
    record.bound = detail->bound;
    record.uniqueness = static_cast<int>(detail->uniqueness);
  }
  return record;
}

/// What is known of another motion of the step from q. @param elsewhere  scratch.
void record_alternative(const scene::Scene& scene, const Eigen::VectorXd& q, const StepResult& result,
                        scene::SceneState& elsewhere, Trajectory& trajectory) {
  const ComplementarityDetail* detail = result.complementarity();
  const bool known = detail != nullptr && detail->alternative_delta.size() > 0;
  trajectory.second_delta.push_back(known ? to_vector(detail->alternative_delta)
                                          : std::vector<double>(scene.nv(), std::numeric_limits<double>::quiet_NaN()));
  trajectory.second_X_WB.emplace_back();
  if (known) trajectory.second_X_WB.back() = poses_after(scene, q, detail->alternative_delta, elsewhere);
}

/// The command u of step k: the controller's, one of the list, or the scene's. @param start  updated at state.q.
void set_command(const RolloutOptions& options, int k, const State& state, const scene::SceneState& start,
                 const StepModel& model, Trajectory& trajectory, Eigen::VectorXd& u) {
  if (options.controller)
    options.controller(state, u, trajectory);
  else if (options.commands.empty())
    model.scene().command(state.t, model.h(), start, u);
  else
    u = options.commands[k];
}

}  // namespace

State initial_state(const StepModel& model) {
  return {.q = model.scene().initial_configuration(), .v = model.scene().initial_velocity(), .t = 0};
}

Trajectory start_trajectory(const StepModel& model, const State& start) {
  const scene::Scene& scene = model.scene();
  Trajectory trajectory = named_trajectory(scene);
  trajectory.has_contact_kinds = scene.settings().step.model == scene::ModelKind::kEquivalentContactPoint;
  trajectory.searches_alternatives =
      scene.settings().step.uniqueness_check && is_complementarity_model(scene.settings().step.model);
  trajectory.t.push_back(start.t);
  trajectory.q.push_back(to_vector(start.q));
  if (model.second_order())
    trajectory.v.push_back(start.v.size() > 0 ? to_vector(start.v) : std::vector<double>(scene.nv(), 0.0));
  scene::SceneState state = scene.make_state();
  scene.update(start.q, state);
  trajectory.X_WB.push_back(body_poses(state.X_WB()));
  trajectory.support_bodies = SupportRecorder(scene).bodies();
  return trajectory;
}

RolloutEnd rollout(StepModel& model, const State& from, const RolloutOptions& options, Trajectory& trajectory) {
  const scene::Scene& scene = model.scene();
  if (!options.commands.empty() && static_cast<int>(options.commands.size()) < options.steps)
    throw std::invalid_argument("rollout: fewer commands than steps");
  RolloutEnd end;
  scene::SceneState start = scene.make_state(), next = scene.make_state(), elsewhere = scene.make_state();
  SupportRecorder supports(scene);
  scene.update(from.q, start);
  StepResult result;
  State state = from;
  Eigen::VectorXd u(scene.nu());
  for (int k = 0; k < options.steps; ++k) {
    state.t = from.t + k * model.h();
    set_command(options, k, state, start, model, trajectory, u);
    model.step(state, u, result);

    // The true gaps are those of the geometry at the end of the step.
    scene.update(result.q_next, next);
    scene.find_contacts(scene.settings().step.contact_margin, next);
    StepRecord step = record_step(result);
    for (const collision::ContactPair& pair : next.contacts) step.gap_min = std::min(step.gap_min, pair.gap);

    model.record_contacts(result, start.X_WB(), next.X_WB(), trajectory.contacts);
    trajectory.contact_offset.push_back(trajectory.contacts.size());
    trajectory.steps.push_back(step);
    supports.record(start, u, model.h(), result, trajectory.supports);
    if (trajectory.searches_alternatives) record_alternative(scene, state.q, result, elsewhere, trajectory);
    trajectory.u.push_back(to_vector(u));
    trajectory.q.push_back(to_vector(result.q_next));
    if (model.second_order()) trajectory.v.push_back(to_vector(result.v_next));
    trajectory.X_WB.push_back(body_poses(next.X_WB()));
    trajectory.t.push_back(from.t + (k + 1) * model.h());

    if (!solvers::usable(result.status)) {
      if (options.on_step) options.on_step(k, result, trajectory);
      end.status = result.status;
      end.reason = explain(scene, result);
      return end;
    }
    if (options.on_step && !options.on_step(k, result, trajectory)) {
      end.interrupted = true;
      return end;
    }
    state.q = result.q_next;
    state.v = result.v_next;
    std::swap(start, next);
  }
  end.completed = true;
  return end;
}

}  // namespace deft::dynamics
