// deft track PLAN, deft replay PLAN: a plan on a plant, with a controller or as it is.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "command.hpp"
#include "deft/control/tracking_loop.hpp"
#include "deft/core/log.hpp"
#include "deft/core/version.hpp"
#include "deft/execution/tracked_run.hpp"
#include "deft/io/runs/plan_file.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/disturbance_file.hpp"
#include "deft/plant/plant.hpp"
#include "deft/viewer/visual_json.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "options.hpp"
#include "problem_dump.hpp"
#include "progress.hpp"
#include "run_log.hpp"
#include "run_page.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;
using dynamics::Trajectory;

struct TrackCommand {
  OutputOptions output;
  SceneOptions scene;                                      // its `scene` is the run folder
  std::string plant = "quasidynamic", controller = "mpc";  // one of kPlantKinds, of kControllers
  bool replays = false;  // as it is: no re-timing, every command, nothing added at the end
  std::string disturb, out;
  int seeds = 1;
  std::optional<double> max_duration_s, time_limit_s;
  bool force = false;
  DumpOptions dump;
};

/// The value of that name. @pre it is one of them.
template <typename Enum, std::size_t N>
Enum named(const std::array<Enum, N>& values, const std::string& word) {
  return *std::find_if(values.begin(), values.end(), [&](Enum value) { return to_string(value) == word; });
}
template <typename Enum, std::size_t N>
std::vector<std::string> words_of(const std::array<Enum, N>& values) {
  std::vector<std::string> words;
  for (const Enum value : values) words.emplace_back(to_string(value));
  return words;
}

execution::TrackedRunOptions tracked_options(const TrackCommand& options) {
  return {.plant = named(plant::kPlantKinds, options.plant),
          .controller = named(control::kControllers, options.controller),
          .replays = options.replays,
          .max_duration_s = options.max_duration_s.value_or(0),
          .time_limit_s = options.time_limit_s.value_or(kInfinity),
          .threads = options.scene.threads};
}

/// The task of the command line, and what loading its scene warned of.
struct Loaded {
  execution::TrackedTask task;
  Diagnostics warnings;
};

/// The scene as `--with` and `--set` change it, and the commands of the run. @throws InputError for what is no run, or
/// has no steps.
Loaded load_task(const TrackCommand& options) {
  const fs::path folder = options.scene.scene;
  const io::Run run = io::read_run(folder.string());
  execution::require_steps(run.trajectory, folder.string());
  SceneOptions scene_options = options.scene;
  scene_options.scene = (fs::is_directory(folder) ? folder : folder.parent_path()) / "config.yaml";
  if (options.replays) {
    scene_options.settings.insert(scene_options.settings.begin(), "track.settle=0");  // --set may say otherwise
    scene_options.settings.emplace_back("track.speed=.inf");
  }
  Diagnostics diagnostics;
  scene::Scene scene = load(scene_options, options.output, diagnostics);
  const std::optional<io::PlanHeader> plan = options.replays ? std::nullopt : io::read_plan_header(folder.string());
  return {execution::make_task(std::move(scene), run.trajectory, tracked_options(options),
                               {.scene = scene_options.scene, .run = folder.string(), .goal = plan ? plan->goal : ""}),
          std::move(diagnostics)};
}

Json error_of(const control::ObjectError& error) {
  return {{"position_m", number(error.position_m)}, {"rotation_rad", number(error.rotation_rad)}};
}

Json row_of(const execution::TrackedOutcome& outcome) {
  Json periods = Json::object();
  for (const auto& [word, count] : outcome.periods) periods[word] = count;
  return {{"status", to_string(outcome.status)},
          {"success", outcome.success},
          {"final_error", error_of(outcome.final)},
          {"max_error", error_of(outcome.largest)},
          {"period_us", {{"p50", number(outcome.period_p50_us)}, {"p99", number(outcome.period_p99_us)}}},
          {"arrived", outcome.success},
          {"reason", outcome.reason},
          {"duration_s", number(outcome.duration_s)},
          {"plan_duration_s", number(outcome.plan_duration_s)},
          {"held_s", number(outcome.held_s)},
          {"periods", periods},
          {"t_end", number(outcome.duration_s)},
          {"new_plans", outcome.replans},
          {"replans", outcome.replans},
          {"replan_s", number(outcome.replan_s)},
          {"seed", outcome.seed}};
}

Json spread_of(const execution::Spread& spread) { return {{"p50", number(spread.p50)}, {"p95", number(spread.p95)}}; }

Json table_of(const execution::TrackedStatistics& all) {
  if (all.seeds == 0) return {{"seeds", 0}};
  return {{"seeds", all.seeds},
          {"successes", all.successes},
          {"success_rate", number(double(all.successes) / double(all.seeds))},
          {"wilson_95", {number(all.wilson_low), number(all.wilson_high)}},
          {"final_error",
           {{"position_m", spread_of(all.final_position_m)}, {"rotation_rad", spread_of(all.final_rotation_rad)}}},
          {"max_error",
           {{"position_m", spread_of(all.largest_position_m)}, {"rotation_rad", spread_of(all.largest_rotation_rad)}}}};
}

void print_for_people(const Json& summary, const std::string& page) {
  const auto value = [](const Json& number) {
    return number.is_number()   ? fmt::format("{:.3g}", number.get<double>())
           : number.is_string() ? number.get<std::string>()
                                : std::string("–");
  };
  fmt::print(
      "{}  {}\n  took        {} s, the plan {} s, held {} s\n  at the end  {} m  {} rad off\n  on the way  {} m  {} "
      "rad\n  period      p50 {} µs  p99 {} µs\n  plans "
      "      {} new, {} s\n",
      summary["status"].get<std::string>(),
      summary["success"].get<bool>() ? "arrived" : "not arrived: " + summary["reason"].get<std::string>(),
      value(summary["duration_s"]), value(summary["plan_duration_s"]), value(summary["held_s"]),
      value(summary["final_error"]["position_m"]), value(summary["final_error"]["rotation_rad"]),
      value(summary["max_error"]["position_m"]), value(summary["max_error"]["rotation_rad"]),
      value(summary["period_us"]["p50"]), value(summary["period_us"]["p99"]), summary["new_plans"].get<int>(),
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
  const Json runs = summary.contains("runs") ? summary["runs"] : Json::array({summary});
  const auto any = [&](auto&& is) { return std::any_of(runs.begin(), runs.end(), is); };
  if (any([](const Json& run) { return run["status"] == "PlantFailure" || run["status"] == "StartFailed"; }))
    return kNumericalFailure;
  return any([](const Json& run) { return !run["success"].get<bool>(); }) ? kNotReached : kDone;
}

/// What runs on what, for the log.
std::string announcement(const TrackCommand& options) {
  return fmt::format("{} {} on the plant {}, controller {}{}{}", options.replays ? "replay" : "track",
                     options.scene.scene, options.plant, options.replays ? "none" : options.controller,
                     options.disturb.empty() ? "" : ", disturbed by ", options.disturb);
}

/// The run folder: the first seed fills it while it runs, all give their numbers.
class TrackFolder {
 public:
  TrackFolder(const TrackCommand& options, const Loaded& loaded)
      : options_(options),
        loaded_(loaded),
        header_{scene().spec().name, scene().spec().merged_yaml, viewer::visual_json(scene()), version()} {}

  void open(const Trajectory& start) {
    folder_ = io::make_run_folder(options_.out, scene().spec().name, options_.force);
    io::publish_text(file("config.yaml"), scene().spec().merged_yaml);
    log_ = std::make_unique<RunLog>(file("deft.log"), announcement(options_), loaded_.warnings.all(), options_.output);
    writer_ = std::make_unique<io::RunWriter>(folder_, header_, start);
  }
  void append(const Trajectory& motion) { writer_->append(motion); }
  /// The first run has ended. @param dumped  problems were written.
  void close(const execution::TrackedRun& run, bool dumped) {
    writer_->close();
    summary_ = row_of(outcomes_.front());
    summary_["plant"] = {{"name", options_.plant}, {"settings", run.settings}};
    summary_["controller"] = options_.replays ? "none" : options_.controller;
    write_page(file("run.html"), header_, run.motion);
    summary_["files"] = Json::array();
    for (const char* name : {"run.h5", "run.html", "summary.json", "config.yaml", "deft.log"})
      summary_["files"].push_back(file(name));
    if (dumped) summary_["files"].push_back(options_.dump.folder);
  }
  void add(const execution::TrackedOutcome& outcome) { outcomes_.push_back(outcome); }
  /// After each seed: what is finished is kept, whatever becomes of the others.
  void publish() {
    if (options_.seeds > 1) {
      const execution::TrackedStatistics all = execution::statistics_of(outcomes_);
      summary_["statistics"] = table_of(all);
      summary_["arrived_share"] = all.seeds > 0 ? number(double(all.successes) / double(all.seeds)) : Json(nullptr);
      summary_["runs"] = Json::array();
      for (const execution::TrackedOutcome& outcome : outcomes_) summary_["runs"].push_back(row_of(outcome));
    }
    io::publish_text(file("summary.json"), text_of(summary_, 1) + "\n");
  }
  const Json& summary() const { return summary_; }
  std::string file(const char* name) const { return (fs::path(folder_) / name).string(); }

 private:
  const scene::Scene& scene() const { return loaded_.task.scene; }

  const TrackCommand& options_;
  const Loaded& loaded_;
  io::RunHeader header_;
  std::string folder_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<io::RunWriter> writer_;
  std::vector<execution::TrackedOutcome> outcomes_;
  Json summary_;
};

/// The run of seed number k. Every run shows its progress; the first fills the folder and the dump.
execution::TrackedRun run_seed(const TrackCommand& options, const Loaded& loaded,
                               const scene::DisturbanceSpec& disturbance, int k, std::uint64_t seed,
                               TrackFolder& folder, ProblemDump& dump, Progress& progress) {
  int inner_step = 0;
  execution::TrackedRunListener listener{.stop = interrupted, .record_contacts = k == 0};
  if (k == 0) {
    listener.begin = [&](const Trajectory& start) { folder.open(start); };
    if (!options.dump.folder.empty())
      listener.inner_step = [&](const dynamics::StepResult& result, const dynamics::StepModel& model) {
        dump.consider(inner_step++, result, model);
      };
  }
  listener.period = [&, k](const Trajectory& motion) {
    if (k == 0) folder.append(motion);
    if (progress.due())
      progress.show(fmt::format("track seed {}  t {:.3g} s  off by {:.2g} m, {:.2g} rad  {:.1f} s", seed,
                                motion.t.back(), motion.tracks.back().position_error_m,
                                motion.tracks.back().rotation_error_rad, progress.seconds()));
  };
  return execution::run(loaded.task, tracked_options(options), disturbance, seed, listener);
}

int run(const TrackCommand& options) {
  apply(options.output);
  const bool is_other =
      options.plant == to_string(plant::PlantKind::kMujoco) || options.plant == to_string(plant::PlantKind::kDrake);
  if (!options.dump.folder.empty() && is_other)
    throw InputError({options.dump.folder, 0, 0},
                     fmt::format("--dump-problems: the plant {} solves none of our problems; quasidynamic, "
                                 "convex-second-order and stewart-trinkle do",
                                 options.plant));
  const Loaded loaded = load_task(options);
  const scene::DisturbanceSpec disturbance =
      options.disturb.empty() ? scene::DisturbanceSpec{} : io::read_disturbance(options.disturb);
  catch_interrupts();
  Progress progress(!options.output.quiet);
  TrackFolder folder(options, loaded);
  ProblemDump dump(options.dump, loaded.task.scene);
  for (int k = 0; k < options.seeds && (k == 0 || !interrupted()); ++k) {
    const std::uint64_t seed = options.scene.seed + static_cast<std::uint64_t>(k);
    const execution::TrackedRun run = run_seed(options, loaded, disturbance, k, seed, folder, dump, progress);
    folder.add(outcome_of(run, seed));
    log::info(fmt::format("seed {}: {}, {}, {} new plans, off by {:.3g} m, {:.3g} rad after {:.6g} s{}", seed,
                          to_string(run.end.status), run.end.success ? "arrived" : "not arrived", run.end.replans,
                          run.end.final.position_m, run.end.final.rotation_rad, run.motion.t.back(),
                          run.end.reason.empty() ? "" : ": " + run.end.reason));
    if (k == 0) folder.close(run, dump.written() > 0);
    folder.publish();
  }
  if (options.output.json)
    print_json(folder.summary());
  else
    print_for_people(folder.summary(), folder.file("run.html"));
  return exit_code(folder.summary());
}

void add_common(CLI::App& command, TrackCommand& options) {
  command.add_option("PLAN", options.scene.scene, "Run folder with the commands to follow")->required();
  add_override_options(command, options.scene);
  command
      .add_option("--plant", options.plant,
                  "What follows: quasidynamic (default), convex-second-order, stewart-trinkle, mujoco, or drake")
      ->type_name("NAME")
      ->check(CLI::IsMember(words_of(plant::kPlantKinds)));
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
      ->check(CLI::IsMember(words_of(control::kControllers)));
  command->add_option("--disturb", options->disturb, "What goes wrong, and how much; drawn again for each seed")
      ->type_name("FILE");
  command->add_option("--seeds", options->seeds, "Runs with seeds --seed, --seed + 1, …; statistics in summary.json")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--max-duration", options->max_duration_s,
                   "Most of the plant's time that a run may take [s] (default: 10 times the plan's duration)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, 1e9));
  command->add_option("--time-limit", options->time_limit_s, "Most wall time of a run [s] (default: none)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1e-3, 1e9));
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
