#include "deft/exporters/link_tree.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "deft/collision/collision_world.hpp"
#include "deft/core/index.hpp"
#include "deft/plant/mujoco_inertia.hpp"
#include "deft/plant/plant_parts.hpp"

namespace deft::exporters {

using multibody::InertialSpec;
using multibody::JointKind;
using multibody::TreeJoint;

namespace {

constexpr double kRounding = 1e-9;  // relative, of principal moments

/// Whether moments are positive and the largest is no larger than the sum of the others.
bool is_rigid(const InertialSpec& inertial) {
  const Eigen::Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(inertial.I_Com_L, Eigen::EigenvaluesOnly).eigenvalues();
  return inertial.mass > 0 && moments(0) > 0 && moments(2) <= (moments(0) + moments(1)) * (1 + kRounding);
}

}  // namespace

LinkTree::LinkTree(const scene::Scene& scene)
    : scene_(scene),
      tree_(multibody::build_tree(scene.spec().world, repeated_)),
      start_(scene.make_state()),
      geometries_of_(tree_.bodies.size()),
      links_(tree_.bodies.size(), nullptr),
      group_of_(tree_.bodies.size(), 0),
      main_(tree_.groups.size(), 0) {
  scene_.update(scene_.initial_configuration(), start_);
  int q = 0, v = 0;
  for (const TreeJoint& joint : tree_.joints) {
    const int n = static_cast<int>(joint.axes.size());
    first_q_.push_back(q);
    first_v_.push_back(v);
    q += joint.kind == JointKind::kFree ? 7 : joint.kind == JointKind::kBall ? 4 : n;
    v += joint.kind == JointKind::kFree ? 6 : joint.kind == JointKind::kBall ? 3 : n;
  }
  for (std::size_t g = 0; g < tree_.groups.size(); ++g) {
    const auto& bodies = tree_.groups[g].bodies;
    for (const int body : bodies) group_of_[to_size(body)] = static_cast<int>(g);
    main_[g] = bodies.front();
    if (g == 0) continue;
    const int model = tree_.joints[to_size(tree_.groups[g].joint)].model;
    const auto carried = [&](int body) { return tree_.bodies[to_size(body)].model == model; };
    const auto at_frame = [&](int body) {
      return carried(body) && tree_.X_GB[to_size(body)].matrix() == RigidTransform::Identity().matrix();
    };
    auto found = std::find_if(bodies.begin(), bodies.end(), at_frame);
    if (found == bodies.end()) found = std::find_if(bodies.begin(), bodies.end(), carried);
    main_[g] = *found;
  }
  find_links();
  find_names();
  find_inertials();
  damping_ = plant::inner_loop_damping(scene, {});
}

std::string unused(const std::string& name, std::set<std::string>& used) {
  std::string free = name;
  for (int k = 1; used.contains(free); ++k) free = name + "_" + std::to_string(k);
  used.insert(free);
  return free;
}

/// Links and joints of a model need different names in SDFormat and URDF.
void LinkTree::find_names() {
  names_.resize(tree_.bodies.size());
  std::vector<std::set<std::string>> coordinates(tree_.models.size()), used(tree_.models.size());
  for (const TreeJoint& joint : tree_.joints)
    for (const multibody::JointAxisSpec& axis : joint.axes) coordinates[to_size(joint.model)].insert(axis.coordinate);
  for (std::size_t m = 0; m < used.size(); ++m) {
    used[m] = coordinates[m];
    used[m].insert("world");
    for (const int body : tree_.models[m].bodies) {
      const std::string& link = tree_.bodies[to_size(body)].link;
      if (!coordinates[m].contains(link)) used[m].insert(names_[to_size(body)] = link);
    }
    for (const int body : tree_.models[m].bodies)
      if (names_[to_size(body)].empty())
        names_[to_size(body)] = unused(tree_.bodies[to_size(body)].link + "_link", used[m]);
  }
}

void LinkTree::find_links() {
  for (const multibody::ModelSpec& model : scene_.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      const std::string name = model.inline_body ? model.name : model.name + "/" + link.name;
      const int body = scene_.model().find_body(name);
      links_[to_size(body)] = &link;
      std::set<std::string> used;
      for (const multibody::GeometrySpec& geometry : link.collisions) {
        const std::string own = unused(geometry.name, used);
        geometries_of_[to_size(body)].push_back(static_cast<int>(geometries_.size()));
        geometries_.push_back({name + "#" + own, own, body, &geometry});
      }
    }
  }
}

void LinkTree::find_inertials() {
  inertials_ = tree_.inertials;
  for (std::size_t g = 1; g < tree_.groups.size(); ++g) {
    const auto& bodies = tree_.groups[g].bodies;
    double mass = 0;
    bool as_stated = true;
    for (const int body : bodies) {
      const InertialSpec& inertial = inertials_[to_size(body)];
      mass += inertial.mass;
      as_stated = as_stated && (is_rigid(inertial) || (inertial.mass == 0 && inertial.I_Com_L.isZero(0)));
    }
    if ((as_stated && mass > 0) || is_frozen(tree_.joints[to_size(tree_.groups[g].joint)])) continue;
    const int group = static_cast<int>(g), main = main_body(group);
    const plant::PrincipalInertia whole =
        plant::principal_inertia(scene_, start_, tree_, group, plant::group_inertial(tree_, group));
    for (const int body : bodies) inertials_[to_size(body)] = {};
    const RigidTransform X_BI = tree_.X_GB[to_size(main)].inverse() * whole.X_GI;
    inertials_[to_size(main)] = {whole.mass, X_BI.translation(),
                                 X_BI.linear() * whole.moments.asDiagonal() * X_BI.linear().transpose()};
    if (!whole.note.empty())
      notes_.push_back(fmt::format("body '{}': {}", tree_.bodies[to_size(main)].name, whole.note));
  }
}

int LinkTree::body_in(int group, int model) const {
  const auto& bodies = tree_.groups[to_size(group)].bodies;
  const int main = main_body(group);
  if (tree_.bodies[to_size(main)].model == model) return main;
  const auto found =
      std::find_if(bodies.begin(), bodies.end(), [&](int body) { return tree_.bodies[to_size(body)].model == model; });
  return found == bodies.end() ? -1 : *found;
}

double LinkTree::mu(int geometry) const { return scene_.friction(geometry, geometry).mu; }

bool LinkTree::may_touch(int a, int b) const {
  return scene_.collision_world().may_touch(std::min(a, b), std::max(a, b));
}

bool LinkTree::may_collide_by_default(int body_a, int body_b) const {
  const int a = group(body_a), b = group(body_b);
  if (a == b) return false;
  const auto parent = [&](int g) {
    const int joint = tree_.groups[to_size(g)].joint;
    return joint < 0 || is_frozen(tree_.joints[to_size(joint)]) ? -1 : tree_.joints[to_size(joint)].parent_group;
  };
  return !(b != 0 && parent(a) == b) && !(a != 0 && parent(b) == a);
}

bool LinkTree::is_frozen(const TreeJoint& joint) const {
  const std::vector<int>& bodies = tree_.groups[to_size(joint.child_group)].bodies;
  return std::any_of(bodies.begin(), bodies.end(), [&](int body) {
    const scene::Object* const object = scene_.object_of(body);
    return object != nullptr && object->frozen && object->model == joint.model &&
           (!object->is_base || joint.kind == JointKind::kFree);
  });
}

std::vector<std::pair<std::string, double>> LinkTree::joints_at_start(int model) const {
  const Eigen::VectorXd q = scene_.initial_configuration();
  std::vector<std::pair<std::string, double>> found;
  const auto& joints = tree_.joints;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].model != model || joints[j].kind != JointKind::kAxes || is_frozen(joints[j])) continue;
    for (std::size_t i = 0; i < joints[j].axes.size(); ++i)
      found.emplace_back(joints[j].axes[i].coordinate, q(first_q(static_cast<int>(j)) + static_cast<int>(i)));
  }
  return found;
}

bool LinkTree::is_free(int body) const {
  const int joint = tree_.groups[to_size(group(body))].joint;
  return joint >= 0 && main_body(group(body)) == body && tree_.joints[to_size(joint)].kind == JointKind::kFree &&
         !is_frozen(tree_.joints[to_size(joint)]);
}

const scene::Robot* LinkTree::robot(int model) const {
  for (const scene::Robot& robot : scene_.robots())
    if (robot.model == model) return &robot;
  return nullptr;
}

}  // namespace deft::exporters
