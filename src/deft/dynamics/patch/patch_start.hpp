#pragma once
// Starts of Newton's method for a step of the equivalent-contact-point model, and distances between its sets.

#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_system.hpp"

namespace deft::dynamics {

/// How a start is made.
struct InitialGuess {
  enum class From {
    kLast,    // contacts that carried load in the last step as they were, carried along; others as kImpact
    kImpact,  // an inelastic impact at the lowest feature of each pair, one by one
    kSweeps   // impulses at all points that are near at the start of the step, by sweeps over them
  } from = From::kLast;
  double blur = 0;       // [m] kImpact: features within it of the lowest count as lowest
  bool stick = false;    // kImpact: friction holds
  bool at_rest = false;  // velocities zero
};

/// Makes starts; remembers the contacts of the last step. One object per thread.
class PatchStarts {
 public:
  explicit PatchStarts(const PatchWorld& world);

  /// z for `system`, whose start and pairs are set. @param free_motion  ν_f.
  void make(const InitialGuess& recipe, PatchSystem& system, std::span<const double> free_motion,
            std::vector<double>& z);
  /// Keeps what the next step starts from.
  void remember(const PatchSystem& system, std::span<const double> z);
  void forget();
  bool knows(int pair) const { return memory_[pair].known; }

  /// Poses of all bodies of the scene after a step from `start` with velocities ν (6 per PatchBody).
  void place(std::span<const PatchState> start, std::span<const double> nu, std::vector<RigidTransform>& X_WB) const;
  /// Signed distance of a pair, or a lower bound of it where that is a tenth of the sizes and more; unit normal from B
  /// to A; the middle of the nearest points.
  double distance(int pair, std::span<const RigidTransform> X_WB, Eigen::Vector3d& n, Eigen::Vector3d& point) const;

 private:
  /// A contact as the next start takes it.
  struct Memory {
    bool known = false;
    Eigen::Vector3d rho, n, b;  // a − c of its carrier, A unless that is fixed
    double ell = 0, p = 0, sigma = 0;
    std::vector<double> l;  // of A, then of B
  };
  /// A point where bodies may push in the sweeps.
  struct Point {
    int contact = 0, body_a = -1, body_b = -1;
    Eigen::Vector3d position, n, t, o, r_a, r_b;
    double gap = 0, W_n = 0, W_t = 0;  // mobility along n, and the larger one across it
    double p = 0, f_t = 0, f_o = 0;
  };
  void recall(PatchSystem& system, int contact, std::vector<double>& z) const;
  void touch(PatchSystem& system, int contact, const Eigen::Vector3d& n, const Eigen::Vector3d& point, double gap,
             double reach, std::span<const RigidTransform> X_WB, std::vector<double>& z) const;
  void impact(const InitialGuess& recipe, PatchSystem& system, int contact, std::span<const double> free_motion,
              std::vector<double>& z);
  void sweep(PatchSystem& system, std::span<const double> free_motion, std::vector<double>& z);

  const PatchWorld* world_;
  std::vector<Memory> memory_;
  std::vector<int> pair_of_;  // geometry × geometry → pair, −1
  std::vector<RigidTransform> X_WB_;
  std::vector<Point> points_;
  collision::CollisionWorkspace workspace_;
  std::vector<collision::ContactPair> near_;
};

}  // namespace deft::dynamics
