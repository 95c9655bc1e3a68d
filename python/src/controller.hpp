#pragma once
// A plan's controller without a plant: it is told what was measured and says what to command.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "deft/control/tracking_loop.hpp"
#include "deft/execution/replanner.hpp"
#include "deft/execution/tracked_run.hpp"
#include "deft/plant/plant.hpp"

namespace deft::python {

/// The loop of control::track on a thread of its own, on a plant whose periods are the calls of `update`.
class Controller {
 public:
  /// @param task  of execution::make_task. @param options, seed, threads  as of execution::run.
  Controller(execution::TrackedTask task, control::Controller controller, std::uint64_t seed, int threads);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// The command of the next `periods` periods from the measured configuration; the last one once the plan is over.
  /// @throws what the loop threw.
  Eigen::VectorXd update(const Eigen::VectorXd& q, int periods);
  double period_s() const { return task_.scene.settings().track.period; }
  double duration_s() const { return duration_s_; }  // of the plan, as it is followed [s]
  const scene::Scene& scene() const { return task_.scene; }
  /// How it ended; nothing while it goes on.
  const std::optional<control::TrackEnd>& end() const { return end_; }
  int plan() const;  // 0: the one that was given; k: the k-th new one

 private:
  class Meeting;

  void work(const Eigen::VectorXd& q_start);

  execution::TrackedTask task_;
  control::Controller controller_;
  std::uint64_t seed_;
  int threads_;
  double duration_s_ = 0;
  std::unique_ptr<Meeting> meeting_;
  dynamics::Trajectory motion_;
  std::optional<control::TrackEnd> end_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace deft::python
