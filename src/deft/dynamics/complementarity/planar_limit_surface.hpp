#pragma once
// Planar manipulation of objects on frictional supports (Halm and Posa 2018), in displacements over one step:
//
//   δ_o = A F_o,  δ_m = h u + c B F_m,  F = JᵀΛ,  and Coulomb's law between objects, robots and walls, exact:
//   0 ≤ Λ_N ⟂ φ + J_N δ ≥ 0,  0 ≤ Λ_T ⟂ Eγ + J_T δ ≥ 0,  0 ≤ γ ⟂ μΛ_N − EᵀΛ_T ≥ 0.
//
// A is the limit surface of the object's support, turned with it; robots are velocity controlled with the admittance
// cB, perfectly for c = 0. Time stepping (eq. 37–38): φ the gap at the start. Velocity form (13)–(14), (17)–(18): of
// contacts that touch, without φ.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "deft/contact/assemble.hpp"
#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/complementarity/limit_surface_balance.hpp"
#include "deft/dynamics/complementarity/support_friction.hpp"

namespace deft::dynamics {

/// The step of this file's head. u are velocities of the robots' joints; forces in results are Λ/h, which is λ of both
/// forms, with the unknown positive factor of each limit surface in it. One object per thread: it keeps scratch, warm
/// starts, and how supports moved last.
///
/// **Which contacts.** The step begins with none, that is with free motion; near contacts (gap below
/// `step.contact_margin`) that the solution would break join the problem, and far ones that it runs into on its way
/// (their linearised gaps alone mean nothing), until there are none. So the problems are small, and of several
/// solutions the one with fewest contacts is found, whatever happened before; where that way has no end all near
/// contacts are tried at once. With `step.uniqueness: check` all near contacts are searched for another motion.
///
/// Supports that are no ellipsoid, and `step.relinearize`, solve a sequence of problems until one agrees with its own
/// solution; IterationLimit if none does. A step that breaks the balance or the bound of LimitSurfaceBalance by more
/// than 1e-8 is a NumericalFailure.
class PlanarLimitSurface final : public StepModel {
 public:
  /// @throws InputError where the scene lacks what this model needs (limit surfaces of objects, admittances of robots
  /// unless the gain is 0) or has what it does not know: gravity in the plane, wrenches, joint damping, and what no
  /// model of exact Coulomb friction has.
  explicit PlanarLimitSurface(const scene::Scene& scene);

  using StepModel::step;
  void step(const State& start, const Eigen::VectorXd& u, StepResult& result) override;
  void reset() override;
  double kappa() const override { return kInfinity; }
  void set_kappa(double kappa) override { require_exact(*scene_, kappa); }
  double h() const override { return h_; }
  const scene::Scene& scene() const override { return *scene_; }

 private:
  /// A range of velocities that Q couples: an object's, or one joint of a robot.
  struct Block {
    int first_v = 0, size = 1;
    int support = -1, command = -1;  // neither: frozen
  };
  /// What a contact is to the step.
  enum Part : char { kFar, kNear, kIncluded };
  bool velocity_form() const { return scene_->settings().step.form == scene::LimitSurfaceForm::kVelocity; }
  void check_scene() const;
  void lay_out();
  void start_step(const Eigen::VectorXd& q, const Eigen::VectorXd& u);
  void make_problem(Part least, contact::ContactProblem& problem) const;
  void solve_contacts(const Eigen::VectorXd& q, StepResult& result);
  void solve_included(StepResult& result);
  void improve(StepResult& result);
  bool take_modes(const solvers::contact::ContactSolution& guess, StepResult& result);
  bool leave_penetration();
  bool include_broken(const Eigen::VectorXd& delta);
  bool include_on_way(const Eigen::VectorXd& q, const Eigen::VectorXd& delta);
  bool relinearize(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, bool damped);
  void settle(const Eigen::VectorXd& q, StepResult& result);
  void add_left_out(StepResult& result) const;
  void search_alternative_motion(const Eigen::VectorXd& q, StepResult& result);
  void report(StepResult& result);

  const scene::Scene* scene_;
  double h_;
  contact::Assembler assembler_;
  ComplementaritySolve solve_;
  scene::SceneState state_;                       // where the step starts
  std::unique_ptr<ComplementaritySolve> search_;  // of all near contacts, for an alternative motion
  StepResult searched_, improved_;                // scratch
  solvers::contact::Certifier certifier_;
  std::vector<SupportFriction> supports_;
  std::vector<Block> blocks_;
  Eigen::VectorXd admittance_;  // c B, size nu
  Eigen::VectorXd drift_;       // h u
  // Of the step at hand:
  contact::ContactProblem all_;  // every pair, linearised where the step starts, or ends (relinearize)
  std::vector<char> part_of_;    // per contact of all_: Part
  std::vector<std::pair<std::uint64_t, char>> parts_;         // by id; scratch
  std::vector<std::pair<std::uint64_t, double>> start_gaps_;  // by id, ascending
  std::vector<RigidTransform> X_start_;
  Eigen::VectorXd linearised_at_;  // δ about which all_ is linear
  scene::SceneState on_way_;       // scratch
  Eigen::VectorXd q_on_way_, delta_on_way_;
  std::vector<std::uint64_t> suspects_;
  bool leaves_penetration_ = false;  // gaps below 0 count as 0
  int iterations_ = 0;
  double solve_us_ = 0, certifying_us_ = 0;
};

}  // namespace deft::dynamics
