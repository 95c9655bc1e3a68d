#pragma once
// New plans while one is followed: from where things will be to where the first plan ends, searched for beside the
// loop.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "deft/control/tracking_loop.hpp"
#include "deft/scene/scene.hpp"

namespace deft::execution {

/// The planner as a tracking loop calls it: one search at a time, in a thread of its own.
class Replanner final : public control::PlanSearch {
 public:
  /// @param scene  of the plan; must outlive this object.  @param q_end  where its objects should be; `goal_rows`: what
  /// of them counts (control::TrackOptions).
  /// @param seed  of the first search, the next ones count on. @param threads  of a search, 0: one per core.
  /// @param stop  asked while a search runs, from its thread: true ends it; null: nothing does.
  Replanner(const scene::Scene& scene, const Eigen::VectorXd& q_end, std::vector<int> goal_rows, std::uint64_t seed,
            int threads, std::function<bool()> stop);
  ~Replanner() override;  // gives up the search that goes on

  void begin(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::uint64_t number) override;
  /// @throws what the search threw, but InputError, which is a reason.
  std::optional<Result> result(long solves) override;
  void give_up() override;
  /// Time spent in searches [s]; gives up the one that goes on.
  double seconds() {
    give_up();
    return seconds_;
  }

 private:
  Result search(const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::uint64_t number);

  const scene::Scene* scene_;
  Eigen::VectorXd q_end_;
  std::vector<int> goal_rows_;
  scene::GoalSpec goal_;
  std::uint64_t seed_;
  int threads_;
  std::function<bool()> stop_;
  // Of the search that goes on, or went on last:
  std::thread thread_;
  std::atomic<bool> given_up_ = false, is_over_ = false;  // from outside; it has taken more than it ever may
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;  // with the next three, by the mutex
  long solves_ = 0;     // steps so far
  Result result_;
  std::exception_ptr error_;
  double seconds_ = 0;  // written by the search's thread, read once it has ended
};

}  // namespace deft::execution
