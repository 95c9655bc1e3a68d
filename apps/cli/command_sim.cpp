// deft sim SCENE: simulates the commands of a scene into a run folder.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>

#include "command.hpp"
#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/core/log.hpp"
#include "deft/core/version.hpp"
#include "deft/dynamics/complementarity/complementarity_step.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/execution/horizon_controller.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/math/percentile.hpp"
#include "deft/scene/control_table.hpp"
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

using dynamics::StepRecord;
using dynamics::Trajectory;
using solvers::Status;

constexpr int kMaxSteps = 100'000'000;

struct SimOptions {
  OutputOptions output;
  SceneOptions scene;
  std::optional<double> duration_s;
  std::optional<int> steps;
  std::string out;
  std::string from;  // RUN[@t]: where it starts
  std::string controller;
  bool force = false;
  DumpOptions dump;
};

/// How many steps are asked for: --steps, or enough for --duration, or for the last knot of the commands.
int count_steps(const SimOptions& options, const scene::Scene& scene, double h) {
  if (options.steps) return *options.steps;
  const bool controlled = !options.controller.empty() && scene.control() != nullptr;
  const double duration_s =
      options.duration_s.value_or(controlled ? scene.control()->last_time() : scene.last_knot_time());
  if (!options.duration_s && duration_s <= 0) {
    throw InputError({options.scene.scene, 0, 0},
                     fmt::format("has no {} that says how long to simulate; give --steps N or --duration SECONDS",
                                 controlled ? "path of the controller" : "command"));
  }
  // A duration that is a multiple of h up to rounding needs no further step.
  const double steps = std::ceil(duration_s / h - 1e-9);
  if (!(steps <= kMaxSteps))
    throw InputError(
        {}, fmt::format("--duration {} s is {:.3g} steps of {} s; the limit is {}", duration_s, steps, h, kMaxSteps));
  return static_cast<int>(steps);
}

int exit_code(const dynamics::RolloutEnd& end) {
  if (end.interrupted) return kInterrupted;
  if (end.completed) return kDone;
  return end.status == Status::kInfeasible || end.status == Status::kUnbounded ? kNotReached : kNumericalFailure;
}

Json percentiles(const std::vector<StepRecord>& steps, double StepRecord::* time_us) {
  std::vector<double> values;
  for (const StepRecord& step : steps) values.push_back(step.*time_us);
  return {{"p50", number(percentile(values, 0.5))}, {"p95", number(percentile(values, 0.95))}};
}

/// {"periods", "proven", "fallbacks", "time_s": {"p50", "p95", "max"}, "gap_max", "nodes", "statuses": {word: count}}
Json control_summary(const dynamics::Trajectory& motion) {
  const execution::HorizonStatistics all = execution::statistics_of(motion);
  return {
      {"periods", all.periods},
      {"proven", all.proven},
      {"fallbacks", all.fallbacks},
      {"time_s", {{"p50", number(all.time_p50_s)}, {"p95", number(all.time_p95_s)}, {"max", number(all.time_max_s)}}},
      {"gap_max", number(all.gap_max)},
      {"nodes", all.nodes},
      {"statuses", all.statuses}};
}

Json summarise(const dynamics::RolloutEnd& end, const Trajectory& motion, const std::vector<std::string>& files) {
  double residual_max = std::nan("");  // steps without a certificate have none, which fmax passes over
  double gap_min = motion.steps.empty() ? std::nan("") : std::numeric_limits<double>::infinity();
  std::map<std::string, int> statuses;
  for (const StepRecord& step : motion.steps) {
    residual_max = std::fmax(residual_max, step.residual);
    gap_min = std::min(gap_min, step.gap_min);
    ++statuses[motion.status_words.at(step.status)];
  }
  Json q = Json::object();
  for (std::size_t i = 0; i < motion.names_q.size(); ++i) q[motion.names_q[i]] = number(motion.q.back()[i]);
  const std::string status = end.interrupted ? "Interrupted"
                             : end.completed ? "Completed"
                                             : std::string(solvers::to_string(end.status));
  Json summary{{"status", status},
               {"steps", motion.num_steps()},
               {"t_end", number(motion.t.back())},
               {"q", q},
               {"residual_max", number(residual_max)},
               {"gap_min", number(gap_min)},
               {"solve_us", percentiles(motion.steps, &StepRecord::solve_us)},
               {"step_us", percentiles(motion.steps, &StepRecord::step_us)},
               {"statuses", statuses},
               {"files", files}};
  // What only models of exact Coulomb friction know.
  if (!end.reason.empty()) summary["reason"] = end.reason;
  if (motion.searches_alternatives) {
    std::array<int, 3> counts{};
    for (const StepRecord& step : motion.steps) ++counts.at(step.uniqueness);
    summary["uniqueness"] = {{"unique", counts[1]}, {"not_unique", counts[2]}, {"unknown", counts[0]}};
  }
  if (!motion.names_x.empty()) summary["control"] = control_summary(motion);
  return summary;
}

std::string shown(const Json& value, const char* unit) {
  if (value.is_null()) return "–";
  if (value.is_string()) return value.get<std::string>();
  return fmt::format("{:.4g}{}", value.get<double>(), unit);
}

void print_control(const Json& summary) {
  const auto value = [](const Json& number) { return shown(number, ""); };
  fmt::print(
      "controller\n  periods   {}, {} proven optimal, {} without a plan\n  gap       {} (largest, relative)\n  nodes   "
      "  {}\n",
      summary["periods"].get<std::size_t>(), summary["proven"].get<int>(), summary["fallbacks"].get<int>(),
      value(summary["gap_max"]), summary["nodes"].get<std::int64_t>());
  fmt::print("  time      p50 {} s  p95 {} s  max {} s\n", value(summary["time_s"]["p50"]),
             value(summary["time_s"]["p95"]), value(summary["time_s"]["max"]));
}

void print_for_people(const Json& summary, const dynamics::RolloutEnd& end, const std::string& page) {
  fmt::print("{}  {} steps  t = {} s\n", summary["status"].get<std::string>(), summary["steps"].get<int>(),
             shown(summary["t_end"], ""));
  if (!end.completed && !end.interrupted) fmt::print("  {}\n", solvers::sentence(end.status));
  if (!end.reason.empty()) fmt::print("  {}\n", end.reason);
  fmt::print("  residual  {} (largest, scaled)\n  gap       {} (smallest, true)\n", shown(summary["residual_max"], ""),
             shown(summary["gap_min"], " m"));
  for (const char* what : {"solve", "step"}) {
    const Json& times = summary[std::string(what) + "_us"];
    fmt::print("  {:<8}  p50 {}  p95 {}\n", what, shown(times["p50"], " µs"), shown(times["p95"], " µs"));
  }
  for (const auto& [word, count] : summary["statuses"].items()) fmt::print("  {:<8}  {}\n", word, count.get<int>());
  if (summary.contains("uniqueness"))
    fmt::print("  motions   {} unique, {} not, {} unknown\n", summary["uniqueness"]["unique"].get<int>(),
               summary["uniqueness"]["not_unique"].get<int>(), summary["uniqueness"]["unknown"].get<int>());
  if (summary.contains("control")) print_control(summary["control"]);
  fmt::print("at the end\n");
  for (const auto& [name, value] : summary["q"].items())
    fmt::print("  {:<32} {}\n", name, value.is_number() ? fmt::format("{:.6f}", value.get<double>()) : "–");
  fmt::print("files\n");
  for (const Json& file : summary["files"]) fmt::print("  {}\n", file.get<std::string>());
  fmt::print("open {}\n", page);
}

/// RUN@t in its parts; without a time, or where a run of the whole name exists, infinity: its end.
std::pair<std::string, double> parse_from(const std::string& from) {
  const std::size_t at = from.rfind('@');
  if (at == std::string::npos || std::filesystem::exists(from)) return {from, kInfinity};
  const std::string text = from.substr(at + 1);
  double t = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), t);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(t))
    throw InputError({}, fmt::format("--from {}: '{}' is no time; valid: RUN or RUN@SECONDS", from, text));
  return {from.substr(0, at), t};
}

/// The state of a run at the recorded time nearest to the one that `from` names. Velocities of runs that have none are
/// zero.
dynamics::State state_of_run(const std::string& from, const scene::Scene& scene, bool second_order) {
  const auto [folder, t] = parse_from(from);
  const Trajectory run = io::read_run(folder).trajectory;
  if (run.names_q != scene.names_q()) {
    const std::vector<std::string> names = scene.names_q();
    const auto [mine, theirs] = std::mismatch(names.begin(), names.end(), run.names_q.begin(), run.names_q.end());
    throw InputError({},
                     fmt::format("--from {}: the run has other coordinates than the scene: '{}' there, '{}' here", from,
                                 theirs == run.names_q.end() ? "none" : *theirs, mine == names.end() ? "none" : *mine));
  }
  if (t != kInfinity && (t < run.t.front() || t > run.t.back()))
    throw InputError({}, fmt::format("--from {}: t = {} s is not in the run; valid: {} to {} s", from, t, run.t.front(),
                                     run.t.back()));
  const auto nearer = [t = t](double a, double b) { return std::abs(a - t) < std::abs(b - t); };
  const auto frame = t == kInfinity ? run.t.end() - 1 : std::min_element(run.t.begin(), run.t.end(), nearer);
  const std::size_t k = to_size(static_cast<int>(frame - run.t.begin()));
  dynamics::State state;
  state.q = Eigen::Map<const Eigen::VectorXd>(run.q[k].data(), scene.nq());
  if (second_order) {
    state.v = Eigen::VectorXd::Zero(scene.nv());
    if (!run.v.empty()) state.v = Eigen::Map<const Eigen::VectorXd>(run.v[k].data(), scene.nv());
  }
  log::info(fmt::format("starts where {} was at t = {} s", folder, *frame));
  return state;
}

/// What runs on what, for the log.
std::string announcement(const SimOptions& options, const scene::Scene& scene, int steps, double h) {
  const Eigen::Vector3d& g = scene.spec().gravity_W;
  return fmt::format("sim {}: gravity [{}, {}, {}] m/s², h {} s, {} steps, nq {}, nv {}, nu {}", options.scene.scene,
                     g.x(), g.y(), g.z(), h, steps, scene.nq(), scene.nv(), scene.nu());
}

/// The simulation; each step is handed to the writer as soon as it is done. @param controller  null: the scene's
/// commands.
dynamics::RolloutEnd simulate(const SimOptions& options, dynamics::StepModel& model, const dynamics::State& start,
                              int steps, execution::HorizonController* controller, io::RunWriter& writer,
                              ProblemDump& dump, Trajectory& motion) {
  bool alternative_is_reported = false;
  Progress progress(!options.output.quiet);
  dynamics::RolloutOptions rollout{.steps = steps, .on_step = {}};
  rollout.on_step = [&](int step, const dynamics::StepResult& result, const Trajectory& so_far) {
    writer.append(so_far);
    dump.consider(step, result, model);
    if (result.status == Status::kNotUnique && !alternative_is_reported) {
      alternative_is_reported = true;
      if (const std::string why = dynamics::explain(model.scene(), result); !why.empty())
        log::warning(fmt::format("t = {:.6g} s: the motion is not unique: {} (later ones are counted only)",
                                 so_far.t[so_far.t.size() - 2], why));
    }
    if (progress.due()) {
      const double s = progress.seconds();
      progress.show(fmt::format("sim {}/{} steps  t {:.3g} s  {:.1f} s  {:.0f} µs/step", step + 1, steps,
                                so_far.t.back(), s, 1e6 * s / (step + 1)));
    }
    return !interrupted();
  };
  if (controller != nullptr)
    rollout.controller = [&](const dynamics::State& state, Eigen::VectorXd& u, Trajectory& so_far) {
      (*controller)(state, u, so_far);
      const dynamics::HorizonRecord& plan = so_far.horizons.back();
      dump.consider_plan(so_far.num_steps(), controller->program(), static_cast<Status>(plan.status), plan.time_s);
    };
  const dynamics::RolloutEnd end = dynamics::rollout(model, start, rollout, motion);
  // A signal during the last step interrupts nothing.
  if (motion.num_steps() == steps && end.interrupted) return {.completed = true};
  return end;
}

int run(const SimOptions& options) {
  apply(options.output);
  Diagnostics diagnostics;
  const scene::Scene scene = load(options.scene, options.output, diagnostics);
  const std::unique_ptr<dynamics::StepModel> model = dynamics::make_step_model(scene);
  const int steps = count_steps(options, scene, model->h());
  const dynamics::State start =
      options.from.empty() ? dynamics::initial_state(*model) : state_of_run(options.from, scene, model->second_order());
  const std::unique_ptr<execution::HorizonController> controller =
      options.controller.empty() ? nullptr : std::make_unique<execution::HorizonController>(scene);

  // The run folder: what does not change first.
  const std::string folder = io::make_run_folder(options.out, scene.spec().name, options.force);
  const auto file = [&](const char* name) { return (std::filesystem::path(folder) / name).string(); };
  const RunLog log(file("deft.log"), announcement(options, scene, steps, model->h()), diagnostics.all(),
                   options.output);
  io::publish_text(file("config.yaml"), scene.spec().merged_yaml);
  const io::RunHeader header{scene.spec().name, scene.spec().merged_yaml, viewer::visual_json(scene), version()};
  Trajectory motion = dynamics::start_trajectory(*model, start);
  if (controller) controller->announce(motion);
  io::RunWriter writer(folder, header, motion);
  ProblemDump dump(options.dump, scene);

  catch_interrupts();
  const dynamics::RolloutEnd end = simulate(options, *model, start, steps, controller.get(), writer, dump, motion);
  writer.close();

  // What closes the folder.
  std::vector<std::string> files{file("run.h5"), file("run.html"), file("summary.json"), file("config.yaml"),
                                 file("deft.log")};
  if (dump.written() > 0) files.push_back(options.dump.folder);
  const Json summary = summarise(end, motion, files);
  write_page(file("run.html"), header, motion);
  io::publish_text(file("summary.json"), text_of(summary, 1) + "\n");
  log::info(fmt::format("{} after {} steps{}{}", summary["status"].get<std::string>(), motion.num_steps(),
                        end.reason.empty() ? "" : "; ", end.reason));
  if (options.output.json)
    print_json(summary);
  else
    print_for_people(summary, end, file("run.html"));
  return exit_code(end);
}

}  // namespace

Command add_sim(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sim", "Simulate the commands of a scene into a run folder");
  const auto options = std::make_shared<SimOptions>();
  add_scene_options(*command, options->scene, true);
  CLI::Option* duration = command->add_option("--duration", options->duration_s, "Simulated time [s]")
                              ->type_name("SECONDS")
                              ->check(CLI::Range(0.0, 1e12));
  command->add_option("--steps", options->steps, "Number of steps")
      ->type_name("N")
      ->check(CLI::Range(0, kMaxSteps))
      ->excludes(duration);
  command
      ->add_option(
          "--from", options->from,
          "Start where a run of the same coordinates was at time t [s] (default: its end); commands begin anew")
      ->type_name("RUN[@t]");
  command
      ->add_option(
          "--controller", options->controller,
          "Who gives the commands: mixed-integer (settings: control: of the scene; default: the scene's commands)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"mixed-integer"}));
  command->add_option("--out", options->out, "Run folder (default out/NAME-YYYYMMDD-HHMMSS)")->type_name("DIR");
  command->add_flag("--force", options->force, "Replace the run in a folder that is not empty");
  add_dump_options(*command, options->dump);
  add_output_options(*command, options->output);
  return {command, [options] { return run(*options); }};
}

}  // namespace deft::cli
