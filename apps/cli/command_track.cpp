// deft track PLAN, deft replay PLAN: a plan on a plant, with a controller or as it is.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "command.hpp"
#include "deft/control/tracking_loop.hpp"
#include "deft/control/tracking_mpc.hpp"
#include "deft/core/log.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/disturbance_file.hpp"
#include "deft/planning/feasibility/success_rate.hpp"
#include "deft/plant/plant.hpp"
#include "deft/viewer/visual_json.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "problem_dump.hpp"
#include "progress.hpp"
#include "replanner.hpp"
#include "run_log.hpp"
#include "run_page.hpp"
#include "statistics.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;

struct TrackCommand {
  OutputOptions output;
  SceneOptions scene;                                      // its `scene` is the run folder
  std::string plant = "quasidynamic", controller = "mpc";  // one of kPlants, of kControllers
  bool replays = false;  // as it is: no re-timing, every command, nothing added at the end
  std::string disturb, out;
  int seeds = 1;
  bool force = false;
  DumpOptions dump;
};

/// The value of that name. @pre it is one of them.
template <typename Enum, std::size_t N>
Enum named(const std::array<Enum, N>& values, const std::string& word) {
  return *std::find_if(values.begin(), values.end(), [&](Enum value) { return to_string(value) == word; });
}
constexpr std::array kPlants{plant::PlantKind::kQuasidynamic, plant::PlantKind::kConvexSecondOrder,
                             plant::PlantKind::kStewartTrinkle, plant::PlantKind::kMujoco};
constexpr std::array kControllers{control::Controller::kOpenLoop, control::Controller::kMpc};
template <typename Enum, std::size_t N>
std::vector<std::string> words_of(const std::array<Enum, N>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(to_string(value));
  return words;
}

/// A plan with the scene it was made in.
struct Task {
  scene::Scene scene;
  control::TrackedPlan plan;
  Diagnostics warnings;
  double damping_h = 0;  // [s], what plant::object_damping takes: of the scene's step, not of the run's records
};

/// Whether the command can follow runs of this scene, whose records are `h` apart. @throws InputError naming the field.
void check_followed(const TrackCommand& options, const scene::Scene& scene, double h, const std::string& file) {
  const auto refuse = [&file](const std::string& what) { throw InputError({file, 0, 0}, what); };
  if (scene.velocity_commands()) refuse("commands velocities; only joint targets can be followed");
  if (options.replays) return;
  for (const scene::Robot& robot : scene.robots())
    if (robot.drive == scene::Drive::kForce)
      refuse(fmt::format(
          "robot '{}' has drive: force; only joint targets can be followed; 'deft replay' repeats forces", robot.name));
  if (options.controller != to_string(control::Controller::kMpc)) return;
  try {
    control::check_trackable(scene);
  } catch (const InputError& error) {
    refuse(error.diagnostics().front().message);
  }
  constexpr double kSame = 1e-6;  // relative
  if (const std::optional<double> step = scene.settings().step.h; step && std::abs(*step - h) > kSame * h)
    refuse(
        fmt::format("step.h: {} s, but the steps of the run are {:.12g} s long; the controller mpc predicts step by "
                    "step: valid: {:.12g}",
                    *step, h, h));
}

/// The scene as `--with` and `--set` change it, and the commands of the run. @throws InputError for what is no run, or
/// has no steps.
Task load_task(const TrackCommand& options) {
  const fs::path folder = options.scene.scene;
  const io::Run run = io::read_run(folder.string());
  if (run.trajectory.num_steps() == 0)
    throw InputError({folder.string(), 0, 0},
                     "holds no steps to follow; make a plan with 'deft plan' or a run with 'deft sim'");
  SceneOptions scene_options = options.scene;
  scene_options.scene = (fs::is_directory(folder) ? folder : folder.parent_path()) / "config.yaml";
  if (options.replays) {
    scene_options.settings.insert(scene_options.settings.begin(), "track.settle=0");  // --set may say otherwise
    scene_options.settings.push_back("track.speed=.inf");
  }
  Diagnostics diagnostics;
  Task task{load(scene_options, options.output, diagnostics), {}, {}};
  task.warnings = std::move(diagnostics);
  const dynamics::Trajectory& motion = run.trajectory;
  if (task.scene.names_q() != motion.names_q || task.scene.names_u() != motion.names_u)
    throw InputError(
        {scene_options.scene, 0, 0},
        fmt::format("is not the scene of {}: the coordinates or commands have other names", folder.string()));
  const double h = motion.t[1] - motion.t[0];
  check_followed(options, task.scene, h, scene_options.scene);
  if (options.replays && h < task.scene.settings().track.period)  // no command is passed over
    task.scene = task.scene.with([h](scene::SceneSettings& settings) { settings.track.period = h; });
  const auto model = dynamics::make_step_model(task.scene);
  task.damping_h = model->second_order() ? kInfinity : model->h();
  const auto vector = [](const std::vector<double>& values) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  };
  task.plan.h = h;
  for (const std::vector<double>& q : motion.q) task.plan.q.push_back(vector(q));
  for (const std::vector<double>& u : motion.u) task.plan.u.push_back(vector(u));
  if (options.replays && !motion.v.empty() && options.plant != "quasidynamic")
    task.plan.v_start = vector(motion.v.front());
  task.plan.u_start.resize(task.scene.nu());
  for (const scene::Robot& robot : task.scene.robots())
    for (int i = robot.first_u; i < robot.first_u + robot.nu; ++i)
      task.plan.u_start(i) = robot.drive == scene::Drive::kForce
                                 ? task.plan.u.front()(i)
                                 : task.plan.q.front()(task.scene.command_coordinates()[i]);
  return task;
}

/// One run on a plant of its own world.
struct TrackRun {
  control::TrackEnd end;
  dynamics::Trajectory motion;
  std::vector<std::string> settings;
  double replan_s = 0;
  int dumped = 0;  // problems of inner steps
};

/// Whom a run tells what it has come to: when it begins, and after each period.
struct Listener { std::function<void(const dynamics::Trajectory&)> begin, period; };

/// @param listener  of the run that is kept; null: only its numbers are.
TrackRun run_once(const TrackCommand& options, const Task& task, const scene::DisturbanceSpec& spec, std::uint64_t seed,
                  const Listener* listener, Progress& progress) {
  const control::Disturbance disturbance = control::draw_disturbance(spec, seed);
  Diagnostics repeated;
  const scene::Scene world = scene::Scene::build(control::disturbed(task.scene, disturbance), repeated);
  const scene::TrackSettings& settings = task.scene.settings().track;
  const bool dumps = listener != nullptr && !options.dump.folder.empty();
  ProblemDump dump(dumps ? options.dump : DumpOptions{}, world);
  int inner_step = 0;
  const std::function<void(const dynamics::StepResult&, const dynamics::StepModel&)> tell =
      [&](const dynamics::StepResult& result, const dynamics::StepModel& model) {
        dump.consider(inner_step++, result, model);
      };
  const auto plant =
      plant::make_plant(named(kPlants, options.plant), world,
                        {.step = settings.plant_step,
                         .damping_ratio = settings.damping_ratio,
                         .joint_lag = settings.joint_lag,
                         .object_damping = plant::object_damping(world, settings.object_damping, task.damping_h),
                         .on_step = dumps ? tell : nullptr});
  const std::optional<Eigen::VectorXd> settled = control::disturbed_start(world, task.plan.q.front(), disturbance);
  const Eigen::VectorXd q_start = settled ? *settled : control::moved_start(world, task.plan.q.front(), disturbance);
  TrackRun run{.settings = plant->settings()};
  run.motion = control::start_tracking(*plant, control::ReferencePath(task.scene, task.plan, settings.speed), q_start);
  if (listener != nullptr) listener->begin(run.motion);
  if (!settled) {
    run.end.status = control::TrackStatus::kStartFailed;
    run.end.final = run.end.largest = control::object_error(task.scene, q_start, task.plan.q.back());
    return run;
  }
  const Replanner replanner(task.scene, task.plan.q.back(), seed, options.scene.threads);
  control::TrackOptions track{.controller = named(kControllers, options.controller), .disturbance = disturbance};
  track.replan = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& u, std::uint64_t number) {
    return replanner(q, u, number);
  };
  track.record_contacts = listener != nullptr;
  track.on_period = [&](const dynamics::Trajectory& motion) {
    if (listener != nullptr) listener->period(motion);
    if (progress.due())
      progress.show(fmt::format("track seed {}  t {:.3g} s  off by {:.2g} m, {:.2g} rad  {:.1f} s", seed,
                                motion.t.back(), motion.tracks.back().position_error_m,
                                motion.tracks.back().rotation_error_rad, progress.seconds()));
    return !interrupted();
  };
  run.end = control::track(*plant, task.scene, task.plan, q_start, track, run.motion);
  run.replan_s = replanner.seconds();
  run.dumped = dump.written();
  return run;
}

Json error_of(const control::ObjectError& error) {
  return {{"position_m", number(error.position_m)}, {"rotation_rad", number(error.rotation_rad)}};
}

Json row_of(const TrackRun& run, std::uint64_t seed) {
  std::vector<double> periods;
  Json words = Json::object();
  for (const dynamics::TrackRecord& record : run.motion.tracks) {
    const std::string& word = run.motion.track_words[record.status];
    words[word] = words.value(word, 0) + 1;
    if (word != "Replanning") periods.push_back(record.period_us);
  }
  return {{"status", to_string(run.end.status)},
          {"success", run.end.success},
          {"final_error", error_of(run.end.final)},
          {"max_error", error_of(run.end.largest)},
          {"period_us", {{"p50", number(percentile(periods, 0.5))}, {"p99", number(percentile(periods, 0.99))}}},
          {"t_end", number(run.motion.t.back())},
          {"periods", words},
          {"replans", run.end.replans},
          {"replan_s", number(run.replan_s)},
          {"seed", seed}};
}

/// What many seeds say: those whose runs have ended.
Json statistics_of_tracks(const Json& all) {
  Json runs = Json::array();
  for (const Json& run : all)
    if (run["status"] != to_string(control::TrackStatus::kInterrupted)) runs.push_back(run);
  if (runs.empty()) return {{"seeds", 0}};
  int successes = 0;
  for (const Json& run : runs) successes += run["success"].get<bool>();
  const auto [low, high] = planning::wilson_interval(successes, static_cast<int>(runs.size()));
  Json table{{"seeds", runs.size()},
             {"successes", successes},
             {"success_rate", number(double(successes) / double(runs.size()))},
             {"wilson_95", {number(low), number(high)}}};
  for (const char* error : {"final_error", "max_error"}) {
    for (const char* part : {"position_m", "rotation_rad"}) {
      std::vector<double> values;
      for (const Json& run : runs)
        values.push_back(run[error][part].is_number() ? run[error][part].get<double>()
                                                      : std::numeric_limits<double>::infinity());
      table[error][part] = {{"p50", number(percentile(values, 0.5))}, {"p95", number(percentile(values, 0.95))}};
    }
  }
  return table;
}

void print_for_people(const Json& summary, const std::string& page) {
  const auto value = [](const Json& number) {
    return number.is_number()   ? fmt::format("{:.3g}", number.get<double>())
           : number.is_string() ? number.get<std::string>()
                                : std::string("–");
  };
  fmt::print(
      "{}  {}\n  at the end  {} m  {} rad off\n  on the way  {} m  {} rad\n  period      p50 {} µs  p99 {} µs\n  plans "
      "      {} new, {} s\n",
      summary["status"].get<std::string>(), summary["success"].get<bool>() ? "arrived" : "not arrived",
      value(summary["final_error"]["position_m"]), value(summary["final_error"]["rotation_rad"]),
      value(summary["max_error"]["position_m"]), value(summary["max_error"]["rotation_rad"]),
      value(summary["period_us"]["p50"]), value(summary["period_us"]["p99"]), summary["replans"].get<int>(),
      value(summary["replan_s"]));
  for (const auto& [word, count] : summary["periods"].items())
    fmt::print("  {:<11} {} periods\n", word, count.get<int>());
  if (summary.contains("statistics") && summary["statistics"]["seeds"].get<int>() > 0) {
    const Json& table = summary["statistics"];
    fmt::print("  seeds       {} of {} arrived (95 %: {} … {}); at the end p50 {} m, {} rad, p95 {} m, {} rad\n",
               table["successes"].get<int>(), table["seeds"].get<int>(), value(table["wilson_95"][0]),
               value(table["wilson_95"][1]), value(table["final_error"]["position_m"]["p50"]),
               value(table["final_error"]["rotation_rad"]["p50"]), value(table["final_error"]["position_m"]["p95"]),
               value(table["final_error"]["rotation_rad"]["p95"]));
  }
  for (const Json& line : summary["plant"]["settings"]) fmt::print("  {}\n", line.get<std::string>());
  fmt::print("files\n");
  for (const Json& file : summary["files"]) fmt::print("  {}\n", file.get<std::string>());
  fmt::print("open {}\n", page);
}

int exit_code(const Json& summary) {
  if (interrupted()) return kInterrupted;
  if (summary["status"] == "PlantFailed" || summary["status"] == "StartFailed") return kNumericalFailure;
  return summary["success"].get<bool>() ? kDone : kNotReached;
}

/// What runs on what, for the log.
std::string announcement(const TrackCommand& options) {
  return fmt::format("{} {} on the plant {}, controller {}{}{}", options.replays ? "replay" : "track",
                     options.scene.scene, options.plant, options.replays ? "none" : options.controller,
                     options.disturb.empty() ? "" : ", disturbed by ", options.disturb);
}

int run(const TrackCommand& options) {
  apply(options.output);
  if (!options.dump.folder.empty() && options.plant == to_string(plant::PlantKind::kMujoco))
    throw InputError({options.dump.folder, 0, 0},
                     "--dump-problems: the plant mujoco solves none of our problems; quasidynamic, convex-second-order "
                     "and stewart-trinkle do");
  const Task task = load_task(options);
  const scene::DisturbanceSpec disturbance =
      options.disturb.empty() ? scene::DisturbanceSpec{} : io::read_disturbance(options.disturb);
  catch_interrupts();
  Progress progress(!options.output.quiet);

  // The first seed fills the folder while it runs; the others give their numbers.
  std::string folder;
  std::unique_ptr<io::RunWriter> writer;
  std::unique_ptr<RunLog> log_file;
  const io::RunHeader header{task.scene.spec().name, task.scene.spec().merged_yaml, viewer::visual_json(task.scene),
                             DEFT_VERSION};
  const auto file = [&](const char* name) { return (fs::path(folder) / name).string(); };
  const Listener keeper{[&](const dynamics::Trajectory& start) {
                          folder = io::make_run_folder(options.out, task.scene.spec().name, options.force);
                          io::publish_text(file("config.yaml"), task.scene.spec().merged_yaml);
                          log_file = std::make_unique<RunLog>(file("deft.log"), announcement(options),
                                                              task.warnings.all(), options.output);
                          writer = std::make_unique<io::RunWriter>(folder, header, start);
                        },
                        [&](const dynamics::Trajectory& so_far) { writer->append(so_far); }};
  Json runs = Json::array();
  Json summary;
  for (int k = 0; k < options.seeds && (k == 0 || !interrupted()); ++k) {
    const std::uint64_t seed = options.scene.seed + static_cast<std::uint64_t>(k);
    const TrackRun run = run_once(options, task, disturbance, seed, k == 0 ? &keeper : nullptr, progress);
    runs.push_back(row_of(run, seed));
    log::info(fmt::format("seed {}: {}, {}, {} new plans, off by {:.3g} m, {:.3g} rad after {:.6g} s", seed,
                          to_string(run.end.status), run.end.success ? "arrived" : "not arrived", run.end.replans,
                          run.end.final.position_m, run.end.final.rotation_rad, run.motion.t.back()));
    if (k == 0) {
      writer->close();
      summary = runs.front();
      summary["plant"] = {{"name", options.plant}, {"settings", run.settings}};
      summary["controller"] = options.replays ? "none" : options.controller;
      write_page(file("run.html"), header, run.motion);
      summary["files"] = Json::array();
      for (const char* name : {"run.h5", "run.html", "summary.json", "config.yaml", "deft.log"})
        summary["files"].push_back(file(name));
      if (run.dumped > 0) summary["files"].push_back(options.dump.folder);
    }
    if (options.seeds > 1) {
      summary["statistics"] = statistics_of_tracks(runs);
      summary["runs"] = runs;
    }
    // After each seed: what is finished is kept, whatever becomes of the others.
    io::publish_text(file("summary.json"), text_of(summary, 1) + "\n");
  }
  if (options.output.json)
    print_json(summary);
  else
    print_for_people(summary, file("run.html"));
  return exit_code(summary);
}

void add_common(CLI::App& command, TrackCommand& options) {
  command.add_option("PLAN", options.scene.scene, "Run folder with the commands to follow")->required();
  add_override_options(command, options.scene);
  command
      .add_option("--plant", options.plant,
                  "What follows: quasidynamic (default), convex-second-order, stewart-trinkle, or mujoco")
      ->type_name("NAME")
      ->check(CLI::IsMember(words_of(kPlants)));
  command.add_option("--out", options.out, "Run folder (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  command.add_flag("--force", options.force, "Replace the run in a folder that is not empty");
  add_dump_options(command, options.dump);
  add_output_options(command, options.output);
}

}  // namespace

Command add_track(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("track", "Follow a plan on a plant, with feedback or open loop, into a run folder");
  const auto options = std::make_shared<TrackCommand>();
  add_common(*command, *options);
  command->add_option("--controller", options->controller, "open-loop, or mpc (default; settings: track: of the scene)")
      ->type_name("NAME")
      ->check(CLI::IsMember(words_of(kControllers)));
  command->add_option("--disturb", options->disturb, "What goes wrong, and how much; drawn anew for each seed")
      ->type_name("FILE");
  command->add_option("--seeds", options->seeds, "Runs with seeds --seed, --seed + 1, …; statistics in summary.json")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  return {command, [options] { return run(*options); }};
}

Command add_replay(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("replay", "Repeat the commands of a run on a plant, as they are, into a run folder");
  const auto options = std::make_shared<TrackCommand>();
  options->replays = true;
  options->controller = "open-loop";
  add_common(*command, *options);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
