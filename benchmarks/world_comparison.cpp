// Why worlds of second order disagree: plays the commands of runs in several plants from identical states and tells
// where they part, with the contacts on both sides. JSON, one object per run.
//   world_comparison RUN… [--steps N] [--trace STEP] [--worlds convex,coulomb,even,polygons,mujoco,drake]
//   [--step 0.001] [--period 0.01] [--settle 1] [--set key=YAML]…
// convex: the second-order step with round cones; coulomb: the same under Coulomb's law; even: that with even pressure
// in faces; polygons: Stewart–Trinkle's.
// "free": every world goes on from its own state. "steps": every world takes each step of the run from the state of the
// first world.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "deft/control/tracking_loop.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/io/runs/run_folder.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/plant/plant.hpp"

namespace {

using namespace deft;
using Eigen::VectorXd;

constexpr double kEvenArm = 0.54;                     // step.friction_arm of even pressure on a square
constexpr double kApart_m = 1e-3, kApart_rad = 0.01;  // objects that differ by more have parted

struct Arguments {
  std::vector<std::string> runs, worlds{"convex", "coulomb", "even", "mujoco", "drake"}, settings;
  double step = 1e-3, period = 0.01, settle = 1;
  int trace = -1, steps = 1 << 30;  // the step whose periods are printed one by one; how many steps are played
};

/// A plant with the scene that it simulates.
struct World {
  std::string name;
  std::unique_ptr<scene::Scene> scene;
  std::unique_ptr<plant::Plant> plant;
  bool failed = false;
};

/// What is played.
struct Commands {
  double h = 0;
  std::vector<VectorXd> q, u;  // q.front(): the start
  VectorXd u_start;
};

World make_world(const std::string& name, const scene::Scene& scene, const plant::PlantOptions& options) {
  const bool in_space = scene.plane() == scene::Plane::kSpace;
  World world{.name = name};
  world.scene = std::make_unique<scene::Scene>(scene.with([&](scene::SceneSettings& settings) {
    settings.step.contact_margin = std::min(settings.step.contact_margin, 0.02);
    if (in_space) settings.step.cone = name == "polygons" ? scene::Cone::kPyramid : scene::Cone::kCone;
    if (in_space) settings.step.rays = std::max(settings.step.rays, 8);
    if (name == "coulomb" || name == "even") settings.step.friction_law = scene::FrictionLaw::kCoulomb;
    if (name == "even") settings.step.friction_arm = kEvenArm;
  }));
  const plant::PlantKind kind = name == "mujoco"     ? plant::PlantKind::kMujoco
                                : name == "drake"    ? plant::PlantKind::kDrake
                                : name == "polygons" ? plant::PlantKind::kStewartTrinkle
                                                     : plant::PlantKind::kConvexSecondOrder;
  world.plant = plant::make_plant(kind, *world.scene, options);
  return world;
}

/// Contacts of a plant, one entry per pair of bodies.
std::string contacts_of(const World& world) {
  struct Sum {
    int points = 0, sticks = 0, slides = 0;
    double normal = 0, tangent = 0, gap = kInfinity, mu = 0;
  };
  std::vector<dynamics::ContactRecord> records;
  world.plant->contacts(records);
  std::map<std::pair<int, int>, Sum> sums;
  for (const dynamics::ContactRecord& record : records) {
    Sum& sum = sums[{std::min(record.a, record.b), std::max(record.a, record.b)}];
    const Eigen::Vector3d n(record.normal_W.data()), f(record.force_W.data());
    sum.gap = std::min(sum.gap, record.gap);
    if (f.norm() < 1e-6) continue;
    ++sum.points;
    sum.sticks += record.state == dynamics::ContactState::kStick;
    sum.slides += record.state == dynamics::ContactState::kSlide;
    sum.normal += n.dot(f);
    sum.tangent += (f - n.dot(f) * n).norm();
    sum.mu = record.mu;
  }
  const std::vector<std::string> names = world.scene->names_bodies();
  std::vector<std::string> entries;
  for (const auto& [pair, sum] : sums) {
    if (sum.points == 0 && sum.gap > 5e-3) continue;
    entries.push_back(fmt::format(
        R"({{"a": "{}", "b": "{}", "points": {}, "stick": {}, "slide": {}, "normal": {:.4g}, "tangent": {:.4g}, "gap": {:.3g}, "mu": {:.4g}}})",
        names[pair.first], names[pair.second], sum.points, sum.sticks, sum.slides, sum.normal, sum.tangent, sum.gap,
        sum.mu));
  }
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

std::string error_text(const control::ObjectError& error) {
  return fmt::format(R"("position_m": {:.6g}, "rotation_rad": {:.6g})", error.position_m, error.rotation_rad);
}

bool apart(const control::ObjectError& error) { return error.position_m > kApart_m || error.rotation_rad > kApart_rad; }

/// Two worlds, and where they part.
struct Parting {
  std::size_t a = 0, b = 0;
  std::string text;  // empty: not yet
  std::string before_a, before_b;
};

/// Every world on its own, compared after every period.
std::string play_free(std::vector<World>& worlds, const Commands& commands, const Arguments& arguments) {
  std::vector<Parting> partings;
  for (std::size_t a = 0; a < worlds.size(); ++a)
    for (std::size_t b = a + 1; b < worlds.size(); ++b) partings.push_back({.a = a, .b = b});
  for (World& world : worlds) {
    world.plant->reset({.q = commands.q.front()}, commands.u_start);
    world.failed = false;
  }
  const int periods = std::max(1, static_cast<int>(std::ceil(commands.h / arguments.period - 1e-9)));
  const int extra = static_cast<int>(std::ceil(arguments.settle / commands.h));
  const int count = static_cast<int>(commands.u.size());
  std::vector<std::string> now(worlds.size()), before(worlds.size());
  double t = 0;
  for (int k = 0; k < count + extra; ++k) {
    const VectorXd& from = k == 0 ? commands.u_start : commands.u[std::min(k, count) - 1];
    const VectorXd& to = commands.u[std::min(k, count - 1)];
    for (int i = 1; i <= periods; ++i) {
      t += commands.h / periods;
      for (std::size_t w = 0; w < worlds.size(); ++w) {
        if (worlds[w].failed) continue;
        worlds[w].failed = worlds[w].plant->advance(from + (to - from) * (double(i) / periods), commands.h / periods) !=
                           plant::PlantStatus::kOk;
        before[w] = std::move(now[w]);
        now[w] = contacts_of(worlds[w]);
      }
      for (Parting& parting : partings) {
        const World &a = worlds[parting.a], &b = worlds[parting.b];
        if (!parting.text.empty() || a.failed || b.failed) continue;
        const control::ObjectError error = control::object_error(*a.scene, a.plant->state().q, b.plant->state().q);
        if (!apart(error)) continue;
        parting.text = fmt::format(
            R"({{"a": "{}", "b": "{}", "t": {:.4g}, "step": {}, {}, "contacts_a": {}, "contacts_b": {}, "before_a": {}, "before_b": {}}})",
            a.name, b.name, t, k, error_text(error), now[parting.a], now[parting.b],
            before[parting.a].empty() ? "[]" : before[parting.a], before[parting.b].empty() ? "[]" : before[parting.b]);
      }
    }
  }
  std::vector<std::string> texts, ends;
  for (const Parting& parting : partings)
    texts.push_back(!parting.text.empty() ? parting.text
                                          : fmt::format(R"({{"a": "{}", "b": "{}", "t": null}})",
                                                        worlds[parting.a].name, worlds[parting.b].name));
  for (const World& world : worlds)
    ends.push_back(
        fmt::format(R"("{}": {{"failed": {}, {}}})", world.name, world.failed,
                    error_text(control::object_error(*world.scene, world.plant->state().q, commands.q.back()))));
  return fmt::format(R"("ends": {{{}}}, "free": [{}])", fmt::join(ends, ", "), fmt::join(texts, ", "));
}

/// One step of the run, period by period, in every world: velocities of the objects and contacts.
std::string trace_step(std::vector<World>& worlds, const Commands& commands, const Arguments& arguments,
                       const dynamics::State& at, const VectorXd& from, const VectorXd& to) {
  const int periods = std::max(1, static_cast<int>(std::ceil(commands.h / arguments.period - 1e-9)));
  std::vector<std::string> lines;
  for (World& world : worlds) {
    world.plant->reset(at, from);
    for (int i = 1; i <= periods; ++i) {
      if (world.plant->advance(from + (to - from) * (double(i) / periods), commands.h / periods) !=
          plant::PlantStatus::kOk)
        break;
      std::vector<double> v;
      for (const scene::Object& object : world.scene->objects())
        for (int k = 0; k < object.nv; ++k) v.push_back(world.plant->state().v(object.first_v + k));
      lines.push_back(fmt::format(R"({{"world": "{}", "t": {:.5g}, "v": [{:.4g}], "contacts": {}}})", world.name,
                                  i * commands.h / periods, fmt::join(v, ", "), contacts_of(world)));
    }
  }
  return fmt::format("[{}]", fmt::join(lines, ",\n "));
}

/// Every step of the run from the state of the first world.
std::string play_steps(std::vector<World>& worlds, const Commands& commands, const Arguments& arguments) {
  std::string trace;
  std::vector<std::string> first(worlds.size());
  std::vector<int> over(worlds.size(), 0);
  std::vector<control::ObjectError> largest(worlds.size());
  dynamics::State at{.q = commands.q.front(), .v = VectorXd::Zero(worlds[0].scene->nv())};
  for (std::size_t k = 0; k < commands.u.size(); ++k) {
    const VectorXd& from = k == 0 ? commands.u_start : commands.u[k - 1];
    if (static_cast<int>(k) == arguments.trace)
      trace = ", \"trace\": " + trace_step(worlds, commands, arguments, at, from, commands.u[k]);
    dynamics::State next;
    std::string contacts;
    for (std::size_t w = 0; w < worlds.size(); ++w) {
      worlds[w].plant->reset(at, from);
      const bool good = worlds[w].plant->advance(commands.u[k], commands.h) == plant::PlantStatus::kOk;
      if (w == 0) {
        next = worlds[w].plant->state();
        contacts = contacts_of(worlds[w]);
        if (!good) return R"("steps": [])";
        continue;
      }
      const control::ObjectError error = control::object_error(*worlds[w].scene, worlds[w].plant->state().q, next.q);
      largest[w].position_m = std::max(largest[w].position_m, error.position_m);
      largest[w].rotation_rad = std::max(largest[w].rotation_rad, error.rotation_rad);
      if (!apart(error)) continue;
      if (over[w]++ == 0)
        first[w] = fmt::format(R"({{"step": {}, "good": {}, {}, "contacts_a": {}, "contacts_b": {}}})", k, good,
                               error_text(error), contacts, contacts_of(worlds[w]));
    }
    at = next;
  }
  std::vector<std::string> texts;
  for (std::size_t w = 1; w < worlds.size(); ++w)
    texts.push_back(fmt::format(R"({{"a": "{}", "b": "{}", "over": {}, {}, "first": {}}})", worlds[0].name,
                                worlds[w].name, over[w], error_text(largest[w]), first[w].empty() ? "null" : first[w]));
  return fmt::format(R"("steps": [{}])", fmt::join(texts, ", ")) + trace;
}

void compare(const std::string& folder, const Arguments& arguments) {
  const io::Run run = io::read_run(folder);
  Diagnostics diagnostics;
  const scene::Scene scene = io::load_scene(
      (std::filesystem::path(folder) / "config.yaml").string(),
      {.overlays = {}, .settings = arguments.settings, .package_paths = {}, .bundled_scenes = DEFT_SCENES_DIR},
      diagnostics);
  Commands commands{.h = run.trajectory.t[1] - run.trajectory.t[0]};
  for (const auto& q : run.trajectory.q) commands.q.push_back(Eigen::Map<const VectorXd>(q.data(), scene.nq()));
  for (const auto& u : run.trajectory.u) commands.u.push_back(Eigen::Map<const VectorXd>(u.data(), scene.nu()));
  if (static_cast<int>(commands.u.size()) > arguments.steps) commands.u.resize(arguments.steps);
  commands.u_start.resize(scene.nu());
  for (int i = 0; i < scene.nu(); ++i) commands.u_start(i) = commands.q.front()(scene.command_coordinates()[i]);
  const plant::PlantOptions options{.step = arguments.step,
                                    .object_damping = plant::object_damping(scene, std::nullopt, commands.h)};
  std::vector<World> worlds;
  for (const std::string& name : arguments.worlds) worlds.push_back(make_world(name, scene, options));
  const std::string free = play_free(worlds, commands, arguments);
  fmt::print(R"({{"run": "{}", "scene": "{}", "h": {}, "count": {}, {}, {}}})"
             "\n",
             folder, scene.spec().name, commands.h, commands.u.size(), free, play_steps(worlds, commands, arguments));
  std::fflush(stdout);
}

std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> result;
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t to = std::min(words.find(',', from), words.size());
    result.push_back(words.substr(from, to - from));
    from = to + 1;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--worlds" && has_value)
      arguments.worlds = split(argv[++i]);
    else if (word == "--step" && has_value)
      arguments.step = std::stod(argv[++i]);
    else if (word == "--period" && has_value)
      arguments.period = std::stod(argv[++i]);
    else if (word == "--trace" && has_value)
      arguments.trace = std::stoi(argv[++i]);
    else if (word == "--steps" && has_value)
      arguments.steps = std::stoi(argv[++i]);
    else if (word == "--settle" && has_value)
      arguments.settle = std::stod(argv[++i]);
    else if (word == "--set" && has_value)
      arguments.settings.emplace_back(argv[++i]);
    else
      arguments.runs.push_back(word);
  }
  try {
    for (const std::string& run : arguments.runs) compare(run, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "world_comparison: {}\n", error.what());
    return 2;
  }
  return 0;
}
