#ifdef DEFT_HAS_MUJOCO
#include "deft/plant/mujoco_model.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/multibody/kinematic_tree.hpp"
#include "deft/plant/mujoco_inertia.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::plant {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using multibody::JointKind;
using multibody::KinematicTree;
using multibody::RigidGroup;
using multibody::TreeJoint;

void set_pose(const RigidTransform& X, double* pos, double* quat) {
  Eigen::Map<Vector3d>{pos} = X.translation();
  Eigen::Map<Eigen::Vector4d>{quat} = quat_wxyz_from_rotation(X.linear());
}

/// Builds the specification group by group, compiles it and finds everything again.
class Builder {
 public:
  Builder(const scene::Scene& scene, const PlantOptions& options)
      : scene_(scene),
        options_(options),
        lib_(mujoco()),
        spec_(lib_.mj_makeSpec()),
        tree_(multibody::build_tree(scene.spec().world, repeated_)) {}

  MujocoModel build() {
    prepare();
    set_options();
    add_bodies();
    add_geometries();
    add_pairs();
    add_actuators();
    add_couplings();
    compile();
    find_coordinates();
    set_object_damping();
    return std::move(out_);
  }

 private:
  const scene::Robot* robot_of(int j) const;
  int object_of(int j) const;
  bool is_frozen(int j) const { return object_of(j) >= 0 && scene_.objects()[object_of(j)].frozen; }
  void prepare();
  void set_options();
  void add_bodies();
  mjsBody* add_group(int group, std::vector<mjsBody*>& done);
  void add_joint(int j, mjsBody* body);
  void add_geometries();
  void add_pairs();
  void add_pair(int a, int b);
  void add_actuators();
  void add_couplings();
  void compile();
  void find_coordinates();
  VectorXd constant_diagonal(int j) const;
  void set_object_damping();
  int id(mjtObj type, const std::string& name) const { return lib_.mj_name2id(out_.model.get(), type, name.c_str()); }
  static std::string joint_name(int j, int axis) { return fmt::format("j{}_{}", j, axis); }
  std::string body_name(int group) const { return tree_.bodies[tree_.groups[group].bodies.front()].name; }

  const scene::Scene& scene_;
  const PlantOptions& options_;
  const MujocoLibrary& lib_;
  SpecPointer spec_;
  Diagnostics repeated_;  // what it warns of was said when the scene was built
  KinematicTree tree_;
  MujocoModel out_;
  VectorXd gamma_;  // per object
  scene::SceneState start_ = scene_.make_state();
  std::vector<int> group_of_;              // per body
  std::vector<RigidTransform> X_GM_;       // per group: the frame of its MuJoCo body
  std::vector<PrincipalInertia> inertia_;  // per group
  std::vector<char> stays_;                // per group: welded to the world, or frozen
  std::vector<mjsBody*> bodies_;           // per group
};

/// The robot that a joint is of, null for one of an object.
const scene::Robot* Builder::robot_of(int j) const {
  const int v = out_.joints[to_size(j)].v;
  for (const scene::Robot& robot : scene_.robots())
    if (v >= robot.first_v && v < robot.first_v + robot.nv) return &robot;
  return nullptr;
}

/// The object that a joint is of, -1 for one of a robot.
int Builder::object_of(int j) const {
  const int v = out_.joints[to_size(j)].v;
  const auto objects = scene_.objects();
  for (std::size_t k = 0; k < objects.size(); ++k)
    if (v >= objects[k].first_v && v < objects[k].first_v + objects[k].nv) return static_cast<int>(k);
  return -1;
}

void Builder::prepare() {
  scene_.update(scene_.initial_configuration(), start_);
  gamma_ = damping_of_objects(scene_, options_);
  out_.joint_damping = inner_loop_damping(scene_, options_);
  // Robots compensate all that their joints carry; gravcomp would do it for their own links alone.
  for (const scene::Object& object : scene_.objects())
    for (const int body : object.bodies)
      for (const int v : scene_.model().columns(body))
        out_.weight_is_applied |= v < object.first_v || v >= object.first_v + object.nv;
  out_.weight_is_applied &= !scene_.settings().step.robot_gravity && !scene_.spec().gravity_W.isZero(0);
  const std::size_t groups = tree_.groups.size();
  group_of_.assign(tree_.bodies.size(), 0);
  X_GM_.assign(groups, RigidTransform::Identity());
  inertia_.resize(groups);
  stays_.assign(groups, 0);
  stays_[0] = 1;
  bodies_.assign(groups, nullptr);
  for (std::size_t g = 0; g < groups; ++g)
    for (const int body : tree_.groups[g].bodies) group_of_[body] = static_cast<int>(g);
  int q = 0, v = 0;
  for (const TreeJoint& joint : tree_.joints) {
    const int n = static_cast<int>(joint.axes.size());
    out_.joints.push_back({.kind = joint.kind, .q = q, .v = v, .n = n});
    q += joint.kind == JointKind::kFree ? 7 : joint.kind == JointKind::kBall ? 4 : n;
    v += joint.kind == JointKind::kFree ? 6 : joint.kind == JointKind::kBall ? 3 : n;
  }
}

void Builder::set_options() {
  spec_->compiler.degree = 0;
  spec_->compiler.inertiafromgeom = mjINERTIAFROMGEOM_FALSE;
  spec_->compiler.autolimits = 1;
  mjOption& option = spec_->option;
  option.timestep = options_.step;
  Eigen::Map<Vector3d>(option.gravity) = scene_.spec().gravity_W;
  option.integrator = mjINT_DISCRETE;
  option.cone = mjCONE_ELLIPTIC;
  option.impratio = kFrictionRatio;
  option.tolerance = kSolverTolerance;
  option.disableflags |= mjDSBL_AUTORESET;
}

void Builder::add_bodies() {
  bodies_[0] = lib_.mjs_findBody(spec_.get(), "world");
  for (std::size_t g = 1; g < tree_.groups.size(); ++g) add_group(static_cast<int>(g), bodies_);
}

mjsBody* Builder::add_group(int group, std::vector<mjsBody*>& done) {
  const auto g = to_size(group);
  if (done[g] != nullptr) return done[g];
  const int j = tree_.groups[g].joint;
  const TreeJoint& joint = tree_.joints[j];
  const auto parent = to_size(joint.parent_group);
  mjsBody* const parent_body = add_group(joint.parent_group, done);
  const bool frozen = is_frozen(j);
  if (frozen && stays_[parent] == 0)
    throw InputError(joint.where,
                     fmt::format("plant mujoco: '{}' is frozen on a body that moves; not available", body_name(group)));
  mjsBody* const body = done[g] = lib_.mjs_addBody(frozen ? done[0] : parent_body, nullptr);
  lib_.mjs_setName(body->element, body_name(group).c_str());
  const multibody::InertialSpec inertial = group_inertial(tree_, group);
  if (frozen) {
    stays_[g] = 1;
    body->mocap = 1;
    const int front = tree_.groups[g].bodies.front();
    const RigidTransform X_BM = tree_.X_GB[front].inverse();
    set_pose(start_.X_WB()[front] * X_BM, body->pos, body->quat);
    out_.frozen.push_back({.mocap = static_cast<int>(out_.frozen.size()), .body = front, .X_BM = X_BM});
    return body;
  }
  const PrincipalInertia principal = inertia_[g] = principal_inertia(scene_, start_, tree_, group, inertial);
  RigidTransform X_PM = joint.X_GJ;
  if (joint.kind == JointKind::kFree) {
    X_GM_[g] = principal.X_GI;
    X_PM =
        start_.X_WB()[tree_.groups[g].bodies.front()] * tree_.X_GB[tree_.groups[g].bodies.front()].inverse() * X_GM_[g];
    out_.joints[j].X_GM = X_GM_[g];
  } else {
    X_PM = X_GM_[parent].inverse() * joint.X_GJ;
  }
  set_pose(X_PM, body->pos, body->quat);
  body->explicitinertial = 1;
  body->mass = principal.mass;
  set_pose(X_GM_[g].inverse() * principal.X_GI, body->ipos, body->iquat);
  Eigen::Map<Vector3d>(body->inertia) = principal.moments;
  if (!principal.note.empty()) out_.notes.push_back(fmt::format("body '{}': {}", body_name(group), principal.note));
  const scene::Robot* const robot = robot_of(j);
  if (robot != nullptr && !scene_.settings().step.robot_gravity && !out_.weight_is_applied) body->gravcomp = 1;
  add_joint(j, body);
  return body;
}

void Builder::add_joint(int j, mjsBody* body) {
  const TreeJoint& joint = tree_.joints[j];
  const MujocoJoint& place = out_.joints[j];
  const int object = object_of(j);
  const bool limits = scene_.settings().step.joint_limits;
  if (joint.kind != JointKind::kAxes) {
    mjsJoint* const added =
        joint.kind == JointKind::kFree ? lib_.mjs_addFreeJoint(body) : lib_.mjs_addJoint(body, nullptr);
    if (joint.kind == JointKind::kBall) added->type = mjJNT_BALL;
    added->align = mjALIGNFREE_FALSE;
    if (object >= 0) added->damping[0] = gamma_(object);  // set per velocity once compiled
    added->armature = joint.armature;
    lib_.mjs_setName(added->element, joint_name(j, 0).c_str());
    return;
  }
  for (int i = 0; i < place.n; ++i) {
    const multibody::JointAxisSpec& axis = joint.axes[i];
    mjsJoint* const added = lib_.mjs_addJoint(body, nullptr);
    lib_.mjs_setName(added->element, joint_name(j, i).c_str());
    added->type = axis.rotational ? mjJNT_HINGE : mjJNT_SLIDE;
    Eigen::Map<Vector3d>(added->axis) = axis.axis_J;
    added->armature = axis.armature;
    added->solref_limit[0] = kLimitReference * options_.step;
    added->solref_limit[1] = 1;
    std::copy(std::begin(kLimitImpedance), std::end(kLimitImpedance), added->solimp_limit);
    if (limits && (std::isfinite(axis.lower) || std::isfinite(axis.upper))) {
      added->limited = mjLIMITED_TRUE;
      added->range[0] = std::max(axis.lower, -1e10);  // MuJoCo's own bound of what is finite
      added->range[1] = std::min(axis.upper, 1e10);
    }
    for (const scene::JointSpring& spring : scene_.springs()) {
      if (spring.couples || spring.v != place.v + i) continue;
      added->stiffness[0] = spring.stiffness;
      added->springref = spring.offset;
    }
    if (object >= 0) added->damping[0] = gamma_(object);
    const scene::Robot* const robot = robot_of(j);
    if (robot == nullptr) continue;
    const int command = robot->command_of(place.v + i);
    if (command >= 0) added->damping[0] = out_.joint_damping(robot->first_u + command);
  }
}

void Builder::add_geometries() {
  int index = 0;
  for (const multibody::ModelSpec& model : scene_.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      const std::string name = model.inline_body ? model.name : model.name + "/" + link.name;
      const int body = scene_.model().find_body(name);
      const auto g = to_size(group_of_[body]);
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        const RigidTransform X_MG = X_GM_[g].inverse() * tree_.X_GB[body] * geometry.X_LG;
        add_mujoco_geometry(spec_.get(), bodies_[g], stays_[g] != 0, index++,
                            {name + "#" + geometry.name, body, geometry.X_LG, geometry.shape, geometry.where}, X_MG,
                            out_.notes);
        out_.scene_body_of.push_back(body);
      }
    }
  }
}

void Builder::add_pairs() {
  const collision::CollisionWorld& world = scene_.collision_world();
  const int n = static_cast<int>(out_.scene_body_of.size());
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      const auto group = [&](int geometry) { return to_size(group_of_[out_.scene_body_of[geometry]]); };
      if (world.may_touch(a, b) && (stays_[group(a)] == 0 || stays_[group(b)] == 0)) add_pair(a, b);
    }
  }
}

void Builder::add_pair(int a, int b) {
  const scene::PairFriction friction = scene_.friction(a, b);
  mjsPair* const pair = lib_.mjs_addPair(spec_.get(), nullptr);
  lib_.mjs_setString(pair->geomname1, fmt::format("g{}", a).c_str());
  lib_.mjs_setString(pair->geomname2, fmt::format("g{}", b).c_str());
  const MujocoContact contact = mujoco_contact(options_.step);
  pair->solref[0] = contact.reference_s;
  pair->solref[1] = 1;
  pair->solreffriction[0] = contact.friction_reference_s;
  pair->solreffriction[1] = 1;
  std::copy(std::begin(contact.impedance), std::end(contact.impedance), pair->solimp);
  pair->margin = pair->gap = 0;
  pair->condim = friction.frictionless || friction.mu < kFrictionless ? 1 : friction.patch ? 4 : 3;
  pair->friction[0] = pair->friction[1] = friction.mu;
  if (!friction.patch || pair->condim == 1) return;
  const auto& [e_t, e_o, e_r] = friction.ellipsoid;
  if (e_t != e_o) {
    const auto geometries = scene_.collision_world().geometries();
    throw InputError({scene_.spec().file, 0, 0},
                     fmt::format("plant mujoco: friction of '{}' and '{}' differs along its axes (ellipsoid [{}, {}, "
                                 "{}]); MuJoCo's contact frames do not follow "
                                 "ellipsoid_axis; valid: e_t = e_o",
                                 geometries[a].name, geometries[b].name, e_t, e_o, e_r));
  }
  pair->friction[0] = pair->friction[1] = friction.mu * e_t;
  pair->friction[2] = friction.mu * e_r;
}

void Builder::add_actuators() {
  for (std::size_t j = 0; j < tree_.joints.size(); ++j) {
    const scene::Robot* const robot = robot_of(static_cast<int>(j));
    if (robot == nullptr) continue;
    for (int i = 0; i < out_.joints[j].n; ++i) {
      const int axis = robot->command_of(out_.joints[j].v + i);
      if (axis < 0) continue;
      mjsActuator* const actuator = lib_.mjs_addActuator(spec_.get(), nullptr);
      lib_.mjs_setName(actuator->element, fmt::format("u{}", robot->first_u + axis).c_str());
      actuator->trntype = mjTRN_JOINT;
      lib_.mjs_setString(actuator->target, joint_name(static_cast<int>(j), i).c_str());
      actuator->gaintype = mjGAIN_FIXED;
      if (robot->drive == scene::Drive::kForce) {
        actuator->gainprm[0] = 1;
        continue;
      }
      const double K = robot->stiffness(axis);
      actuator->gainprm[0] = K;
      actuator->biastype = mjBIAS_AFFINE;
      actuator->biasprm[1] = -K;
      if (!scene_.settings().step.effort_limits || !std::isfinite(robot->effort_limit(axis))) continue;
      actuator->forcelimited = mjLIMITED_TRUE;
      actuator->forcerange[0] = -robot->effort_limit(axis);
      actuator->forcerange[1] = robot->effort_limit(axis);
    }
  }
}

/// Joints that follow others, by constraints as stiff as those of limits; what they count from is 0 here.
void Builder::add_couplings() {
  std::vector<std::string> joint_of(to_size(scene_.nv()));
  for (std::size_t j = 0; j < tree_.joints.size(); ++j)
    for (int i = 0; i < out_.joints[j].n; ++i)
      if (out_.joints[j].kind == JointKind::kAxes)
        joint_of[to_size(out_.joints[j].v + i)] = joint_name(static_cast<int>(j), i);
  for (const scene::JointSpring& coupling : scene_.springs()) {
    if (!coupling.couples) continue;
    mjsEquality* const added = lib_.mjs_addEquality(spec_.get(), nullptr);
    added->type = mjEQ_JOINT;
    added->objtype = mjOBJ_JOINT;
    lib_.mjs_setString(added->name1, joint_of[to_size(coupling.v)].c_str());
    if (coupling.leader_v >= 0) lib_.mjs_setString(added->name2, joint_of[to_size(coupling.leader_v)].c_str());
    std::fill(std::begin(added->data), std::end(added->data), 0.0);
    added->data[0] = coupling.offset;
    added->data[1] = coupling.ratio;
    added->solref[0] = kLimitReference * options_.step;
    added->solref[1] = 1;
    std::copy(std::begin(kLimitImpedance), std::end(kLimitImpedance), added->solimp);
  }
}

void Builder::compile() {
  const auto refuse = [&](const char* why) {
    throw InputError({scene_.spec().file, 0, 0}, fmt::format("plant mujoco: MuJoCo does not take the scene: {}", why));
  };
  try {
    out_.model.reset(lib_.mj_compile(spec_.get(), nullptr));
  } catch (const MujocoError& error) {
    refuse(error.what());
  }
  if (out_.model == nullptr) refuse(lib_.mjs_getError(spec_.get()));
}

void Builder::find_coordinates() {
  const mjModel& model = *out_.model;
  for (std::size_t j = 0; j < tree_.joints.size(); ++j) {
    MujocoJoint& place = out_.joints[j];
    if (is_frozen(static_cast<int>(j)) || (place.kind == JointKind::kAxes && place.n == 0)) continue;
    const int found = id(mjOBJ_JOINT, joint_name(static_cast<int>(j), 0));
    place.mj_q = model.jnt_qposadr[found];
    place.mj_v = model.jnt_dofadr[found];
  }
  out_.bodies.resize(tree_.bodies.size());
  for (std::size_t b = 0; b < tree_.bodies.size(); ++b) {
    const int g = group_of_[b];
    out_.bodies[b] = {.mj_body = g == 0 ? 0 : id(mjOBJ_BODY, body_name(g)), .X_MB = X_GM_[g].inverse() * tree_.X_GB[b]};
  }
  for (MujocoFrozen& frozen : out_.frozen) frozen.mocap = model.body_mocapid[out_.bodies[frozen.body].mj_body];
  out_.geometry_of.assign(model.ngeom, -1);
  for (std::size_t i = 0; i < out_.scene_body_of.size(); ++i)
    out_.geometry_of[id(mjOBJ_GEOM, fmt::format("g{}", i))] = static_cast<int>(i);
  for (int u = 0; u < scene_.nu(); ++u) out_.actuators.push_back(id(mjOBJ_ACTUATOR, fmt::format("u{}", u)));
}

/// The mass matrix of an object's joint in MuJoCo's velocities if it is constant and diagonal, for the whole object;
/// else empty.
VectorXd Builder::constant_diagonal(int j) const {
  const TreeJoint& joint = tree_.joints[j];
  const scene::Object& object = scene_.objects()[object_of(j)];
  const MujocoJoint& place = out_.joints[j];
  if (joint.kind == JointKind::kFree && object.nv == 6 && !object.is_base) {
    const PrincipalInertia& inertia = inertia_[joint.child_group];
    VectorXd diagonal(6);
    diagonal << Vector3d::Constant(inertia.mass), inertia.moments;
    return diagonal;
  }
  for (const TreeJoint& other : tree_.joints)
    if (other.model == joint.model && other.kind != JointKind::kAxes) return {};
  const VectorXd constant = constant_inertia(scene_, object);
  return constant.size() > 0 ? VectorXd(constant.segment(place.v - object.first_v, place.n)) : constant;
}

/// −γ M v of an object: as dampers of its velocities where its mass matrix is constant and diagonal, else as a force in
/// every step.
void Builder::set_object_damping() {
  mjModel& model = *out_.model;
  std::vector<double> applied(model.nv, 0.0);
  bool any = false;
  for (std::size_t j = 0; j < tree_.joints.size(); ++j) {
    const int object = object_of(static_cast<int>(j));
    const MujocoJoint& place = out_.joints[j];
    if (object < 0 || place.mj_v < 0) continue;
    const double gamma = gamma_(object);
    const int n = place.kind == JointKind::kFree ? 6 : place.kind == JointKind::kBall ? 3 : place.n;
    const VectorXd constant = constant_diagonal(static_cast<int>(j));
    for (int i = 0; i < n; ++i) {
      const int mj_v = place.mj_v + i;
      model.dof_damping[mj_v] = constant.size() > 0 ? gamma * constant(i) : 0.0;
      if (constant.size() > 0 || gamma == 0) continue;
      applied[mj_v] = gamma;
      any = true;
    }
  }
  if (any) out_.applied_damping = std::move(applied);
}

}  // namespace

MujocoModel build_mujoco_model(const scene::Scene& scene, const PlantOptions& options) {
  return Builder(scene, options).build();
}

}  // namespace deft::plant
#endif
