#pragma once
// What the models of exact Coulomb friction share: contacts of a configuration, the complementarity problem over them,
// its solution, what is known about other solutions, and the certificate.

#include <string>
#include <utility>

#include "deft/dynamics/complementarity/coulomb_rows.hpp"
#include "deft/dynamics/complementarity/force_response.hpp"
#include "deft/dynamics/complementarity/force_uniqueness.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"

namespace deft::dynamics {

/// Checks a κ for a model without smoothing. @throws std::invalid_argument unless it is infinite.
void require_exact(const scene::Scene& scene, double kappa);

/// Refuses settings that models of exact Coulomb friction do not have: step.kappa finite, step.compliance (but for
/// stewart-trinkle), step.effort_limits, step.cone: cone in space, patches.
/// @throws InputError that names the setting, its value and the valid ones.
void require_coulomb_settings(const scene::Scene& scene);

/// Contacts, problem, solution, certificate. One object per thread: it keeps scratch and the last basis for warm
/// starts.
class ComplementaritySolve {
 public:
  /// @throws InputError as require_coulomb_settings.
  explicit ComplementaritySolve(const scene::Scene& scene);
  /// Settings of the solver; at first the scene's `step.uniqueness`.
  solvers::lcp::ComplementaritySettings& settings() { return solver_.settings(); }

  /// Solves the step whose energy is in result.problem; fills everything of `result` but q_next, v_next, energy and
  /// step_us. With `prescribed`, the robots' joints move by it whatever the forces. The certificate is the larger of
  /// two: that of the complementarity problem, and that of the contact problem (before anything was eliminated) at this
  /// motion, with De Saxcé corrections of its pyramids (StepResult::de_saxce), so that both state the same law. Status
  /// NotUnique with `alternative_delta` only if `step.uniqueness: check` found one; Infeasible only with a proof; a
  /// step that fails moves nothing. @param q  where the step starts, size nq.  @param prescribed  displacements of the
  /// robots' joints, size nu; null: springs.
  /// @returns the time that certifying took [µs], which is no part of a step.
  double solve(const Eigen::VectorXd& q, const Eigen::VectorXd* prescribed, StepResult& result);

  void forget();  // warm starts

 private:
  /// The program of contacts, joint limits and prescribed motions: with both bounds or neither.
  template <typename Action>
  void visit_prescribed(const Eigen::VectorXd& prescribed, Action action) const;
  void make_program(const Eigen::VectorXd* prescribed, StepResult& result) const;
  /// Solves the complementarity problem. @returns whether it found a point.
  bool find_point(const Eigen::VectorXd* prescribed, StepResult& result);
  /// Motion and forces of the point, and its certificate. @returns the time of certifying [µs].
  double evaluate(StepResult& result);
  void unpack(const solvers::lcp::ComplementaritySolution& found, StepResult& result);
  void choose_forces(StepResult& result);
  void certify(const solvers::lcp::ComplementarityCertificate& problem, StepResult& result);
  void find_offenders(const solvers::lcp::ComplementaritySolution& found, StepResult& result);

  const scene::Scene* scene_;
  Eigen::VectorXd q_;  // where the step at hand starts
  ForceResponse response_;
  CoulombRows rows_;
  bool refines_;  // the model refines what the solver finds, which must therefore be accurate
  solvers::lcp::ComplementaritySolver solver_;
  const solvers::lcp::ComplementarityResult* found_ = nullptr;  // by find_point
  solvers::contact::LeastNorm least_norm_;
  solvers::contact::Certifier certifier_;
  ForceUniqueness force_uniqueness_;
};

/// What the models of exact Coulomb friction are besides their energy, where they start from one. One object per
/// thread: it keeps scratch and the last basis for warm starts.
class ComplementarityStep : public EnergyStep {
 public:
  double kappa() const final { return kInfinity; }
  void set_kappa(double kappa) final { require_exact(scene(), kappa); }

 protected:
  /// @throws InputError as EnergyStep and ComplementaritySolve.
  ComplementarityStep(const scene::Scene& scene, Order order, EnergyLayout layout, Eigen::VectorXd damping)
      : EnergyStep(scene, order, std::move(layout), std::move(damping)), solve_(scene) {}
  double solve(const State& start, const Eigen::VectorXd&, StepResult& result) override {
    return solve_.solve(start.q, nullptr, result);
  }
  void forget() final { solve_.forget(); }

  ComplementaritySolve solve_;  // of the problems of all steps
};

/// One line that names the contacts and limits that leave a step without a solution, or with several, and by how much
/// these differ; empty where nothing is known.
std::string explain(const scene::Scene& scene, const StepResult& result);

}  // namespace deft::dynamics
