#include "deft/execution/replanner.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "deft/core/log.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/math/rotation.hpp"
#include "deft/planning/feasibility/planning_steps.hpp"
#include "deft/planning/planner.hpp"

namespace deft::execution {
namespace {

constexpr double kShare = 0.25;     // of the tolerances of tracking: what a new plan has to reach
constexpr int kNodes = 3000;        // roll-outs, so that the result does not depend on the machine
constexpr double kNoLimit_s = 1e9;  // steps are counted, not seconds
constexpr double kBeyond = 0.01;    // [rad, m] by which joints may be measured beyond their limits

/// Coordinates first_q … first_q + nq − 1 of q, of a model or a free body, by their names in it, as far as wanted.
scene::ModelConfiguration part_of(const scene::Scene& scene, const std::string& model, int first_q, int nq,
                                  const Eigen::VectorXd& q, const std::function<bool(int)>& is_wanted) {
  scene::ModelConfiguration part;
  for (int i = first_q; i < first_q + nq; ++i) {
    if (!is_wanted(i)) continue;
    const std::string& name = scene.model().coordinates()[i].name;
    const multibody::CoordinateInfo& c = scene.model().coordinates()[i];
    // Springs are compliant at a joint limit; a plan has to start within it.
    const double inside = std::clamp(q(i), c.lower, c.upper);
    part.joints.by_name[name.substr(model.size() + 1)] = std::abs(inside - q(i)) <= kBeyond ? inside : q(i);
  }
  return part;
}

/// Whether a coordinate of an object is one that these velocity indices displace: a quaternion's by any rotation.
bool is_named(const scene::Scene& scene, const scene::Object& object, int coordinate, std::span<const int> rows) {
  const bool turns = scene.model().coordinates()[coordinate].unit == "1";
  return rows.empty() || std::any_of(rows.begin(), rows.end(), [&](int row) {
           const int displaced = scene.model().velocities()[row].q_index;
           const bool own = row >= object.first_v && row < object.first_v + object.nv;
           return own && (turns ? displaced < 0 : displaced == coordinate);
         });
}

/// Where the objects are in q_end, of what `rows` name.
scene::GoalSpec goal_at(const scene::Scene& scene, const Eigen::VectorXd& q_end, std::span<const int> rows) {
  const scene::TrackSettings& track = scene.settings().track;
  scene::GoalSpec goal;
  goal.target.name = "end of the plan";
  goal.tolerance_position_m = kShare * track.tolerance_position;
  goal.tolerance_rotation_rad = kShare * track.tolerance_rotation;
  goal.tolerance_joint = kShare * track.tolerance_rotation;
  for (const scene::Object& object : scene.objects()) {
    if (object.frozen) continue;
    const scene::ModelConfiguration part = part_of(scene, object.name, object.first_q, object.nq, q_end,
                                                   [&](int i) { return is_named(scene, object, i, rows); });
    if (!part.joints.by_name.empty()) goal.target.models[object.name] = part;
  }
  return goal;
}

/// Why there is no plan, in a line.
std::string reason_of(const planning::PlannerResult& result) {
  if (result.reasons.empty()) return "nothing was found";
  const planning::Reason& heaviest = result.reasons.front();
  return heaviest.detail.empty() ? heaviest.reason : heaviest.reason + ": " + heaviest.detail;
}

}  // namespace

Replanner::Replanner(const scene::Scene& scene, const Eigen::VectorXd& q_end, std::vector<int> goal_rows,
                     std::uint64_t seed, int threads, std::function<bool()> stop)
    : scene_(&scene),
      q_end_(q_end),
      goal_rows_(std::move(goal_rows)),
      goal_(goal_at(scene, q_end, goal_rows_)),
      seed_(seed),
      threads_(threads),
      stop_(std::move(stop)) {}

Replanner::~Replanner() { give_up(); }

void Replanner::give_up() {
  if (!thread_.joinable()) return;
  given_up_ = true;
  thread_.join();
  given_up_ = false;
}

void Replanner::begin(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::uint64_t number) {
  give_up();
  ended_ = is_over_ = false;
  solves_ = 0;
  result_ = {};
  error_ = nullptr;
  thread_ = std::thread([this, q, u, number] {
    Result result;
    std::exception_ptr error;
    try {
      result = search(q, u, number);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    error_ = error;
    ended_ = true;
    changed_.notify_all();
  });
}

std::optional<control::PlanSearch::Result> Replanner::result(long solves) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ || solves_ > solves; });
  if (!ended_ || solves_ > solves) return std::nullopt;
  if (error_) std::rethrow_exception(error_);
  return std::move(result_);
}

control::PlanSearch::Result Replanner::search(const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                                              std::uint64_t number) {
  const Stopwatch watch;
  Result found;
  try {
    scene::ConfigurationSpec start;
    start.name = "measured";
    for (const multibody::ModelInfo& info : scene_->model().models())
      if (info.nq > 0)
        start.models[info.name] = part_of(*scene_, info.name, info.first_q, info.nq, q, [](int) { return true; });
    const scene::Scene here = scene_->starting_at(start).with([](scene::SceneSettings& settings) {
      scene::PlanSettings& plan = settings.plan;
      plan.first = true;
      plan.refine.clear();
      plan.nodes = std::min(plan.nodes, kNodes);
      plan.time_limit_s = kNoLimit_s;
      plan.improve_s = 0;
      // Small steps that press little hold where the world is not the planner's; a roll-out takes more of them.
      const double step_norm = std::min(plan.step_norm, settings.track.replan_step_norm);
      plan.rollout_steps = static_cast<int>(std::ceil(plan.rollout_steps * plan.step_norm / step_norm));
      plan.step_norm = step_norm;
      plan.max_target_offset = std::min(plan.max_target_offset, settings.track.replan_max_target_offset);
    });
    planning::PlannerOptions options{.seed = seed_ + number, .threads = threads_, .u_start = u};
    options.stop = [this] { return given_up_ || is_over_ || (stop_ && stop_()); };
    const auto most = static_cast<long>(control::kSearch_s * scene_->settings().track.replan_budget);
    options.on_solves = [this, most](long solves) {
      const std::lock_guard lock(mutex_);
      solves_ = solves;
      is_over_ = solves > most;
      changed_.notify_all();
    };
    const planning::PlannerResult result = planning::make_plan(here, goal_, options);
    options.on_solves(result.solves);
    if (result.plan.success && !result.plan.commands.empty()) {
      found.plan = control::TrackedPlan{result.plan.h, result.plan.q, result.plan.commands, result.plan.u_start};
      control::lead_objects_to(*scene_, q_end_, *found.plan, goal_rows_);  // what the tolerance leaves is made up for
    } else {
      found.reason = result.plan.success ? "nothing is left to do" : reason_of(result);
    }
  } catch (const InputError& error) {
    log::warning(fmt::format("no new plan from the expected state: {}", error.what()));
    found.reason = error.what();
  }
  seconds_ += watch.seconds();
  return found;
}

}  // namespace deft::execution
