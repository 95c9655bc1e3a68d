#include "deft/scene/description/world_names.hpp"

#include <iterator>

#include "deft/multibody/kinematic_tree.hpp"

namespace deft::scene {
namespace {

using multibody::JointKind;

void append(const std::string& prefix, std::initializer_list<const char*> names, std::vector<std::string>& out) {
  for (const char* name : names) out.push_back(prefix + name);
}

}  // namespace

std::vector<ModelNames> list_names(const multibody::MultibodySpec& world, Diagnostics& diagnostics) {
  Diagnostics problems;
  const multibody::KinematicTree tree = multibody::build_tree(world, problems);
  for (const Diagnostic& problem : problems.all()) {
    if (problem.severity == Severity::kError) diagnostics.error(problem.where, problem.message);
  }
  std::vector<ModelNames> models;
  for (const multibody::ModelInfo& info : tree.models) models.push_back({info.name, {}, {}, {}, {}});
  for (const multibody::TreeJoint& joint : tree.joints) {
    ModelNames& model = models[joint.model];
    // "hand/joint_1/" → "joint_1/"; the base of a model with one free base goes without a name.
    const std::string prefix = joint.name == model.name ? "" : joint.name.substr(model.name.size() + 1) + "/";
    if (joint.kind == JointKind::kAxes) {
      for (const multibody::JointAxisSpec& axis : joint.axes) {
        model.q.push_back(axis.coordinate);
        model.v.push_back(axis.coordinate);
      }
      continue;
    }
    append(prefix, {"qw", "qx", "qy", "qz"}, model.q);
    append(prefix, {"wx", "wy", "wz"}, model.v);
    if (joint.kind != JointKind::kFree) continue;
    append(prefix, {"x", "y", "z"}, model.q);
    append(prefix, {"vx", "vy", "vz"}, model.v);
    for (const int body : tree.groups[joint.child_group].bodies) {
      const multibody::BodyInfo& info = tree.bodies[body];
      if (info.model == joint.model && info.parent < 0) model.free_links.push_back(info.link);
    }
  }
  for (std::size_t m = 0; m < models.size(); ++m) {
    models[m].u.assign(models[m].v.begin() + 6 * std::ssize(models[m].free_links), models[m].v.end());
    for (const multibody::CouplingSpec& coupling : world.models[m].couplings)
      std::erase(models[m].u, coupling.follower);
  }
  // Free bodies that share their model with others have names of their own, too.
  for (const multibody::TreeJoint& joint : tree.joints) {
    if (joint.kind != JointKind::kFree || joint.name == tree.models[joint.model].name) continue;
    ModelNames part{joint.name, {}, {}, {}, {joint.name.substr(tree.models[joint.model].name.size() + 1)}};
    append("", {"qw", "qx", "qy", "qz", "x", "y", "z"}, part.q);
    append("", {"wx", "wy", "wz", "vx", "vy", "vz"}, part.v);
    models.push_back(std::move(part));
  }
  return models;
}

}  // namespace deft::scene
