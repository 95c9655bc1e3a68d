#include "deft/multibody/tree_checks.hpp"
#include "deft/math/dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace deft::multibody {
namespace {

/// A composite inertia whose least principal moment is below this fraction of the greatest counts as singular.
constexpr double kSingularInertia = 1e-12;

/// Mass, centre of mass and inertia about it of a group, in the group's frame.
InertialSpec composite_inertia(const KinematicTree& tree, const RigidGroup& group) {
  InertialSpec sum;
  const auto com_of = [&](int b) -> Eigen::Vector3d { return tree.X_GB[b] * tree.inertials[b].p_LCom; };
  for (const int b : group.bodies) {
    sum.mass += tree.inertials[b].mass;
    sum.p_LCom += tree.inertials[b].mass * com_of(b);
  }
  if (sum.mass > 0) sum.p_LCom /= sum.mass;
  for (const int b : group.bodies) {
    const Eigen::Matrix3d R = tree.X_GB[b].linear();
    const Eigen::Matrix3d arm = skew(com_of(b) - sum.p_LCom);
    sum.I_Com_L += R * tree.inertials[b].I_Com_L * R.transpose() - tree.inertials[b].mass * arm * arm;
  }
  return sum;
}

}  // namespace

void check_for_loops(const KinematicTree& tree, Diagnostics& diagnostics) {
  enum Mark { kUnknown, kOnPath, kDone };
  const auto above = [&](int group) {
    const int joint = tree.groups[group].joint;  // none where an error left a gap
    return joint < 0 ? 0 : tree.joints[joint].parent_group;
  };
  std::vector<Mark> mark(tree.groups.size(), kUnknown);
  mark[0] = kDone;
  for (int start = 0; start < static_cast<int>(tree.groups.size()); ++start) {
    std::vector<int> path;
    int group = start;
    for (; mark[group] == kUnknown; group = above(group)) {
      mark[group] = kOnPath;
      path.push_back(group);
    }
    if (mark[group] == kOnPath) {
      const auto loop_begin = std::find(path.begin(), path.end(), group);
      std::vector<int> loop;
      std::transform(loop_begin, path.end(), std::back_inserter(loop), [&](int g) { return tree.groups[g].joint; });
      std::sort(loop.begin(), loop.end());
      std::string names;
      for (const int j : loop) names += (names.empty() ? "'" : ", '") + tree.joints[j].name + "'";
      diagnostics.error(tree.joints[loop.back()].where,
                        fmt::format("a kinematic loop: the links that {} move carry each other", names));
    }
    for (const int g : path) mark[g] = kDone;
  }
}

void check_free_inertias(const KinematicTree& tree, Diagnostics& diagnostics) {
  for (const TreeJoint& joint : tree.joints) {
    if (joint.kind != JointKind::kFree) continue;
    const InertialSpec inertial = composite_inertia(tree, tree.groups[joint.child_group]);
    if (!(inertial.mass > 0)) {
      diagnostics.error(
          joint.where,
          fmt::format("non-positive mass: '{}' moves freely but weighs {} kg; give it an inertia or weld it",
                      joint.name, inertial.mass));
      continue;
    }
    const Eigen::Vector3d moments = symmetric_eigenvalues(inertial.I_Com_L);
    if (!(moments[0] > kSingularInertia * moments[2]))
      diagnostics.error(
          joint.where,
          fmt::format(
              "'{}' rotates freely but its inertia is not positive definite: principal moments {}, {}, {} kg m²",
              joint.name, moments[0], moments[1], moments[2]));
  }
}

}  // namespace deft::multibody
