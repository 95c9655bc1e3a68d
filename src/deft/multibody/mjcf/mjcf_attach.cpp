#include "deft/multibody/mjcf/mjcf_attach.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace deft::multibody::mjcf {
namespace {

using Names = std::set<std::string>;

/// A link with all that it carries, and the massless links "NAME.1", "NAME.2" … through which it hangs.
Names subtree(const std::string& link, const ModelSpec& model) {
  Names names{link};
  for (bool grows = true; grows;) {
    grows = false;
    for (const JointSpec& joint : model.joints)
      if (names.contains(joint.parent)) grows |= names.insert(joint.child).second;
  }
  const auto is_between = [&](const std::string& name) {
    return name.rfind(link + ".", 0) == 0 && name.find_first_not_of("0123456789", link.size() + 1) == name.npos;
  };
  std::string at = link;
  for (auto joint = model.joints.rbegin(); joint != model.joints.rend(); ++joint) {
    if (joint->child == at && is_between(joint->parent)) names.insert(at = joint->parent);
  }
  return names;
}

Names coordinates(const JointSpec& joint) {
  Names names;
  for (const JointAxisSpec& axis : joint.axes) names.insert(axis.coordinate);
  if (joint.kind == JointKind::kBall)
    for (const char* part : {"qw", "qx", "qy", "qz"}) names.insert(joint.name + "/" + part);
  return names;
}

void keep_coordinates(const Names& kept, ModelSpec& model) {
  std::erase_if(model.couplings, [&](const CouplingSpec& coupling) {
    return !kept.contains(coupling.follower) || (!coupling.leader.empty() && !kept.contains(coupling.leader));
  });
  for (KeyframeSpec& keyframe : model.keyframes)
    std::erase_if(keyframe.joints, [&](const auto& value) { return !kept.contains(value.first); });
}

template <typename Action>
void for_each_geometry(LinkSpec& link, Action action) {
  for (auto* list : {&link.collisions, &link.visuals})
    for (GeometrySpec& geometry : *list) action(geometry);
}

}  // namespace

void keep_subtree(const std::string& link, ModelSpec& model) {
  const Names kept = subtree(link, model);
  RigidTransform X_MP = RigidTransform::Identity();  // of what carries the link
  for (const JointSpec& joint : model.joints) {
    if (!kept.contains(joint.child) || kept.contains(joint.parent)) continue;
    for (const LinkSpec& carrier : model.links)
      if (carrier.name == joint.parent) X_MP = carrier.X_ML;
  }
  std::erase_if(model.links, [&](const LinkSpec& l) { return !kept.contains(l.name); });
  std::erase_if(model.joints, [&](const JointSpec& joint) { return !kept.contains(joint.child); });
  std::erase_if(model.frames, [&](const FrameSpec& frame) { return !kept.contains(frame.attached_to); });
  Names geometries, axes;
  for (LinkSpec& l : model.links) {
    l.X_ML = X_MP.inverse() * l.X_ML;
    for_each_geometry(l, [&](const GeometrySpec& geometry) { geometries.insert(geometry.name); });
  }
  for (JointSpec& joint : model.joints) {
    if (!kept.contains(joint.parent)) joint.parent = "world";
    axes.merge(coordinates(joint));
  }
  std::erase_if(model.pairs, [&](const GeometryPairSpec& pair) {
    return !geometries.contains(pair.geometries[0]) || !geometries.contains(pair.geometries[1]);
  });
  std::erase_if(model.excluded, [&](const ExcludedPairSpec& pair) {
    return !kept.contains(pair.links[0]) || !kept.contains(pair.links[1]);
  });
  keep_coordinates(axes, model);
  for (KeyframeSpec& keyframe : model.keyframes)
    std::erase_if(keyframe.free, [&](const auto& placed) { return !kept.contains(placed.link); });
  std::erase_if(model.keyframes, [](const auto& keyframe) { return keyframe.joints.empty() && keyframe.free.empty(); });
}

void prefix_names(const std::string& prefix, ModelSpec& model) {
  const auto put = [&](std::string& name) {
    if (!name.empty() && name != "world") name.insert(0, prefix);
  };
  for (LinkSpec& link : model.links) {
    put(link.name);
    for_each_geometry(link, [&](GeometrySpec& geometry) { put(geometry.name); });
  }
  for (JointSpec& joint : model.joints) {
    for (std::string* name : {&joint.name, &joint.parent, &joint.child}) put(*name);
    for (JointAxisSpec& axis : joint.axes) put(axis.coordinate);
  }
  for (CouplingSpec& coupling : model.couplings)
    for (std::string* name : {&coupling.follower, &coupling.leader}) put(*name);
  for (FrameSpec& frame : model.frames)
    for (std::string* name : {&frame.name, &frame.attached_to}) put(*name);
  for (GeometryPairSpec& pair : model.pairs)
    for (std::string& name : pair.geometries) put(name);
  for (ExcludedPairSpec& pair : model.excluded)
    for (std::string& name : pair.links) put(name);
  for (KeyframeSpec& keyframe : model.keyframes) {
    put(keyframe.name);
    for (auto& [coordinate, value] : keyframe.joints) put(coordinate);
    for (KeyframeSpec::FreeLink& placed : keyframe.free) put(placed.link);
  }
}

void append(ModelSpec model, const std::string& world_link, const std::string& parent, const RigidTransform& X_ML,
            const RigidTransform& X_LF, ModelSpec& to) {
  const RigidTransform X_MF = X_ML * X_LF;
  const std::string holder = parent == "world" ? kWorldbody : parent;
  for (LinkSpec& link : model.links) {
    if (link.name == world_link) continue;
    link.X_ML = X_MF * link.X_ML;
    to.links.push_back(std::move(link));
  }
  for (JointSpec& joint : model.joints) {
    if (joint.child == world_link) continue;
    if (joint.parent == "world") {
      joint.parent = parent;
      joint.X_PJ = X_LF * joint.X_PJ;
      joint.gives_way = joint.gives_way && parent == "world";
    }
    to.joints.push_back(std::move(joint));
  }
  for (FrameSpec& frame : model.frames) {
    if (frame.attached_to == world_link) {
      frame.attached_to = holder;
      frame.X_AF = X_LF * frame.X_AF;
    }
    to.frames.push_back(std::move(frame));
  }
  for (ExcludedPairSpec& pair : model.excluded)
    for (std::string& link : pair.links)
      if (link == world_link) link = holder;
  const auto move_all = [](auto& from, auto& into) { std::move(from.begin(), from.end(), std::back_inserter(into)); };
  move_all(model.couplings, to.couplings);
  move_all(model.pairs, to.pairs);
  move_all(model.excluded, to.excluded);
  move_all(model.keyframes, to.keyframes);
}

}  // namespace deft::multibody::mjcf
