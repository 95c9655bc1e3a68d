#include "deft/plant/drake_plant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "deft/core/index.hpp"
#include "deft/core/log.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/plant/drake_model.hpp"
#include "deft/plant/drake_process.hpp"
#include "deft/plant/plant_parts.hpp"
#include "deft/plant/rolling_torques.hpp"

namespace deft::plant {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kLargest = 1e6;  // coordinates and speeds beyond it [m, rad, m/s, rad/s] have left the world

/// A contact as the server sends it.
struct DrakeContact {
  double a, b;                                                   // geometries of the scene
  std::array<double, 3> point, normal, force_on_a, torque_on_a;  // in the world; the normal points from b to a
  double gap, slip;                                              // [m, m/s]
};
static_assert(sizeof(DrakeContact) == 16 * sizeof(double));

class DrakePlant final : public Plant {
 public:
  DrakePlant(const scene::Scene& scene, const PlantOptions& options)
      : scene_(&scene),
        options_(options),
        model_(describe_for_drake(scene, options)),
        damping_(damping_of_objects(scene, options)),
        process_(find_drake_python()),
        rolling_(scene, model_.joint_damping),
        at_(scene.make_state()) {
    const auto answer = process_.ask('M', model_.text);
    said_.assign(answer.begin(), answer.end());
    energy_terms_.nv = scene.nv();
    reset({.q = scene.initial_configuration(), .v = scene.initial_velocity()}, VectorXd::Zero(scene.nu()));
  }

  std::string_view name() const override { return to_string(PlantKind::kDrake); }
  const scene::Scene& scene() const override { return *scene_; }
  std::vector<std::string> settings() const override;
  void reset(const dynamics::State& start, const VectorXd& u) override;
  PlantStatus advance(const VectorXd& u, double period_s) override;
  const dynamics::State& state() const override { return state_; }
  void contacts(std::vector<dynamics::ContactRecord>& out) const override;
  double energy() const override;
  double residual() const override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  void send_state();
  void apply_forces(double h);
  void apply_object_damping(double h);
  PlantStatus inner_step(double h, bool last);
  void read_contacts(std::span<const char> bytes, double h);

  const scene::Scene* scene_;
  PlantOptions options_;
  DrakeModel model_;
  VectorXd damping_;  // γ per object [1/s]
  DrakeProcess process_;
  std::string said_;  // of the server about its model
  RollingTorques rolling_;
  dynamics::State state_;
  VectorXd u_last_, u_now_, tau_, weight_;
  std::vector<double> message_, jacobian_;
  std::vector<DrakeContact> contacts_;  // of the last inner step whose contacts were asked for
  double contacts_h_ = 0;
  contact::ContactProblem energy_terms_;  // b: wrenches
  mutable scene::SceneState at_;          // at state_
  mutable BlockDiagonal M_;
};

std::span<const char> bytes_of(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

void DrakePlant::send_state() {
  message_.assign(state_.q.begin(), state_.q.end());
  message_.insert(message_.end(), state_.v.begin(), state_.v.end());
  process_.ask('R', bytes_of(message_));
}

void DrakePlant::reset(const dynamics::State& start, const VectorXd& u) {
  check_targets(*scene_, u);
  begin_at(*scene_, start, state_);
  u_last_ = u;
  contacts_.clear();
  rolling_.forget();
  send_state();
}

/// The force −γ M v⁺ of a damper at the end of the step, where nothing else acts.
void DrakePlant::apply_object_damping(double h) {
  if (damping_.size() == 0 || damping_.maxCoeff() <= 0) return;
  scene_->model().mass_matrix(at_.kinematics, M_);
  for (std::size_t k = 0; k < scene_->objects().size(); ++k) {
    const scene::Object& object = scene_->objects()[k];
    const double gamma = damping_(static_cast<Eigen::Index>(k));
    if (object.frozen || !(gamma > 0)) continue;
    Eigen::MatrixXd own = Eigen::MatrixXd::Zero(object.nv, object.nv);
    add_part(M_, object.first_v, object.nv, gamma / (1 + gamma * h), own);
    tau_.segment(object.first_v, object.nv) -= own * state_.v.segment(object.first_v, object.nv);
  }
}

/// What Drake is told as applied forces: wrenches, −γMv of objects, resistance to rolling, forces of drives, and the
/// weight that robots carry, which their own control takes off. @pre at_ is at the state.
void DrakePlant::apply_forces(double h) {
  tau_.setZero(scene_->nv());
  if (!scene_->wrenches().empty()) {
    scene_->model().mass_matrix(at_.kinematics, M_);
    energy_terms_.b.setZero(scene_->nv());
    dynamics::add_wrenches({*scene_, at_, state_.v, u_now_, state_.t, h, M_}, jacobian_, energy_terms_);
    tau_ -= energy_terms_.b;
  }
  apply_object_damping(h);
  if (!rolling_.none()) {
    rolling_.at(at_, state_.v, u_now_, h);
    rolling_.add_generalized(at_, tau_);
  }
  const bool carries = !scene_->settings().step.robot_gravity && !scene_->spec().gravity_W.isZero(0);
  if (carries) scene_->model().gravity_force(at_.kinematics, scene_->spec().gravity_W, weight_);
  for (const scene::Robot& robot : scene_->robots()) {
    if (carries) tau_.segment(robot.first_v, robot.nv) -= weight_.segment(robot.first_v, robot.nv);
    if (robot.drive == scene::Drive::kPosition) continue;
    for (int i = 0; i < robot.nu; ++i) tau_(robot.v(i)) += u_now_(robot.first_u + i);
  }
}

void DrakePlant::read_contacts(std::span<const char> bytes, double h) {
  contacts_.resize(bytes.size() / sizeof(DrakeContact));
  contacts_h_ = h;
  if (!contacts_.empty()) std::memcpy(contacts_.data(), bytes.data(), contacts_.size() * sizeof(DrakeContact));
  rolling_.loads().clear();
  if (rolling_.none()) return;
  for (const DrakeContact& contact : contacts_) {
    const Vector3d n(contact.normal.data());
    const double force = n.dot(Vector3d(contact.force_on_a.data()));
    const int a = static_cast<int>(contact.a), b = static_cast<int>(contact.b);
    if (force > 0 && rolling_.acts_on(a, b)) rolling_.loads().push_back({a, b, n, force});
  }
}

PlantStatus DrakePlant::inner_step(double h, bool last) {
  scene_->update(state_.q, at_);
  apply_forces(h);
  const bool want = last || !rolling_.none();
  message_.assign({h, want ? 1.0 : 0.0});
  for (const int command : model_.springs) message_.push_back(u_now_(command));
  message_.insert(message_.end(), tau_.begin(), tau_.end());
  std::span<const char> answer;
  try {
    answer = process_.ask('S', bytes_of(message_));
  } catch (const DrakeStepError& error) {
    log::warning(fmt::format("Drake at {:g} s: {}", state_.t, error.what()));
    return PlantStatus::kStepFailed;
  }
  const std::size_t nq = to_size(scene_->nq()), nv = to_size(scene_->nv()), size = (nq + nv) * sizeof(double);
  if (answer.size() < size || (answer.size() - size) % sizeof(DrakeContact) != 0)
    throw InputError({}, fmt::format("plant drake: a step was answered with {} bytes, {} + a multiple of {} expected",
                                     answer.size(), size, sizeof(DrakeContact)));
  message_.resize(nq + nv);
  std::memcpy(message_.data(), answer.data(), size);
  const Eigen::Map<const VectorXd> next(message_.data(), static_cast<Eigen::Index>(nq + nv));
  if (!next.allFinite() || next.lpNorm<Eigen::Infinity>() > kLargest) return PlantStatus::kDiverged;
  state_.q = next.head(scene_->nq());
  state_.v = next.tail(scene_->nv());
  if (want) read_contacts(answer.subspan(size), h);
  return PlantStatus::kOk;
}

PlantStatus DrakePlant::advance(const VectorXd& u, double period_s) {
  check_targets(*scene_, u);
  const int n = inner_steps(period_s, options_.step);
  const double h = period_s / n, t0 = state_.t;
  for (int k = 1; k <= n; ++k) {
    interpolate_targets(u_last_, u, k, n, u_now_);
    const PlantStatus status = inner_step(h, k == n);
    if (status != PlantStatus::kOk) {
      u_last_ = u_now_;
      send_state();
      return status;
    }
    state_.t = k == n ? t0 + period_s : t0 + k * h;
  }
  u_last_ = u;
  return PlantStatus::kOk;
}

void DrakePlant::contacts(std::vector<dynamics::ContactRecord>& out) const {
  out.clear();
  for (const DrakeContact& contact : contacts_) {
    // a is the geometry that the scene has first.
    const double sign = contact.b < contact.a ? -1 : 1;
    const int first = static_cast<int>(std::min(contact.a, contact.b)),
              second = static_cast<int>(std::max(contact.a, contact.b));
    dynamics::ContactRecord record;
    record.a = model_.body_of[to_size(first)];
    record.b = model_.body_of[to_size(second)];
    record.point_W = contact.point;
    for (std::size_t i = 0; i < 3; ++i) {
      record.normal_W[i] = sign * contact.normal[i];
      record.force_W[i] = sign * contact.force_on_a[i];
      record.torque_W[i] = sign * contact.torque_on_a[i];
    }
    record.gap = record.gap_start = contact.gap;
    const scene::PairFriction friction = scene_->friction(first, second);
    record.mu = friction.frictionless ? 0 : friction.mu;
    const bool loaded = Vector3d(contact.force_on_a.data()).norm() > 0;
    record.state = !loaded                                ? dynamics::ContactState::kOpen
                   : contact.slip * contacts_h_ > kSlip_m ? dynamics::ContactState::kSlide
                                                          : dynamics::ContactState::kStick;
    out.push_back(record);
  }
}

double DrakePlant::energy() const {
  scene_->update(state_.q, at_);
  return dynamics::mechanical_energy(*scene_, at_, state_.v, u_last_, M_);
}

std::vector<std::string> DrakePlant::settings() const {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < said_.size();) {
    const std::size_t to = std::min(said_.find('\n', from), said_.size());
    lines.push_back(said_.substr(from, to - from));
    from = to + 1;
  }
  lines.push_back(fmt::format("inner step: {} s at most", options_.step));
  lines.push_back(fmt::format("joints: damping [{:.6g}] N s/m, N m s/rad", fmt::join(model_.joint_damping, ", ")));
  lines.push_back(fmt::format("objects: damping [{:.6g}] 1/s, force -g M v", fmt::join(damping_, ", ")));
  lines.insert(lines.end(), model_.notes.begin(), model_.notes.end());
  return lines;
}

}  // namespace

std::unique_ptr<Plant> make_drake_plant(const scene::Scene& scene, const PlantOptions& options) {
  check_options(scene, options);
  return std::make_unique<DrakePlant>(scene, options);
}

}  // namespace deft::plant
