#pragma once
// What a controller acts on, and what plans are tried out on: a world that keeps its own time.

#include <Eigen/Core>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "deft/dynamics/step_model.hpp"
#include "deft/dynamics/trajectory.hpp"
#include "deft/scene/scene.hpp"

namespace deft::plant {

/// The plants. kMujoco, kDrake: independent simulators, loaded or started when they are asked for.
enum class PlantKind { kQuasidynamic, kConvexSecondOrder, kStewartTrinkle, kMujoco, kDrake };
/// All of them.
inline constexpr std::array kPlantKinds{PlantKind::kQuasidynamic, PlantKind::kConvexSecondOrder,
                                        PlantKind::kStewartTrinkle, PlantKind::kMujoco, PlantKind::kDrake};
std::string_view to_string(PlantKind kind);  // the words of --plant

/// What a plant is beside its scene. Joints of robots are springs with the scene's stiffness; on plants of second order
/// they are damped by step.joint_damping if the scene states one, else by D_i = max(2ζ √(K_i M_ii), K_i · joint_lag),
/// M_ii the joint's inertia where it starts.
struct PlantOptions {
  double step = 0.001;       // [s] > 0, inner step; no longer than the period that `advance` gets
  double damping_ratio = 1;  // ζ ≥ 0
  double joint_lag = 0.01;   // [s] ≥ 0
  /// [1/s] ≥ 0, per object (scene order): its surroundings act on it by −γ M v. Empty: what step.object_damping states,
  /// else 0. On the quasidynamic plant, whose objects move as if M/h damped them: γ = 1/h of the scene (or
  /// step.object_damping) whatever the inner step.
  Eigen::VectorXd object_damping;
  /// Called after every inner step of deft's own plants, failed ones too, with the model that made it. Never called for
  /// other simulators, which solve another problem.
  std::function<void(const dynamics::StepResult&, const dynamics::StepModel&)> on_step;
};

/// How an advance ended. Whatever it was, `state` is finite.
enum class PlantStatus {
  kOk,          // the whole period
  kStepFailed,  // the plant's own solver failed; the state is that before the failed inner step
  kDiverged     // the state is no longer finite or reasonable (MuJoCo's bad qpos, qvel or qacc); the state is the last
                // good one
};
std::string_view to_string(PlantStatus status);  // "Ok", "StepFailed", "Diverged"

/// A simulated world with impedance-controlled robots, advanced period by period.
class Plant {
 public:
  virtual ~Plant() = default;
  virtual std::string_view name() const = 0;      // the word of --plant
  virtual const scene::Scene& scene() const = 0;  // what it was made of
  /// What the plant adds to the scene and how it computes, a line each: integrator, contact settings, damping of joints
  /// and objects.
  virtual std::vector<std::string> settings() const = 0;
  /// Puts the world at `start` (v empty: at rest) with the springs at joint targets u, size nu. @throws
  /// std::invalid_argument for wrong sizes.
  virtual void reset(const dynamics::State& start, const Eigen::VectorXd& u) = 0;
  /// Advances by period_s [s] > 0; joint targets go linearly from the last ones to `u`. Inner steps: the least number
  /// that is no longer than PlantOptions::step. No allocation once warm (MuJoCo's own apart).
  virtual PlantStatus advance(const Eigen::VectorXd& u, double period_s) = 0;
  /// q, v (empty for the quasidynamic plant) and t [s] since `reset`.
  virtual const dynamics::State& state() const = 0;
  /// The contacts of the last inner step, in the scene's bodies, as the run folder keeps them.
  virtual void contacts(std::vector<dynamics::ContactRecord>& out) const = 0;
  /// Kinetic energy and potential energy of gravity and springs [J]; NaN if the plant computes none.
  virtual double energy() const = 0;
  /// The worst scaled residual of the inner steps of the last advance; NaN if the plant has no certificate.
  virtual double residual() const = 0;
};

/// Builds a plant of `scene`, which must outlive it. @throws InputError for what
/// the plant cannot simulate (named), and if MuJoCo or Drake is not there, with how to install it.
std::unique_ptr<Plant> make_plant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options);

/// A simulator of other people that plants can be made of, or why it is not there.
struct Simulator {
  std::string name;     // the word of --plant
  std::string version;  // empty: not there
  std::string place;    // library (mujoco), interpreter (drake)
  std::string missing;  // why it is not there, with how to install it
};
/// MuJoCo and Drake, looked for as their plants do. Loads the one and starts the other, which takes about a second.
std::vector<Simulator> find_simulators();

/// γ [1/s] per object for a plan of step length h [s] (infinity: of second order, so that nothing resists its objects
/// unless it is stated): `stated` for all if given, else what step.object_damping states, else 1/h for objects that
/// gravity does not act on (at the start), 0 for others.
Eigen::VectorXd object_damping(const scene::Scene& scene, std::optional<double> stated, double h);

/// What `track:` of the scene says of a plant of this kind, in this world. @param h  as of object_damping.
PlantOptions tracked_options(PlantKind kind, const scene::Scene& world, const scene::TrackSettings& settings, double h);

}  // namespace deft::plant
