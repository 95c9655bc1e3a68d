#pragma once
// Solves PatchProblems, and makes them from steps of a PatchWorld.

#include <memory>
#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_problem.hpp"
#include "deft/dynamics/patch/patch_step.hpp"

namespace deft::dynamics {

/// Solves one PatchProblem, each time from scratch.
class PatchProblemSolver {
 public:
  /// @throws InputError at PatchShape::where for shapes that cannot be built (a flat hull, a polygon that is not
  /// convex) or are no intersections of smooth convex inequalities; std::invalid_argument for indices out of range and
  /// pairs of which nothing moves.
  explicit PatchProblemSolver(const PatchProblem& problem);
  ~PatchProblemSolver();
  PatchProblemSolver(PatchProblemSolver&&) noexcept;

  /// Solves the problem. @param answer  its status is Solved only if the certificate confirms it to max(1e-8, tolerance
  /// of the settings).
  void solve(PatchAnswer& answer);
  /// Settings of the solver; every attempt sets max_newton, fallbacks and seed itself.
  solvers::mcp::McpSettings& settings() { return stepper_->solver().settings(); }

 private:
  /// Body i as a PatchBody, or fixed.
  void add_body(std::size_t i, PatchWorld& world);
  /// A pair as a PatchPair whose A moves, allowed to touch. @param geometries  how many the bodies have.
  void add_pair(const PatchProblemPair& pair, std::size_t geometries, std::vector<unsigned char>& allowed,
                PatchWorld& world);
  /// The sets of all shapes, and the bodies' size.
  void add_geometries(PatchWorld& world) const;
  /// Appends the end of a pair to the answer.
  void report(std::size_t pair, std::span<const PatchState> end, PatchAnswer& answer) const;
  /// Residuals of the answer, scaled and unscaled.
  void certify(PatchAnswer& answer) const;

  PatchProblem problem_;
  std::unique_ptr<collision::CollisionWorld> collision_;  // the stepper's world points to it
  std::unique_ptr<PatchStepper> stepper_;
  std::vector<int> moving_, first_geometry_;  // per body: its PatchBody or −1; its first PatchGeometry
  std::vector<char> swapped_;                 // per pair: the stepper has a and b exchanged
  std::vector<PatchState> start_;
  std::vector<PatchImpulse> impulses_;
  PatchResult step_;
};

/// A step of `world` from `start` under `impulses` (one per body) as a problem of its own. Its bodies are the world's,
/// then one for each fixed geometry that may touch; its pairs are the world's in their order. Boxes stay boxes; prisms
/// and hulls become the hulls of their vertices.
PatchProblem make_patch_problem(const PatchWorld& world, std::span<const PatchState> start,
                                std::span<const PatchImpulse> impulses);

}  // namespace deft::dynamics
