#pragma once
// The parts of reading a scene, one .cpp each, and what they share. Internal to io.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/io/text/yaml_reader.hpp"
#include "deft/scene/description/model_files.hpp"
#include "deft/scene/description/scene_spec.hpp"
#include "deft/scene/description/world_names.hpp"

namespace deft::io {

/// One scene while it is read: the merged tree on one side, the specification on the other.
struct SceneReading {
  /// Both must outlive this object.
  SceneReading(const scene::ModelFiles& model_files, Diagnostics& problems)
      : files(model_files), diagnostics(problems), read(problems) {}

  const scene::ModelFiles& files;  // finds and reads model files
  Diagnostics& diagnostics;        // every problem found
  const YamlReader read;           // reports to `diagnostics`
  scene::SceneSpec spec;           // what was read so far

  std::set<std::string> unreadable;      // models whose file or body failed: no further complaints about their names
  std::vector<scene::ModelNames> names;  // filled once the world is complete
  bool models_known = true;              // false when a file of directives is missing: any name may be right
  bool lengths_known = true;             // false after errors that change how many coordinates a model has

  /// Whether a name may be called unknown: not while files of models or directives are missing.
  bool all_read() const { return models_known && unreadable.empty(); }
  /// Whether a model of this name is there, failed to be read, or may be in a file that is missing.
  bool may_exist(const std::string& model) const {
    return !models_known || unreadable.count(model) > 0 || find_names(model) != nullptr;
  }
  /// The names of a model, nullptr if there is none.
  const scene::ModelNames* find_names(const std::string& model) const;
  /// All models of the world, then the unreadable ones, then free bodies with names of their own; for suggestions in
  /// messages.
  std::vector<std::string> model_names() const;
  /// The file behind a name written in `node`; reports every path tried if there is none.
  std::optional<std::string> find_file(const YamlNode& node, std::string_view what);
  /// Loads a model file under a name (empty: the model's own) and appends it to the world. @returns nullptr after an
  /// error.
  const multibody::ModelSpec* add_model(const YamlNode& file, const std::string& name, const SourceLocation& name_at);
  /// Appends a model to the world, unless its name is taken or bad.
  const multibody::ModelSpec* append_model(multibody::ModelSpec model, const SourceLocation& where);
};

/// Models, frames, welds and filter groups that directives state. Two passes: models first (add_directives opened, with
/// their name spaces), then, when inline bodies and objects are there too, everything that refers to names.
class DirectiveReader {
 public:
  /// @param scene  takes models, frames and problems; must outlive this object.
  explicit DirectiveReader(SceneReading& scene) : scene_(scene) {}
  /// A `model_directive: FILE` or the file of an `add_directives`.
  void read_file(const YamlNode& file, const std::string& name_space);
  /// The list behind `directives:`.
  void read_list(const YamlNode& list, const std::string& name_space);
  /// Resolves frames, welds, filter groups and default poses.
  void resolve();

 private:
  struct Directive {
    YamlNode node;                        // the value behind add_…
    std::string kind, name_space, model;  // `model` of a default_free_body_pose
  };
  void read_add_model(const YamlNode& node, const std::string& name_space);
  void read_default_joints(const YamlNode& node, const multibody::ModelSpec& model);
  void resolve_frame(const Directive& directive);
  void resolve_weld(const Directive& directive);
  void resolve_group(const Directive& directive);
  void resolve_free_poses(const Directive& directive);

  SceneReading& scene_;
  std::vector<Directive> later_;
  std::vector<std::string> open_files_;  // of nested add_directives
  std::set<std::string> instances_;      // add_model_instance
};

/// `bodies:` → one inline model each, appended to the world.
void read_bodies(const YamlNode& bodies, SceneReading& scene);

/// `limit_surface:` of a body or an object: [a, b, c], a 3×3 matrix, or {support, pressure, mu, force}.
void read_limit_surface(const YamlNode& node, const std::string& model, SceneReading& scene);

/// Loads the files that items of `objects:` name; before SceneReading::names is filled.
void read_object_files(const YamlNode& objects, SceneReading& scene);
/// `robots:` → SceneSpec::robots; after the step's settings, because the step model decides whether stiffness is
/// needed.
void read_robots(const YamlNode& robots, SceneReading& scene);
/// `objects:` → SceneSpec::objects and limit surfaces; after the robots, since nothing may be both.
void read_objects(const YamlNode& objects, SceneReading& scene);
/// `friction:` → default coefficient, ellipsoid and pairs of bodies.
void read_friction(const YamlNode& friction, SceneReading& scene);

/// One placement: `{hand: {joint_1: 0.75}, ball: {position: […]}}`. @param skip  keys that are no models (`tolerance`).
scene::ConfigurationSpec read_configuration(const YamlNode& node, const std::string& name, std::string_view skip,
                                            SceneReading& scene);
/// `configurations:` → named placements.
void read_configurations(const YamlNode& node, SceneReading& scene);
/// `initial:`, the name of a configuration, or a placement, which becomes a configuration of its own.
void read_initial(const YamlNode& node, SceneReading& scene);
/// `commands:`: knots by robot with ascending times, formulas, servo; after the robots.
void read_commands(const YamlNode& node, SceneReading& scene);
/// `commands.servo:`, for velocity commands only.
void read_servo(const YamlNode& node, SceneReading& scene);
/// `commands.formulas:`, for velocity commands only; a list or a map by joint for each robot.
void read_formulas(const YamlNode& node, SceneReading& scene);
/// `goals:`: placements with tolerances.
void read_goals(const YamlNode& node, SceneReading& scene);
/// `control:` → SceneSpec::control; after the configurations, one of which may be the goal.
void read_control(const YamlNode& node, SceneReading& scene);
/// `wrenches:`: external forces, torques and impulses on bodies, in the world frame.
void read_wrenches(const YamlNode& node, SceneReading& scene);

}  // namespace deft::io
