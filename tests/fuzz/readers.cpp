#include "readers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <variant>

#include "apps/cli/solve_problem.hpp"
#include "deft/collision/shapes/painted_mesh.hpp"
#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/collision/shapes/weigh.hpp"
#include "deft/core/diagnostics.hpp"
#include "deft/core/log.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/multibody/load_model.hpp"

namespace deft::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr double kSolveLimit_s = 2;  // as in `deft solve --time-limit 2`

// Two models that scenes of the corpus name.
constexpr const char* kArm = R"(<sdf version="1.9"><model name="arm">
  <link name="base"/><link name="upper"><inertial><mass>1</mass></inertial>
    <collision name="c"><geometry><sphere><radius>0.05</radius></sphere></geometry></collision></link>
  <joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="joint_0" type="revolute"><parent>base</parent><child>upper</child>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
</model></sdf>)";
constexpr const char* kBox = R"(<robot name="box"><link name="box">
  <inertial><mass value="0.3"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link></robot>)";

void write(const fs::path& file, std::span<const char> bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
}

void read_scene(const std::string& path) {
  Diagnostics diagnostics;
  io::load_scene(path, {}, diagnostics);
}

void read_model(const std::string& path) {
  Diagnostics diagnostics;
  if (!multibody::load_model(path, {}, diagnostics)) diagnostics.throw_if_errors();
}

void read_mjcf(const std::string& path) {
  Diagnostics diagnostics;
  std::optional<multibody::ModelSpec> model = multibody::load_model(path, {}, diagnostics);
  if (model) collision::weigh(*model, diagnostics);
  diagnostics.throw_if_errors();
}

/// As it collides and as it is drawn: each may refuse it.
void read_mesh(const std::string& path) {
  try {
    collision::read_painted_mesh({.path = path});
  } catch (const InputError&) {
    collision::read_mesh({.path = path});
    throw;
  }
  collision::read_mesh({.path = path});
}

void read_problem(const std::string& path) { io::read_problem(path); }

void solve_problem(const std::string& path) {
  const io::ProblemFile problem = io::read_problem(path);
  cli::SolveOptions options;
  options.time_limit_s = kSolveLimit_s;
  options.output.quiet = true;
  cli::ProblemSolvers solvers;
  std::visit([&](const auto& file) { solvers.solve(file, options); }, problem);
}

void read_run(const std::string& path) {
  io::read_run(path);
  io::read_plan_header(path);
  io::read_plan(path);
}

constexpr std::array kReaders{
    Reader{"scene", "scene.deft.yaml", read_scene},
    Reader{"q_sys", "scene.yml", read_scene},
    Reader{"directives", "scene.dmd.yaml", read_scene},
    Reader{"urdf", "model.urdf", read_model},
    Reader{"sdf", "model.sdf", read_model},
    Reader{"mjcf", "model.mjcf", read_mjcf},
    Reader{"obj", "mesh.obj", read_mesh},
    Reader{"stl", "mesh.stl", read_mesh},
    Reader{"dae", "mesh.dae", read_mesh},
    Reader{"ply", "mesh.ply", read_mesh},
    Reader{"gltf", "mesh.gltf", read_mesh},
    Reader{"glb", "mesh.glb", read_mesh},
    Reader{"problem", "problem.json", read_problem},
    Reader{"solve", "problem.json", solve_problem},
    Reader{"run", "run.h5", read_run},
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader& find_reader(const std::string& name) {
  std::string names;
  for (const Reader& reader : kReaders) {
    if (reader.name == name) return reader;
    names += fmt::format(" {}", reader.name);
  }
  throw std::invalid_argument(fmt::format("there is no reader '{}'; there are:{}", name, names));
}

ReadingFolder::ReadingFolder() {
  log::set_level(log::Level::kError);
  path_ = (fs::temp_directory_path() / fmt::format("deft_fuzz_{}", getpid())).string();
  fs::create_directories(path_);
  write(fs::path(path_) / "arm.sdf", std::string_view(kArm));
  write(fs::path(path_) / "box.urdf", std::string_view(kBox));
}

ReadingFolder::~ReadingFolder() {
  std::error_code gone_already;
  fs::remove_all(path_, gone_already);
}

bool ReadingFolder::read(const Reader& reader, std::span<const char> bytes) const {
  const fs::path file = fs::path(path_) / reader.file;
  write(file, bytes);
  try {
    reader.read(file.string());
  } catch (const InputError&) {
    return false;
  }
  return true;
}

}  // namespace deft::fuzz
