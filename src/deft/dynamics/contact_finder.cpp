#include "deft/dynamics/contact_finder.hpp"

namespace deft::dynamics {

ContactFinder::ContactFinder(const scene::Scene& scene)
    : scene_(&scene), assembler_(scene), state_(scene.make_state()) {}

void ContactFinder::find(const Eigen::VectorXd& q, contact::ContactProblem& problem) {
  const scene::StepSettings& settings = scene_->settings().step;
  if (!has_contacts_ || state_.q != q) {
    const bool is_placed = has_kinematics_ && state_.q == q;
    forget();
    if (!is_placed) scene_->update(q, state_);
    has_kinematics_ = true;
    scene_->find_contacts(settings.contact_margin, state_);
    has_contacts_ = true;
  }
  assembler_.assemble(state_, contact::assemble_options(settings), problem);
}

}  // namespace deft::dynamics
