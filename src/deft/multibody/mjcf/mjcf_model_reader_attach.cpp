// `<attach>`: the model of another file is read whole, then what is wanted of it hangs from the body that it stands in.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "deft/multibody/mjcf/mjcf_model_reader.hpp"

namespace deft::multibody::mjcf {
namespace {

constexpr std::size_t kDeepestModel = 64;  // models inside each other
constexpr int kMostAttached = 10'000;      // of all files together

bool is_same(const InertiaRules& a, const InertiaRules& b) {
  return a.balance == b.balance && a.least_mass == b.least_mass && a.least_moment == b.least_moment &&
         a.total_mass == b.total_mass;
}

}  // namespace

/// The elements of the file that the attribute `model` names, and its path; nothing after an error.
std::optional<Element> ModelReader::find_model(const Element& element, std::string& file) const {
  const std::string wanted = values_.required(element, "model");
  std::vector<std::string> names;
  for (const ModelAsset& asset : assets_.models) {
    if (!asset.name.empty() && asset.name != wanted) {
      names.push_back(asset.name);
      continue;
    }
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(asset.file, ignored)) {
      values_.diagnostics().error(asset.where, fmt::format("<model>: file '{}' not found", asset.file));
      return std::nullopt;
    }
    std::optional<Element> root = read_elements(asset.file, values_.diagnostics());
    if (!root) return std::nullopt;
    const std::string name = asset.name.empty() ? values_.text(*root, "model") : asset.name;
    if (name == wanted) {
      file = asset.file;
      return root;
    }
    names.push_back(name);
  }
  values_.error(element, fmt::format("<attach>: there is no model '{}'{}", wanted, did_you_mean(wanted, names)));
  return std::nullopt;
}

void ModelReader::read_attachments(const std::vector<Placed>& parts) {
  for (const Placed& part : parts) {
    if (part.element->tag != "attach") continue;
    if (std::optional<ModelSpec> model = read_attachment(*part.element))
      attached_.emplace(part.element, std::move(*model));
  }
}

std::optional<ModelSpec> ModelReader::read_attachment(const Element& element) {
  const auto fail = [&](const std::string& message) {
    values_.error(element, message);
    return std::nullopt;
  };
  std::vector<std::string>& open = attachments_.open;
  if (open.size() >= kDeepestModel)
    return fail(fmt::format("<attach>: more than {} models in each other", kDeepestModel));
  if (++attachments_.made > kMostAttached) return fail(fmt::format("<attach>: more than {} models", kMostAttached));
  if (element.find("prefix") == nullptr) return fail("<attach> needs the attribute 'prefix'");
  const std::string prefix = values_.text(element, "prefix"), body = values_.text(element, "body");
  std::string file;
  const std::optional<Element> root = find_model(element, file);
  if (!root) return std::nullopt;
  if (std::find(open.begin(), open.end(), file) != open.end())
    return fail(fmt::format("<attach>: file '{}' attaches itself", file));

  open.push_back(file);
  ModelReader reader(file, *root, values_, attachments_);
  reader.is_attached_ = true;
  reader.detached_ = body;
  for (const std::string& name : paired_)
    if (name.rfind(prefix, 0) == 0) reader.paired_.insert(name.substr(prefix.size()));
  ModelSpec model = reader.read();
  open.pop_back();
  const auto is_body = [&](const LinkSpec& link) { return link.name == body && body != kWorldbody; };
  if (!body.empty() && std::none_of(model.links.begin(), model.links.end(), is_body)) {
    std::vector<std::string> names;
    for (const LinkSpec& link : model.links) names.push_back(link.name);
    return fail(fmt::format("<attach>: model '{}' has no body '{}'{}", model.name, body, did_you_mean(body, names)));
  }
  if (!is_same(model.inertia_rules, model_.inertia_rules))
    values_.warning(element,
                    "<attach>: balanceinertia, boundmass, boundinertia and settotalmass are those of this file");
  std::erase_if(model.keyframes,
                [&](const KeyframeSpec& keyframe) { return keyframe.name == reader.references_.name; });
  KeyframeSpec references = reader.references_;
  references.name = "";
  model.keyframes.push_back(std::move(references));
  if (!body.empty()) keep_subtree(body, model);
  prefix_names(prefix, model);
  // The reference values go with those of this file.
  for (const KeyframeSpec& keyframe : model.keyframes)
    if (keyframe.name.empty())
      references_.joints.insert(references_.joints.end(), keyframe.joints.begin(), keyframe.joints.end());
  std::erase_if(model.keyframes, [](const KeyframeSpec& keyframe) { return keyframe.name.empty(); });
  return model;
}

/// Whether something stands in the worldbody of an attached model.
bool ModelReader::brings_world(const Element& element) const {
  const auto found = attached_.find(&element);
  if (found == attached_.end()) return false;
  const std::string world = values_.text(element, "prefix") + kWorldbody;
  const ModelSpec& model = found->second;
  return std::any_of(model.links.begin(), model.links.end(),
                     [&](const LinkSpec& link) {
                       return link.name == world && !(link.collisions.empty() && link.visuals.empty());
                     }) ||
         std::any_of(model.frames.begin(), model.frames.end(),
                     [&](const FrameSpec& frame) { return frame.attached_to == world; });
}

/// What stands in the worldbody of an attached model belongs to the link.
void ModelReader::take_world(const Placed& part, LinkSpec& link) {
  const auto found = attached_.find(part.element);
  if (found == attached_.end()) return;
  for (LinkSpec& world : found->second.links) {
    if (world.name != values_.text(*part.element, "prefix") + kWorldbody) continue;
    const auto take = [&](auto& from, auto& to) {
      for (auto& piece : from) {
        piece.X_LG = part.X_BF * piece.X_LG;
        to.push_back(std::move(piece));
      }
      from.clear();
    };
    take(world.collisions, link.collisions);
    take(world.visuals, link.visuals);
    take(world.solids, link.solids);
  }
}

void ModelReader::append_attached(const Placed& part, const std::string& parent, const RigidTransform& X_ML) {
  const auto found = attached_.find(part.element);
  if (found == attached_.end()) return;
  for (const JointSpec& joint : found->second.joints) {
    if (joint.kind == JointKind::kFree && joint.parent == "world" && parent != "world")
      values_.error(*part.element,
                    fmt::format("<attach>: joint '{}' is free; it can only stand in the worldbody", joint.name));
  }
  append(std::move(found->second), values_.text(*part.element, "prefix") + kWorldbody, parent, X_ML, part.X_BF, model_);
  attached_.erase(found);
}

}  // namespace deft::multibody::mjcf
