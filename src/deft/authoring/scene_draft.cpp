#include "deft/authoring/scene_draft.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "deft/authoring/object_places.hpp"
#include "deft/authoring/placement.hpp"
#include "deft/authoring/scene_text.hpp"
#include "deft/core/index.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/scene/description/model_files.hpp"

namespace deft::authoring {
namespace {

namespace fs = std::filesystem;
using scene::Scene;

constexpr double kAboveGround = 0.02;  // [m] of the lowest part of a hand
constexpr double kOverlap = 1e-3;      // [m] by which bodies may overlap at the start
constexpr double kDrop = 0.1;          // [m] from which a robot that floats is let down to the ground

/// Names of robots and what they stand for, below the folder of bundled scenes.
constexpr std::pair<const char*, const char*> kRobots[] = {{"allegro", "models/allegro_right.sdf"},
                                                           {"gripper", "models/gripper_parallel.sdf"},
                                                           {"iiwa", "models/iiwa7.sdf"},
                                                           {"three_link_arm", "models/three_link_arm.sdf"}};

/// A model name from what a file calls its model: letters, digits, _, - and points, and none of `taken`.
std::string free_name(std::string name, std::set<std::string>& taken) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
  if (name.empty()) name = "model";
  std::string free = name;
  for (int k = 2; !taken.insert(free).second; ++k) free = fmt::format("{}_{}", name, k);
  return free;
}

/// A model file as it was found, and how the scene names it.
struct Found {
  std::string path, uri;
  multibody::ModelSpec model;
};

class Finder {
 public:
  Finder(const DraftRequest& request, Diagnostics& diagnostics)
      : request_(request), diagnostics_(diagnostics), files_(request.package_paths, request.bundled_scenes) {}

  Found robot() {
    return find(request_.robot, "robot", bundled_robots(request_.bundled_scenes), [](const std::string& name) {
      for (const auto& [word, file] : kRobots)
        if (name == word) return std::string(file);
      return std::string();
    });
  }
  Found object(const std::string& name) {
    const auto all = bundled_objects(request_.bundled_scenes);
    return find(name, "object", all, [&](const std::string& word) {
      return std::find(all.begin(), all.end(), word) != all.end() ? "objects/" + word + ".sdf" : std::string();
    });
  }

 private:
  template <typename Bundled>
  Found find(const std::string& name, const char* what, const std::vector<std::string>& names, Bundled bundled) {
    Found found;
    if (const std::string file = bundled(name); !file.empty() && !fs::is_regular_file(name)) {
      found.uri = "package://deft_scenes/" + file;
      found.path = files_.find(found.uri, "").path;
    } else if (fs::is_regular_file(name) || name.find("://") != std::string::npos) {
      found.path = files_.find(name, "").path;
      if (found.path.empty()) throw InputError({}, fmt::format("{} '{}': no such file", what, name));
      const fs::path folder = fs::absolute(request_.out).parent_path();
      found.uri = name.find("://") != std::string::npos ? name : fs::relative(found.path, folder).string();
    } else {
      throw InputError({}, fmt::format("{} '{}' is neither a model file nor a bundled one{}", what, name,
                                       did_you_mean(name, names)));
    }
    auto model = files_.load(found.path, diagnostics_);
    if (!model) throw InputError(diagnostics_.all());
    found.model = std::move(*model);
    return found;
  }

  const DraftRequest& request_;
  Diagnostics& diagnostics_;
  scene::ModelFiles files_;
};

/// Links that nothing holds, or a joint that leaves them free.
std::vector<std::string> loose_links(const multibody::ModelSpec& model) {
  std::vector<std::string> loose;
  if (model.is_static) return loose;
  for (const multibody::LinkSpec& link : model.links) {
    const auto holds = [&](const multibody::JointSpec& joint) {
      return joint.child == link.name && joint.kind != multibody::JointKind::kFree;
    };
    if (std::none_of(model.joints.begin(), model.joints.end(), holds)) loose.push_back(link.name);
  }
  return loose;
}

/// The loose link that carries the joints of a robot; empty if its file fixes it.
std::string loose_base(const multibody::ModelSpec& model) {
  for (const std::string& base : loose_links(model)) {
    std::set<std::string> carried{base};
    for (std::size_t k = 0; k < model.joints.size(); ++k) {  // a joint may come before the one that carries it
      for (const multibody::JointSpec& joint : model.joints) {
        if (!carried.contains(joint.parent)) continue;
        if (joint.kind == multibody::JointKind::kAxes) return base;
        carried.insert(joint.child);
      }
    }
  }
  return {};
}

/// Whether the file itself says that a link moves freely.
bool is_freed(const multibody::ModelSpec& model, const std::string& link) {
  return std::any_of(model.joints.begin(), model.joints.end(), [&](const multibody::JointSpec& joint) {
    return joint.child == link && joint.kind == multibody::JointKind::kFree;
  });
}

/// @throws InputError for a base that is to float and is fixed by its file.
bool is_to_float(const DraftRequest& request, const multibody::ModelSpec& model, const std::string& base) {
  if (!request.base) return !base.empty() && is_freed(model, base);
  if (*request.base == Base::kFloating && base.empty())
    throw InputError(model.where, fmt::format("--base floating: '{}' is fixed to the world by its file", model.name));
  return *request.base == Base::kFloating;
}

/// A file that is gone at the end.
struct Draft {
  explicit Draft(const DraftRequest& request)
      : path(fs::absolute(request.out).parent_path() / fmt::format(".{}.draft", getpid())) {}
  ~Draft() {
    std::error_code gone;
    fs::remove(path, gone);
  }
  fs::path path;
};

/// The text as a scene: written beside its place, where its relative names hold, and taken away again.
Scene build(const SceneText& text, const DraftRequest& request) {
  const Draft draft(request);
  std::ofstream file(draft.path);
  file << to_yaml(text);
  file.close();
  if (!file) throw InputError({request.out, 0, 0}, "nothing can be written into its folder");
  Diagnostics repeated;  // what is said of the models was said when they were read
  return io::load_scene(draft.path.string(),
                        {.package_paths = request.package_paths, .bundled_scenes = request.bundled_scenes}, repeated);
}

/// Without its stiffnesses, which the model file may state; else 1 for the time being.
void take_joints(const multibody::ModelSpec& model, SceneText& text) {
  const auto moves = [](const multibody::JointSpec& joint) { return joint.kind == multibody::JointKind::kAxes; };
  bool has_drives = true;
  std::size_t axes = 0;
  for (const multibody::JointSpec& joint : model.joints) {
    if (joint.kind == multibody::JointKind::kBall)
      throw InputError(joint.where, fmt::format("joint '{}' of '{}' cannot be driven: robots have hinges and slides",
                                                joint.name, model.name));
    if (!moves(joint)) continue;
    for (const multibody::JointAxisSpec& axis : joint.axes) {
      const bool follows = std::any_of(model.couplings.begin(), model.couplings.end(),
                                       [&](const auto& c) { return c.follower == axis.coordinate; });
      if (follows) continue;
      ++axes;
      has_drives = has_drives && axis.stiffness > 0;
    }
  }
  if (axes == 0)
    throw InputError(model.where, fmt::format("'{}' has no joint that could be driven: it is no robot", model.name));
  if (!has_drives) text.robot.stiffness.assign(axes, 1.0);
}

/// Height of the lowest point of a robot [m].
double lowest_of(const Scene& scene, const RobotFacts& facts, const Eigen::VectorXd& q) {
  scene::SceneState state = scene.make_state();
  scene.update(q, state);
  double lowest = INFINITY;
  for (const int body : facts.bodies) {
    const RigidTransform& X = state.X_WB()[to_size(body)];
    const Extent extent = extent_of(scene, body, X.linear());
    lowest = std::min(lowest, (X * extent.middle_B).z() - extent.half.z());
  }
  return lowest;
}

/// Mass of the object that the robot is to move.
double payload_of(const Scene& scene) {
  const auto objects = scene.objects();
  if (objects.empty()) return 0;
  const auto first = to_size(first_placed(scene));
  return objects[first < objects.size() ? first : 0].mass;
}

/// Free bodies of the robot's file that are no base of it stay where the file puts them.
std::vector<ObjectText> brought_objects(const Scene& scene, const Eigen::VectorXd& q) {
  std::vector<ObjectText> brought;
  for (int k = 0; k < first_placed(scene); ++k) {
    const scene::Object& object = scene.objects()[to_size(k)];
    if (!object.is_base) brought.push_back({.name = object.name, .file = {}, .X_WB = place_of(scene, k, q)});
  }
  return brought;
}

/// Lets the robot down to the ground with its joints as they start, and says what its base is called where nothing
/// fixes it. @throws InputError if something does all the same.
void let_float(const DraftRequest& request, SceneText& text, Diagnostics& diagnostics) {
  SceneText loose = text;
  loose.robot.base.clear();
  const Scene scene = build(loose, request);
  const auto objects = scene.objects();
  const auto base = std::find_if(objects.begin(), objects.end(), [](const scene::Object& o) { return o.is_base; });
  if (base == objects.end())
    throw InputError({}, fmt::format("--base floating: link '{}' of '{}' cannot float: it has no mass, or no inertia",
                                     text.robot.base, text.robot.name));
  const auto index = static_cast<int>(base - objects.begin());
  Eigen::VectorXd q = scene.initial_configuration();
  RigidTransform X_WBase = text.robot.X_WBase;
  place(scene, index, X_WBase, q);
  scene::SceneState state = scene.make_state();
  const bool stands = let_down(scene, state, index, true, q);
  if (stands) text.robot.X_WBase = place_of(scene, index, q);
  scene.update(q, state);
  if (!stands || gap_around(scene, state, index, kOverlap, false) < -kOverlap)
    diagnostics.warning({request.out, 0, 0}, stands ? "the robot meets an object where it stands"
                                                    : "the robot cannot be put on the ground: it starts in the air");
  text.robot.floating = base->name;
}

/// An object is put somewhere by its free body.
void check_object(const multibody::ModelSpec& model) {
  if (loose_links(model).empty())
    throw InputError(
        model.where,
        fmt::format("'{}' is fixed to the world by its file: as an object it could be put nowhere", model.name));
}

/// Folders as the scene file names them.
std::vector<std::string> from_folder_of(const std::string& out, const std::vector<std::string>& folders) {
  std::vector<std::string> relative;
  for (const std::string& folder : folders)
    relative.push_back(fs::relative(fs::absolute(folder), fs::absolute(out).parent_path()).string());
  return relative;
}

}  // namespace

std::vector<std::string> bundled_robots(const std::string& bundled_scenes) {
  std::vector<std::string> names;
  for (const auto& [name, file] : kRobots)
    if (fs::exists(fs::path(bundled_scenes) / file)) names.push_back(name);
  return names;
}

std::vector<std::string> bundled_objects(const std::string& bundled_scenes) {
  std::vector<std::string> names;
  const fs::path folder = fs::path(bundled_scenes) / "objects";
  if (!fs::is_directory(folder)) return names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".sdf") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string draft_scene(const DraftRequest& request, Diagnostics& diagnostics) {
  const Displacement goal = request.goal.empty() ? Displacement{} : read_goal_text(request.goal);
  Finder finder(request, diagnostics);
  std::set<std::string> taken{"ground", "world"};
  const Found robot = finder.robot();
  SceneText text{
      .robot = {.name = free_name(robot.model.name, taken), .file = robot.uri, .base = loose_base(robot.model)}};
  take_joints(robot.model, text);
  for (const std::string& name : request.objects) {
    const Found object = finder.object(name);
    check_object(object.model);
    text.objects.push_back({.name = free_name(object.model.name, taken), .file = object.uri});
  }
  text.package_paths = from_folder_of(request.out, request.package_paths);
  text.name = text.robot.name + (text.objects.empty() ? "" : "_" + text.objects[0].name);

  // A hand is turned and raised first, and what floats stands on the ground; all else needs to know where the base is,
  // which is held for the time being.
  const bool floats = is_to_float(request, robot.model, text.robot.base);
  Scene scene = build(text, request);
  RobotFacts facts = robot_facts(scene, 0);
  if (facts.tips.empty())
    throw InputError(
        robot.model.where,
        fmt::format("no link of '{}' that moves has a collision geometry: it could touch nothing", robot.model.name));
  if (!request.goal.empty() && request.objects.empty() && brought_objects(scene, facts.q_middle).empty())
    throw InputError({}, "--goal is about an object; name one after the robot");
  text.ground = 0;
  if (floats) {
    text.robot.X_WBase.translation().z() = kDrop - lowest_of(scene, facts, facts.q_middle);
  } else if (facts.is_hand && !text.robot.base.empty()) {
    text.robot.X_WBase.linear() = palm_up(scene, facts);
    scene = build(text, request);
    facts = robot_facts(scene, 0);
    text.robot.X_WBase.translation().z() = kAboveGround - std::min(0.0, lowest_of(scene, facts, facts.q_middle));
  }
  scene = build(text, request);
  facts = robot_facts(scene, 0);

  if (text.robot.stiffness.empty()) {
    text.robot.stiffness_comment = "stiffness: that of the drives in the model file";
  } else {
    scene::SceneState state = scene.make_state();
    scene.update(facts.q_middle, state);
    const Eigen::VectorXd K = joint_stiffness(scene, state, 0, facts, payload_of(scene), request.frequency);
    text.robot.stiffness.assign(K.begin(), K.end());
    text.robot.stiffness_comment =
        fmt::format("N·m/rad or N/m: each joint swings at {} Hz with the object at its end", request.frequency);
    scene = build(text, request);
  }

  const bool in_hand = facts.is_hand && !floats && !text.objects.empty();
  const Start start = in_hand ? start_in_hand(scene, facts, goal) : start_of_arm(scene, facts, goal);
  if (!start.found) diagnostics.warning({request.out, 0, 0}, start.why);
  const scene::Robot& driven = scene.robots()[0];
  for (int i = 0; i < driven.nu; ++i) {
    const std::string& name = scene.model().coordinates()[to_size(driven.q(i))].name;
    text.robot.joints.emplace_back(name.substr(name.find('/') + 1), start.q[driven.q(i)]);
  }
  for (std::size_t k = 0; k < text.objects.size(); ++k)
    text.objects[k].X_WB = place_of(scene, first_placed(scene) + static_cast<int>(k), start.q);
  for (ObjectText& brought : brought_objects(scene, start.q)) text.objects.push_back(std::move(brought));
  if (floats) let_float(request, text, diagnostics);
  if (!request.goal.empty()) {
    text.goal = request.goal;
    text.X_WGoal = start.X_WGoal.value_or(goal.of(text.objects[0].X_WB));
    if (start.X_WGoal)
      text.goal += ", as it then lies in the hand";
    else if (in_hand && start.found && goal.translation_W.isZero())
      diagnostics.warning(
          {request.out, 0, 0},
          "no way was found in which the object, turned, lies still in the hand: the goal is in the air");
  }
  build(text, request);  // what is handed over loads
  return to_yaml(text);
}

}  // namespace deft::authoring
