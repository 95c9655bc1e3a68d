#pragma once
// Steps of the equivalent-contact-point model: which pairs touch, an initial guess, the solution, its certificate.

#include <memory>
#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_certificate.hpp"
#include "deft/dynamics/patch/patch_start.hpp"

namespace deft::dynamics {

/// One step, at its end.
struct PatchResult {
  solvers::Status status = solvers::Status::kNumericalFailure;  // of the solver, not yet confirmed by the certificate
  std::vector<PatchState> end;         // of each body; a failed step leaves them where they were
  std::vector<PatchContact> contacts;  // of the pairs that were part of the problem
  PatchCertificate certificate;        // infinite for a failed step
  int iterations = 0;                  // linear systems solved
  int attempts = 0;                    // initial guesses tried
  double solve_us = 0;                 // time of the solver [µs]
  double certify_us = 0;               // time of the certifier [µs]
  const char* method = "free";         // of the solver that found the solution; free: nothing touches
};

/// Advances a PatchWorld. Keeps scratch and warm starts: one object per thread.
class PatchStepper {
 public:
  /// Takes the world; what it points to (`collision`) must outlive this object.
  explicit PatchStepper(PatchWorld world);
  const PatchWorld& world() const { return *world_; }  // its address stays, even if this object is moved
  /// One step from `start` (one state per body) under `impulses` (one per body; gravity comes on top).
  /// @throws std::invalid_argument for wrong sizes or entries that are not finite.
  void step(std::span<const PatchState> start, std::span<const PatchImpulse> impulses, PatchResult& result);
  void forget() { starts_.forget(); }  // warm starts
  /// The complementarity problem of the last step, for derivatives.
  PatchSystem& system() { return system_; }
  solvers::mcp::McpSolver& solver() { return solver_; }    // for its settings
  std::span<const double> solution() const { return z_; }  // z of the last step

 private:
  void move_freely(std::span<const PatchState> start, std::span<const PatchImpulse> impulses);
  /// Adds the pairs that penetrate under the motion z_ to pairs_; unless `only_penetrating`, at the beginning also
  /// those that carried load before or are about to touch. @returns whether there were any.
  bool choose_pairs(bool only_penetrating);
  /// Tries the initial guesses, the first few or (`with_fallbacks`) all, then with the solver's fallbacks.
  bool solve(std::span<const PatchState> start, bool with_fallbacks, PatchResult& result);

  std::unique_ptr<PatchWorld> world_;  // starts_ points to it
  PatchStarts starts_;
  PatchSystem system_;
  PatchCertifier certifier_;
  solvers::mcp::McpSolver solver_;
  std::vector<PatchState> start_;
  std::vector<double> free_, z_, guess_, distances_;
  std::vector<int> pairs_;
  std::vector<RigidTransform> X_WB_;
};

}  // namespace deft::dynamics
