#include "deft/control/tracking_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "deft/control/signals.hpp"
#include "deft/control/tracking_mpc.hpp"
#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/body_poses.hpp"
#include "deft/scene/displacement.hpp"
#include "deft/solvers/status.hpp"

namespace deft::control {

using dynamics::Trajectory;
using Eigen::VectorXd;

namespace {

constexpr double kBlind_s = 0.5;   // without a pose for so long the command is held
constexpr double kSame = 1e-6;     // of a period: times that differ by less are one, for they are sums
constexpr double kWait = 1;        // knots by which a nearest-point reference may lead
constexpr double kLost = 5;        // times as far off as asks for a new plan, and there is none: the command is held
constexpr double kTimeFactor = 3;  // the clock of a nearest-point reference, or blindness, may take so many times the
                                   // plan's duration
constexpr double kCaution = 2.5;   // times as long as errors take to be seen: a faster loop corrects them twice
constexpr double kStand_s = 0.1;   // most that the clock stands until a new plan is there
constexpr double kMostLookahead_s = 2;  // of what a search begins from
constexpr double kSplice_s = 0.2;       // of their speed: commands may be so far from where a new plan begins

std::vector<double> to_vector(const VectorXd& v) { return {v.data(), v.data() + v.size()}; }

bool has_velocities(const plant::Plant& plant) {
  return plant.name() != plant::to_string(plant::PlantKind::kQuasidynamic);
}

/// The settings of the scene; what predicts, if they leave it open, goes by the plant.
scene::TrackSettings settings_for(const plant::Plant& plant, const scene::Scene& scene) {
  scene::TrackSettings settings = scene.settings().track;
  if (settings.prediction == scene::TrackPrediction::kPlant && has_velocities(plant) &&
      settings.linearization == scene::TrackLinearization::kMeasured)
    settings.prediction = scene::TrackPrediction::kSecondOrder;
  return settings;
}

/// The run: everything that a period needs, sized once.
class Run {
 public:
  Run(plant::Plant& plant, const scene::Scene& scene, const TrackedPlan& plan, const VectorXd& q_start,
      const TrackOptions& options, Trajectory& motion)
      : plant_(plant),
        scene_(scene),
        options_(options),
        settings_(settings_for(plant, scene)),
        motion_(motion),
        path_(std::make_unique<ReferencePath>(scene, plan)),
        sensor_(scene, options.disturbance, settings_.period),
        actuator_(scene, options.disturbance, plan.u_start),
        q_end_(plan.q.back()),
        u_(plan.u_start),
        next_u_(plan.u_start),
        measured_(q_start),
        estimate_(q_start),
        expected_(q_start),
        speeds_(tracking_speeds(scene)),
        deviation_(VectorXd::Zero(scene.nv())),
        knots_(to_size(sensor_.delay()) + 1, 0.0),
        poses_(plant.scene().make_state()),
        reference_poses_(scene.make_state()) {
    if (options.controller == Controller::kMpc && !options.policy) {
      mpc_ = std::make_unique<TrackingMpc>(scene, settings_);
      mpc_->follow(*path_);
    }
    plant_.reset({.q = q_start, .v = plan.v_start}, plan.u_start);
    time_limit_s_ = kTimeFactor * path_->duration() + settings_.settle;
    patience_s_ = time_limit_s_;
    response_s_ = kCaution * (sensor_.delay() * settings_.period + settings_.filter_time);
    lookahead_s_ = settings_.replan_time;
    end_.plan_duration_s = path_->duration();
    max_duration_s_ =
        options.max_duration_s > 0 ? options.max_duration_s : kMostDuration * path_->duration() + settings_.settle;
  }

  TrackEnd operator()() {
    const Stopwatch wall;
    for (int n = 0;; ++n) {
      const double t = n * settings_.period;
      if (is_over() || is_cut(t, wall.seconds())) break;
      begin_search();  // these two may wait for a search, which is no part of a period
      adopt_new_plan();
      Stopwatch watch;
      const TrackWord word = decide();
      dynamics::TrackRecord record{
          .knot = knot_, .status = static_cast<int>(word), .period_us = watch.microseconds(), .plan = plans_};
      count(word);
      end_.plant = plant_.advance(actuator_.act(next_u_), settings_.period);
      u_ = next_u_;
      this->record(t + settings_.period, record);
      if (end_.plant != plant::PlantStatus::kOk) {
        end_.status = TrackStatus::kPlantFailure;
        end_.reason = "the simulation of the plant failed";
        break;
      }
      if (options_.on_period && !options_.on_period(motion_)) {
        end_.status = TrackStatus::kInterrupted;
        end_.reason = "it was interrupted";
        break;
      }
      tick(word);
    }
    end_.final = object_error(scene_, plant_.state().q, q_end_);
    const ObjectError at_goal = object_error(scene_, plant_.state().q, q_end_, options_.goal_rows);
    end_.replans = plans_;
    end_.success =
        end_.plant == plant::PlantStatus::kOk && end_.status != TrackStatus::kInterrupted && within(at_goal, 1);
    say_how_it_ended(at_goal);
    return end_;
  }

 private:
  bool within(const ObjectError& error, double share) const {
    return error.position_m <= share * settings_.tolerance_position &&
           error.rotation_rad <= share * settings_.tolerance_rotation;
  }
  /// Whether the objects are further off than `factor` times what asks for a new plan.
  bool off_plan(const ObjectError& error, double factor = 1) const {
    return error.position_m > factor * settings_.replan_position ||
           error.rotation_rad > factor * settings_.replan_rotation;
  }
  bool may_search() const {
    return mpc_ && settings_.replan && options_.search != nullptr && !search_failed_ && searches_ < settings_.replans;
  }

  /// Whether the end has been held for `settle`, to half a period: times are sums.
  bool has_settled() const { return settled_s_ > settings_.settle - 0.5 * settings_.period; }

  bool at_end() const { return knot_ >= path_->knots(); }

  /// Whether the time is over: the plan's end has been held for `settle`, and nothing more is tried.
  bool is_over() const {
    if (blind_s_ > patience_s_ || (!searching_ && !at_end() && clock_s_ > time_limit_s_)) return true;
    if (searching_ || !(at_end() || end_.off_plan > 0) || !has_settled()) return false;
    return is_there() || !may_search();
  }

  /// Whether a limit is met, which ends the run whatever it has come to.
  bool is_cut(double t, double wall_s) {
    if (t > max_duration_s_ - kSame * settings_.period) {
      end_.status = TrackStatus::kDurationLimit;
      end_.reason = fmt::format("{:.4g} s of the plant's time are over", max_duration_s_);
    } else if (wall_s > options_.time_limit_s) {
      end_.status = TrackStatus::kTimeLimit;
      end_.reason = fmt::format("{:.4g} s of wall time are over", options_.time_limit_s);
    }
    return end_.status != TrackStatus::kCompleted;
  }

  /// What a run that was not cut has come to.
  void say_how_it_ended(const ObjectError& at_goal) {
    if (end_.success && (end_.status == TrackStatus::kDurationLimit || end_.status == TrackStatus::kTimeLimit))
      end_.success = false;  // it may have been on its way
    if (end_.status != TrackStatus::kCompleted || end_.success) return;
    if (!options_.repeats) end_.status = search_failed_ ? TrackStatus::kStuck : TrackStatus::kOffPlan;
    end_.reason = fmt::format("objects are {:.3g} m, {:.3g} rad off{}", at_goal.position_m, at_goal.rotation_rad,
                              search_failed_             ? "; no new plan: " + why_none_
                              : blind_s_ > kBlind_s      ? "; they were not measured for too long"
                              : clock_s_ > time_limit_s_ ? "; the reference waited for them for too long"
                                                         : "");
  }

  /// Measurement and estimate of the objects: the deviation from the reference, which changes slowly,
  /// low-pass filtered. So neither delay nor filter lags behind a motion that goes as planned.
  void observe() {
    const bool is_measured = sensor_.measure(plant_.state().q, measured_);
    // The deviation jumps where there was none before, or long ago, or where the clock jumps.
    is_fresh_ = first_ || blind_s_ > kBlind_s || settings_.reference == scene::TrackReference::kNearest;
    blind_s_ = is_measured ? 0 : blind_s_ + settings_.period;
    path_->configuration(knot_, reference_);
    if (is_measured && of_old_path_ == 0) {
      path_->configuration(knots_[oldest()], then_);
      innovation_ = scene_.model().difference(settings_.delay_compensation ? then_ : reference_, measured_);
      const double gain = first_ ? 1 : settings_.period / (settings_.period + settings_.filter_time);
      for (const scene::Object& object : scene_.objects()) {
        auto d = deviation_.segment(object.first_v, object.nv);
        d += gain * (innovation_.segment(object.first_v, object.nv) - d);
      }
      first_ = false;
    }
    scene_.model().integrate(reference_, deviation_, estimate_);
    for (const int i : scene_.command_coordinates()) estimate_(i) = measured_(i);
    estimate_velocity();
    estimated_error_ = object_error(scene_, estimate_, reference_);
    end_error_ = object_error(scene_, estimate_, q_end_, options_.goal_rows);
  }

  /// Of joints as they are measured; of objects that of the reference, and how their deviation from it changes,
  /// filtered.
  void estimate_velocity() {
    if (!mpc_ || settings_.prediction != scene::TrackPrediction::kSecondOrder) return;
    if (ticks_ == 0) velocity_ = deviation_rate_ = VectorXd::Zero(scene_.nv());
    path_->configuration(knot_ + advance_of_clock(), then_);
    scene::difference(scene_.model(), reference_, then_, velocity_);
    velocity_ /= settings_.period;
    if (is_fresh_) deviation_rate_.setZero();
    if (last_deviation_.size() > 0 && !is_fresh_)
      deviation_rate_ += ((deviation_ - last_deviation_) / settings_.period - deviation_rate_) * settings_.period /
                         (settings_.period + settings_.filter_time);
    velocity_ += deviation_rate_;
    for (const scene::Robot& robot : scene_.robots())
      if (last_measured_.size() > 0)
        velocity_.segment(robot.first_v, robot.nv) =
            (measured_ - last_measured_).segment(robot.first_q, robot.nv) / settings_.period;
    last_deviation_ = deviation_;
    last_measured_ = measured_;
  }

  std::size_t oldest() const { return to_size(ticks_ + 1) % knots_.size(); }

  /// The command of this period, due at its end, in next_u_.
  TrackWord decide() {
    knots_[to_size(ticks_) % knots_.size()] = knot_;
    if (ticks_ == 0) std::fill(knots_.begin(), knots_.end(), knot_);
    observe();
    if (options_.policy) {
      scene::difference(scene_.model(), ticks_ == 0 ? estimate_ : last_estimate_, estimate_, policy_velocity_);
      policy_velocity_ /= settings_.period;
      last_estimate_ = estimate_;
      next_u_ = u_;
      options_.policy(ticks_ * settings_.period, estimate_, policy_velocity_, next_u_);
      return at_end() ? TrackWord::kSettling : TrackWord::kTracking;
    }
    if (!mpc_) {
      path_->command(knot_ + advance_of_clock(), next_u_);
      return at_end() ? TrackWord::kSettling : TrackWord::kOpenLoop;
    }
    next_u_ = u_;
    if (blind_s_ > kBlind_s) {
      mpc_->pause();
      return TrackWord::kBlind;
    }
    const double period_share = advance_of_clock();
    const double time_to_next =
        std::max(path_->time_at(std::min(knot_ + 1, double(path_->knots()))) - path_->time_at(knot_), path_->plan().h);
    const TrackingResult& result = mpc_->control(estimate_, knot_, u_, time_to_next, velocity_);
    const bool is_solved = result.status == TrackingStatus::kSolved;
    wants_search_ = wants_new_plan();
    if (!searching_ && off_plan(estimated_error_, kLost)) return TrackWord::kOffPlan;
    if (!is_solved) return TrackWord::kHold;
    // The deviation from the plan's command goes to that of the next knot as the clock goes there, or slower.
    path_->command(knot_, u_now_);
    path_->command(knot_ + 1, u_then_);
    const double share = std::min(1.0, settings_.period / std::max(time_to_next, response_s_));
    path_->command(knot_ + period_share, next_u_);
    next_u_ += (1 - share) * (u_ - u_now_) + share * (result.u - u_then_);
    return searching_ ? TrackWord::kReplanning : at_end() ? TrackWord::kSettling : TrackWord::kTracking;
  }

  /// Whether the objects are at the first plan's end; once a new plan was tried from there, what would pass is enough.
  bool is_there() const { return within(end_error_, tries_at_end_ > 0 ? kPasses : kEnough); }

  /// Whether objects are too far off the plan, or from where it ends once that has been held.
  bool wants_new_plan() {
    if (searching_ || !may_search()) return false;
    if (off_plan(estimated_error_)) return true;
    if (!at_end() || !has_settled() || is_there()) return false;
    ++tries_at_end_;
    return true;
  }

  /// Searches from where things are expected `lookahead_s_` ahead, for they move on meanwhile: along the path, off it
  /// by as much as now.
  void begin_search() {
    if (!wants_search_) return;
    wants_search_ = false;
    const double knot = path_->knot_at(std::min(path_->time_at(knot_) + lookahead_s_, path_->duration()));
    path_->configuration(knot, then_);
    path_->configuration(knot_, reference_);
    scene_.model().integrate(then_, deviation_, expected_);
    for (const int i : scene_.command_coordinates()) expected_(i) = then_(i) + estimate_(i) - reference_(i);
    path_->command(knot, u_then_);
    path_->command(knot_, u_now_);
    options_.search->begin(expected_, u_ + u_then_ - u_now_, static_cast<std::uint64_t>(++searches_));
    searching_ = true;
    searched_s_ = 0;
  }

  /// Follows the plan of the search, if it has one within its budget so far and things are where it begins.
  void adopt_new_plan() {
    if (!searching_) return;
    searched_s_ += settings_.period;
    if (searched_s_ < lookahead_s_ - kSame) return;
    std::optional<PlanSearch::Result> result =
        options_.search->result(static_cast<long>(settings_.replan_budget * searched_s_));
    const bool is_given_up = !result && searched_s_ > kSearch_s;
    if (!result && !is_given_up) return;
    searching_ = false;
    if (is_given_up) options_.search->give_up();
    if (!result || !result->plan) {
      why_none_ = result ? result->reason : fmt::format("a search took more than {} s of its budget", kSearch_s);
      search_failed_ = ++refused_ >= kRefusals;
      return;
    }
    if (!begins_here(*result->plan)) {
      lookahead_s_ = std::min(searched_s_ + kStand_s, kMostLookahead_s);
      return;
    }
    refused_ = 0;
    ++plans_;
    lookahead_s_ = settings_.replan_time;
    result->plan->u_start = u_;  // what does not begin with the command in force is led there
    path_ = std::make_unique<ReferencePath>(scene_, std::move(*result->plan));
    mpc_->follow(*path_);
    knot_ = clock_s_ = settled_s_ = 0;
    time_limit_s_ = kTimeFactor * path_->duration() + settings_.settle;
    std::fill(knots_.begin(), knots_.end(), 0.0);
    of_old_path_ = sensor_.delay();
    path_->configuration(0, reference_);
    deviation_ = scene_.model().difference(reference_, estimate_);
    if (last_deviation_.size() > 0) last_deviation_ = deviation_;
  }

  /// Whether objects and commands are where a plan begins.
  bool begins_here(const TrackedPlan& plan) const {
    return !off_plan(object_error(scene_, estimate_, plan.q.front())) &&
           ((u_ - plan.u_start).cwiseAbs().array() <= kSplice_s * speeds_.array()).all();
  }

  /// Whether the clock stands, because the plan that is searched for begins here; not for long.
  bool is_waiting() const {
    return searching_ && searched_s_ > lookahead_s_ - kSame && searched_s_ < lookahead_s_ + kStand_s;
  }

  /// By how much the clock goes on in a period [knots].
  double advance_of_clock() const {
    if (is_waiting()) return 0;
    const double then = path_->time_at(knot_) + settings_.period;
    return (then > path_->duration() - kSame * settings_.period ? path_->knots() : path_->knot_at(then)) - knot_;
  }

  void tick(TrackWord word) {
    ++ticks_;
    of_old_path_ = std::max(0, of_old_path_ - 1);
    if (word == TrackWord::kBlind || word == TrackWord::kOffPlan) {
      if (word == TrackWord::kOffPlan)
        settled_s_ += settings_.period;  // an abandoned plan settles too: the run must end
      return;
    }
    clock_s_ += settings_.period;
    if (knot_ >= path_->knots()) settled_s_ += settings_.period;
    const double onward = knot_ + advance_of_clock();
    if (mpc_ && settings_.reference == scene::TrackReference::kNearest) {
      const double near =
          path_->nearest(estimate_, std::max(0.0, knot_ - kWait), std::min(knot_ + kWait, double(path_->knots())));
      knot_ = std::max(near, std::min(onward, near + kWait));
    } else {
      knot_ = onward;
    }
  }

  void count(TrackWord word) {
    end_.holds += word == TrackWord::kHold;
    end_.blind += word == TrackWord::kBlind;
    end_.off_plan += word == TrackWord::kOffPlan;
    if (word == TrackWord::kHold || word == TrackWord::kBlind || word == TrackWord::kOffPlan || is_waiting())
      end_.held_s += settings_.period;
  }

  void record(double t, dynamics::TrackRecord& record) {
    const dynamics::State& state = plant_.state();
    path_->configuration(knot_ + advance_of_clock(), reference_);
    const ObjectError error = object_error(scene_, state.q, reference_);
    record.position_error_m = error.position_m;
    record.rotation_error_rad = error.rotation_rad;
    end_.largest.position_m = std::max(end_.largest.position_m, error.position_m);
    end_.largest.rotation_rad = std::max(end_.largest.rotation_rad, error.rotation_rad);
    motion_.tracks.push_back(record);
    motion_.measured_q.push_back(to_vector(measured_));
    motion_.t.push_back(t);
    motion_.q.push_back(to_vector(state.q));
    if (!motion_.v.empty()) motion_.v.push_back(to_vector(state.v));
    motion_.u.push_back(to_vector(u_));
    plant_.scene().update(state.q, poses_);
    motion_.X_WB.push_back(dynamics::body_poses(poses_.X_WB()));
    scene_.update(reference_, reference_poses_);
    motion_.reference_q.push_back(to_vector(reference_));
    motion_.reference_X_WB.push_back(dynamics::body_poses(reference_poses_.X_WB()));
    if (options_.record_contacts) {
      plant_.contacts(contacts_);
      motion_.contacts.insert(motion_.contacts.end(), contacts_.begin(), contacts_.end());
    }
    motion_.contact_offset.push_back(motion_.contacts.size());
    dynamics::StepRecord step;
    step.status = static_cast<int>(end_.plant == plant::PlantStatus::kOk ? solvers::Status::kSolved
                                                                         : solvers::Status::kNumericalFailure);
    step.residual = plant_.residual();
    step.energy = plant_.energy();
    step.gap_min = step.gap_min_linearised = kInfinity;
    for (const dynamics::ContactRecord& contact : contacts_) step.gap_min = std::min(step.gap_min, contact.gap);
    step.gap_min_linearised = step.gap_min;
    motion_.steps.push_back(step);
  }

  static constexpr double kEnough = 0.5, kPasses = 0.8;  // of the tolerances: what may be left at the end of a plan
  static constexpr int kRefusals = 5;                    // so many times in a row no plan was found

  plant::Plant& plant_;
  const scene::Scene& scene_;
  const TrackOptions& options_;
  scene::TrackSettings settings_;
  Trajectory& motion_;
  std::unique_ptr<ReferencePath> path_;
  std::unique_ptr<TrackingMpc> mpc_;
  Sensor sensor_;
  Actuator actuator_;
  VectorXd q_end_, u_, next_u_, u_now_, u_then_, measured_, estimate_, expected_, speeds_, reference_, then_,
      deviation_, innovation_, velocity_, deviation_rate_, last_deviation_, last_measured_, policy_velocity_,
      last_estimate_;
  std::vector<double> knots_;  // ring of the sensor's delay: where the reference was
  scene::SceneState poses_, reference_poses_;
  std::vector<dynamics::ContactRecord> contacts_;
  ObjectError estimated_error_, end_error_;  // from what is due now, from where the first plan ends
  double knot_ = 0, clock_s_ = 0, settled_s_ = 0, searched_s_ = 0, blind_s_ = 0, time_limit_s_ = 0;
  double max_duration_s_ = 0, patience_s_ = 0, lookahead_s_ = 0;
  double response_s_ = 0;  // in which commands go to what the program asks for
  long ticks_ = 0;
  int plans_ = 0, searches_ = 0, refused_ = 0;  // that were followed; begun; that found nothing, in a row
  int tries_at_end_ = 0;                        // searches begun there
  int of_old_path_ = 0;                         // measurements to come
  bool is_fresh_ = true;                        // the deviation jumps in this period
  bool first_ = true, searching_ = false, wants_search_ = false, search_failed_ = false;
  std::string why_none_;  // no plan was found
  TrackEnd end_;
};

}  // namespace

std::string_view to_string(TrackWord word) {
  constexpr std::string_view kWords[kNumTrackWords] = {"OpenLoop",   "Tracking", "Hold",   "Blind",
                                                       "Replanning", "Settling", "OffPlan"};
  return kWords[to_size(word)];
}

std::string_view to_string(Controller controller) { return controller == Controller::kMpc ? "mpc" : "open-loop"; }

std::string_view to_string(TrackStatus status) {
  constexpr std::string_view kNames[] = {"Completed", "OffPlan",     "Stuck",        "DurationLimit",
                                         "TimeLimit", "StartFailed", "PlantFailure", "Interrupted"};
  return kNames[to_size(status)];
}

Trajectory start_tracking(const plant::Plant& plant, const ReferencePath& path, const VectorXd& q_start) {
  const scene::Scene& scene = plant.scene();
  Trajectory motion = dynamics::named_trajectory(scene);
  for (int i = 0; i < kNumTrackWords; ++i) motion.track_words.emplace_back(to_string(static_cast<TrackWord>(i)));
  motion.t.push_back(0);
  motion.q.push_back(to_vector(q_start));
  if (has_velocities(plant))
    motion.v.push_back(path.plan().v_start.size() > 0 ? to_vector(path.plan().v_start)
                                                      : std::vector<double>(scene.nv(), 0.0));
  scene::SceneState state = scene.make_state();
  scene.update(q_start, state);
  motion.X_WB.push_back(dynamics::body_poses(state.X_WB()));
  VectorXd reference;
  path.configuration(0, reference);
  scene.update(reference, state);
  motion.reference_q.push_back(to_vector(reference));
  motion.reference_X_WB.push_back(dynamics::body_poses(state.X_WB()));
  return motion;
}

TrackEnd track(plant::Plant& plant, const scene::Scene& scene, const TrackedPlan& plan, const VectorXd& q_start,
               const TrackOptions& options, Trajectory& motion) {
  return Run(plant, scene, plan, q_start, options, motion)();
}

}  // namespace deft::control
