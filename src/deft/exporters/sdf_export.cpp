#include "deft/exporters/sdf_export.hpp"

#include <fmt/format.h>
#include <tinyxml2.h>

#include <algorithm>
#include <filesystem>
#include <variant>

#include "deft/exporters/assets.hpp"
#include "deft/exporters/directive_text.hpp"
#include "deft/exporters/link_tree.hpp"
#include "deft/exporters/sdf_model.hpp"
#include "deft/io/runs/run_folder.hpp"

namespace deft::exporters {
namespace {

namespace fs = std::filesystem;

/// A MultibodyPlantConfig of Drake.
constexpr const char* kPlantConfig =
    "time_step: 0.002                                # s\n"
    "contact_model: hydroelastic_with_fallback       # patches between flat shapes, points else\n"
    "discrete_contact_approximation: lagged\n"
    "stiction_tolerance: 1.0e-4                      # m/s, slower counts as sticking\n";

void write_models(const LinkTree& links, SdfModels& models, const fs::path& folder, Exported& out) {
  for (std::size_t m = 0; m < links.tree().models.size(); ++m) {
    tinyxml2::XMLDocument document;
    tinyxml2::XMLElement* const root = document.NewElement("sdf");
    document.InsertEndChild(root);
    root->SetAttribute("version", "1.9");
    root->SetAttribute("xmlns:drake", "drake.mit.edu");
    models.write(static_cast<int>(m), *root);
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    out.files.push_back((folder / (links.tree().models[m].name + ".sdf")).string());
    io::publish_text(out.files.back(), printer.CStr());
  }
}

Exported write(const scene::Scene& scene, const std::string& to, bool has_directive_file) {
  Exported out;
  const LinkTree links(scene);
  Assets assets(to);
  SdfModels models(links, has_directive_file ? SdfReader::kDrake : SdfReader::kAny, assets, out.notes);
  const fs::path folder = to;
  const std::string& name = scene.spec().name;
  const auto publish = [&](const std::string& file, const std::string& text) {
    out.files.push_back((folder / file).string());
    io::publish_text(out.files.back(), text);
  };
  const std::string directives = directive_text(links, name, ".sdf", out.notes);
  if (has_directive_file) publish(name + ".dmd.yaml", directives);
  publish(name + ".deft.yaml",
          overlay_text(links, has_directive_file ? "model_directive: " + name + ".dmd.yaml\n" : directives, out.notes));
  write_models(links, models, folder, out);
  publish("package.xml", package_text(name));
  out.files.insert(out.files.end(), assets.files().begin(), assets.files().end());
  out.notes.insert(out.notes.end(), links.notes().begin(), links.notes().end());
  note_losses(links, true, out.notes);
  if (!has_directive_file) {
    out.notes.push_back("the start, welds between models, stiffness and friction of pairs are in " + name +
                        ".deft.yaml");
    return out;
  }
  publish(name + ".plant.yaml", kPlantConfig);
  out.notes.push_back("stiffness of robots, gravity and friction of pairs are in " + name + ".deft.yaml");
  out.notes.push_back("steps and contacts, for AddMultibodyPlant with a MultibodyPlantConfig, are in " + name +
                      ".plant.yaml; with Drake's own what is gripped slips");
  if (!scene.robots().empty() && !scene.settings().step.robot_gravity)
    out.notes.push_back("robots carry their own weight here; in Drake call set_gravity_enabled(robot, False)");
  const auto geometries = links.geometries();
  const auto boxes = std::count_if(geometries.begin(), geometries.end(), [](const LinkGeometry& geometry) {
    return std::holds_alternative<multibody::HalfSpaceSpec>(geometry.spec->shape);
  });
  if (boxes > 0)
    out.notes.push_back(
        fmt::format("half spaces on links can end Drake: {} are boxes of {:g} m", boxes, kGroundWidth_m));
  return out;
}

}  // namespace

Exported export_sdf(const scene::Scene& scene, const std::string& folder) { return write(scene, folder, false); }

Exported export_directives(const scene::Scene& scene, const std::string& folder) { return write(scene, folder, true); }

}  // namespace deft::exporters
