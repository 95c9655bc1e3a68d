#ifdef DEFT_HAS_MUJOCO
#include "deft/plant/mujoco_plant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "deft/core/log.hpp"
#include "deft/dynamics/energy_terms.hpp"
#include "deft/plant/mujoco_model.hpp"
#include "deft/plant/plant_parts.hpp"
#include "deft/plant/rolling_torques.hpp"
#include "deft/scene/wrench_table.hpp"

namespace deft::plant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::Vector4d;
using Eigen::VectorXd;
using multibody::JointKind;

class MujocoPlant final : public Plant {
 public:
  MujocoPlant(const scene::Scene& scene, const PlantOptions& options)
      : scene_(&scene),
        options_(options),
        map_(build_mujoco_model(scene, options)),
        data_(lib_.mj_makeData(map_.model.get())),
        rolling_(scene, map_.joint_damping),
        at_(scene.make_state()) {
    if (data_ == nullptr) throw MujocoError("MuJoCo: no memory for the simulation");
    momentum_.resize(map_.model->nv);
    reset({.q = scene.initial_configuration(), .v = scene.initial_velocity()}, VectorXd::Zero(scene.nu()));
  }

  std::string_view name() const override { return to_string(PlantKind::kMujoco); }
  const scene::Scene& scene() const override { return *scene_; }
  std::vector<std::string> settings() const override;
  void reset(const dynamics::State& start, const VectorXd& u) override;
  PlantStatus advance(const VectorXd& u, double period_s) override;
  const dynamics::State& state() const override { return state_; }
  void contacts(std::vector<dynamics::ContactRecord>& out) const override;
  double energy() const override;
  double residual() const override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  PlantStatus inner_step(double h);
  void apply_forces(double h);
  void apply_wrenches(double h);
  void apply_rolling_friction(double h);
  void remember_loads();
  /// The scene's state into MuJoCo's, and back.
  void write_state();
  void read_state();
  int warnings(std::initializer_list<int> kinds) const;

  const MujocoLibrary& lib_ = mujoco();
  const scene::Scene* scene_;
  PlantOptions options_;
  MujocoModel map_;
  DataPointer data_;
  RollingTorques rolling_;
  dynamics::State state_;
  VectorXd u_last_, u_now_, forces_, momentum_;
  bool has_stepped_ = false;
  mutable scene::SceneState at_;  // at state_
  mutable BlockDiagonal M_;
};

void MujocoPlant::write_state() {
  for (const MujocoJoint& joint : map_.joints) {
    if (joint.mj_q < 0) continue;
    double *const q = data_->qpos + joint.mj_q, *const v = data_->qvel + joint.mj_v;
    if (joint.kind == JointKind::kAxes) {
      std::copy_n(state_.q.data() + joint.q, joint.n, q);
      std::copy_n(state_.v.data() + joint.v, joint.n, v);
      continue;
    }
    const Vector4d quat = state_.q.segment<4>(joint.q).normalized();
    const Matrix3d R = rotation_from_quat_wxyz(quat);
    if (joint.kind == JointKind::kBall) {
      Eigen::Map<Vector4d>{q} = quat;
      Eigen::Map<Vector3d>{v} = R.transpose() * state_.v.segment<3>(joint.v);
      continue;
    }
    const Vector3d omega = state_.v.segment<3>(joint.v), c = R * joint.X_GM.translation();
    const Matrix3d R_WM = R * joint.X_GM.linear();
    Eigen::Map<Vector3d>{q} = state_.q.segment<3>(joint.q + 4) + c;
    Eigen::Map<Vector4d>{q + 3} = quat_wxyz_from_rotation(R_WM);
    Eigen::Map<Vector3d>{v} = state_.v.segment<3>(joint.v + 3) + omega.cross(c);
    Eigen::Map<Vector3d>{v + 3} = R_WM.transpose() * omega;
  }
}

void MujocoPlant::read_state() {
  for (const MujocoJoint& joint : map_.joints) {
    if (joint.mj_q < 0) continue;
    const double *const q = data_->qpos + joint.mj_q, *const v = data_->qvel + joint.mj_v;
    if (joint.kind == JointKind::kAxes) {
      std::copy_n(q, joint.n, state_.q.data() + joint.q);
      std::copy_n(v, joint.n, state_.v.data() + joint.v);
      continue;
    }
    if (joint.kind == JointKind::kBall) {
      const Vector4d quat = Eigen::Map<const Vector4d>(q).normalized();
      state_.q.segment<4>(joint.q) = quat;
      state_.v.segment<3>(joint.v) = rotation_from_quat_wxyz(quat) * Eigen::Map<const Vector3d>(v);
      continue;
    }
    const Matrix3d R_WM = rotation_from_quat_wxyz(Eigen::Map<const Vector4d>(q + 3).normalized());
    const Matrix3d R = R_WM * joint.X_GM.linear().transpose();
    const Vector3d omega = R_WM * Eigen::Map<const Vector3d>(v + 3), c = R * joint.X_GM.translation();
    state_.q.segment<4>(joint.q) = quat_wxyz_from_rotation(R);
    state_.q.segment<3>(joint.q + 4) = Eigen::Map<const Vector3d>(q) - c;
    state_.v.segment<3>(joint.v) = omega;
    state_.v.segment<3>(joint.v + 3) = Eigen::Map<const Vector3d>(v) - omega.cross(c);
  }
}

void MujocoPlant::reset(const dynamics::State& start, const VectorXd& u) {
  check_targets(*scene_, u);
  begin_at(*scene_, start, state_);
  u_last_ = u;
  has_stepped_ = false;
  rolling_.forget();
  lib_.mj_resetData(map_.model.get(), data_.get());
  write_state();
  scene_->update(state_.q, at_);
  for (const MujocoFrozen& frozen : map_.frozen) {
    const RigidTransform X_WM = at_.X_WB()[frozen.body] * frozen.X_BM;
    Eigen::Map<Vector3d>(data_->mocap_pos + 3 * frozen.mocap) = X_WM.translation();
    Eigen::Map<Vector4d>(data_->mocap_quat + 4 * frozen.mocap) = quat_wxyz_from_rotation(X_WM.linear());
  }
}

int MujocoPlant::warnings(std::initializer_list<int> kinds) const {
  int sum = 0;
  for (const int kind : kinds) sum += data_->warning[kind].number;
  return sum;
}

/// @pre at_ is at the state.
void MujocoPlant::apply_rolling_friction(double h) {
  for (const dynamics::BodyTorque& torque : rolling_.at(at_, state_.v, u_now_, h))
    Eigen::Map<Vector3d>(data_->xfrc_applied + 6 * map_.bodies[torque.body].mj_body + 3) += torque.torque_W;
}

/// Normal forces of the step that was just made, for the next.
void MujocoPlant::remember_loads() {
  rolling_.loads().clear();
  for (int i = 0; i < data_->ncon; ++i) {
    const mjContact& contact = data_->contact[i];
    const int a = map_.geometry_of[contact.geom[0]], b = map_.geometry_of[contact.geom[1]];
    if (contact.efc_address < 0 || !rolling_.acts_on(a, b)) continue;
    double f[6] = {};
    lib_.mj_contactForce(map_.model.get(), data_.get(), i, f);
    if (f[0] > 0) rolling_.loads().push_back({a, b, Eigen::Map<const Vector3d>(contact.frame), f[0]});
  }
}

/// Wrenches at the bodies' origins, in MuJoCo's centres of mass. @pre at_ is at the state.
void MujocoPlant::apply_wrenches(double h) {
  for (const scene::Wrench& wrench : scene_->wrenches()) {
    const double share = scene::wrench_share(wrench, state_.t, h, scene_->model(), at_.kinematics, state_.v);
    const int body = map_.bodies[wrench.body].mj_body;
    if (share == 0 || body == 0) continue;
    const Vector3d arm = at_.X_WB()[wrench.body].translation() - Eigen::Map<const Vector3d>(data_->xipos + 3 * body);
    Eigen::Map<Vector3d>(data_->xfrc_applied + 6 * body) += share * wrench.force_W;
    Eigen::Map<Vector3d>(data_->xfrc_applied + 6 * body + 3) += share * (wrench.torque_W + arm.cross(wrench.force_W));
  }
}

/// What the model itself does not do: wrenches, resistance to rolling, −γMv of objects whose inertia changes, weight
/// that robots carry.
void MujocoPlant::apply_forces(double h) {
  const bool wrenches = !scene_->wrenches().empty(), rolls = !rolling_.none();
  if (wrenches || rolls || map_.weight_is_applied) scene_->update(state_.q, at_);
  if (wrenches || rolls) std::fill_n(data_->xfrc_applied, 6 * map_.model->nbody, 0.0);
  if (wrenches) apply_wrenches(h);
  if (rolls) apply_rolling_friction(h);
  const auto nv = static_cast<Eigen::Index>(map_.model->nv);
  Eigen::Map<VectorXd> applied(data_->qfrc_applied, nv);
  if (!map_.applied_damping.empty()) {
    const Eigen::Map<const VectorXd> gamma(map_.applied_damping.data(), nv);
    const Eigen::Map<const VectorXd> v(data_->qvel, nv);
    momentum_ = (gamma.array() > 0).select(v, 0.0);
    lib_.mj_mulM(map_.model.get(), data_.get(), data_->qfrc_applied, momentum_.data());
    applied.array() *= -gamma.array();
  }
  if (!map_.weight_is_applied) return;
  scene_->model().gravity_force(at_.kinematics, scene_->spec().gravity_W, forces_);
  for (const scene::Robot& robot : scene_->robots())
    for (const MujocoJoint& joint : map_.joints)
      for (int i = 0; i < joint.n; ++i)
        if (joint.v + i >= robot.first_v && joint.v + i < robot.first_v + robot.nv)
          applied(joint.mj_v + i) = -forces_(joint.v + i);
}

PlantStatus MujocoPlant::inner_step(double h) {
  map_.model->opt.timestep = h;
  for (Eigen::Index i = 0; i < u_now_.size(); ++i) data_->ctrl[map_.actuators[i]] = u_now_(i);
  const int diverged = warnings({mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL});
  const int failed = warnings({mjWARN_CONTACTFULL, mjWARN_CNSTRFULL, mjWARN_INERTIA});
  try {
    lib_.mj_step1(map_.model.get(), data_.get());
    apply_forces(h);
    lib_.mj_step2(map_.model.get(), data_.get());
  } catch (const MujocoError& error) {
    log::warning(error.what());
    return PlantStatus::kStepFailed;
  }
  const Eigen::Map<const VectorXd> q(data_->qpos, map_.model->nq), v(data_->qvel, map_.model->nv);
  if (warnings({mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL}) != diverged || !q.allFinite() ||
      !v.allFinite())
    return PlantStatus::kDiverged;
  return warnings({mjWARN_CONTACTFULL, mjWARN_CNSTRFULL, mjWARN_INERTIA}) != failed ? PlantStatus::kStepFailed
                                                                                    : PlantStatus::kOk;
}

PlantStatus MujocoPlant::advance(const VectorXd& u, double period_s) {
  check_targets(*scene_, u);
  const int n = inner_steps(period_s, options_.step);
  const double h = period_s / n, t0 = state_.t;
  for (int k = 1; k <= n; ++k) {
    interpolate_targets(u_last_, u, k, n, u_now_);
    const PlantStatus status = inner_step(h);
    if (status != PlantStatus::kOk) {
      // Back to the last good state, with nothing of the bad one left.
      const dynamics::State good = state_;
      reset(good, u_now_);
      state_.t = good.t;
      return status;
    }
    read_state();
    if (!rolling_.none()) remember_loads();
    state_.t = k == n ? t0 + period_s : t0 + k * h;
    has_stepped_ = true;
  }
  u_last_ = u;
  return PlantStatus::kOk;
}

void MujocoPlant::contacts(std::vector<dynamics::ContactRecord>& out) const {
  out.clear();
  if (!has_stepped_) return;
  const mjModel* const model = map_.model.get();
  double largest = 0;
  for (int i = 0; i < data_->ncon; ++i) {
    const mjContact& contact = data_->contact[i];
    double f[6] = {};
    if (contact.efc_address >= 0) lib_.mj_contactForce(model, data_.get(), i, f);
    largest = std::max(largest, f[0]);
    // MuJoCo's normal points from geom[0] to geom[1], and the force acts on geom[1]; a is the geometry that the scene
    // has first.
    const int first = map_.geometry_of[contact.geom[0]], second = map_.geometry_of[contact.geom[1]];
    const double sign = second < first ? 1 : -1;
    const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> frame(contact.frame);
    const Vector3d force = sign * (frame.transpose() * Eigen::Map<const Vector3d>(f)),
                   n = sign * frame.row(0).transpose();
    const Vector3d torque = sign * f[3] * frame.row(0).transpose(), p = Eigen::Map<const Vector3d>(contact.pos);
    dynamics::ContactRecord record;
    record.a = map_.scene_body_of[std::min(first, second)];
    record.b = map_.scene_body_of[std::max(first, second)];
    record.point_W = {p.x(), p.y(), p.z()};
    record.normal_W = {n.x(), n.y(), n.z()};
    record.force_W = {force.x(), force.y(), force.z()};
    record.torque_W = {torque.x(), torque.y(), torque.z()};
    record.gap = record.gap_start = contact.dist;
    record.mu = contact.dim > 1 ? contact.friction[0] : 0;
    // How far the bodies slide on each other in the step.
    const auto velocity_at = [&](int geom) {
      double v[6];
      const int body = model->geom_bodyid[geom];
      lib_.mj_objectVelocity(model, data_.get(), mjOBJ_XBODY, body, v, 0);
      return Vector3d(Eigen::Map<const Vector3d>(v + 3) +
                      Eigen::Map<const Vector3d>(v).cross(p - Eigen::Map<const Vector3d>(data_->xpos + 3 * body)));
    };
    const Vector3d relative = velocity_at(contact.geom[1]) - velocity_at(contact.geom[0]);
    const double slip = (relative - relative.dot(n) * n).norm() * model->opt.timestep;
    record.state = !(f[0] > 0)      ? dynamics::ContactState::kOpen
                   : slip > kSlip_m ? dynamics::ContactState::kSlide
                                    : dynamics::ContactState::kStick;
    out.push_back(record);
  }
}

double MujocoPlant::energy() const {
  scene_->update(state_.q, at_);
  return dynamics::mechanical_energy(*scene_, at_, state_.v, u_last_, M_);
}

std::vector<std::string> MujocoPlant::settings() const {
  const mjOption& option = map_.model->opt;
  const MujocoContact contact = mujoco_contact(options_.step);
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("MuJoCo {} ({}), inner step: {} s at most, integrator discrete (implicit in springs and dampers)",
                  lib_.mj_versionString(), lib_.path, options_.step));
  lines.push_back(
      fmt::format("contact: elliptic cones, impratio {}, solref {} 1, solreffriction {} 1, solimp {} {} {}, margin 0, "
                  "tolerance {}",
                  option.impratio, contact.reference_s, contact.friction_reference_s, contact.impedance[0],
                  contact.impedance[1], contact.impedance[2], option.tolerance));
  lines.push_back(fmt::format("joints: damping [{:.6g}] N s/m, N m s/rad", fmt::join(map_.joint_damping, ", ")));
  lines.push_back(fmt::format(
      "objects: damping [{:.6g}] 1/s, force -g M v{}", fmt::join(damping_of_objects(*scene_, options_), ", "),
      map_.applied_damping.empty() ? "" : ", explicit where their inertia changes with the configuration"));
  for (const std::string& note : map_.notes) lines.push_back(note);
  return lines;
}

}  // namespace

std::unique_ptr<Plant> make_mujoco_plant(const scene::Scene& scene, const PlantOptions& options) {
  check_options(scene, options);
  return std::make_unique<MujocoPlant>(scene, options);
}

}  // namespace deft::plant
#endif
