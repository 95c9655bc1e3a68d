#pragma once
// Initial guesses for the solution of a step of the equivalent-contact-point model, and distances between its sets.

#include <array>
#include <span>
#include <vector>

#include "deft/dynamics/patch/patch_system.hpp"

namespace deft::dynamics {

/// How an initial guess is made.
struct InitialGuess {
  /// Where contacts come from.
  enum class From {
    kLast,    // contacts that carried load in the last step as they were, carried along; others as kImpact
    kImpact,  // an inelastic impact at the lowest feature of each pair, one by one
    kSweeps   // impulses at all points that are near at the start of the step, by sweeps over them
  };
  From from = From::kLast;  // where contacts come from
  double blur = 0;          // [m] kImpact: features within it of the lowest count as lowest
  bool stick = false;       // kImpact: all contacts are taken to stick
  bool at_rest = false;     // velocities are set to zero at the end
};

/// Makes initial guesses; keeps the contacts of the last step for the next. One object per thread.
class PatchStarts {
 public:
  explicit PatchStarts(const PatchWorld& world);  // must outlive this object

  /// A guess z for `system`, whose start and pairs are set. @param free_motion  ν_f, 6 per body.
  void make(const InitialGuess& guess, PatchSystem& system, std::span<const double> free_motion,
            std::vector<double>& z);
  /// Keeps the loaded contacts of the solution z as the guess of the next step.
  void remember(const PatchSystem& system, std::span<const double> z);
  void forget();                                                    // the contacts of the last step
  bool was_loaded(int pair) const { return memory_[pair].loaded; }  // the pair carried load in the last step

  /// Poses X_WB of all bodies of the scene after a step from `start` with velocities ν (6 per PatchBody).
  void place(std::span<const PatchState> start, std::span<const double> nu, std::vector<RigidTransform>& X_WB) const;
  /// Signed distance of a pair [m], or a lower bound of it where that is a tenth of the sizes and more; n: unit normal
  /// from B to A; point: the middle of the nearest points (plane: the lowest point of A), in the world.
  double distance(int pair, std::span<const RigidTransform> X_WB, Eigen::Vector3d& n, Eigen::Vector3d& point) const;

 private:
  /// A contact as the next guess takes it.
  struct Memory {
    bool loaded = false;
    Eigen::Vector3d rho, n, b;  // a − c of its carrier, A unless that is fixed
    double ell = 0, p = 0, sigma = 0;
    std::vector<double> l;  // of A, then of B
  };
  /// A point where bodies may push in the sweeps. Pairs of entries: of A, of B.
  struct Point {
    int contact = 0;
    std::array<int, 2> bodies{-1, -1};
    Eigen::Vector3d position, n, t, o;
    // From the centres of mass of bodies that move.
    std::array<Eigen::Vector3d, 2> arms{Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    double gap = 0, W_n = 0, W_t = 0;  // mobility along n, and the larger one across it
    double p = 0, f_t = 0, f_o = 0;
  };
  /// Impulses of all points of a contact, summed.
  struct Pressure {
    double p = 0;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();  // of pressure
    Eigen::Vector3d normal = Eigen::Vector3d::Zero(), friction = Eigen::Vector3d::Zero();
    Eigen::Vector3d moment = Eigen::Vector3d::Zero();  // of friction, about the world's origin
  };
  /// kLast: the contact of the last step, moved along with its body.
  void recall(PatchSystem& system, int contact, std::vector<double>& z) const;
  /// Sets the geometry of a contact in z: the point on A, the normal and both normal cones.
  void touch(PatchSystem& system, int contact, const Eigen::Vector3d& n, const Eigen::Vector3d& point, double gap,
             double reach, std::span<const RigidTransform> X_WB, std::vector<double>& z) const;
  /// kImpact: the impulse that stops the approach of one contact, with friction, added to the velocities.
  void impact(const InitialGuess& guess, PatchSystem& system, int contact, std::span<const double> free_motion,
              std::vector<double>& z);
  /// kSweeps: impulses at points by projected Gauss–Seidel, then their sum as one contact per pair.
  void sweep(PatchSystem& system, std::span<const double> free_motion, std::vector<double>& z);
  /// Fills points_ with all points that are near at the start of the step.
  void find_points(const PatchSystem& system, std::span<const double> free_motion);
  Point make_point(const PatchSystem& system, int contact, const collision::ContactPair& found) const;
  /// Adds an impulse on A, and its opposite on B, to the velocities of z.
  void push(const Point& point, const Eigen::Vector3d& impulse, std::vector<double>& z) const;
  /// Projected Gauss–Seidel on the velocities of z and the impulses of points_.
  void relax_points(const PatchSystem& system, std::vector<double>& z);
  Pressure sum_points(int contact) const;
  /// Sets a contact in z to the sum of its points, carried along with the body.
  void take_pressure(PatchSystem& system, int contact, std::vector<double>& z);

  const PatchWorld* world_;
  std::vector<Memory> memory_;
  std::vector<int> pair_of_;  // geometry × geometry → pair, −1
  std::vector<RigidTransform> X_WB_;
  std::vector<Point> points_;
  std::vector<Eigen::Matrix3d> inverse_inertia_;  // per body, world axes
  collision::CollisionWorkspace workspace_;
  std::vector<collision::ContactPair> near_;
};

}  // namespace deft::dynamics
