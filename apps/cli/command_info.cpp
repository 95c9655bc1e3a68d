// deft info SCENE: what a scene holds.

#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "deft/io/scene/disturbance_file.hpp"
#include "deft/io/settings/settings_file.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

using scene::Scene;

struct InfoOptions {
  OutputOptions output;
  SceneOptions scene;
  bool settings = false;
};

Json coordinates(const Scene& scene) {
  Json list = Json::array();
  int index = 0;
  for (const multibody::CoordinateInfo& q : scene.model().coordinates()) {
    list.push_back({{"index", index++},
                    {"name", q.name},
                    {"unit", q.unit},
                    {"lower", number(q.lower)},
                    {"upper", number(q.upper)}});
  }
  return list;
}

/// Every link's inertial in the order of the bodies, that of the world first.
std::vector<multibody::InertialSpec> inertials(const Scene& scene) {
  std::vector<multibody::InertialSpec> list{{}};
  for (const multibody::ModelSpec& model : scene.spec().world.models)
    for (const multibody::LinkSpec& link : model.links)
      list.push_back(link.inertial.value_or(multibody::InertialSpec{}));
  return list;
}

/// Geometries by body; the friction of a geometry is that of the pair with itself, which the pair rule leaves as it is.
/// Poses are those of the start.
Json bodies(const Scene& scene) {
  Json list = Json::array();
  multibody::Kinematics kinematics = scene.model().make_kinematics();
  scene.model().update(scene.initial_configuration(), kinematics);
  const std::vector<multibody::InertialSpec> inertial = inertials(scene);
  const auto all = scene.model().bodies();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RigidTransform& X = kinematics.X_WB[i];
    const Eigen::Matrix3d& I = inertial[i].I_Com_L;
    list.push_back(
        {{"name", all[i].name},
         {"mass", number(all[i].mass)},
         {"parent", all[i].parent < 0 ? Json(nullptr) : Json(all[all[i].parent].name)},
         {"fixed", all[i].weld_group == 0},
         {"position", numbers(Eigen::Vector3d(X.translation()))},
         {"quat_wxyz", numbers(quat_wxyz_from_rotation(X.linear()))},
         {"com_B", numbers(inertial[i].p_LCom)},
         {"inertia_B", numbers(Eigen::Vector<double, 6>(I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)))},
         {"geometries", Json::array()}});
  }
  int index = 0;
  for (const collision::GeometryInfo& geometry : scene.collision_world().geometries()) {
    Json entry{{"name", geometry.name}, {"kind", geometry.kind}, {"mu", number(scene.friction(index, index).mu)}};
    if (geometry.hull_vertices > 0) entry["hull_vertices"] = geometry.hull_vertices;
    list[geometry.body]["geometries"].push_back(entry);
    ++index;
  }
  return list;
}

/// What a coordinate follows: multiplier · joint + offset; null: nothing. One that is held has no joint.
Json mimic(const multibody::ModelSpec& model, const std::string& coordinate) {
  for (const multibody::CouplingSpec& coupling : model.couplings) {
    if (coupling.follower != coordinate) continue;
    const bool is_held = coupling.leader.empty();
    return {{"joint", is_held ? Json(nullptr) : Json(model.name + "/" + coupling.leader)},
            {"multiplier", is_held ? 0.0 : coupling.ratio},
            {"offset", coupling.offset}};
  }
  return nullptr;
}

/// One entry per axis of a joint, in the order of the files; what has no axis has no limits (null).
Json joints(const Scene& scene) {
  Json list = Json::array();
  const auto add = [&](const multibody::ModelSpec& model, const multibody::JointSpec& joint, const std::string& name,
                       const char* type, const multibody::JointAxisSpec* axis) {
    const auto full = [&](const std::string& link) {
      return link == "world" ? link : model.inline_body ? model.name : model.name + "/" + link;
    };
    list.push_back({{"name", model.name + "/" + name},
                    {"type", type},
                    {"parent", full(joint.parent)},
                    {"child", full(joint.child)},
                    {"axis", axis == nullptr ? Json(nullptr) : numbers(axis->axis_J)},
                    {"lower", axis == nullptr ? Json(nullptr) : number(axis->lower)},
                    {"upper", axis == nullptr ? Json(nullptr) : number(axis->upper)},
                    {"mimic", axis == nullptr ? Json(nullptr) : mimic(model, axis->coordinate)}});
  };
  for (const multibody::ModelSpec& model : scene.spec().world.models) {
    for (const multibody::JointSpec& joint : model.joints) {
      for (const multibody::JointAxisSpec& axis : joint.axes)
        add(model, joint, axis.coordinate, axis.rotational ? "revolute" : "prismatic", &axis);
      if (joint.kind == multibody::JointKind::kAxes) continue;
      add(model, joint, joint.name,
          joint.kind == multibody::JointKind::kFixed  ? "fixed"
          : joint.kind == multibody::JointKind::kBall ? "ball"
                                                      : "free",
          nullptr);
    }
  }
  return list;
}

Json robots(const Scene& scene) {
  Json list = Json::array();
  for (const scene::Robot& robot : scene.robots()) {
    Json joints = Json::array();
    for (int i = 0; i < robot.nu; ++i) joints.push_back(scene.model().coordinates()[robot.q(i)].name);
    list.push_back({{"name", robot.name}, {"joints", joints}, {"stiffness", numbers(robot.stiffness)}});
    // What is not limited needs no word.
    const auto add_limit = [&](const char* key, const Eigen::VectorXd& limit) {
      if (!limit.array().isInf().all()) list.back()[key] = numbers(limit);
    };
    add_limit("effort_limit", robot.effort_limit);
    add_limit("velocity_limit", robot.velocity_limit);
    if (robot.drive != scene::Drive::kForce) continue;
    list.back()["stiffness"] = nullptr;
    list.back()["drive"] = "force";
  }
  return list;
}

Json settings(const Scene& scene) {
  const scene::StepSettings& step = scene.settings().step;
  return {{"gravity", numbers(scene.spec().gravity_W)},
          {"h", number(step.h)},
          {"model", to_string(step.model)},
          {"dynamics", to_string(step.dynamics)},
          {"cone", to_string(step.cone)},
          {"rays", scene.plane() == scene::Plane::kSpace ? step.rays : 2},
          {"kappa", step.kappa == kInfinity ? Json(nullptr) : number(step.kappa)},
          {"contact_margin", number(step.contact_margin)},
          {"unactuated_mass_scale", step.objects_move ? number(step.unactuated_mass_scale) : Json(0.0)},
          {"friction_law", to_string(step.friction_law)}};
}

Json contacts(const Scene& scene) {
  scene::SceneState state = scene.make_state();
  scene.update(scene.initial_configuration(), state);
  scene.find_contacts(scene.settings().step.contact_margin, state);
  const std::vector<std::string> names = scene.names_bodies();
  Json list = Json::array();
  for (const collision::ContactPair& contact : state.contacts) {
    const Eigen::Vector3d point = 0.5 * (contact.p_WA + contact.p_WB);
    list.push_back({{"a", names[contact.body_a]},
                    {"b", names[contact.body_b]},
                    {"gap", number(contact.gap)},
                    {"normal", numbers(contact.nhat_BA_W)},
                    {"point", numbers(point)},
                    {"mu", number(scene.friction(contact.geometry_a, contact.geometry_b).mu)}});
  }
  return list;
}

Json describe(const Scene& scene) {
  int nq_u = 0, nq_a = 0;
  Json objects = Json::array();
  for (const scene::Object& object : scene.objects()) {
    nq_u += object.nq;
    objects.push_back({{"name", object.name}, {"nq", object.nq}, {"nv", object.nv}, {"mass", number(object.mass)}});
  }
  for (const scene::Robot& robot : scene.robots()) nq_a += robot.nu;
  return {{"name", scene.spec().name},
          {"nq", scene.nq()},
          {"nv", scene.nv()},
          {"nu", scene.nu()},
          {"q", coordinates(scene)},
          {"nq_u", nq_u},
          {"nq_a", nq_a},
          {"bodies", bodies(scene)},
          {"joints", joints(scene)},
          {"robots", robots(scene)},
          {"objects", objects},
          {"settings", settings(scene)},
          {"contacts", contacts(scene)}};
}

/// A value in a few digits; a dash for what is absent.
std::string shown(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text = "[";
  for (const Json& entry : value) text += (text.size() > 1 ? ", " : "") + shown(entry);
  return text + "]";
}

void print_scene(const Json& info) {
  fmt::print("{}  nq {} (objects {}, robots {})  nv {}  nu {}\n", shown(info["name"]), shown(info["nq"]),
             shown(info["nq_u"]), shown(info["nq_a"]), shown(info["nv"]), shown(info["nu"]));
  fmt::print("\nconfiguration\n");
  for (const Json& q : info["q"])
    fmt::print("  {:>4}  {:<36} {:<4} {:>12} … {}\n", shown(q["index"]), shown(q["name"]), shown(q["unit"]),
               shown(q["lower"]), shown(q["upper"]));
  fmt::print("\nbodies\n");
  for (const Json& body : info["bodies"]) {
    fmt::print("  {:<36} {} kg\n", shown(body["name"]), shown(body["mass"]));
    for (const Json& geometry : body["geometries"])
      fmt::print("      {:<40} {:<12} mu {}\n", shown(geometry["name"]), shown(geometry["kind"]),
                 shown(geometry["mu"]));
  }
  fmt::print("\nrobots\n");
  for (const Json& robot : info["robots"])
    fmt::print("  {:<20} {} joints, {}\n", shown(robot["name"]), robot["joints"].size(),
               robot.contains("drive") ? "driven by forces" : "stiffness " + shown(robot["stiffness"]));
  fmt::print("\nobjects\n");
  for (const Json& object : info["objects"])
    fmt::print("  {:<20} nq {}  nv {}  {} kg\n", shown(object["name"]), shown(object["nq"]), shown(object["nv"]),
               shown(object["mass"]));
  fmt::print("\nsettings\n");
  for (const auto& [key, value] : info["settings"].items()) fmt::print("  {:<24} {}\n", key, shown(value));
  fmt::print("\ncontacts at the start ({})\n", info["contacts"].size());
  for (const Json& contact : info["contacts"]) {
    fmt::print("  {:<24} {:<24} gap {:>12} m  mu {}  at {}\n", shown(contact["a"]), shown(contact["b"]),
               shown(contact["gap"]), shown(contact["mu"]), shown(contact["point"]));
  }
}

int run(const InfoOptions& options) {
  apply(options.output);
  if (options.settings) {
    const std::string help = io::settings_help() + io::plan_settings_help() + io::optimize_settings_help() +
                             io::track_settings_help() + io::disturbance_help() + io::control_settings_help();
    if (options.output.json)
      print_json({{"settings", help}});
    else
      fmt::print("{}", help);
    return kDone;
  }
  if (options.scene.scene.empty()) throw InputError({}, "info needs a SCENE, or --settings");
  Diagnostics diagnostics;
  const Scene scene = load(options.scene, options.output, diagnostics);
  const Json info = describe(scene);
  if (options.output.json)
    print_json(info);
  else
    print_scene(info);
  return kDone;
}

}  // namespace

Command add_info(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("info", "What a scene holds: models, coordinates, bodies, settings, contacts at the start");
  const auto options = std::make_shared<InfoOptions>();
  add_scene_options(*command, options->scene, false);
  command->add_flag("--settings", options->settings, "Every setting with unit, range, default and meaning");
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
