#include "deft/io/runs/tree_columns.hpp"

#include <fmt/format.h>

#include <utility>

#include "deft/io/runs/hdf5_access.hpp"

namespace deft::io {
namespace {

void append(std::vector<double>& flat, const Eigen::VectorXd& row) {
  flat.insert(flat.end(), row.data(), row.data() + row.size());
}

hdf5::Handle open_run(const std::string& path) {
  return {H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, fmt::format("open '{}'", path)};
}

}  // namespace

TreeRows TreeRows::take() {
  TreeRows next;
  next.commands_before_ = commands_before_;
  return std::exchange(*this, std::move(next));
}

void TreeRows::add(const PosedNodes& tree) {
  X_WB.insert(X_WB.end(), tree.X_WB.begin(), tree.X_WB.end());
  for (const planning::Node& node : tree.nodes) {
    append(q, node.q);
    append(u, node.u);
    cost.push_back(node.cost_s);
    distance.push_back(node.distance);
    time.push_back(node.time_s);
    parent.push_back(node.parent);
    regrasps.push_back(node.regrasps);
    kind.push_back(static_cast<std::uint8_t>(node.kind));
    for (const Eigen::VectorXd& command : node.commands) append(commands, command);
    commands_before_ += static_cast<std::int64_t>(node.commands.size());
    offset.push_back(commands_before_);
  }
}

/// Members are made in this order: the file first, then what is in it.
struct TreeFile::Impl {
  Impl(const std::string& path, const PlanHeader& header)
      : file(open_run(path)), tree(hdf5::make_group(file.get(), "/tree")), plan(hdf5::make_group(file.get(), "/plan")) {
    hdf5::write_attribute(plan.get(), "goal", header.goal);
    hdf5::write_attribute(plan.get(), "model", header.model);
    hdf5::write_attribute(plan.get(), "scene_hash", header.scene_hash);
    hdf5::write_attribute(plan.get(), "seed", fmt::format("{}", header.seed));
    hdf5::write_attribute(plan.get(), "kappa", fmt::format("{}", header.kappa));
    offset.append({0});
  }

  hsize_t count(const char* names) const { return hdf5::read_texts(file.get(), names).size(); }
  template <typename T>
  hdf5::Column<T> column(const char* path, std::vector<hsize_t> row_shape = {}) const {
    return {file.get(), path, std::move(row_shape)};
  }

  hdf5::Handle file, tree, plan;
  hdf5::Column<double> q = column<double>("/tree/q", {count("names_q")}),
                       u = column<double>("/tree/u", {count("names_u")}), cost = column<double>("/tree/cost"),
                       distance = column<double>("/tree/distance"), time = column<double>("/tree/time"),
                       commands = column<double>("/tree/commands", {count("names_u")});
  hdf5::Column<float> X_WB = column<float>("/tree/X_WB", {count("names_bodies"), 7});
  hdf5::Column<std::int32_t> parent = column<std::int32_t>("/tree/parent"),
                             regrasps = column<std::int32_t>("/tree/regrasps"),
                             segments = column<std::int32_t>("/plan/segments", {4});
  hdf5::Column<std::uint8_t> kind = column<std::uint8_t>("/tree/kind");
  hdf5::Column<std::int64_t> offset = column<std::int64_t>("/tree/commands_offset");
};

TreeFile::TreeFile(const std::string& path, const PlanHeader& header) {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_ = std::make_unique<Impl>(path, header);
}

TreeFile::~TreeFile() {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_.reset();
}

void TreeFile::append(const TreeRows& rows) {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_->q.append(rows.q);
  impl_->u.append(rows.u);
  impl_->parent.append(rows.parent);
  impl_->kind.append(rows.kind);
  impl_->cost.append(rows.cost);
  impl_->distance.append(rows.distance);
  impl_->regrasps.append(rows.regrasps);
  impl_->time.append(rows.time);
  impl_->X_WB.append(rows.X_WB);
  impl_->commands.append(rows.commands);
  impl_->offset.append(rows.offset);
}

void TreeFile::add_plan(const planning::Plan& plan) {
  const std::lock_guard lock(hdf5::library_mutex());
  std::vector<std::int32_t> segments;
  for (const planning::Segment& s : plan.segments)
    segments.insert(segments.end(), {s.first, s.last, static_cast<std::int32_t>(s.transit), s.node});
  impl_->segments.append(segments);
  hdf5::write_attribute(impl_->plan.get(), "h", fmt::format("{}", plan.h));
  hdf5::write_attribute(impl_->plan.get(), "success", std::vector<std::int32_t>{plan.success});
  if (!plan.verdicts.empty()) {
    std::vector<std::string> judges;
    std::vector<std::int32_t> holding;
    for (const planning::Verdict& verdict : plan.verdicts) {
      judges.push_back(verdict.judge);
      holding.push_back(verdict.success);
    }
    hdf5::write_attribute(impl_->plan.get(), "judges", judges);
    hdf5::write_attribute(impl_->plan.get(), "judges_success", holding);
  }
  if (plan.step_halving.empty()) return;
  std::vector<std::int32_t> finer, finer_success;
  for (const planning::StepHalvingCheck& run : plan.step_halving) {
    finer.push_back(run.substeps);
    finer_success.push_back(run.success);
  }
  hdf5::write_attribute(impl_->plan.get(), "finer", finer);
  hdf5::write_attribute(impl_->plan.get(), "finer_success", finer_success);
}

void TreeFile::add_reachable(const planning::ReachableSets& sets) {
  if (sets.places.empty()) return;
  const std::lock_guard lock(hdf5::library_mutex());
  const hid_t file = impl_->file.get();
  const hdf5::Handle group = hdf5::make_group(file, "/reachable");
  hdf5::write_attribute(group.get(), "radius", fmt::format("{}", sets.radius));
  hdf5::write_attribute(group.get(), "kappa", fmt::format("{}", sets.kappa));
  std::vector<std::int32_t> places;
  for (const auto& [frame, node] : sets.places) places.insert(places.end(), {frame, node});
  hdf5::Column<std::int32_t>(file, "/reachable/bodies", {}).append({sets.bodies.begin(), sets.bodies.end()});
  hdf5::Column<std::int32_t>(file, "/reachable/places", {2}).append(places);
  hdf5::Column<float>(file, "/reachable/ellipsoids", {sets.bodies.size(), 8, 3}).append(sets.ellipsoids);
}

void TreeFile::flush() {
  const std::lock_guard lock(hdf5::library_mutex());
  hdf5::check(H5Fflush(impl_->file.get(), H5F_SCOPE_GLOBAL), "flush the tree");
}

}  // namespace deft::io
