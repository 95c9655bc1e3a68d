#pragma once
// New plans while one is followed: from where things are to where the first plan ends.

#include <cstdint>
#include <functional>
#include <optional>

#include "deft/control/reference_path.hpp"
#include "deft/scene/scene.hpp"

namespace deft::execution {

/// The planner as a tracking loop calls it.
class Replanner {
 public:
  /// @param scene  of the plan; must outlive this object.  @param q_end  where its objects should be.
  /// @param seed  of the first search, the next ones count on.  @param threads  of the search, 0: one per core.
  /// @param stop  asked while a search runs, from any thread: true ends it; null: nothing does.
  Replanner(const scene::Scene& scene, const Eigen::VectorXd& q_end, std::uint64_t seed, int threads,
            std::function<bool()> stop);
  /// A plan from q (size nq), or none: nothing was found within the limits of `plan:`, or q cannot be planned from,
  /// which is logged as a warning. @param u  the command in force, size nu.  @param number  of the plan, from 1.
  std::optional<control::TrackedPlan> operator()(const Eigen::VectorXd& q, const Eigen::VectorXd& u,
                                                 std::uint64_t number) const;
  /// Time spent in the planner so far [s], in all calls.
  double seconds() const { return seconds_; }

 private:
  const scene::Scene* scene_;
  Eigen::VectorXd q_end_;
  scene::GoalSpec goal_;
  std::uint64_t seed_;
  int threads_;
  std::function<bool()> stop_;
  mutable double seconds_ = 0;
};

}  // namespace deft::execution
