#pragma once
// deft.StepModel, what its steps return, and their derivatives.

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>

#include "arrays.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/step_model.hpp"
#include "parameters.hpp"
#include "scene_bindings.hpp"

namespace deft::python {

namespace nb = nanobind;

/// One thread at a time: entered by every call that uses the scratch of an object.
class Turn {
 public:
  /// @throws std::runtime_error naming threads if another call is inside.
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {
    if (taken_.exchange(true))
      throw std::runtime_error(
          "it is in use by another thread; threads need a model, batch or plant of their own each");
  }
  ~Turn() { taken_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

/// One step and where it began.
struct Step {
  std::optional<scene::Scene> scene;  // of the model
  dynamics::State start;
  Eigen::VectorXd u;
  dynamics::StepResult result;
  double time_s = 0;  // of the whole step [s]
};

/// What Python holds of a step: arrays of it keep the step that they are of, whatever becomes of the result.
struct StepResult {
  std::shared_ptr<Step> step = std::make_shared<Step>();
  std::shared_ptr<std::atomic<bool>> taken = std::make_shared<std::atomic<bool>>(false);
};

/// Jacobians of a step, and whether they are one-sided.
struct Derivatives {
  dynamics::StepDerivative jacobians;
  dynamics::DerivativeReport report;
  bool has_forces = false;               // they were asked for
  Eigen::MatrixXd dq_dtheta, df_dtheta;  // nv × nθ; 3 per contact × nθ, in the world; 0 × 0 if not asked for
};

/// A step model of a scene of its own.
class Model {
 public:
  explicit Model(scene::Scene scene);
  const scene::Scene& scene() const { return scene_; }
  dynamics::StepModel& steps() { return *steps_; }
  std::atomic<bool>& taken() { return taken_; }
  /// Steps from (q, v) under u into `step`.
  void step(nb::handle q, nb::handle u, nb::handle v, Step& step);
  Derivatives derivatives(nb::handle q, nb::handle u, nb::handle v, bool by_configuration, bool motion_only,
                          bool by_parameters);
  const std::vector<NamedParameter>& parameters();
  /// A dq + B du, size nv.
  Array jvp(nb::handle q, nb::handle u, nb::handle dq, nb::handle du);
  /// (Aᵀw, Bᵀw).
  nb::tuple vjp(nb::handle q, nb::handle u, nb::handle cotangent);

 private:
  /// Checked arguments into the start of `step`, which stays as it is if they are refused.
  void read(nb::handle q, nb::handle u, nb::handle v, Step& step);
  /// Steps from q under u, anew, and takes the derivative there. @throws deft.SolveError if the step fails.
  void linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u);
  /// Of the step in scratch_, into out.dq_dtheta and df_dtheta.
  void differentiate_by_parameters(Derivatives& out);

  scene::Scene scene_;
  std::unique_ptr<dynamics::StepModel> steps_;
  std::unique_ptr<dynamics::StepDifferentiator> differentiator_;  // made when first needed
  std::vector<NamedParameter> parameters_;                        // likewise
  Step scratch_;
  dynamics::State given_;    // of read
  Eigen::VectorXd given_u_;  // likewise
  std::atomic<bool> taken_{false};
};

void bind_steps(nb::module_& module);

}  // namespace deft::python
