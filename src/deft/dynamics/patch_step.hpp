#pragma once
// Steps of the equivalent-contact-point model: which pairs touch, a start for Newton's method, the solution, its certificate.

#include <optional>
#include <span>
#include <vector>

#include "deft/dynamics/patch_certificate.hpp"
#include "deft/dynamics/patch_system.hpp"

namespace deft::dynamics {

/// One step, at its end.
struct PatchResult {
  solvers::Status status = solvers::Status::kNumericalFailure;
  std::vector<PatchState> end;          // of each body; a failed step leaves them where they were
  std::vector<PatchContact> contacts;   // of the pairs that were part of the problem
  PatchCertificate certificate;
  int iterations = 0;                   // linear systems solved
  int attempts = 0;                     // starts that Newton's method was given
  double solve_us = 0;                  // time of the solver
  const char* method = "free";          // free: nothing touches
};

/// Advances a PatchWorld. Keeps scratch and warm starts: one object per thread.
class PatchStepper {
 public:
  explicit PatchStepper(PatchWorld world);
  const PatchWorld& world() const { return world_; }
  /// One step from `start` (one state per body) under `impulses` (one per body; gravity comes on top).
  /// @throws std::invalid_argument for wrong sizes or entries that are not finite.
  void step(std::span<const PatchState> start, std::span<const PatchImpulse> impulses, PatchResult& result);
  void forget();
  /// The problem and solution of the last step, for derivatives.
  PatchSystem& system() { return system_; }
  solvers::McpSolver& solver() { return solver_; }
  std::span<const double> solution() const { return z_; }

 private:
  struct Memory {
    bool known = false;
    Eigen::Vector3d rho = Eigen::Vector3d::Zero(), n = Eigen::Vector3d::UnitZ();  // a − c of A (or of B where A is fixed)
    double ell = 0, p = 0, sigma = 0;
    Eigen::Vector3d b = Eigen::Vector3d::Zero();
    std::vector<double> l;               // of A, then B
  };
  /// How a start is made: from the last step; from the lowest feature; from what is within `blur` [m] of the lowest.
  struct Recipe {
    bool warm = false;
    double blur = 0;
    bool stick = false;
    bool at_rest = false;                // velocity zero instead of that after the impact
  };
  void move_freely(std::span<const PatchState> start, std::span<const PatchImpulse> impulses);
  void place(std::span<const double> nu, std::vector<RigidTransform>& X_WB) const;
  /// Signed distance, its normal from B to A and the middle of the witness points.
  double distance(int pair, std::span<const RigidTransform> X_WB, Eigen::Vector3d& n, Eigen::Vector3d& point) const;
  void make_start(const Recipe& recipe);
  bool solve(std::span<const PatchState> start, PatchResult& result);
  void remember();

  PatchWorld world_;
  PatchSystem system_;
  PatchCertifier certifier_;
  solvers::McpSolver solver_;
  std::vector<PatchState> start_;
  std::vector<double> free_, z_, guess_;
  std::vector<int> pairs_;
  std::vector<RigidTransform> X_WB_;
  std::vector<Memory> memory_;
};

}  // namespace deft::dynamics
