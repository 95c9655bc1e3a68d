// Drake model directives: add_model, add_model_instance, add_frame, add_weld, add_collision_filter_group,
// add_directives.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "deft/io/scene/scene_file_parts.hpp"

namespace deft::io {
namespace {

using multibody::ModelSpec;

constexpr std::array<std::string_view, 6> kDirectives{"add_model", "add_model_instance",         "add_frame",
                                                      "add_weld",  "add_collision_filter_group", "add_directives"};

const std::string kFreePoses = "default_free_body_pose";

std::string scoped(const std::string& name_space, const std::string& name) {
  return name_space.empty() || name == "world" ? name : name_space + "::" + name;
}

/// Links and frames by their full names, and the full name that a shorter one stands for.
class Places {
 public:
  explicit Places(const multibody::MultibodySpec& world, bool with_frames) {
    if (with_frames) names_.push_back("world");
    for (const ModelSpec& model : world.models) {
      for (const multibody::LinkSpec& link : model.links) names_.push_back(model.name + "::" + link.name);
      if (!with_frames) continue;
      names_.push_back(model.name + "::__model__");
      for (const multibody::FrameSpec& frame : model.frames) names_.push_back(model.name + "::" + frame.name);
    }
    if (!with_frames) return;
    for (const multibody::FrameSpec& frame : world.frames) names_.push_back(frame.name);
  }

  /// "world", "hand::palm", "hand/palm", an inline body "ball", or a name that only one model has. Empty if there is
  /// none.
  std::string resolve(const std::string& name) const {
    if (known(name)) return name;
    std::string slashed = name;
    if (const auto slash = slashed.rfind('/'); slash != slashed.npos) slashed.replace(slash, 1, "::");
    if (known(slashed)) return slashed;
    if (known(name + "::" + name)) return name + "::" + name;
    const auto ends_with_name = [&](const std::string& known_name) { return known_name.ends_with("::" + name); };
    if (std::count_if(names_.begin(), names_.end(), ends_with_name) == 1)
      return *std::find_if(names_.begin(), names_.end(), ends_with_name);
    return "";
  }

  std::string hint(const std::string& name) const {
    std::string several;
    for (const std::string& known_name : names_) {
      if (known_name.ends_with("::" + name))
        several += (several.empty() ? "; several models have it: " : ", ") + known_name;
    }
    return several.empty() ? did_you_mean(name, names_) : several;
  }

 private:
  bool known(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }
  std::vector<std::string> names_;
};

std::string scope_of(const std::string& full_name) {
  const auto end = full_name.rfind("::");
  return end == full_name.npos ? "" : full_name.substr(0, end);
}

/// The text behind a key that must be there.
std::optional<std::string> required_text(const YamlNode& node, std::string_view key, std::string_view what,
                                         const YamlReader& read) {
  if (const YamlNode* value = node.find(key)) return read.text(*value, fmt::format("{} {}", what, key));
  read.error(node, fmt::format("{} needs '{}'", what, key));
  return std::nullopt;
}

/// The pose in the world of a frame that no joint can move, by walking up welds, fixed joints and frames.
std::optional<RigidTransform> fixed_pose(const multibody::MultibodySpec& world, const std::string& full_name,
                                         int depth = 0) {
  if (full_name == "world") return RigidTransform::Identity();
  if (depth > 64) return std::nullopt;  // a loop, which the world's own check reports
  const auto step = [&](const std::string& parent, const RigidTransform& X_PF) -> std::optional<RigidTransform> {
    const auto X_WP = fixed_pose(world, parent, depth + 1);
    return X_WP ? std::optional(RigidTransform(*X_WP * X_PF)) : std::nullopt;
  };
  for (const multibody::WeldSpec& weld : world.welds) {
    if (weld.child == full_name) return step(weld.parent, weld.X_PC);
  }
  for (const multibody::FrameSpec& frame : world.frames) {
    if (frame.name == full_name) return step(frame.attached_to, frame.X_AF);
  }
  for (const ModelSpec& model : world.models) {
    if (scope_of(full_name) != model.name) continue;
    const std::string local = full_name.substr(model.name.size() + 2);
    for (const multibody::FrameSpec& frame : model.frames) {
      if (frame.name == local) return step(model.name + "::" + frame.attached_to, frame.X_AF);
    }
    for (const multibody::JointSpec& joint : model.joints) {
      if (joint.child != local || joint.kind != multibody::JointKind::kFixed) continue;
      const RigidTransform X_PC = joint.X_PJ * joint.X_CJ.inverse();
      return joint.parent == "world" ? RigidTransform(model.X_WModel * X_PC)
                                     : step(model.name + "::" + joint.parent, X_PC);
    }
    for (const multibody::LinkSpec& link : model.links) {
      if (model.is_static && link.name == local) return model.X_WModel * link.X_ML;
    }
  }
  return std::nullopt;
}

}  // namespace

void DirectiveReader::read_file(const YamlNode& file, const std::string& name_space) {
  const auto path = scene_.find_file(file, "model directives");
  if (!path) {
    scene_.models_known = scene_.lengths_known = false;
    return;
  }
  if (std::find(open_files_.begin(), open_files_.end(), *path) != open_files_.end()) {
    scene_.read.error(file, fmt::format("add_directives forms a cycle: {} → {}", fmt::join(open_files_, " → "), *path));
    return;
  }
  const auto document = read_yaml_file(*path, scene_.diagnostics);
  if (!document) {
    scene_.models_known = scene_.lengths_known = false;
    return;
  }
  open_files_.push_back(*path);
  if (scene_.read.map(*document, "a model directives file", {"directives"})) {
    if (const YamlNode* list = document->find("directives")) read_list(*list, name_space);
  }
  open_files_.pop_back();
}

void DirectiveReader::read_list(const YamlNode& list, const std::string& name_space) {
  const YamlReader& read = scene_.read;
  if (!read.list(list, "directives")) return;
  for (const YamlNode& item : list.items) {
    if (!read.map(item, "a directive", kDirectives)) continue;
    if (item.entries.size() != 1) {
      read.error(item, fmt::format("a directive is one of {}; this item has {} keys", fmt::join(kDirectives, ", "),
                                   item.entries.size()));
      continue;
    }
    const std::string& kind = item.entries[0].key;
    const YamlNode& node = item.entries[0].value;
    if (kind == "add_model") {
      read_add_model(node, name_space);
    } else if (kind == "add_model_instance") {
      if (!read.map(node, kind, {"name"})) continue;
      const auto name = required_text(node, "name", kind, read);
      if (name && !instances_.insert(scoped(name_space, *name)).second)
        read.error(node, fmt::format("duplicate model instance '{}'", scoped(name_space, *name)));
    } else if (kind == "add_directives") {
      if (!read.map(node, kind, {"file", "model_namespace"})) continue;
      const YamlNode* inner = node.find("model_namespace");
      const auto inner_name = inner != nullptr ? read.text(*inner, "model_namespace") : std::string();
      if (node.find("file") == nullptr) read.error(node, "add_directives needs 'file'");
      if (inner_name && node.find("file") != nullptr)
        read_file(*node.find("file"), inner_name->empty() ? name_space : scoped(name_space, *inner_name));
    } else {
      later_.push_back({node, kind, name_space, ""});
    }
  }
}

void DirectiveReader::read_add_model(const YamlNode& node, const std::string& name_space) {
  const YamlReader& read = scene_.read;
  if (!read.map(node, "add_model", {"name", "file", "default_joint_positions", "default_free_body_pose"})) return;
  const YamlNode* name_node = node.find("name");
  const YamlNode* file = node.find("file");
  if (file == nullptr) read.error(node, "add_model needs 'file'");
  const auto name = name_node != nullptr ? read.text(*name_node, "add_model name") : std::string();
  if (file == nullptr || !name) {
    scene_.models_known = scene_.lengths_known = false;
    return;
  }
  const ModelSpec* model = scene_.add_model(*file, name->empty() ? "" : scoped(name_space, *name),
                                            name_node != nullptr ? name_node->where : node.where);
  if (model == nullptr) return;
  if (const YamlNode* joints = node.find("default_joint_positions")) read_default_joints(*joints, *model);
  if (const YamlNode* poses = node.find("default_free_body_pose"))
    later_.push_back({*poses, kFreePoses, name_space, model->name});
}

void DirectiveReader::read_default_joints(const YamlNode& node, const ModelSpec& model) {
  const YamlReader& read = scene_.read;
  std::vector<std::string_view> joints;
  for (const multibody::JointSpec& joint : model.joints) {
    if (joint.kind != multibody::JointKind::kFixed) joints.push_back(joint.name);
  }
  const std::string what = fmt::format("default_joint_positions of '{}'", model.name);
  if (!read.map(node, what, joints)) return;
  for (const YamlEntry& entry : node.entries) {
    const auto joint =
        std::find_if(model.joints.begin(), model.joints.end(), [&](const auto& j) { return j.name == entry.key; });
    if (joint == model.joints.end() || entry.value.is_null()) continue;
    std::vector<std::string> coordinates;
    for (const multibody::JointAxisSpec& axis : joint->axes) coordinates.push_back(axis.coordinate);
    if (joint->kind == multibody::JointKind::kBall)
      coordinates = {joint->name + "/qw", joint->name + "/qx", joint->name + "/qy", joint->name + "/qz"};
    const std::string label = fmt::format("default position of '{}'", joint->name);
    std::optional<std::vector<double>> values;
    if (entry.value.is_scalar() && coordinates.size() == 1) {
      if (const auto value = read.number(entry.value, label)) values = {*value};
    } else {
      values = read.numbers(entry.value, label, static_cast<int>(coordinates.size()));
    }
    if (!values) continue;
    scene::ModelConfiguration& defaults = scene_.spec.defaults.models[model.name];
    defaults.where = defaults.joints.where = node.where;
    for (std::size_t i = 0; i < coordinates.size(); ++i) defaults.joints.by_name[coordinates[i]] = (*values)[i];
  }
}

void DirectiveReader::resolve() {
  for (const Directive& directive : later_) {
    if (directive.kind == "add_frame") resolve_frame(directive);
  }
  for (const Directive& directive : later_) {
    if (directive.kind == "add_weld") resolve_weld(directive);
    if (directive.kind == "add_collision_filter_group") resolve_group(directive);
  }
  for (const Directive& directive : later_) {
    if (directive.kind == kFreePoses) resolve_free_poses(directive);
  }
}

void DirectiveReader::resolve_frame(const Directive& directive) {
  const YamlReader& read = scene_.read;
  const YamlNode& node = directive.node;
  if (!read.map(node, "add_frame", {"name", "X_PF"})) return;
  const auto name = required_text(node, "name", "add_frame", read);
  const YamlNode* base = nullptr;
  const YamlNode* X_node = node.find("X_PF");
  if (X_node == nullptr) read.error(node, "add_frame needs 'X_PF' with a base_frame");
  const auto X_PF = X_node != nullptr ? read.pose(*X_node, "X_PF", &base) : std::nullopt;
  if (X_PF && base == nullptr) read.error(*X_node, "add_frame: X_PF needs a base_frame");
  const auto base_name = base != nullptr ? read.text(*base, "base_frame") : std::nullopt;
  if (!name || !X_PF || !base_name) return;
  const Places places(scene_.spec.world, true);
  const std::string parent = places.resolve(scoped(directive.name_space, *base_name));
  if (parent.empty()) {
    if (scene_.all_read())
      read.error(*base, fmt::format("add_frame base_frame '{}' not found{}", *base_name, places.hint(*base_name)));
    return;
  }
  // A frame without a scope of its own belongs to the model of its base.
  std::string full = scoped(directive.name_space, *name);
  if (full == *name && scope_of(full).empty()) full = scoped(scope_of(parent), full);
  if (places.resolve(full) == full) {
    read.error(*node.find("name"), fmt::format("duplicate frame '{}'", full));
    return;
  }
  scene_.spec.world.frames.push_back({full, parent, *X_PF, node.where});
}

void DirectiveReader::resolve_weld(const Directive& directive) {
  const YamlReader& read = scene_.read;
  const YamlNode& node = directive.node;
  if (!read.map(node, "add_weld", {"parent", "child", "X_PC"})) return;
  multibody::WeldSpec weld;
  weld.where = node.where;
  const Places places(scene_.spec.world, true);
  const auto end = [&](std::string_view key) {
    const auto name = required_text(node, key, "add_weld", read);
    const std::string full = name ? places.resolve(scoped(directive.name_space, *name)) : "";
    if (name && full.empty() && scene_.all_read())
      read.error(*node.find(key), fmt::format("add_weld {} '{}' not found{}", key, *name, places.hint(*name)));
    return full;
  };
  weld.parent = end("parent");
  weld.child = end("child");
  bool good = !weld.parent.empty() && !weld.child.empty();
  if (const YamlNode* X_node = node.find("X_PC")) {
    const auto X_PC = read.pose(*X_node, "X_PC");
    good = good && X_PC;
    if (X_PC) weld.X_PC = *X_PC;
  }
  if (good) scene_.spec.world.welds.push_back(weld);
  scene_.lengths_known = scene_.lengths_known && good;
}

void DirectiveReader::resolve_group(const Directive& directive) {
  const YamlReader& read = scene_.read;
  const YamlNode& node = directive.node;
  if (!read.map(node, "add_collision_filter_group",
                {"name", "members", "member_groups", "ignored_collision_filter_groups", "model_namespace"}))
    return;
  const auto name = required_text(node, "name", "add_collision_filter_group", read);
  const YamlNode* inner = node.find("model_namespace");
  const auto inner_name = inner != nullptr ? read.text(*inner, "model_namespace") : std::string();
  if (!name || !inner_name) return;
  const std::string name_space = inner_name->empty() ? directive.name_space : scoped(directive.name_space, *inner_name);
  scene::FilterGroupSpec group;
  group.name = scoped(name_space, *name);
  group.where = node.where;
  const auto names = [&](std::string_view key, auto&& accept) {
    const YamlNode* list = node.find(key);
    if (list == nullptr || !read.list(*list, key)) return;
    for (const YamlNode& item : list->items) {
      if (const auto entry = read.text(item, key)) accept(item, scoped(name_space, *entry));
    }
  };
  const Places links(scene_.spec.world, false);
  names("members", [&](const YamlNode& item, const std::string& member) {
    const std::string full = links.resolve(member);
    if (!full.empty()) group.members.push_back(full);
    if (full.empty() && scene_.all_read())
      read.error(item, fmt::format("add_collision_filter_group member '{}' not found{}", member, links.hint(member)));
  });
  names("member_groups", [&](const YamlNode&, const std::string& other) { group.member_groups.push_back(other); });
  names("ignored_collision_filter_groups",
        [&](const YamlNode&, const std::string& other) { group.ignored.push_back(other); });
  const auto same_name = [&](const auto& known) { return known.name == group.name; };
  auto& groups = scene_.spec.filter_groups;
  if (std::any_of(groups.begin(), groups.end(), same_name)) {
    read.error(*node.find("name"), fmt::format("duplicate collision filter group '{}'", group.name));
  } else {
    groups.push_back(std::move(group));
  }
}

void DirectiveReader::resolve_free_poses(const Directive& directive) {
  const YamlReader& read = scene_.read;
  const std::string& model_name = directive.model;
  const auto& models = scene_.spec.world.models;
  const auto model =
      std::find_if(models.begin(), models.end(), [&](const ModelSpec& m) { return m.name == model_name; });
  std::vector<std::string_view> links;
  for (const multibody::LinkSpec& link : model->links) links.push_back(link.name);
  if (!read.map(directive.node, fmt::format("{} of '{}'", kFreePoses, model_name), links)) return;
  for (const YamlEntry& entry : directive.node.entries) {
    const YamlNode* base = nullptr;
    const auto X_BL = read.pose(entry.value, kFreePoses, &base);
    if (!X_BL || std::find(links.begin(), links.end(), entry.key) == links.end()) continue;
    std::optional<RigidTransform> X_WB = RigidTransform::Identity();
    if (base != nullptr) {
      const Places places(scene_.spec.world, true);
      const auto name = read.text(*base, "base_frame");
      const std::string full = name ? places.resolve(scoped(directive.name_space, *name)) : "";
      if (name && full.empty())
        read.error(*base, fmt::format("base_frame '{}' not found{}", *name, places.hint(*name)));
      X_WB = full.empty() ? std::nullopt : fixed_pose(scene_.spec.world, full);
      if (!full.empty() && !X_WB)
        read.error(
            *base,
            fmt::format("base_frame '{}' can move; a default pose is relative to a frame fixed to the world", *name));
    }
    if (!X_WB) continue;
    const RigidTransform X_WL = *X_WB * *X_BL;
    scene::ModelConfiguration& defaults = scene_.spec.defaults.models[model_name];
    defaults.where = entry.value.where;
    defaults.free_bodies[entry.key] = {X_WL.translation(), X_WL.linear()};
  }
}

}  // namespace deft::io
