#include "deft/exporters/link_tree.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/plant/mujoco_inertia.hpp"

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
    const auto at_frame = std::find_if(bodies.begin(), bodies.end(), [&](int body) {
      return tree_.X_GB[to_size(body)].matrix() == RigidTransform::Identity().matrix();
    });
    main_[g] = at_frame == bodies.end() ? bodies.front() : *at_frame;
  }
  find_links();
  find_inertials();
}

void LinkTree::find_links() {
  for (const multibody::ModelSpec& model : scene_.spec().world.models) {
    for (const multibody::LinkSpec& link : model.links) {
      const std::string name = model.inline_body ? model.name : model.name + "/" + link.name;
      const int body = scene_.model().find_body(name);
      links_[to_size(body)] = &link;
      for (const multibody::GeometrySpec& geometry : link.collisions)
        geometries_.push_back({name + "#" + geometry.name, body, &geometry});
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

bool LinkTree::is_frozen(const TreeJoint& joint) const {
  const auto objects = scene_.objects();
  return std::any_of(objects.begin(), objects.end(),
                     [&](const scene::Object& object) { return object.model == joint.model && object.frozen; });
}

const scene::Robot* LinkTree::robot(int model) const {
  for (const scene::Robot& robot : scene_.robots())
    if (robot.model == model) return &robot;
  return nullptr;
}

}  // namespace deft::exporters
