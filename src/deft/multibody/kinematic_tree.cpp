#include "deft/multibody/kinematic_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deft/multibody/description/spec_checks.hpp"
#include "deft/multibody/tree_checks.hpp"

namespace deft::multibody {
namespace {

/// Disjoint sets of bodies, united when something fixes them together.
class Union {
 public:
  void add() { parent_.push_back(static_cast<int>(parent_.size())); }
  int root(int i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  /// @returns false if they were united before.
  bool unite(int a, int b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<int> parent_;
};

struct FixedEdge {
  int other = 0;
  RigidTransform X_BodyOther;
};

/// What is known of one body beyond BodyInfo.
struct BodyNotes {
  SourceLocation where;
  std::string held_by;      // "joint 'x'", "a weld to 'y'"; empty: nothing holds it
  int fixed_parent = -1;    // by a fixed joint of its own model
  bool free_joint = false;  // held by a floating joint: as free as if nothing held it
  RigidTransform X_WB_default;
  double armature = 0;  // of its floating joint
  std::vector<FixedEdge> fixed;
};

struct MovableJoint {
  const JointSpec* spec = nullptr;
  int model = 0, parent = 0, child = 0;
  RigidTransform X_PJ;
};

class TreeBuilder {
 public:
  TreeBuilder(const MultibodySpec& spec, Diagnostics& diagnostics) : spec_(spec), diagnostics_(diagnostics) {}

  KinematicTree build() {
    list_bodies();
    locate_frames();
    for (int m = 0; m < static_cast<int>(spec_.models.size()); ++m) {
      for (const JointSpec& joint : spec_.models[m].joints)
        if (!gives_way(m, joint)) add_joint(m, joint);
      if (spec_.models[m].is_static) fix_to_world(m);
    }
    for (const WeldSpec& weld : spec_.welds) add_weld(weld);
    fix_massless_roots();
    form_groups();
    hang_groups();
    check_for_loops(tree_, diagnostics_);
    if (hangs_together_) check_free_inertias(tree_, diagnostics_);
    return std::move(tree_);
  }

 private:
  void list_bodies();
  void add_body(BodyInfo info, const InertialSpec& inertial, BodyNotes notes);
  void add_place(const std::string& model, const std::string& name, const Model::FrameOnBody& place);
  void locate_frames();
  bool gives_way(int m, const JointSpec& joint) const;
  void add_joint(int m, const JointSpec& joint);
  void fix_to_world(int m);
  void add_weld(const WeldSpec& weld);
  void fix_massless_roots();
  void fix(int parent, int child, const RigidTransform& X_PC, const SourceLocation& where, const std::string& what);
  void form_groups();
  void hang_groups();
  bool carries_all_joints(int m, int base) const;
  void hang_group(TreeJoint joint, int child, const RigidTransform& X_CG);

  std::optional<int> find_link(int m, const std::string& name, const JointSpec& joint, const char* role);
  const Model::FrameOnBody* find_place(const std::string& name, const char* role, const SourceLocation& where);
  std::string name(int body) const { return tree_.bodies[body].name; }
  void fail(const SourceLocation& where, std::string message) {
    diagnostics_.error(where, std::move(message));
    hangs_together_ = false;
  }

  const MultibodySpec& spec_;
  Diagnostics& diagnostics_;
  KinematicTree tree_;
  std::vector<BodyNotes> notes_;
  std::vector<MovableJoint> movable_;
  std::vector<std::string> place_names_;  // "model::name", for did-you-mean
  Union rigid_;
  bool hangs_together_ = true;
};

// ---------------------------------------------------------------------------------------------- bodies and frames

void TreeBuilder::add_body(BodyInfo info, const InertialSpec& inertial, BodyNotes notes) {
  info.mass = inertial.mass;
  tree_.bodies.push_back(std::move(info));
  tree_.inertials.push_back(inertial);
  notes_.push_back(std::move(notes));
  rigid_.add();
}

void TreeBuilder::add_place(const std::string& model, const std::string& name, const Model::FrameOnBody& place) {
  tree_.places.emplace(model + "::" + name, place);
  tree_.places.emplace(model + "/" + name, place);
  if (name != "__model__") place_names_.push_back(model + "::" + name);
}

void TreeBuilder::list_bodies() {
  add_body({.name = "world", .link = "world"}, {}, {});
  tree_.places.emplace("world", Model::FrameOnBody{0, RigidTransform::Identity()});
  for (const ModelSpec& model : spec_.models) {
    ModelInfo info;
    info.name = model.name;
    info.inline_body = model.inline_body;
    for (const LinkSpec& link : model.links) {
      const int body = static_cast<int>(tree_.bodies.size());
      const bool short_name = model.inline_body && model.links.size() == 1;
      const InertialSpec inertial = link.inertial.value_or(InertialSpec{});
      info.bodies.push_back(body);
      info.mass += inertial.mass;
      add_body({.name = short_name ? model.name : model.name + "/" + link.name,
                .link = link.name,
                .model = static_cast<int>(tree_.models.size())},
               inertial, {.where = link.where, .X_WB_default = model.X_WModel * link.X_ML});
      add_place(model.name, link.name, {body, RigidTransform::Identity()});
      if (short_name) tree_.places.emplace(model.name, Model::FrameOnBody{body, RigidTransform::Identity()});
    }
    tree_.models.push_back(std::move(info));
  }
}

/// Frames may be attached to frames, in any order: place what can be placed until nothing more can.
void TreeBuilder::locate_frames() {
  struct Waiting {
    std::string model, name, target;
    const FrameSpec* frame;
  };
  std::vector<Waiting> waiting;
  for (std::size_t m = 0; m < spec_.models.size(); ++m) {
    const ModelSpec& model = spec_.models[m];
    if (model.links.empty()) continue;
    const auto base = std::find_if(model.links.begin(), model.links.end(),
                                   [&](const LinkSpec& link) { return model.base.empty() || link.name == model.base; });
    if (base == model.links.end()) {
      fail(model.where, fmt::format("model '{}': the base link '{}' is not among its links", model.name, model.base));
      continue;
    }
    const int body = tree_.models[m].bodies[base - model.links.begin()];
    add_place(model.name, "__model__", {body, base->X_ML.inverse()});
    for (const FrameSpec& frame : model.frames)
      waiting.push_back({model.name, frame.name, model.name + "::" + frame.attached_to, &frame});
  }
  for (const FrameSpec& frame : spec_.frames) waiting.push_back({"", frame.name, frame.attached_to, &frame});

  const auto try_to_place = [&](const Waiting& w) {
    const auto target = tree_.places.find(w.target);
    if (target == tree_.places.end()) return false;
    const Model::FrameOnBody place{target->second.body, target->second.X_BF * w.frame->X_AF};
    if (!w.model.empty()) {
      add_place(w.model, w.name, place);
    } else {
      tree_.places.emplace(w.name, place);
      place_names_.push_back(w.name);
    }
    return true;
  };
  while (std::erase_if(waiting, try_to_place) > 0) {
  }
  for (const Waiting& w : waiting) {
    const bool waits_for_frame = std::any_of(waiting.begin(), waiting.end(), [&](const Waiting& other) {
      return w.target == (other.model.empty() ? other.name : other.model + "::" + other.name);
    });
    fail(w.frame->where,
         waits_for_frame
             ? fmt::format("frame '{}' cannot be placed: the frames it is attached to form a loop or are misplaced",
                           w.name)
             : fmt::format("frame '{}' is attached to unknown '{}'{}", w.name, w.frame->attached_to,
                           did_you_mean(w.target, place_names_)));
  }
}

// ------------------------------------------------------------------------------------------------ joints and welds

std::optional<int> TreeBuilder::find_link(int m, const std::string& link, const JointSpec& joint, const char* role) {
  if (link == "world") return 0;
  const ModelSpec& model = spec_.models[m];
  std::vector<std::string> links;
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    if (model.links[i].name == link) return tree_.models[m].bodies[i];
    links.push_back(model.links[i].name);
  }
  fail(joint.where,
       fmt::format("joint '{}': {} link '{}' not found{}", joint.name, role, link, did_you_mean(link, links)));
  return std::nullopt;
}

/// Whether a weld holds the child of a fixed or floating joint, or a link that fixed joints tie to it, in its place.
bool TreeBuilder::gives_way(int m, const JointSpec& joint) const {
  if (!joint.gives_way && joint.kind != JointKind::kFree) return false;
  std::vector<std::string> tied{joint.child};
  for (std::size_t i = 0; i < tied.size(); ++i)
    for (const JointSpec& other : spec_.models[m].joints)
      if (other.kind == JointKind::kFixed && other.parent == tied[i] &&
          std::find(tied.begin(), tied.end(), other.child) == tied.end())
        tied.push_back(other.child);
  return std::any_of(spec_.welds.begin(), spec_.welds.end(), [&](const WeldSpec& weld) {
    const auto place = tree_.places.find(weld.child);
    if (place == tree_.places.end() || tree_.bodies[place->second.body].model != m) return false;
    return std::find(tied.begin(), tied.end(), tree_.bodies[place->second.body].link) != tied.end();
  });
}

void TreeBuilder::add_joint(int m, const JointSpec& joint) {
  const ModelSpec& model = spec_.models[m];
  const auto parent = find_link(m, joint.parent, joint, "parent");
  const auto child = find_link(m, joint.child, joint, "child");
  if (!parent || !child) return;
  const std::string what = fmt::format("joint '{}'", joint.name);
  if (*child == 0) return fail(joint.where, fmt::format("{}: the world cannot be a child", what));
  if (*parent == *child) return fail(joint.where, fmt::format("{} joins link '{}' to itself", what, joint.child));
  BodyNotes& notes = notes_[*child];
  if (!notes.held_by.empty())
    return fail(joint.where, fmt::format("link '{}' has two parents: it is the child of {} and of {}", joint.child,
                                         notes.held_by, what));
  notes.held_by = what;

  const RigidTransform X_PJ = *parent == 0 ? model.X_WModel * joint.X_PJ : joint.X_PJ;
  const RigidTransform X_PC = X_PJ * joint.X_CJ.inverse();
  if (joint.kind == JointKind::kFree && !model.is_static) {
    if (*parent != 0)
      return fail(joint.where, fmt::format("{}: a floating joint must have the world as its parent", what));
    notes.free_joint = true;
    notes.armature = joint.armature;
    notes.X_WB_default = X_PC;
    return;
  }
  tree_.bodies[*child].parent = *parent;
  if (joint.kind != JointKind::kFixed && model.is_static)
    diagnostics_.warning(joint.where, fmt::format("{} does not move: model '{}' is static", what, model.name));
  if (joint.kind == JointKind::kFixed || model.is_static) {
    notes.fixed_parent = *parent;
    fix(*parent, *child, X_PC, joint.where, what);
  } else {
    movable_.push_back({&joint, m, *parent, *child, X_PJ});
  }
}

void TreeBuilder::fix_to_world(int m) {
  for (const int body : tree_.models[m].bodies) {
    BodyNotes& notes = notes_[body];
    if (!notes.held_by.empty()) continue;
    notes.held_by = "its static model";
    notes.fixed_parent = tree_.bodies[body].parent = 0;
    fix(0, body, notes.X_WB_default, notes.where, fmt::format("static model '{}'", spec_.models[m].name));
  }
}

const Model::FrameOnBody* TreeBuilder::find_place(const std::string& place, const char* role,
                                                  const SourceLocation& where) {
  const auto found = tree_.places.find(place);
  if (found != tree_.places.end()) return &found->second;
  fail(where, fmt::format("add_weld {} '{}' not found{}", role, place, did_you_mean(place, place_names_)));
  return nullptr;
}

void TreeBuilder::add_weld(const WeldSpec& weld) {
  const auto* parent = find_place(weld.parent, "parent", weld.where);
  const auto* child = find_place(weld.child, "child", weld.where);
  if (!parent || !child) return;
  if (child->body == 0)
    return fail(weld.where,
                fmt::format("add_weld child '{}' is fixed to the world; exchange parent and child", weld.child));

  // The weld holds the link that nothing holds among those that fixed joints tie to the child.
  int base = child->body;
  for (std::size_t step = 0; notes_[base].fixed_parent > 0 && step < notes_.size(); ++step)
    base = notes_[base].fixed_parent;
  BodyNotes& notes = notes_[base];
  if (!notes.held_by.empty()) {
    const ModelInfo& model = tree_.models[tree_.bodies[base].model];
    const auto unheld =
        std::find_if(model.bodies.begin(), model.bodies.end(), [&](int b) { return notes_[b].held_by.empty(); });
    const std::string hint =
        unheld == model.bodies.end() ? "" : fmt::format("; weld '{}' or a link fixed to it instead", name(*unheld));
    return fail(weld.where,
                fmt::format("add_weld child '{}' is already held by {}{}", weld.child, notes.held_by, hint));
  }
  notes.held_by = fmt::format("a weld to '{}'", weld.parent);
  tree_.bodies[base].parent = parent->body;
  fix(parent->body, child->body, parent->X_BF * weld.X_PC * child->X_BF.inverse(), weld.where,
      fmt::format("the weld of '{}' to '{}'", weld.child, weld.parent));
}

/// Roots without mass, or without inertia, stand in the world: they are fixed there, unless a joint of the file frees
/// them or the scene holds them. Masses at several places of one group have an inertia together.
void TreeBuilder::fix_massless_roots() {
  struct Sum {
    double mass = 0, inertia = 0;
    int masses = 0;
  };
  std::vector<Sum> sums(tree_.bodies.size());
  for (std::size_t b = 1; b < tree_.bodies.size(); ++b) {
    Sum& sum = sums[rigid_.root(static_cast<int>(b))];
    const InertialSpec& inertial = tree_.inertials[b];
    sum.mass += inertial.mass;
    sum.inertia += inertial.I_Com_L.norm();
    sum.masses += inertial.mass != 0 ? 1 : 0;
  }
  for (int b = 1; b < static_cast<int>(tree_.bodies.size()); ++b) {
    BodyNotes& notes = notes_[b];
    const int group = rigid_.root(b);
    const Sum& sum = sums[group];
    const bool has_inertia = sum.mass != 0 && (sum.inertia != 0 || sum.masses > 1);
    if (!notes.held_by.empty() || notes.free_joint || group == 0 || has_inertia) continue;
    if (spec_.models[tree_.bodies[b].model].inline_body) continue;  // the scene said that it is free
    const char* const lacks = sum.mass == 0 ? "mass" : "inertia";
    notes.held_by = fmt::format("the world, as it has no {}", lacks);
    tree_.bodies[b].parent = 0;
    fix(0, b, notes.X_WB_default, notes.where, fmt::format("the root '{}'", name(b)));
    diagnostics_.warning(
        notes.where,
        fmt::format("'{0}' has no {3} and nothing holds it: it is fixed to the world. {4} {3} in its file frees it; "
                    "'- add_weld: {{parent: world, child: {1}::{2}}}' in directives says the same without this warning",
                    name(b), spec_.models[tree_.bodies[b].model].name, tree_.bodies[b].link, lacks,
                    sum.mass == 0 ? "A" : "An"));
  }
}

void TreeBuilder::fix(int parent, int child, const RigidTransform& X_PC, const SourceLocation& where,
                      const std::string& what) {
  if (!rigid_.unite(parent, child))
    return fail(where, fmt::format("{} closes a loop: '{}' and '{}' are already fixed together", what, name(parent),
                                   name(child)));
  notes_[parent].fixed.push_back({child, X_PC});
  notes_[child].fixed.push_back({parent, X_PC.inverse()});
}

// ---------------------------------------------------------------------------------------------------- rigid groups

/// Walks the fixed edges from the first body of each group; poses are relative to that body until `hang_group`.
void TreeBuilder::form_groups() {
  std::vector<bool> visited(tree_.bodies.size(), false);
  tree_.X_GB.assign(tree_.bodies.size(), RigidTransform::Identity());
  for (int first = 0; first < static_cast<int>(tree_.bodies.size()); ++first) {
    if (visited[first]) continue;
    RigidGroup group;
    std::vector<int> front{first};
    visited[first] = true;
    while (!front.empty()) {
      const int body = front.back();
      front.pop_back();
      group.bodies.push_back(body);
      tree_.bodies[body].weld_group = static_cast<int>(tree_.groups.size());
      for (const FixedEdge& edge : notes_[body].fixed) {
        if (visited[edge.other]) continue;
        visited[edge.other] = true;
        tree_.X_GB[edge.other] = tree_.X_GB[body] * edge.X_BodyOther;
        front.push_back(edge.other);
      }
    }
    std::sort(group.bodies.begin(), group.bodies.end());
    tree_.groups.push_back(std::move(group));
  }
}

/// Hangs the group of `child` on the joint; its frame becomes the joint frame X_CG on the child's side. Every body has
/// at most one holder and the fixed edges of a group of n bodies hold n − 1 of them, so no group can get two joints.
void TreeBuilder::hang_group(TreeJoint joint, int child, const RigidTransform& X_CG) {
  joint.child_group = tree_.bodies[child].weld_group;
  RigidGroup& group = tree_.groups[joint.child_group];
  group.joint = static_cast<int>(tree_.joints.size());
  const RigidTransform X_GFirst = (tree_.X_GB[child] * X_CG).inverse();
  for (const int body : group.bodies) tree_.X_GB[body] = X_GFirst * tree_.X_GB[body];
  tree_.joints.push_back(std::move(joint));
}

/// Whether every movable joint of the model hangs on the group of its body `base`.
bool TreeBuilder::carries_all_joints(int m, int base) const {
  const auto group_of = [this](int body) { return tree_.bodies[body].weld_group; };
  return std::all_of(movable_.begin(), movable_.end(), [&](const MovableJoint& joint) {
    if (joint.model != m) return true;
    int group = group_of(joint.parent);
    // Bounded, for loops are found later.
    for (std::size_t steps = 0; group != group_of(base) && steps <= movable_.size(); ++steps) {
      const auto carrier = std::find_if(movable_.begin(), movable_.end(),
                                        [&](const MovableJoint& other) { return group_of(other.child) == group; });
      if (carrier == movable_.end()) break;
      group = group_of(carrier->parent);
    }
    return group == group_of(base);
  });
}

/// Coordinates: model by model, free bases first, then the movable joints in file order.
void TreeBuilder::hang_groups() {
  std::vector<const MovableJoint*> origin;  // of each tree joint, null for free bases
  auto next = movable_.begin();
  for (int m = 0; m < static_cast<int>(tree_.models.size()); ++m) {
    ModelInfo& model = tree_.models[m];
    for (const int body : model.bodies)
      if (tree_.bodies[body].weld_group != 0 && (notes_[body].held_by.empty() || notes_[body].free_joint))
        model.free_bases.push_back(body);
    const bool is_alone = model.free_bases.size() == 1 && carries_all_joints(m, model.free_bases[0]);
    for (const int body : model.free_bases) {
      TreeJoint joint{.kind = JointKind::kFree,
                      .model = m,
                      .armature = notes_[body].armature,
                      .X_WB_default = notes_[body].X_WB_default,
                      .where = notes_[body].where};
      joint.name = is_alone ? model.name : model.name + "/" + tree_.bodies[body].link;
      hang_group(std::move(joint), body, RigidTransform::Identity());
      origin.push_back(nullptr);
    }
    for (; next != movable_.end() && next->model == m; ++next) {
      const JointSpec& spec = *next->spec;
      model.joint_names.push_back(spec.name);
      TreeJoint joint{.kind = spec.kind,
                      .name = model.name + "/" + spec.name,
                      .model = m,
                      .axes = spec.axes,
                      .armature = spec.armature,
                      .where = spec.where};
      for (JointAxisSpec& axis : joint.axes) axis.axis_J.normalize();
      hang_group(std::move(joint), next->child, spec.X_CJ);
      origin.push_back(&*next);
    }
  }
  // Only now do all group frames lie where they stay.
  for (std::size_t j = 0; j < tree_.joints.size(); ++j) {
    if (origin[j] == nullptr) continue;
    tree_.joints[j].parent_group = tree_.bodies[origin[j]->parent].weld_group;
    tree_.joints[j].X_GJ = tree_.X_GB[origin[j]->parent] * origin[j]->X_PJ;
  }
}

}  // namespace

KinematicTree build_tree(const MultibodySpec& spec, Diagnostics& diagnostics) {
  check_names_and_values(spec, diagnostics);
  return TreeBuilder(spec, diagnostics).build();
}

}  // namespace deft::multibody
