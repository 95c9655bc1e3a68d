#include "deft/io/plan_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "deft/io/hdf5_access.hpp"

namespace deft::io {
namespace {

namespace fs = std::filesystem;

void append(std::vector<double>& flat, const Eigen::VectorXd& row) {
  flat.insert(flat.end(), row.data(), row.data() + row.size());
}

template <typename T>
void write_column(hid_t file, const std::string& path, std::vector<hsize_t> row_shape, const std::vector<T>& values) {
  hdf5::Column<T> column(file, path, std::move(row_shape));
  column.append(values);
}

hdf5::Handle make_group(hid_t file, const char* group) {
  return {H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, fmt::format("create {}", group)};
}

void write_tree(hid_t file, const std::vector<planning::Node>& nodes) {
  const hdf5::Handle group = make_group(file, "/tree");
  std::vector<double> q, u, cost, distance, time, commands;
  std::vector<std::int32_t> parent, regrasps;
  std::vector<std::uint8_t> kind;
  std::vector<std::int64_t> offset{0};
  for (const planning::Node& node : nodes) {
    append(q, node.q);
    append(u, node.u);
    cost.push_back(node.cost_s);
    distance.push_back(node.distance);
    time.push_back(node.time_s);
    parent.push_back(node.parent);
    regrasps.push_back(node.regrasps);
    kind.push_back(static_cast<std::uint8_t>(node.kind));
    for (const Eigen::VectorXd& command : node.commands) append(commands, command);
    offset.push_back(offset.back() + static_cast<std::int64_t>(node.commands.size()));
  }
  const auto nq = static_cast<hsize_t>(nodes.front().q.size()), nu = static_cast<hsize_t>(nodes.front().u.size());
  write_column(file, "/tree/q", {nq}, q);
  write_column(file, "/tree/u", {nu}, u);
  write_column(file, "/tree/parent", {}, parent);
  write_column(file, "/tree/kind", {}, kind);
  write_column(file, "/tree/cost", {}, cost);
  write_column(file, "/tree/distance", {}, distance);
  write_column(file, "/tree/regrasps", {}, regrasps);
  write_column(file, "/tree/time", {}, time);
  write_column(file, "/tree/commands", {nu}, commands);
  write_column(file, "/tree/commands_offset", {}, offset);
}

void write_segments(hid_t file, const PlanHeader& header, const planning::Plan& plan) {
  const hdf5::Handle group = make_group(file, "/plan");
  std::vector<std::int32_t> segments;
  for (const planning::Segment& segment : plan.segments) {
    for (const int number : {segment.first, segment.last, int(segment.transfer)}) segments.push_back(number);
  }
  write_column(file, "/plan/segments", {3}, segments);
  hdf5::write_attribute(group.get(), "goal", header.goal);
  hdf5::write_attribute(group.get(), "model", header.model);
  hdf5::write_attribute(group.get(), "scene_hash", header.scene_hash);
  hdf5::write_attribute(group.get(), "seed", fmt::format("{}", header.seed));
  hdf5::write_attribute(group.get(), "kappa", fmt::format("{}", header.kappa));
  hdf5::write_attribute(group.get(), "h", fmt::format("{}", plan.h));
  hdf5::write_attribute(group.get(), "success", std::vector<std::int32_t>{plan.success});
}

}  // namespace

void write_plan(const std::string& folder, const PlanHeader& header, const std::vector<planning::Node>& nodes,
                const planning::Plan& plan) {
  const std::lock_guard lock(hdf5::library_mutex());
  const fs::path whole = fs::path(folder) / "run.h5", copy = fs::path(folder) / "run.h5.tmp";
  fs::copy_file(whole, copy, fs::copy_options::overwrite_existing);
  {
    const hdf5::Handle file(H5Fopen(copy.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose,
                            fmt::format("open '{}'", copy.string()));
    write_tree(file.get(), nodes);
    write_segments(file.get(), header, plan);
  }
  fs::rename(copy, whole);
}

std::string plan_overlay(const planning::Plan& plan, const std::vector<std::string>& names_u) {
  std::string text =
      "# The commands of a plan: deft sim SCENE --with plan.yaml\ncommands:\n  interpolation: linear\n  knots:\n";
  for (std::size_t k = 0; k < plan.commands.size(); ++k) {
    std::map<std::string, std::string> robots;
    for (std::size_t i = 0; i < names_u.size(); ++i) {
      const std::size_t slash = names_u[i].find('/');
      std::string& joints = robots[names_u[i].substr(0, slash)];
      joints += fmt::format("{}{}: {}", joints.empty() ? "" : ", ", names_u[i].substr(slash + 1),
                            plan.commands[k](static_cast<Eigen::Index>(i)));
    }
    text += fmt::format("    - {{t: {}", static_cast<double>(k + 1) * plan.h);
    for (const auto& [robot, joints] : robots) text += fmt::format(", {}: {{{}}}", robot, joints);
    text += "}\n";
  }
  return text;
}

std::string text_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace deft::io
