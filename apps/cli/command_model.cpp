// deft model convex FILE: a concave mesh as a union of convex parts, an object made of it, and a page that shows both.

#include <CLI/CLI.hpp>
#include <array>
#include <cctype>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "deft/collision/decomposition/convex_parts.hpp"
#include "deft/collision/decomposition/decomposition_error.hpp"
#include "deft/collision/decomposition/part_files.hpp"
#include "deft/collision/shapes/weigh.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "deft/core/resources.hpp"
#include "deft/core/version.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/viewer/visual_json.hpp"
#include "json.hpp"
#include "options.hpp"
#include "run_page.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;
using collision::TriangleMesh;

struct ConvexOptions {
  OutputOptions output;
  std::string file, out;
  multibody::DecompositionSpec how;
  double scale = 1, density = 1000;  // metres per unit of the file, [kg/m³]
  bool force = false;
};

/// Of a body of uniform density that fills the parts, in the frame of the mesh.
multibody::InertialSpec inertial_of(const std::vector<std::string>& parts, double density) {
  multibody::ModelSpec model;
  multibody::LinkSpec& link = model.links.emplace_back();
  for (const std::string& file : parts)
    link.solids.push_back(
        {.shape = multibody::MeshSpec{file}, .density = density, .filling = multibody::MeshFilling::kHull});
  Diagnostics diagnostics;
  collision::weigh(model, diagnostics);
  diagnostics.throw_if_errors();
  return *link.inertial;
}

/// The object: the mesh to be drawn, its parts to be touched.
std::string object_sdf(const std::string& name, const std::string& mesh, double scale,
                       const std::vector<std::string>& parts, const multibody::InertialSpec& inertial) {
  const Eigen::Vector3d& com = inertial.p_LCom;
  const Eigen::Matrix3d& I = inertial.I_Com_L;
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<sdf version=\"1.11\">\n  <model name=\"{0}\">\n    <link name=\"{0}\">\n", name);
  text += fmt::format(
      "      <inertial>\n        <pose>{} {} {} 0 0 0</pose>\n        <mass>{}</mass>\n        <inertia><ixx>{}</ixx>"
      "<iyy>{}</iyy><izz>{}</izz><ixy>{}</ixy><ixz>{}</ixz><iyz>{}</iyz></inertia>\n      </inertial>\n",
      com.x(), com.y(), com.z(), inertial.mass, I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
  text += fmt::format(
      "      <visual name=\"mesh\"><geometry><mesh><uri>{0}</uri><scale>{1} {1} "
      "{1}</scale></mesh></geometry></visual>\n",
      mesh, scale);
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += fmt::format(
        "      <collision name=\"part_{0:03}\"><geometry><mesh "
        "optimization=\"convex_hull\"><uri>{1}</uri></mesh></geometry>"
        "</collision>\n",
        i, fs::path(parts[i]).filename().string());
  return text + "    </link>\n  </model>\n</sdf>\n";
}

/// The mesh and, at its side, its parts, which stay where they are.
std::string picture_yaml(const std::string& mesh, double scale, const std::vector<std::string>& parts, double width) {
  constexpr std::array<const char*, 8> kColors{"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                               "#66ccee", "#aa3377", "#bbbbbb", "#ee8866"};  // apart for all eyes
  std::string text = fmt::format(
      "deft: 1\nstep: {{h: 0.1}}\nbodies:\n  mesh:\n    joint: fixed\n    shape: {{mesh: {{file: \"{}\", scale: {}}}, "
      "color: \"#bbbbbb\"}}\n"
      "  parts:\n    joint: fixed\n    pose: {{translation: [{}, 0, 0]}}\n    shapes:\n",
      mesh, scale, width);
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += fmt::format("      - {{mesh: {{file: {}}}, color: \"{}\"}}\n", fs::path(parts[i]).filename().string(),
                        kColors[i % kColors.size()]);
  return text;
}

double width_of(const TriangleMesh& mesh) {
  double low = 0, high = 0;
  for (std::size_t i = 0; i < mesh.vertices.size(); i += 3) {
    low = i == 0 ? mesh.vertices[i] : std::min(low, mesh.vertices[i]);
    high = i == 0 ? mesh.vertices[i] : std::max(high, mesh.vertices[i]);
  }
  return high - low;
}

/// The page of a scene in which nothing moves.
void draw(const std::string& scene_file, const std::string& page) {
  Diagnostics expected;  // the mesh collides as its hull in the picture, which nothing touches
  const scene::Scene scene = io::load_scene(scene_file, {.bundled_scenes = resource("scenes")}, expected);
  const auto model = dynamics::make_step_model(scene);
  write_page(page, {scene.spec().name, scene.spec().merged_yaml, viewer::visual_json(scene), version()},
             dynamics::start_trajectory(*model, dynamics::initial_state(*model)));
}

/// A name for models, files and YAML: letters, digits, _, - and points.
std::string plain(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
  return name;
}

/// @throws InputError if the folder cannot be used, before anything is computed.
void check_folder(const ConvexOptions& options) {
  if (options.out.empty() || !fs::exists(options.out)) return;
  if (!fs::is_directory(options.out)) throw InputError({options.out, 0, 0}, "is a file, not a folder");
  if (!fs::is_empty(options.out) && !options.force)
    throw InputError({options.out, 0, 0},
                     "the folder is not empty; choose another with --out, or write into it with --force");
}

/// Makes it. @throws InputError with the reason.
fs::path make_folder(const std::string& out, const std::string& name) {
  if (out.empty()) return io::make_run_folder(out, name, false);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) throw InputError({out, 0, 0}, fmt::format("cannot make the folder: {}", error.message()));
  return out;
}

int run_convex(const ConvexOptions& options) {
  apply(options.output);
  check_folder(options);
  const TriangleMesh mesh = collision::read_mesh({options.file, Eigen::Vector3d::Constant(options.scale)});
  const std::string name = plain(fs::path(options.file).stem().string());
  log::info(fmt::format("{}: {} triangles", options.file, mesh.triangles.size() / 3));
  std::vector<TriangleMesh> found;
  try {
    found = collision::convex_parts(mesh, options.how);
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError({options.file, 0, 0}, error.what());
  }
  const collision::DecompositionError error = collision::decomposition_error(mesh, found);

  const fs::path folder = make_folder(options.out, name);
  std::vector<std::string> files = collision::write_parts(found, folder, name);
  const std::vector<std::string> parts = files;
  const std::string copy = plain(fs::path(options.file).filename().string());
  std::error_code other;
  if (!fs::equivalent(options.file, folder / copy, other))
    fs::copy_file(options.file, folder / copy, fs::copy_options::overwrite_existing);
  const auto file = [&](const std::string& ending) { return (folder / (name + ending)).string(); };
  io::publish_text(file(".sdf"), object_sdf(name, copy, options.scale, parts, inertial_of(parts, options.density)));
  io::publish_text(file(".deft.yaml"), picture_yaml(copy, options.scale, parts, 1.3 * width_of(mesh)));
  draw(file(".deft.yaml"), file(".html"));
  for (const char* ending : {".sdf", ".deft.yaml", ".html"}) files.push_back(file(ending));
  files.push_back((folder / copy).string());

  if (options.output.json) {
    print_json({{"parts", parts.size()},
                {"mesh_volume_m3", number(error.mesh_volume)},
                {"hull_volume_m3", number(error.hull_volume)},
                {"parts_volume_m3", number(error.parts_volume)},
                {"hausdorff_m", number(error.hausdorff)},
                {"files", files}});
    return kDone;
  }
  fmt::print("{} parts\n  volume     {:.4g} m³ of the mesh, {:.4g} m³ of its hull, {:.4g} m³ of the parts\n",
             parts.size(), error.mesh_volume, error.hull_volume, error.parts_volume);
  fmt::print("  Hausdorff  {:.3g} m (of the solids, at least)\nfiles\n", error.hausdorff);
  for (const std::string& written : files) fmt::print("  {}\n", written);
  fmt::print("open {}\n", file(".html"));
  return kDone;
}

}  // namespace

Command add_model(CLI::App& app) {
  CLI::App* command = app.add_subcommand("model", "Make models: convex parts of a concave mesh");
  command->require_subcommand(1);
  CLI::App* convex = command->add_subcommand("convex", "Decompose a concave mesh into convex parts (CoACD)");
  const auto options = std::make_shared<ConvexOptions>();
  convex->add_option("FILE", options->file, "Mesh file (STL, OBJ, DAE, MSH)")->required();
  convex
      ->add_option("--parts", options->how.parts,
                   "Largest number of parts (default: as many as the concavity asks for)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  convex
      ->add_option("--concavity", options->how.concavity,
                   "Largest concavity of a part, of the mesh scaled to a cube of edge 2 (default 0.05)")
      ->type_name("E")
      ->check(CLI::Range(0.01, 1.0));
  convex->add_option("--scale", options->scale, "Metres per unit of the file (default 1)")
      ->type_name("S")
      ->check(CLI::PositiveNumber);
  convex->add_option("--density", options->density, "Of the object [kg/m³] (default 1000)")
      ->type_name("D")
      ->check(CLI::PositiveNumber);
  convex->add_option("--out", options->out, "Folder of the parts (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  convex->add_flag("--force", options->force, "Write into a folder that is not empty");
  add_output_options(*convex, options->output);
  return {command, [options] { return run_convex(*options); }};
}

}  // namespace deft::cli
