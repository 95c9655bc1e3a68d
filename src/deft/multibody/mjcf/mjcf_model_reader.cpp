#include "deft/multibody/mjcf/mjcf_model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "deft/multibody/mjcf/mjcf_replicate.hpp"

namespace deft::multibody::mjcf {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

RigidTransform translation(const Vector3d& p) { return make_transform(Matrix3d::Identity(), p); }

}  // namespace

ModelReader::ModelReader(const std::string& path, const Element& root, const Values& values, Attachments& attachments)
    : root_(root),
      values_(values),
      attachments_(attachments),
      compiler_(read_compiler(root, values)),
      defaults_(root, values),
      assets_(AssetReader(compiler_, defaults_, values).read(root, path)),
      geometries_(compiler_, assets_, values) {
  model_.name = values.text(root, "model", std::filesystem::path(path).stem().string());
  std::replace(model_.name.begin(), model_.name.end(), '/', '_');  // parts the names of models and links
  model_.where = root.where;
  model_.collides_with_base = true;
  model_.inertia_rules = {.balance = compiler_.balance_inertia,
                          .least_mass = compiler_.bound_mass,
                          .least_moment = compiler_.bound_inertia,
                          .total_mass = compiler_.total_mass};
}

ModelSpec ModelReader::read() {
  note_unread();
  list_paired();
  root_.for_each("worldbody",
                 [&](const Element& worldbody) { read_world(with_copies(worldbody, compiler_, values_)); });
  read_contacts();
  read_actuators();
  read_couplings();
  read_keyframes();
  name_sites_apart();
  if (model_.links.empty()) {
    model_.links.push_back({.name = kWorldbody, .where = root_.where});
    model_.joints.push_back({.name = "worldbody_fixed", .child = kWorldbody, .where = root_.where});
  }
  return std::move(model_);
}

/// What stands in a body, through the frames in it: `<frame>` moves what it holds.
void ModelReader::gather(const Element& element, const RigidTransform& X_BF, const std::string& childclass,
                         std::vector<Placed>& parts) const {
  for (const Element& child : element.children) {
    if (child.tag == "frame")
      gather(child, X_BF * read_pose(child, compiler_, values_), values_.text(child, "childclass", childclass), parts);
    else
      parts.push_back({&child, X_BF, childclass});
  }
}

// ----------------------------------------------------------------------------------------------------------- bodies

/// Geometries and sites of the worldbody are those of a link of its own, if there are any.
void ModelReader::read_world(const Element& worldbody) {
  std::vector<Placed> parts;
  gather(worldbody, RigidTransform::Identity(), values_.text(worldbody, "childclass"), parts);
  read_attachments(parts);
  const bool has_parts = std::any_of(parts.begin(), parts.end(), [&](const Placed& part) {
    return part.element->tag == "geom" || part.element->tag == "site" || brings_world(*part.element);
  });
  if (has_parts) {
    LinkSpec link{.name = kWorldbody, .where = worldbody.where};
    const bool is_new = model_.links.empty() || model_.links.front().name != link.name;
    if (!is_new) link = std::move(model_.links.front());
    read_parts(parts, link);
    if (!is_attached_) link.solids.clear();  // it never moves
    if (is_new) {
      model_.joints.insert(model_.joints.begin(), {.name = "worldbody_fixed", .child = link.name, .where = link.where});
      model_.links.insert(model_.links.begin(), std::move(link));
    } else {
      model_.links.front() = std::move(link);
    }
  }
  for (const Placed& part : parts) {
    if (part.element->tag == "body") read_body(part, "world", RigidTransform::Identity());
    append_attached(part, "world", RigidTransform::Identity());
  }
}

/// A body and those that it carries.
void ModelReader::read_body(const Placed& body, const std::string& parent, const RigidTransform& X_MParent) {
  const Element& element = *body.element;
  const int index = ++bodies_;
  LinkSpec link{.name = values_.text(element, "name", fmt::format("body_{}", index)), .where = element.where};
  const RigidTransform X_PF = link.name == detached_ ? RigidTransform::Identity() : body.X_BF;
  const RigidTransform X_PB = X_PF * read_pose(element, compiler_, values_);
  link.X_ML = X_MParent * X_PB;
  std::vector<Placed> parts;
  gather(element, RigidTransform::Identity(), values_.text(element, "childclass", body.childclass), parts);
  hang(parts, parent, X_PB, element, link);
  read_attachments(parts);
  read_parts(parts, link);
  const std::string name = link.name;
  const RigidTransform X_MB = link.X_ML;
  model_.links.push_back(std::move(link));
  for (const Placed& part : parts) {
    if (part.element->tag == "body") read_body(part, name, X_MB);
    append_attached(part, name, X_MB);
  }
}

void ModelReader::read_parts(const std::vector<Placed>& parts, LinkSpec& link) {
  for (const Placed& part : parts) {
    const std::string& tag = part.element->tag;
    if (tag == "geom")
      read_geometry(part, link);
    else if (tag == "site")
      read_site(part, link);
    else if (tag == "inertial")
      read_inertial(*part.element, link);
    else if (tag == "attach")
      take_world(part, link);
  }
  if (compiler_.inertia == InertiaFrom::kInertial) link.solids.clear();
  if (compiler_.inertia == InertiaFrom::kGeometries && !link.solids.empty()) link.inertial.reset();
}

void ModelReader::read_geometry(const Placed& part, LinkSpec& link) {
  auto geometry = geometries_.read(defaults_.resolved(*part.element, part.childclass, values_));
  if (!geometry) return;
  GeometrySpec& spec = geometry->spec;
  spec.X_LG = part.X_BF * spec.X_LG;
  if (geometry->solid) {
    geometry->solid->X_LG = part.X_BF * geometry->solid->X_LG;
    link.solids.push_back(std::move(*geometry->solid));
  }
  const bool collides = geometry->collides || paired_.contains(geometry->name);
  const auto named = [&](const char* kind, std::size_t number) {
    return geometry->name.empty() ? fmt::format("{}_{}", kind, number) : geometry->name;
  };
  if (geometry->drawn) {
    spec.name = named("visual", link.visuals.size());
    link.visuals.push_back(spec);
  }
  if (collides) {
    spec.name = named("collision", link.collisions.size());
    link.collisions.push_back(std::move(spec));
  }
}

void ModelReader::read_site(const Placed& part, const LinkSpec& link) {
  const Element site = defaults_.resolved(*part.element, part.childclass, values_);
  std::string name = values_.text(site, "name");
  if (name.empty()) return;
  RigidTransform X_BS = read_pose(site, compiler_, values_);
  if (const auto ends = values_.numbers(site, "fromto", 6, 6)) {
    const Vector3d from(ends->data()), to(ends->data() + 3);
    if (from != to) X_BS = pose_between(from, to);
  }
  model_.frames.push_back(
      {.name = std::move(name), .attached_to = link.name, .X_AF = part.X_BF * X_BS, .where = site.where});
}

/// Sites and bodies may share a name, frames and links may not: such a site is called "name_site".
void ModelReader::name_sites_apart() {
  std::set<std::string> links;
  for (const LinkSpec& link : model_.links) links.insert(link.name);
  for (FrameSpec& frame : model_.frames)
    while (links.contains(frame.name)) frame.name += "_site";
}

void ModelReader::read_inertial(const Element& element, LinkSpec& link) const {
  if (link.inertial) return values_.error(element, fmt::format("body '{}' has a second <inertial>", link.name));
  const RigidTransform X_BI = read_pose(element, compiler_, values_);
  InertialSpec inertial{.mass = values_.number(element, "mass", 0), .p_LCom = X_BI.translation()};
  if (element.find("mass") == nullptr) values_.error(element, "<inertial> needs the attribute 'mass'");
  const auto full = values_.numbers(element, "fullinertia", 6, 6);
  Matrix3d I = values_.vector(element, "diaginertia", Vector3d::Zero()).asDiagonal();
  if (full) {
    const std::vector<double>& v = *full;
    I << v[0], v[3], v[4], v[3], v[1], v[5], v[4], v[5], v[2];
  }
  inertial.I_Com_L = X_BI.linear() * I * X_BI.linear().transpose();
  link.inertial = inertial;
}

// ----------------------------------------------------------------------------------------------------------- joints

/// Joins a link to its parent by its joints, one after the other, with massless links between those that do not turn
/// about one point; without joints it is fixed.
void ModelReader::hang(const std::vector<Placed>& parts, const std::string& parent, const RigidTransform& X_PB,
                       const Element& body, const LinkSpec& link) {
  std::vector<Segment> chain = segments(parts, link.name);
  if (values_.boolean(body, "mocap", false)) {
    values_.warning(body, fmt::format("body '{}' is moved by the user of MuJoCo (mocap); it is fixed here", link.name),
                    "bodies are moved by the user of MuJoCo (mocap); they are fixed here");
  }
  if (values_.number(body, "gravcomp", 0) != 0)
    values_.warning(body, fmt::format("gravcomp is not read: gravity acts on body '{}'", link.name),
                    "bodies state gravcomp, which is not read: gravity acts on them");
  if (chain.empty()) {
    model_.joints.push_back({.name = link.name + "_fixed",
                             .parent = parent,
                             .child = link.name,
                             .X_PJ = X_PB,
                             .gives_way = parent == "world",
                             .where = link.where});
    return;
  }
  std::string carrier = parent;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    Segment& segment = chain[i];
    JointSpec& joint = segment.joint;
    const bool is_last = i + 1 == chain.size();
    if (joint.kind == JointKind::kFree && (chain.size() > 1 || parent != "world"))
      values_.error(
          body,
          fmt::format("body '{}': a free joint must be its only one, and the body stand in the worldbody", link.name));
    joint.parent = carrier;
    joint.child = is_last ? link.name : fmt::format("{}.{}", link.name, i + 1);
    joint.X_PJ = (i == 0 ? X_PB : RigidTransform::Identity()) * translation(segment.anchor);
    joint.X_CJ = translation(segment.anchor) * segment.X_reference;
    carrier = joint.child;
    if (!is_last) model_.links.push_back({.name = joint.child, .X_ML = link.X_ML, .where = joint.where});
    model_.joints.push_back(std::move(joint));
  }
}

std::vector<ModelReader::Segment> ModelReader::segments(const std::vector<Placed>& parts, const std::string& body) {
  std::vector<Segment> chain;
  int unnamed = 0;
  for (const Placed& part : parts) {
    const std::string& tag = part.element->tag;
    if (tag != "joint" && tag != "freejoint") continue;
    const Element joint = tag == "joint" ? defaults_.resolved(*part.element, part.childclass, values_) : *part.element;
    std::string name = values_.text(joint, "name");
    if (name.empty()) name = unnamed++ == 0 ? body + "_joint" : fmt::format("{}_joint_{}", body, unnamed);
    const int type = tag == "freejoint" ? 0 : values_.keyword(joint, "type", {"free", "ball", "slide", "hinge"}, 3);
    if (tag == "joint" && type < 2) warn_of_unread(joint, name, "stiffness");
    if (tag == "joint") warn_of_unread(joint, name, "frictionloss");
    if (type >= 2) {
      add_axis(part, joint, name, type == 3, chain);
      continue;
    }
    Segment segment{
        .joint = {.name = name, .kind = type == 0 ? JointKind::kFree : JointKind::kBall, .where = joint.where}};
    segment.joint.armature = values_.number(joint, "armature", 0);
    segment.is_closed = true;
    if (type == 1) segment.anchor = part.X_BF * values_.vector(joint, "pos", Vector3d::Zero());
    chain.push_back(std::move(segment));
  }
  return chain;
}

/// Adds a hinge or slide to the last segment if it fits there, or begins a new one.
void ModelReader::add_axis(const Placed& part, const Element& joint, const std::string& name, bool is_hinge,
                           std::vector<Segment>& segments) {
  const Vector3d anchor = part.X_BF * values_.vector(joint, "pos", Vector3d::Zero());
  JointAxisSpec axis{.coordinate = name, .rotational = is_hinge};
  axis.axis_J = part.X_BF.linear() * values_.vector(joint, "axis", Vector3d::UnitZ());
  if (axis.axis_J.isZero(0)) values_.error(joint, fmt::format("joint '{}': the axis is zero", name));
  read_limits(joint, is_hinge, axis);
  const auto damping = values_.numbers(joint, "damping", 1, 3);
  if (damping) axis.damping = damping->front();
  axis.armature = values_.number(joint, "armature", 0);
  read_spring(joint, name, is_hinge, axis);

  const bool fits = !segments.empty() && !segments.back().is_closed &&
                    (!is_hinge || !segments.back().has_anchor || segments.back().anchor == anchor);
  if (!fits) segments.push_back({.joint = {.name = "", .kind = JointKind::kAxes, .where = joint.where}});
  Segment& segment = segments.back();
  segment.joint.name += segment.joint.name.empty() ? name : "+" + name;
  if (is_hinge) {
    segment.anchor = anchor;
    segment.has_anchor = true;
  }
  double reference = values_.number(joint, "ref", 0);
  if (reference != 0) {
    const Vector3d direction = axis.axis_J.normalized();
    if (is_hinge) reference = compiler_.angle(reference);
    segment.X_reference = is_hinge ? make_transform(exp_so3(reference * direction), Vector3d::Zero())
                                   : translation(reference * direction);
    segment.is_closed = true;
    references_.joints.emplace_back(name, reference);
  }
  segment.joint.axes.push_back(std::move(axis));
}

void ModelReader::read_limits(const Element& joint, bool is_hinge, JointAxisSpec& axis) const {
  const auto range = values_.numbers(joint, "range", 2, 2);
  const bool limited = values_.unless_auto(joint, "limited").value_or(range && compiler_.autolimits);
  if (limited && range) {
    axis.lower = is_hinge ? compiler_.angle((*range)[0]) : (*range)[0];
    axis.upper = is_hinge ? compiler_.angle((*range)[1]) : (*range)[1];
  }
  const auto force = values_.numbers(joint, "actuatorfrcrange", 2, 2);
  const bool bounded = values_.unless_auto(joint, "actuatorfrclimited").value_or(force && compiler_.autolimits);
  if (bounded && force) axis.effort_limit = std::max(std::abs((*force)[0]), std::abs((*force)[1]));
}

/// A straight spring enters the model; of a curved one the straight part.
void ModelReader::read_spring(const Element& joint, const std::string& name, bool is_hinge, JointAxisSpec& axis) const {
  const auto stiffness = values_.numbers(joint, "stiffness", 1, 3);
  if (!stiffness) return;
  axis.spring_stiffness = stiffness->front();
  axis.spring_reference = values_.number(joint, "springref", 0);
  if (is_hinge) axis.spring_reference = compiler_.angle(axis.spring_reference);
  if (std::any_of(stiffness->begin() + 1, stiffness->end(), [](double k) { return k != 0; }))
    values_.warning(joint, fmt::format("joint '{}': of its spring the straight part alone is read", name),
                    "joints have curved springs, of which the straight part alone is read");
}

void ModelReader::warn_of_unread(const Element& joint, const std::string& name, const char* attribute) const {
  const auto read = values_.numbers(joint, attribute, 1, 3);
  if (read && read->front() != 0)
    values_.warning(joint, fmt::format("joint '{}': {} is not read", name, attribute),
                    fmt::format("joints state {}, which is not read", attribute));
}

// --------------------------------------------------------------------------------------------------------- contacts

void ModelReader::list_paired() {
  root_.for_each("contact", [&](const Element& contact) {
    contact.for_each("pair", [&](const Element& pair) {
      for (const char* name : {"geom1", "geom2"}) paired_.insert(values_.required(pair, name));
    });
  });
}

void ModelReader::read_contacts() {
  const auto link_of = [&](const Element& element, const char* name) {
    std::string link = values_.required(element, name);
    const bool known = link == "world" || std::any_of(model_.links.begin(), model_.links.end(),
                                                      [&](const LinkSpec& l) { return l.name == link; });
    if (!known && !link.empty()) values_.error(element, fmt::format("<exclude>: there is no body '{}'", link));
    return link;
  };
  root_.for_each("contact", [&](const Element& contact) {
    contact.for_each("pair", [&](const Element& element) {
      const Element pair = defaults_.resolved(element, "", values_);
      GeometryPairSpec spec{.geometries = {values_.required(pair, "geom1"), values_.required(pair, "geom2")},
                            .mu = std::nullopt,
                            .where = pair.where};
      const auto friction = values_.numbers(pair, "friction", 1, 5);
      const bool is_smooth = values_.integer(pair, "condim", 3) == 1;
      if (friction || is_smooth)
        read_friction(pair, friction ? friction->front() : 1, friction && friction->size() > 2 ? (*friction)[2] : 0,
                      values_, spec.mu, spec.torsion);
      model_.pairs.push_back(std::move(spec));
    });
    contact.for_each("exclude", [&](const Element& element) {
      model_.excluded.push_back(
          {.links = {link_of(element, "body1"), link_of(element, "body2")}, .where = element.where});
    });
  });
}

}  // namespace deft::multibody::mjcf
