#pragma once
// The De Saxcé corrections of one step, which make Coulomb's law of the convex one: a fixed point x = F(x), F(x) the
// gaps that the solution of the program with gaps φ + x opens by sliding; with a barrier `correction_of`.

#include <Eigen/Core>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/dynamics/sliding_gap.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/derivative/gap_feedback.hpp"

namespace deft::dynamics {

/// Newton's method for the fixed point of this file's head, with the derivative of the solution by its gaps. F is
/// smooth but where contacts change between sticking, sliding and open. A step that does not make the error smaller is
/// shortened. Where that does not help, the method follows the fixed points of the program with a log barrier, whose F
/// is smooth, until the barrier is as sharp as asked for: a curve, which may turn back on the way. One object per
/// thread: it keeps scratch.
class CoulombCorrections {
 public:
  /// The program under corrections, and what came of it.
  struct Solved {
    solvers::Status status;                             ///< of the program; without a solution the search ends
    const solvers::contact::ContactProgram& program;    ///< gaps with the corrections x [m], forces [N]
    const solvers::contact::ContactSolution& solution;  ///< its motion and forces
  };
  /// Solves with the corrections x [m] at the weight κ of a barrier [1/J], infinity: exact.
  using Solve = std::function<Solved(const Eigen::VectorXd& x, double kappa)>;

  /// Searches x = F(x) at the barrier κ [1/J], infinity: exact, to 1e-10 of what contacts move; the last call of
  /// `solve` is at κ and the one to be taken. Begins where the last step ended; where that leads nowhere, for the
  /// first step and for one after a failure, at x = 0.
  /// @returns whether it was found, or the program failed for a reason of its own.
  bool find(std::span<const contact::Contact> contacts, double kappa, const Solve& solve);
  /// The same from the corrections `x` [m], one per contact; what the last step left stays.
  bool find_from(const Eigen::VectorXd& x, double kappa, const Solve& solve);
  /// F(x) of the last solution of the search [m], one per contact; 0 where no program had one.
  const Eigen::VectorXd& opened() const { return opened_; }
  void forget() { last_.clear(); }  // the next search begins at x = 0

 private:
  /// Of a search by Newton's method: x = F(x); no progress; a failure of the program; a program without solution.
  enum class Outcome { kFound, kStalled, kFailed, kJammed };
  static bool settles(Outcome outcome) { return outcome == Outcome::kFound || outcome == Outcome::kFailed; }
  Outcome newton(double kappa, double accuracy, int most, const Solve& solve);
  Outcome search(double kappa, const Solve& solve);
  bool follow_barrier(double kappa, const Solve& solve);
  bool return_to_path(const Solve& solve);
  Outcome iterate(const Solve& solve);
  double take(const Solved& solved);
  void factor(const Solved& solved);
  void take_path_rate(const Solved& solved);
  void recall(std::span<const contact::Contact> contacts);
  void remember(std::span<const contact::Contact> contacts);

  Eigen::VectorXd x_, opened_, error_;
  Eigen::VectorXd base_, step_;  // the last x from which Newton's step was taken, and that step
  // The path of fixed points with barriers 1/κ = t E0, over (x/scale, log t): a point, and the tangent there.
  struct PathPoint {
    Eigen::VectorXd x;     // [m]
    double log_t = 0;      // [-]
    Eigen::VectorXd by_x;  // of the tangent, and its part along log t; together of length 1
    double by_log_t = -1;
  };
  PathPoint path_;
  double scale_ = 1;                                    // of x [m]
  double log_t_ = 0;                                    // of the program at hand
  Eigen::VectorXd rate_;                                // dx/dlog t of fixed points [m]
  std::vector<std::pair<std::uint64_t, double>> last_;  // id and correction of each contact of the last step
  double way_ = 0;                                      // the longest that the rows of a contact move [m]
  double energy_J_ = 0;                                 // of the first program, 0: not known yet
  int solves_ = 0;
  AndersonIteration anderson_;
  std::vector<Eigen::Vector4d> rates_;  // of F, per contact
  solvers::contact::Certifier certifier_;
  solvers::contact::Sensitivity sensitivity_;
  solvers::contact::GapFeedback feedback_;
  solvers::contact::ProgramChange sharpening_;  // of the program by log t
  solvers::contact::SolutionChange moved_;
  std::vector<char> no_contacts_;
};

}  // namespace deft::dynamics
