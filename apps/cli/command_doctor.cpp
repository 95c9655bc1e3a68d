// deft doctor: what is loaded into this program, from where, whether anything is there twice, and which simulators of
// other people can be used.

#include <link.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "command.hpp"
#include "deft/core/resources.hpp"
#include "deft/core/version.hpp"
#include "deft/plant/plant.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "json.hpp"
#include "options.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;

struct Library {
  std::string name;     // "libpinocchio_default"
  std::string path;     // as loaded
  std::string version;  // of the file behind the links; empty if its name has none
};

/// "libhdf5_serial.so.103.3.0" → "libhdf5_serial" and "103.3.0".
std::pair<std::string, std::string> split(const std::string& file) {
  const std::size_t so = file.find(".so");
  if (so == std::string::npos) return {file, ""};
  return {file.substr(0, so), file.size() > so + 4 ? file.substr(so + 4) : ""};
}

/// The shared objects of this process in the order of loading.
std::vector<Library> loaded_libraries() {
  std::vector<Library> libraries;
  const auto add = [](dl_phdr_info* info, std::size_t, void* out) {
    if (info->dlpi_name == nullptr || *info->dlpi_name != '/') return 0;  // the program itself, the kernel's page
    const fs::path path = info->dlpi_name;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    const auto [name, version] = split((error ? path : real).filename().string());
    static_cast<std::vector<Library>*>(out)->push_back({name, path.string(), version});
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
  return libraries;
}

/// Libraries that are loaded more than once under one name.
std::vector<std::string> second_copies(const std::vector<Library>& libraries) {
  std::map<std::string, std::set<std::string>> paths;
  for (const Library& library : libraries) paths[library.name].insert(library.path);
  std::vector<std::string> doubled;
  for (const auto& [name, places] : paths) {
    if (places.size() > 1) doubled.push_back(fmt::format("{} is loaded from {}", name, fmt::join(places, " and ")));
  }
  return doubled;
}

/// Libraries that are loaded from elsewhere although the prefix has one of that name: LD_LIBRARY_PATH and LD_PRELOAD do
/// that.
std::vector<std::string> shadows(const std::vector<Library>& libraries, const fs::path& prefix) {
  std::vector<std::string> found;
  for (const Library& library : libraries) {
    const fs::path loaded = library.path, own = prefix / "lib" / loaded.filename();
    std::error_code error;
    if (fs::exists(own, error) && !fs::equivalent(own, loaded, error)) {
      found.push_back(fmt::format("{} shadows {}", loaded.string(), own.string()));
    }
  }
  return found;
}

/// The prefix that Pinocchio and its libraries come from.
std::string prefix_of(const std::vector<Library>& libraries) {
  for (const Library& library : libraries) {
    if (library.name.starts_with("libpinocchio")) return fs::path(library.path).parent_path().parent_path().string();
  }
  return "";
}

int run(const OutputOptions& output) {
  apply(output);
  const std::vector<Library> libraries = loaded_libraries();
  const std::string prefix = prefix_of(libraries);
  std::vector<std::string> problems = second_copies(libraries);
  if (prefix.empty()) problems.push_back("Pinocchio is not loaded");
  for (std::string& shadow : shadows(libraries, prefix)) problems.push_back(std::move(shadow));
  const std::string isa(solvers::kernels::active_isa());
  const std::vector<plant::Simulator> simulators = plant::find_simulators();

  if (output.json) {
    Json list = Json::array();
    for (const Library& library : libraries) {
      list.push_back({{"name", library.name},
                      {"path", library.path},
                      {"version", library.version.empty() ? Json(nullptr) : Json(library.version)}});
    }
    Json plants = Json::array();
    for (const plant::Simulator& simulator : simulators)
      plants.push_back({{"name", simulator.name},
                        {"version", simulator.version.empty() ? Json(nullptr) : Json(simulator.version)},
                        {"place", simulator.place.empty() ? Json(nullptr) : Json(simulator.place)},
                        {"missing", simulator.missing.empty() ? Json(nullptr) : Json(simulator.missing)}});
    print_json({{"version", version()},
                {"prefix", prefix},
                {"libraries", list},
                {"isa", isa},
                {"ok", problems.empty()},
                {"problems", problems},
                {"simulators", plants}});
  } else {
    fmt::print("deft {}\n  prefix  {}\n  isa     {}\n  scenes  {}\n", version(), prefix, isa, resource("scenes"));
    for (const Library& library : libraries)
      fmt::print("  {:<36} {:<12} {}\n", library.name, library.version, library.path);
    for (const plant::Simulator& simulator : simulators)
      fmt::print("  {:<36} {:<12} {}\n", "plant " + simulator.name,
                 simulator.version.empty() ? "absent" : simulator.version,
                 simulator.version.empty() ? simulator.missing : simulator.place);
    for (const std::string& problem : problems) fmt::print("problem: {}\n", problem);
    fmt::print("{}\n", problems.empty() ? "ok" : "not ok");
  }
  return problems.empty() ? kDone : kNotReached;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* command = app.add_subcommand("doctor", "What is installed and loaded, and what shadows what");
  const auto output = std::make_shared<OutputOptions>();
  add_output_options(*command, *output);
  return {command, [output] { return run(*output); }};
}

}  // namespace deft::cli
