#pragma once
// A plant under a tracking controller, period by period: sensors, estimate, reference, command, actuators, records.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "deft/control/reference_path.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/plant/disturbance.hpp"
#include "deft/plant/plant.hpp"
#include "deft/scene/description/track_settings.hpp"

namespace deft::control {

/// What the controller did in a period; its words are Trajectory::track_words.
enum class TrackWord {
  kOpenLoop,    // the plan's command
  kTracking,    // the program's
  kHold,        // prediction or program failed: the command is held
  kBlind,       // no pose for too long: the command is held, the clock stands
  kReplanning,  // as kTracking or kSettling, while a new plan is made
  kSettling,    // behind the plan's end: the last command, or the program's
  kOffPlan      // objects are far off and there is no (further) plan: the command is held
};
inline constexpr int kNumTrackWords = 7;  // of TrackWord
/// "OpenLoop", "Tracking", … as in run files.
std::string_view to_string(TrackWord word);

/// Where commands come from: the plan as it is, or TrackingMpc along it.
enum class Controller { kOpenLoop, kMpc };
inline constexpr std::array kControllers{Controller::kOpenLoop, Controller::kMpc};  // all of them
/// "open-loop" or "mpc", the words of --controller.
std::string_view to_string(Controller controller);

/// Searches for new plans beside the loop, which goes on meanwhile. What a search finds and how many steps it takes may
/// depend on its arguments alone, so that a run is the same on every machine.
class PlanSearch {
 public:
  virtual ~PlanSearch() = default;
  /// What a search came to.
  struct Result {
    std::optional<TrackedPlan> plan;  // none: there is none
    std::string reason;               // without a plan: why
  };
  /// Begins a search from the configuration q (size nq), with the command u (size nu) in force there, to where the
  /// first plan ends; gives up one that goes on. @param number  of the search, from 1.
  virtual void begin(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::uint64_t number) = 0;
  /// What the search came to, if it takes no more than so many step solves; waits until that is known. @pre begin().
  virtual std::optional<Result> result(long solves) = 0;
  virtual void give_up() {}  // ends the search that goes on; its result is not asked for any more
};
/// Of the plant's time [s], for which a search may take its budget before it is given up.
inline constexpr double kSearch_s = 5;

/// What a tracked run is asked for, beside the scene's settings.
struct TrackOptions {
  Controller controller = Controller::kMpc;  // where commands come from
  /// Commands come from here instead, at the pace of the plan: sets u (size nu; before, the last command) at time t [s]
  /// from the estimated configuration (size nq) and its rate of change (size nv, 0 in the first period).
  std::function<void(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& u)> policy{};
  plant::Disturbance disturbance{};  // of signals; that of the world is in the plant's scene
  PlanSearch* search = nullptr;      // of new plans, if settings.replan; none: there are none
  bool repeats = false;              // completed is what was repeated to its end, wherever the objects are
  double max_duration_s = 0;         // simulated [s]; 0: kMostDuration times the plan's, and settings.settle
  double time_limit_s = kInfinity;   // wall time [s], asked after each period
  /// Called after each period; return false to stop (Ctrl-C).
  std::function<bool(const dynamics::Trajectory&)> on_period{};
  bool record_contacts = true;   // whether the motion keeps the plant's contacts
  std::vector<int> goal_rows{};  // velocity indices of what the plan's goal names, which has to arrive; empty: all of
                                 // the objects
};

/// Why a tracked run ended.
enum class TrackStatus {
  kCompleted,      // the plan's time is over, and the objects are at its end
  kOffPlan,        // its time is over, and they are not
  kStuck,          // the same, and no new plan was found
  kDurationLimit,  // it took too long in the plant's time
  kTimeLimit,      // or on the wall
  kStartFailed,    // the disturbed start does not settle: nothing was tried
  kPlantFailure,   // the plant's simulation failed
  kInterrupted
};
/// "Completed", "OffPlan", …
std::string_view to_string(TrackStatus status);

/// What a tracked run came to.
struct TrackEnd {
  TrackStatus status = TrackStatus::kCompleted;        // why it ended
  plant::PlantStatus plant = plant::PlantStatus::kOk;  // of its last advance
  ObjectError final, largest;  // true objects against the end of the first plan, and on the way against the reference
  bool success = false;        // what TrackOptions::goal_rows name is there, and nothing cut the run short
  std::string reason;          // why it did not arrive; empty: it did
  double plan_duration_s = 0;  // of the first plan, as it was followed
  double held_s = 0;           // in which the command was held: blind, off the plan, or for want of a prediction
  int replans = 0;             // new plans that were followed
  int holds = 0, blind = 0, off_plan = 0;  // periods
};

inline constexpr double kMostDuration = 10;  // TrackOptions::max_duration_s, of the plan's duration

/// The names and the start of a tracked run; no periods yet. @param q_start  true, of the plant, size nq.
dynamics::Trajectory start_tracking(const plant::Plant& plant, const ReferencePath& path,
                                    const Eigen::VectorXd& q_start);

/// Follows `plan` on `plant`, which is put at `q_start` with the plan's first command, and appends to `motion`.
/// @param scene  the world as the controller believes it to be; the plant's may differ in numbers, not in names.
/// @throws std::invalid_argument for plans that do not fit the scene, InputError for scenes that cannot be tracked.
TrackEnd track(plant::Plant& plant, const scene::Scene& scene, const TrackedPlan& plan, const Eigen::VectorXd& q_start,
               const TrackOptions& options, dynamics::Trajectory& motion);

}  // namespace deft::control
