// deft view RUN: the page of a run folder, of one that was cut short too.

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "deft/core/log.hpp"
#include "deft/core/resources.hpp"
#include "deft/dynamics/body_poses.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "json.hpp"
#include "options.hpp"
#include "run_page.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;

struct ViewOptions {
  OutputOptions output;
  std::string run, beside;
  bool no_open = false;
};

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

/// Hands the page to the desktop's browser, which lives on by itself: the child of a child has no one to wait for it.
void open_in_browser(const std::string& page) {
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      const int nothing = open("/dev/null", O_RDWR);
      for (int stream = 0; stream <= 2 && nothing >= 0; ++stream) dup2(nothing, stream);
      execlp("xdg-open", "xdg-open", page.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// Poses of alternative motions, which runs of older programs hold as displacements only. Without its models a run is
/// shown without them.
void find_second_poses(const io::RunHeader& header, dynamics::Trajectory& motion) {
  if (!motion.searches_alternatives || !motion.second_X_WB.empty()) return;
  const fs::path file = fs::temp_directory_path() / fmt::format("deft_view_{}.deft.yaml", getpid());
  try {
    io::publish_text(file.string(), header.scene_yaml);
    Diagnostics diagnostics;
    dynamics::add_second_poses(io::load_scene(file.string(), {.bundled_scenes = resource("scenes")}, diagnostics),
                               motion);
  } catch (const std::exception& error) {
    log::warning(fmt::format("second motions are not drawn: {}", error.what()));
  }
  std::error_code ignored;
  fs::remove(file, ignored);
}

fs::path folder_of(const std::string& run) {
  return fs::is_directory(run) ? fs::path(run) : fs::path(run).parent_path();
}

/// What a run is called beside another one: its folder, since both may be runs of one scene.
std::string folder_name(const std::string& run) { return fs::canonical(folder_of(run) / ".").filename().string(); }

/// @throws InputError that names the run beside and the first body that differs.
void check_bodies(const std::string& beside, const dynamics::Trajectory& other, const std::string& run,
                  const dynamics::Trajectory& motion) {
  const std::vector<std::string>&here = motion.names_bodies, &there = other.names_bodies;
  if (here.size() != there.size())
    throw InputError({beside, 0, 0}, fmt::format("cannot be shown beside '{}': it has {} bodies, that run has {}", run,
                                                 there.size(), here.size()));
  for (std::size_t b = 0; b < here.size(); ++b)
    if (here[b] != there[b])
      throw InputError({beside, 0, 0},
                       fmt::format("cannot be shown beside '{}': its body {} is '{}', that run's is '{}'", run, b,
                                   there[b], here[b]));
}

int run(const ViewOptions& options) {
  apply(options.output);
  io::Run stored = io::read_run(options.run);
  if (stored.header.scene_json.empty()) {
    throw InputError({options.run, 0, 0},
                     "holds no drawing of its scene (attribute scene_json); 'deft sim' writes one");
  }
  const std::string page = (folder_of(options.run) / "run.html").string();
  std::optional<io::Run> other;
  std::optional<viewer::Beside> beside;
  if (!options.beside.empty()) {
    other = io::read_run(options.beside);
    check_bodies(options.beside, other->trajectory, options.run, stored.trajectory);
    beside = {
        .title = folder_name(options.beside), .title_here = folder_name(options.run), .trajectory = &other->trajectory};
  }
  const std::optional<io::StoredPlan> plan = io::read_plan(options.run);
  find_second_poses(stored.header, stored.trajectory);
  try {
    write_page(page, stored.header, stored.trajectory, plan, beside);
  } catch (const std::invalid_argument& error) {  // what the page refuses came from the file
    throw InputError({options.run, 0, 0}, fmt::format("is damaged: {}", error.what()));
  }
  if (options.output.json) {
    print_json({{"files", Json::array({page})}});
  } else {
    const int steps = stored.trajectory.num_steps();
    if (!options.output.quiet)
      fmt::print("{} {} to t = {:.6g} s{}\n", steps, steps == 1 ? "step" : "steps", stored.trajectory.t.back(),
                 stored.complete ? "" : ", cut short");
    if (!options.output.quiet && plan) fmt::print("tree of {} nodes\n", plan->nodes.size());
    fmt::print("{}\n", page);
  }
  if (!options.no_open && has_display()) open_in_browser(page);
  return kDone;
}

}  // namespace

Command add_view(CLI::App& app) {
  CLI::App* command = app.add_subcommand("view", "Write or refresh the page of a run folder and open it");
  const auto options = std::make_shared<ViewOptions>();
  command->add_option("RUN", options->run, "Run folder, or a run.h5")->required();
  command->add_option("--beside", options->beside, "A second run of the same bodies, drawn on the clock of the first");
  command->add_flag("--no-open", options->no_open, "Only write the page");
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
