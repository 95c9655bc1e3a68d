#pragma once
// The worlds that plans are made for and judged in.

#include <cstdint>
#include <optional>
#include <vector>

#include "deft/planning/feasibility/deadline.hpp"
#include "deft/planning/feasibility/goal.hpp"
#include "deft/planning/feasibility/plan.hpp"
#include "deft/planning/feasibility/world.hpp"

namespace deft::planning {

/// What plans of a scene have to hold for: `plan.judges`, with `plan.refine: [n, …]` for h and h/n.
std::vector<std::string> judges_of(const scene::PlanSettings& settings);
/// n of the judges h/n, in their order.
std::vector<int> divisors_of(const std::vector<std::string>& judges);

/// The worlds that a search for plans that hold moves all at once: short steps, the second-order step, and worlds at
/// the corners of what `worlds` draws from, with objects off to opposite sides.
/// @param scene  of planning_scene. @param seed  of the directions of the offsets. @param refusing  drawn worlds that
/// refused plans before, of which the last take the places of corners.
Ensemble search_ensemble(const scene::Scene& scene, std::uint64_t seed, std::span<const World> refusing = {});
/// How plans for one world are made that other worlds are to follow: slowly, with forces of fingers well within their
/// friction cones; no worlds.
Ensemble single_ensemble(const scene::Scene& scene);

/// One line of level debug per verdict.
void log_verdicts(std::span<const Verdict> verdicts);

/// @throws InputError if a judge of the scene's settings cannot simulate it. @param scene  of planning_scene.
void require_judges(const scene::Scene& scene);

/// Tries plans in the worlds of all judges but h. Every second of the drawn `worlds` is under Coulomb's law, where
/// contact is rigid (step.compliance 0).
class Judges {
 public:
  /// @param scene  of planning_scene. @param goal  must outlive this object. @param seed  of the drawn worlds.
  /// @param threads  0: one per core. @pre require_judges.
  Judges(const scene::Scene& scene, const Goal& goal, std::uint64_t seed, int threads);

  /// One verdict per judge but h, in their order: commands from the start at rest, each world's own start. First order:
  /// the goal is met at the end and for settings.hold_steps before it. Second order: it is met 1 s after the last
  /// command, as in MuJoCo (inner steps of track.mujoco_step). `worlds` is met if kWorldShare of kWorlds worlds are;
  /// its error is that of the median world. Cheap worlds are asked first, and once a judge has refused the plan the
  /// dearer ones are not asked any more: verdicts of those that had not decided are missing, and the share of `worlds`
  /// counts worlds that were not asked as failures.
  /// @param deadline  none: all are heard. Judges that have not decided when it is due have Verdict::judged false.
  std::vector<Verdict> operator()(const Eigen::VectorXd& q, const Eigen::VectorXd& u_start,
                                  const std::vector<Eigen::VectorXd>& commands, const Deadline* deadline = nullptr);

  /// Drawn worlds in which plans failed that all judges before `worlds` had accepted, each once, in the order in which
  /// they were found out.
  std::span<const World> refusing() const { return refusing_; }

  /// Whether the last plan was refused by `worlds` and by no judge before.
  bool drawn_refused() const { return drawn_refused_; }

  static constexpr int kWorlds = 10;          // drawn from the seed
  static constexpr double kWorldShare = 0.8;  // of them that a plan must hold in
  static constexpr double kSettle_s = 1;      // after the last command, in worlds of second order [s]
  static constexpr double kStep_s = 0.01;     // of the second-order worlds [s]

 private:
  /// What came of the commands in one world.
  struct Outcome {
    bool success = false;
    GoalError error;
    double time_s = 0;
  };
  /// Whether the goal is met 1 s after the commands in MuJoCo; none if the deadline was due before.
  std::optional<Outcome> try_in_mujoco(const Eigen::VectorXd& q, const Eigen::VectorXd& u_start,
                                       const std::vector<Eigen::VectorXd>& commands, const Deadline& deadline) const;
  /// The same in any world.
  std::optional<Outcome> try_in(const World& world, const Eigen::VectorXd& q, const Eigen::VectorXd& u_start,
                                const std::vector<Eigen::VectorXd>& commands, const Deadline& deadline) const;

  /// Keeps the drawn worlds that failed, if no other judge refused the plan.
  void note_refusing(const std::vector<std::optional<Outcome>>& outcomes);
  /// Worlds of a judge in which a plan may fail.
  int allowed_failures(std::size_t judge) const;
  /// Whether more of its worlds failed than may.
  bool is_refused(std::size_t judge, const std::vector<std::optional<Outcome>>& outcomes) const;
  Verdict verdict_of(std::size_t judge, std::vector<Outcome> own) const;

  static constexpr int kStages = 3;  // single worlds, the drawn ones that cost little, the others

  scene::Scene scene_;
  const Goal* goal_;
  int threads_;
  std::vector<std::string> names_;  // of judges but h
  std::vector<int> stage_;          // in which each world is asked
  std::vector<World> worlds_;       // of all of them
  std::vector<int> first_;          // of the worlds of each judge
  std::vector<World> refusing_;     // of `worlds`
  bool drawn_refused_ = false;
};

}  // namespace deft::planning
