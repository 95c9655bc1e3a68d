#pragma once
// Derivatives of a convex step: Jacobians, products with them and with their transposes without forming them, and
// derivatives by parameters.
//
// All along world tangents (bodies: [θ, v]), at q and at q⁺:   A = ∂q⁺/∂q = T + Γ ∂δ/∂q,   B = ∂q⁺/∂u = Γ ∂δ/∂u, and
// for models of second order the same by v and of v⁺ = δ/h.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deft/dynamics/contact_finder.hpp"
#include "deft/dynamics/coulomb_corrections.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/contact/derivative/gap_feedback.hpp"
#include "deft/solvers/contact/derivative/sensitivity.hpp"
#include "deft/solvers/contact/force_choice/least_norm.hpp"

namespace deft::dynamics {

struct EnergyPoint;
struct LinearizedAbout;
class StepDirections;

/// First velocity index of each rotation: free bodies and ball joints have three velocities without a coordinate.
std::vector<int> rotation_blocks(const multibody::Model& model);

/// A number of the scene that a derivative can be taken for.
struct Parameter {
  /// Which number; `index` and `second` say whose.
  enum class Kind {
    kStepLength,  // h [s]
    kKappa,       // κ [1/J]
    kFriction,    // μ of the pair of geometries (index, second)
    kMass,        // of object `index` [kg], its inertia in proportion
    kStiffness,   // of command `index` [N/m, N·m/rad]
    kOffset       // place of geometry `index` on its body: second = 0, 1, 2 turn it [rad] about the world's axes
                  // through the body's origin, second = 3, 4, 5 move it [m] along them
  };
  Kind kind = Kind::kStepLength;  // which number
  int index = 0, second = 0;      // as `kind` says
};

/// The derivative of a step at (q, u), or (q, v, u). One object per thread: it keeps scratch, so that a warm
/// `linearize` with products or Jacobians does not allocate while sizes repeat. Convex models.
class StepDifferentiator {
 public:
  explicit StepDifferentiator(const scene::Scene& scene);  // must outlive this object
  ~StepDifferentiator();
  StepDifferentiator(StepDifferentiator&&) noexcept;
  StepDifferentiator& operator=(StepDifferentiator&&) noexcept;

  /// Takes the derivative of `result`, the step from q under u. An error ε of the step's δ is an error of the
  /// derivative of about ε/λ_min of the program's Hessian. The result is not copied: it must stay as it is until the
  /// last product.
  /// @throws std::invalid_argument if the step failed, the sizes are wrong or mu_gradient is negative or not finite;
  /// InputError for what has no derivative yet: models of exact Coulomb friction, an ellipsoid with e_t ≠ e_o in a
  /// plane of motion and, but by commands, steps in which `step.recovery_speed` was reached or rolling friction acted;
  /// and for the model equivalent-contact-point, whose derivative is StepModel::differentiate.
  void linearize(const State& start, const Eigen::VectorXd& u, const StepResult& result,
                 const DerivativeOptions& options = {});
  /// The same for a step from rest at time 0.
  void linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const StepResult& result,
                 const DerivativeOptions& options = {}) {
    linearize(State{.q = q}, u, result, options);
  }
  /// The same with the model that has just made the step, whose kinematics and contacts are used again. It must not
  /// step until the last product. @throws std::invalid_argument also if the model is of another scene.
  void linearize(StepModel& model, const State& start, const Eigen::VectorXd& u, const StepResult& result,
                 const DerivativeOptions& options = {});

  /// Every Jacobian. Those of q stay empty without `options.configuration`, unless `step.relinearize` needs them; with
  /// `options.motion_only` dforce_W_*.
  void jacobians(StepDerivative& out);
  /// The Jacobians of the motion and, of the forces, only those of the contacts listed, whose rows are stacked in the
  /// order of the list (first_row: of each of them); dforce_W_* stay empty.
  /// @throws std::invalid_argument for a contact that the step does not have.
  void jacobians(std::span<const int> contacts, StepDerivative& out);
  /// A dq + B du, size nv, and the change of the contact forces (contact frame, stacked), unless `dforce` is null.
  /// Empty dq or du count as 0. @throws std::invalid_argument for a dq without `options.configuration`.
  void forward(const Eigen::VectorXd& dq, const Eigen::VectorXd& du, Eigen::VectorXd& dq_next,
               Eigen::VectorXd* dforce = nullptr);
  /// The same, returned; allocates.
  Eigen::VectorXd forward(const Eigen::VectorXd& dq, const Eigen::VectorXd& du, Eigen::VectorXd* dforce = nullptr) {
    Eigen::VectorXd dq_next;
    forward(dq, du, dq_next, dforce);
    return dq_next;
  }
  /// q_bar = Aᵀw and u_bar = Bᵀw. Weights w_force on the stacked contact forces, if not empty, add (∂f/∂q)ᵀw_force and
  /// (∂f/∂u)ᵀw_force. Without `options.configuration` q_bar stays empty.
  void backward(const Eigen::VectorXd& w, const Eigen::VectorXd& w_force, Eigen::VectorXd& q_bar,
                Eigen::VectorXd& u_bar);
  /// ∂q⁺ (nv rows) and ∂force (contact frame, stacked) by parameters, one column each. Allocates.
  /// @throws std::invalid_argument for kOffset without `options.configuration` or with `motion_only`, for kKappa with
  /// compliance or saturating springs, and for kStiffness of a joint that is driven by forces; InputError for a step
  /// whose contacts were linearised again (`step.relinearize`), for kMass of an object that is carried by another model
  /// or carries one, and as linearize for what a step leaves out: not available yet.
  void parameters(std::span<const Parameter> parameters, Eigen::MatrixXd& dq_next, Eigen::MatrixXd& dforce);

  /// The derivative is one-sided or, if `is_smoothed`, that of the step smoothed at mu_gradient; `nonsmooth_points`
  /// says why, one line each. With `step.relinearize` that of any of the linearisations counts.
  bool is_nonsmooth() const {
    return is_smoothed_ || sensitivity_.is_nonsmooth() || has_several_corrections_ || has_nonsmooth_geometry_ ||
           (is_relinearized_ && before_->is_nonsmooth());
  }
  bool is_smoothed() const { return is_smoothed_; }  // the derivative is that of the step smoothed at mu_gradient
  /// The reasons, one line each: nonsmooth points of the geometry and ties of pyramids' tangents at loaded contacts,
  /// failed strict complementarity, a motion that is not unique, De Saxcé corrections that are not.
  std::vector<std::string> nonsmooth_points() const;

 private:
  void linearize_at(scene::SceneState* state, const State& start, const Eigen::VectorXd& u, const StepResult& result,
                    const DerivativeOptions& options);
  void check(const State& start, const Eigen::VectorXd& u, const StepResult& result) const;
  void refuse_what_is_left_out(const StepResult& result) const;
  void linearize_chain(const StepResult& result, std::span<const StepResult> earlier);
  void place_linearization(std::span<const StepResult> earlier);
  void choose_forces();
  /// Adds what forces turn with the frames of the contacts to the Jacobians in the world.
  void add_turning_frames(StepDerivative& out) const;
  /// The state at the start of the step; with its contacts, if asked.
  scene::SceneState& place(bool with_contacts);
  EnergyPoint energy_point(bool with_contacts);
  const solvers::contact::ContactProgram& program() const {
    return is_smoothed_ ? smoothed_program_ : result_->program;
  }
  const solvers::contact::ContactSolution& solution() const {
    return is_smoothed_ ? smoothed_solution_ : has_chosen_ ? chosen_solution_ : result_->solution;
  }
  bool is_nonsmooth_geometry(int contact) const;
  bool is_nonsmooth_frame(int contact) const;
  /// A change of the program and what it moves.
  struct Rates {
    solvers::contact::ProgramChange change;
    solvers::contact::SolutionChange moved;
  };
  /// Solves along a change. @returns false if it turned out that the step has no derivative along it and the step is
  /// smoothed now, so that the change must be made again.
  bool solve_change(Rates& rates, std::span<const char> wanted = {});
  /// The Jacobians of the motion from units_, with Γ in units_.moved.
  void motion_jacobians(StepDerivative& out);
  void take_solution();
  void follow_gaps();
  bool smooth();
  bool solve_smoothed();
  bool coulomb() const { return scene_->settings().step.friction_law == scene::FrictionLaw::kCoulomb; }
  void add_parameter(const Parameter& parameter, Eigen::Index column, solvers::contact::ProgramChange& change,
                     Eigen::MatrixXd& direct);
  Eigen::Matrix<double, 12, 1> offset_of_shape(const contact::Contact& contact, int side, int axis);
  /// Γ dδ of the columns of dδ, in place.
  void advance(solvers::contact::Directions& moved) const;

  const scene::Scene* scene_;
  scene::SceneState own_state_;
  scene::SceneState* state_ = nullptr;  // of the model or our own
  solvers::contact::ContactSolver solver_;
  solvers::contact::Sensitivity sensitivity_;
  // Coulomb's law: gaps follow the sliding that opens them.
  CoulombCorrections corrections_;     // of steps smoothed at mu_gradient
  Eigen::VectorXd exact_corrections_;  // where they begin
  solvers::contact::GapFeedback feedback_;
  std::vector<Eigen::Vector4d> correction_rates_;  // per contact, by its rows
  bool has_several_corrections_ = false;
  std::unique_ptr<StepDirections> directions_;
  std::vector<int> rotations_;  // first velocity index of each rotation block
  State start_;
  Eigen::VectorXd u_, delta_;  // δ of the solution, without added variables
  const StepResult* result_ = nullptr;
  DerivativeOptions options_;
  bool is_smoothed_ = false, has_nonsmooth_geometry_ = false, objects_stay_ = false, has_contacts_ = false;
  solvers::contact::ContactProgram smoothed_program_;
  solvers::contact::ContactSolution smoothed_solution_;
  Rates units_, product_;  // of jacobians; of forward and backward
  solvers::contact::Directions weights_, force_weights_;
  solvers::contact::ProgramChange back_;  // of backward
  std::vector<char> wanted_;              // per contact
  // Of a linearisation that is not the first of its step:
  std::unique_ptr<StepDifferentiator> before_;  // of the one before
  std::unique_ptr<LinearizedAbout> about_;
  ContactsAfter contacts_after_;
  bool is_relinearized_ = false;
  // Of a linearisation that is not the last: its forces are chosen here, where anybody asks for them.
  bool has_chosen_ = false;
  solvers::contact::ContactSolution chosen_solution_;
  solvers::contact::LeastNorm least_norm_;
  StepDerivative products_;  // of forward and backward
};

}  // namespace deft::dynamics
