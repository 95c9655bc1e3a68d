// Model::build: from the checked tree to coordinates, names and a Pinocchio model.

#include <pinocchio/spatial.hpp>

#include <algorithm>
#include <array>

#include "deft/core/index.hpp"
#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

pinocchio::SE3 to_se3(const RigidTransform& X) { return {X.linear(), X.translation()}; }

constexpr std::array kQuaternion{"qw", "qx", "qy", "qz"};
constexpr std::array kPosition{"x", "y", "z"};

void append_rotation(const std::string& prefix, ModelTables& tables) {
  for (const char* name : kQuaternion) tables.coordinates.push_back({.name = prefix + "/" + name, .unit = "1"});
  for (const char* name : kPosition) tables.velocities.push_back({.name = prefix + "/w" + name, .unit = "rad"});
}

void append_position(const std::string& prefix, ModelTables& tables) {
  for (const char* name : kPosition) {
    VelocityInfo velocity{.name = prefix + "/v" + name, .unit = "m"};
    velocity.q_index = static_cast<int>(tables.coordinates.size());
    tables.velocities.push_back(velocity);
    tables.coordinates.push_back({.name = prefix + "/" + name, .unit = "m"});
  }
}

void append_axis(const std::string& model, const JointAxisSpec& axis, ModelTables& tables) {
  const std::string name = model + "/" + axis.coordinate;
  const std::string unit = axis.rotational ? "rad" : "m";
  tables.velocities.push_back({.name = name,
                               .unit = unit,
                               .lower = axis.lower,
                               .upper = axis.upper,
                               .q_index = static_cast<int>(tables.coordinates.size()),
                               .effort_limit = axis.effort_limit,
                               .velocity_limit = axis.velocity_limit,
                               .damping = axis.damping,
                               .armature = axis.armature,
                               .stiffness = axis.stiffness,
                               .spring_stiffness = axis.spring_stiffness,
                               .spring_reference = axis.spring_reference});
  tables.coordinates.push_back({.name = name, .unit = unit, .lower = axis.lower, .upper = axis.upper});
}

/// Names, units and limits of a joint's coordinates, and their place in q and v.
JointPlace append_coordinates(const TreeJoint& joint, ModelTables& tables) {
  JointPlace place{.kind = joint.kind,
                   .q = static_cast<int>(tables.coordinates.size()),
                   .v = static_cast<int>(tables.velocities.size())};
  if (joint.kind != JointKind::kAxes) append_rotation(joint.name, tables);
  if (joint.kind == JointKind::kFree) append_position(joint.name, tables);
  if (joint.kind == JointKind::kAxes)
    for (const JointAxisSpec& axis : joint.axes) append_axis(tables.models[joint.model].name, axis, tables);
  if (joint.kind != JointKind::kAxes)
    for (std::size_t v = to_size(place.v); v < tables.velocities.size(); ++v)
      tables.velocities[v].armature = joint.armature;
  place.nq = static_cast<int>(tables.coordinates.size()) - place.q;
  place.nv = static_cast<int>(tables.velocities.size()) - place.v;
  return place;
}

void list_coordinates(const KinematicTree& tree, ModelTables& tables) {
  int m = -1;
  const auto open_models_until = [&](int last) {
    while (m < last) {
      ++m;
      tables.models[m].first_q = static_cast<int>(tables.coordinates.size());
      tables.models[m].first_v = static_cast<int>(tables.velocities.size());
    }
  };
  for (const TreeJoint& joint : tree.joints) {
    open_models_until(joint.model);
    tables.joints.push_back(append_coordinates(joint, tables));
    tables.models[m].nq += tables.joints.back().nq;
    tables.models[m].nv += tables.joints.back().nv;
  }
  open_models_until(static_cast<int>(tables.models.size()) - 1);
}

Eigen::VectorXd default_configuration(const KinematicTree& tree, const ModelTables& tables) {
  Eigen::VectorXd q = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(tables.coordinates.size()));
  for (std::size_t j = 0; j < tree.joints.size(); ++j) {
    const RigidTransform& X = tree.joints[j].X_WB_default;
    if (tree.joints[j].kind == JointKind::kAxes) continue;
    q.segment<4>(tables.joints[j].q) = quat_wxyz_from_rotation(X.linear());
    if (tree.joints[j].kind == JointKind::kFree) q.segment<3>(tables.joints[j].q + 4) = X.translation();
  }
  for (const Coupling& coupling : tables.couplings) q(coupling.q) = coupling.offset;  // leaders are at 0
  return q;
}

pinocchio::JointModel axis_joint(const JointAxisSpec& axis) {
  if (axis.rotational) return pinocchio::JointModelRevoluteUnaligned(axis.axis_J);
  return pinocchio::JointModelPrismaticUnaligned(axis.axis_J);
}

/// Adds groups to Pinocchio depth first, as its mass-matrix recursion needs the joints of a subtree to be consecutive.
class PinocchioBuilder {
 public:
  PinocchioBuilder(const KinematicTree& tree, ModelTables& tables)
      : tree_(tree), tables_(tables), carried_(tree.groups.size()) {
    for (std::size_t j = 0; j < tree.joints.size(); ++j)
      carried_[tree.joints[j].parent_group].push_back(static_cast<int>(j));
    tables_.carrier.assign(tree.bodies.size(), 0);
    tables_.columns.resize(tree.groups.size());
    tables_.pinocchio_joints.resize(1);
  }

  void add_group(int group, pinocchio::JointIndex carrier) {
    for (const int body : tree_.groups[group].bodies) {
      tables_.carrier[body] = carrier;
      const InertialSpec& inertial = tree_.inertials[body];
      if (group == 0 || (inertial.mass == 0 && inertial.I_Com_L.isZero(0))) continue;
      const pinocchio::Inertia inertia(inertial.mass, inertial.p_LCom, inertial.I_Com_L);
      tables_.pinocchio.appendBodyToJoint(carrier, inertia, to_se3(tree_.X_GB[body]));
    }
    for (const int joint : carried_[group]) add_joint(joint, group, carrier);
  }

 private:
  void add_joint(int j, int parent_group, pinocchio::JointIndex parent) {
    const TreeJoint& joint = tree_.joints[j];
    JointPlace& place = tables_.joints[j];
    pinocchio::SE3 placement = to_se3(joint.X_GJ);
    const auto append = [&](const pinocchio::JointModel& model, int q, int v) -> PinocchioJoint& {
      parent = tables_.pinocchio.addJoint(parent, model, placement, tables_.velocities[v].name);
      placement.setIdentity();
      place.pinocchio.push_back(parent);
      const auto& added = tables_.pinocchio.joints[parent];
      return tables_.pinocchio_joints.emplace_back(
          PinocchioJoint{joint.kind, q, v, added.nv(), added.idx_q(), added.idx_v()});
    };
    switch (joint.kind) {
      case JointKind::kFree:
        append(pinocchio::JointModelFreeFlyer(), place.q, place.v);
        break;
      case JointKind::kBall:
        append(pinocchio::JointModelSpherical(), place.q, place.v);
        break;
      default:
        for (std::size_t i = 0; i < joint.axes.size(); ++i) {
          const JointAxisSpec& axis = joint.axes[i];
          PinocchioJoint& added =
              append(axis_joint(axis), place.q + static_cast<int>(i), place.v + static_cast<int>(i));
          added.axis.segment<3>(axis.rotational ? 3 : 0) = axis.axis_J;
        }
    }
    std::vector<int>& columns = tables_.columns[joint.child_group];
    columns = tables_.columns[parent_group];
    for (int i = 0; i < place.nv; ++i) columns.push_back(place.v + i);
    std::sort(columns.begin(), columns.end());
    add_group(joint.child_group, parent);
  }

  const KinematicTree& tree_;
  ModelTables& tables_;
  std::vector<std::vector<int>> carried_;  // joints on each group
};

/// A column moves with every joint that carries its own; the axes of a free body through its origin also with that
/// origin.
void list_movers(ModelTables& tables) {
  tables.movers.resize(tables.velocities.size());
  tables.column_joint.resize(tables.velocities.size());
  const auto& joints = tables.pinocchio_joints;
  for (std::size_t j = 1; j < joints.size(); ++j) {
    for (int c = joints[j].v; c < joints[j].v + joints[j].nv; ++c) {
      std::vector<int>& movers = tables.movers[c];
      tables.column_joint[c] = static_cast<int>(j);
      for (std::size_t a = tables.pinocchio.parents[j]; a > 0; a = tables.pinocchio.parents[a])
        for (int i = 0; i < joints[a].nv; ++i) movers.push_back(joints[a].v + i);
      if (joints[j].kind == JointKind::kFree && c < joints[j].v + 3)
        for (int i = 3; i < 6; ++i) movers.push_back(joints[j].v + i);
      std::sort(movers.begin(), movers.end());
    }
  }
}

/// Inertia joins the velocities on which the pose of a body depends, a coupling its two; ranges that overlap are one.
void list_inertia_ranges(ModelTables& tables) {
  const int nv = static_cast<int>(tables.velocities.size());
  std::vector<int> last(nv);
  for (int i = 0; i < nv; ++i) last[i] = i;
  for (const std::vector<int>& columns : tables.columns) {
    if (!columns.empty()) last[columns.front()] = std::max(last[columns.front()], columns.back());
  }
  for (const Coupling& coupling : tables.couplings) {
    if (coupling.leader_v < 0) continue;
    int& end = last[std::min(coupling.v, coupling.leader_v)];
    end = std::max({end, coupling.v, coupling.leader_v});
  }
  for (int start = 0; start < nv;) {
    int end = start;
    for (int i = start; i <= end; ++i) end = std::max(end, last[i]);
    tables.range_of_velocity.insert(tables.range_of_velocity.end(), end - start + 1,
                                    static_cast<int>(tables.inertia_ranges.size()));
    tables.inertia_ranges.push_back({start, end - start + 1});
    start = end + 1;
  }
}

}  // namespace

ModelTables build_tables(const KinematicTree& tree, const MultibodySpec& spec, Diagnostics& diagnostics) {
  ModelTables tables;
  tables.bodies = tree.bodies;
  tables.models = tree.models;
  tables.places = tree.places;
  tables.X_JB = tree.X_GB;
  list_coordinates(tree, tables);
  tables.couplings = resolve_couplings(spec, tables, diagnostics);
  tables.default_q = default_configuration(tree, tables);
  tables.pinocchio.gravity.setZero();  // weights are added where they act (gravity_force)
  PinocchioBuilder(tree, tables).add_group(0, 0);
  list_movers(tables);
  list_inertia_ranges(tables);
  return tables;
}

pinocchio::Data make_data(const pinocchio::Model& model) {
  pinocchio::Data data;
  const auto joints = to_size(model.njoints);
  for (const auto& joint : model.joints) data.joints.push_back(joint.createData());
  data.oMi.assign(joints, pinocchio::SE3::Identity());
  data.liMi = data.oMi;
  data.J.setZero(6, model.nvExtended);
  data.v.assign(joints, pinocchio::Motion::Zero());
  data.a_gf = data.v;
  data.h.assign(joints, pinocchio::Force::Zero());
  data.f = data.h;
  data.tau.setZero(model.nv);
  data.Ycrb.assign(joints, pinocchio::Inertia::Zero());
  return data;
}

}  // namespace deft::multibody
