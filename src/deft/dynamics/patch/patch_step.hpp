#pragma once
// Steps of the equivalent-contact-point model: which pairs touch, a start for Newton's method, the solution, its
// certificate.

#include <memory>
#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_certificate.hpp"
#include "deft/dynamics/patch/patch_start.hpp"

namespace deft::dynamics {

/// One step, at its end.
struct PatchResult {
  solvers::Status status = solvers::Status::kNumericalFailure;
  std::vector<PatchState> end;         // of each body; a failed step leaves them where they were
  std::vector<PatchContact> contacts;  // of the pairs that were part of the problem
  PatchCertificate certificate;
  int iterations = 0;           // linear systems solved
  int attempts = 0;             // starts that Newton's method was given
  double solve_us = 0;          // time of the solver
  const char* method = "free";  // free: nothing touches
};

/// Advances a PatchWorld. Keeps scratch and warm starts: one object per thread.
class PatchStepper {
 public:
  explicit PatchStepper(PatchWorld world);
  const PatchWorld& world() const { return *world_; }
  /// One step from `start` (one state per body) under `impulses` (one per body; gravity comes on top).
  /// @throws std::invalid_argument for wrong sizes or entries that are not finite.
  void step(std::span<const PatchState> start, std::span<const PatchImpulse> impulses, PatchResult& result);
  void forget() { starts_.forget(); }
  /// The problem and solution of the last step, for derivatives.
  PatchSystem& system() { return system_; }
  solvers::mcp::McpSolver& solver() { return solver_; }
  std::span<const double> solution() const { return z_; }

 private:
  void move_freely(std::span<const PatchState> start, std::span<const PatchImpulse> impulses);
  /// Adds to pairs_ what z_ makes necessary. @returns whether there was any.
  bool choose_pairs(bool lean);
  /// Tries the starts, the first few or (patient) all with the fallbacks.
  bool solve(std::span<const PatchState> start, bool patient, PatchResult& result);

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
