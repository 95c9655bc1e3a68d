#include "deft/io/runs/plan_file.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "deft/core/diagnostics.hpp"
#include "deft/core/index.hpp"
#include "deft/io/runs/hdf5_access.hpp"
#include "deft/io/runs/tree_columns.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

template <typename T>
std::vector<T> read_column(hid_t file, const char* path) {
  return hdf5::read_required<T>(file, path, "it has a tree without");
}

/// Row `i` of a flat list of rows.
Eigen::VectorXd row(const std::vector<double>& flat, std::size_t i, std::size_t rows) {
  const std::size_t width = rows == 0 ? 0 : flat.size() / rows;
  return Eigen::Map<const Eigen::VectorXd>(flat.data() + i * width, static_cast<Eigen::Index>(width));
}

std::vector<planning::Node> read_nodes(hid_t file) {
  const auto q = read_column<double>(file, "/tree/q"), u = read_column<double>(file, "/tree/u"),
             cost = read_column<double>(file, "/tree/cost"), distance = read_column<double>(file, "/tree/distance"),
             time = read_column<double>(file, "/tree/time"), commands = read_column<double>(file, "/tree/commands");
  const auto parent = read_column<std::int32_t>(file, "/tree/parent"),
             regrasps = read_column<std::int32_t>(file, "/tree/regrasps");
  const auto kind = read_column<std::uint8_t>(file, "/tree/kind");
  const auto offset = read_column<std::int64_t>(file, "/tree/commands_offset");
  const std::size_t count = parent.size();
  for (const std::size_t size : {cost.size(), distance.size(), time.size(), regrasps.size(), kind.size()}) {
    if (size != count) throw std::runtime_error("columns of its tree differ in length");
  }
  if (offset.size() != count + 1) throw std::runtime_error("/tree/commands_offset does not fit its tree");
  if (offset.front() < 0 || !std::is_sorted(offset.begin(), offset.end()))
    throw std::runtime_error("/tree/commands_offset falls, or is below 0");
  std::vector<planning::Node> nodes(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (parent[i] >= static_cast<std::int32_t>(i) || (parent[i] < 0) != (i == 0) || kind[i] > 2)
      throw std::runtime_error(fmt::format("node {} of its tree is broken", i));
    nodes[i] = {.parent = parent[i],
                .kind = static_cast<planning::NodeKind>(kind[i]),
                .q = row(q, i, count),
                .u = row(u, i, count),
                .distance = distance[i],
                .cost_s = cost[i],
                .regrasps = regrasps[i],
                .time_s = time[i]};
    for (auto k = to_size(offset[i]); k < to_size(offset[i + 1]); ++k)
      nodes[i].commands.push_back(row(commands, k, to_size(offset.back())));
  }
  return nodes;
}

/// A number that is written as text; 0 if there is none.
double read_number(const hdf5::Handle& group, const char* name) {
  return std::strtod(hdf5::read_text(group.get(), name).c_str(), nullptr);
}

PlanHeader read_header(hid_t file) {
  const hdf5::Handle group(H5Gopen2(file, "/plan", H5P_DEFAULT), H5Gclose, "open /plan");
  const auto text = [&](const char* name) { return hdf5::read_text(group.get(), name); };
  return {.goal = text("goal"),
          .model = text("model"),
          .scene_hash = text("scene_hash"),
          .seed = std::strtoull(text("seed").c_str(), nullptr, 10),
          .kappa = read_number(group, "kappa")};
}

void read_plan_part(hid_t file, StoredPlan& stored) {
  stored.header = read_header(file);
  const auto numbers = read_column<std::int32_t>(file, "/plan/segments");
  for (std::size_t i = 0; i + 3 < numbers.size(); i += 4)
    stored.segments.push_back({numbers[i], numbers[i + 1], numbers[i + 2] != 0, numbers[i + 3]});
  const hdf5::Handle group(H5Gopen2(file, "/plan", H5P_DEFAULT), H5Gclose, "open /plan");
  stored.h = read_number(group, "h");
  const std::vector<std::int32_t> success = hdf5::read_numbers(group.get(), "success");
  if (!success.empty()) stored.success = success[0] != 0;
}

planning::ReachableSets read_reachable(hid_t file) {
  planning::ReachableSets sets;
  if (H5Lexists(file, "/reachable", H5P_DEFAULT) <= 0) return sets;
  const hdf5::Handle group(H5Gopen2(file, "/reachable", H5P_DEFAULT), H5Gclose, "open /reachable");
  sets.radius = read_number(group, "radius");
  sets.kappa = read_number(group, "kappa");
  const auto bodies = read_column<std::int32_t>(file, "/reachable/bodies"),
             places = read_column<std::int32_t>(file, "/reachable/places");
  sets.bodies.assign(bodies.begin(), bodies.end());
  for (std::size_t i = 0; i + 1 < places.size(); i += 2) sets.places.push_back({places[i], places[i + 1]});
  sets.ellipsoids = read_column<float>(file, "/reachable/ellipsoids");
  if (sets.ellipsoids.size() != sets.places.size() * bodies.size() * planning::ReachableSets::kNumbers)
    throw std::runtime_error("its reachable sets differ in length");
  return sets;
}

/// What `read` finds in the run of a planner; none of another run.
template <class Read>
auto read_search(const std::string& path, Read read) -> std::optional<decltype(read(hid_t{}))> {
  std::error_code error;
  const std::string run = fs::is_directory(path, error) ? (fs::path(path) / "run.h5").string() : path;
  if (!fs::exists(run, error)) throw InputError({run, 0, 0}, "no such run");
  const std::lock_guard lock(hdf5::library_mutex());
  try {
    // A run in single-writer mode is a simulation's: it has no tree, and does not open like this.
    const hid_t id = H5Fopen(run.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (id < 0) return std::nullopt;
    const hdf5::Handle file(id, H5Fclose, "");
    if (H5Lexists(file.get(), "/tree", H5P_DEFAULT) <= 0) return std::nullopt;
    return read(file.get());
  } catch (const std::runtime_error& failure) {
    throw InputError({run, 0, 0}, fmt::format("is not a whole run of a planner: {}", failure.what()));
  }
}

}  // namespace

std::optional<StoredPlan> read_plan(const std::string& path) {
  return read_search(path, [](hid_t file) {
    StoredPlan stored;
    stored.nodes = read_nodes(file);
    if (stored.nodes.empty()) throw std::runtime_error("its tree has no nodes");
    stored.X_WB = read_column<float>(file, "/tree/X_WB");
    read_plan_part(file, stored);
    stored.reachable = read_reachable(file);
    return stored;
  });
}

std::optional<PlanHeader> read_plan_header(const std::string& path) { return read_search(path, read_header); }

std::string plan_overlay(const planning::Plan& plan, const std::vector<std::string>& names_u) {
  std::string text = "# The commands of a plan, and the step it was checked with: deft sim SCENE --with plan.yaml\n";
  for (const planning::StepHalvingCheck& run : plan.step_halving)
    text += fmt::format("# {} with --h {}\n", run.success ? "It holds" : "It does not hold", plan.h / run.substeps);
  for (const planning::Verdict& verdict : plan.verdicts)
    text += fmt::format("# {} before the judge {}\n",
                        verdict.success  ? "It holds"
                        : verdict.judged ? "It does not hold"
                                         : "It was not judged to the end",
                        verdict.judge);
  text += fmt::format("step: {{h: {}, kappa: .inf}}\ncommands:\n  interpolation: linear\n  knots:{}\n", plan.h,
                      plan.commands.empty() ? " []" : "");
  // Before the first command: finer steps go from there.
  for (std::size_t k = 0; k <= plan.commands.size() && !plan.commands.empty(); ++k) {
    const Eigen::VectorXd& u = k == 0 ? plan.u_start : plan.commands[k - 1];
    std::map<std::string, std::string> robots;
    for (std::size_t i = 0; i < names_u.size(); ++i) {
      const std::size_t slash = names_u[i].find('/');
      std::string& joints = robots[names_u[i].substr(0, slash)];
      joints += fmt::format("{}{}: {}", joints.empty() ? "" : ", ", names_u[i].substr(slash + 1),
                            u(static_cast<Eigen::Index>(i)));
    }
    text += fmt::format("    - {{t: {}", static_cast<double>(k) * plan.h);
    for (const auto& [robot, joints] : robots) text += fmt::format(", {}: {{{}}}", robot, joints);
    text += "}\n";
  }
  return text;
}

}  // namespace deft::io
