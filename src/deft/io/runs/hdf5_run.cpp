#include "deft/io/runs/hdf5_run.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/io/runs/hdf5_access.hpp"
#include "deft/io/runs/hdf5_horizon.hpp"
#include "deft/io/runs/hdf5_run_columns.hpp"
#include "deft/io/runs/hdf5_track.hpp"

namespace deft::io {
namespace {

using namespace run_columns;
using dynamics::Trajectory;

/// Poses of step k's alternative motion, NaN where none is known.
void copy_second_poses(const Trajectory& trajectory, std::size_t k, std::vector<double>& flat) {
  const std::size_t size = 7 * trajectory.names_bodies.size();
  if (k >= trajectory.second_X_WB.size() || trajectory.second_X_WB[k].empty()) {
    flat.insert(flat.end(), size, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (const auto& pose : trajectory.second_X_WB[k]) flat.insert(flat.end(), pose.begin(), pose.end());
}

const std::vector<std::string> kKindWords{"unknown", "point", "line", "surface"};  // by ContactKind

/// A new file. The format of release 1.8 holds attributes of any size and opens in every reader; single-writer mode
/// needs the latest.
hdf5::Handle create_file(const std::string& path, RunFormat format) {
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make settings");
  const H5F_libver_t version = format == RunFormat::kWhole ? H5F_LIBVER_V18 : H5F_LIBVER_LATEST;
  hdf5::check(H5Pset_libver_bounds(access.get(), version, version), "set the format version");
  hdf5::check(H5Pset_file_locking(access.get(), true, true), "set file locking");
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
          fmt::format("create '{}'", path)};
}

/// What does not change while the run goes on.
void write_facts(hid_t file, const RunHeader& header, const Trajectory& start) {
  hdf5::write_attribute(file, "name", header.name);
  hdf5::write_attribute(file, "version", header.version);
  hdf5::write_attribute(file, "scene_yaml", header.scene_yaml);
  hdf5::write_attribute(file, "scene_json", header.scene_json);
  hdf5::write_attribute(file, "names_q", start.names_q);
  hdf5::write_attribute(file, "names_v", start.names_v);
  hdf5::write_attribute(file, "names_u", start.names_u);
  hdf5::write_attribute(file, "names_bodies", start.names_bodies);
  hdf5::write_attribute(file, "status_words", start.status_words);
  hdf5::write_attribute(file, "u_index_q", std::vector<std::int32_t>(start.u_index_q.begin(), start.u_index_q.end()));
}

}  // namespace

void copy_rows(const Trajectory& trajectory, int first_step, bool with_start, RunRows& rows) {
  const auto copy_state = [&](std::size_t k) {
    rows.t.push_back(trajectory.t[k]);
    rows.q.insert(rows.q.end(), trajectory.q[k].begin(), trajectory.q[k].end());
    if (!trajectory.v.empty()) rows.v.insert(rows.v.end(), trajectory.v[k].begin(), trajectory.v[k].end());
    for (const auto& pose : trajectory.X_WB[k]) rows.X_WB.insert(rows.X_WB.end(), pose.begin(), pose.end());
    rows.offset.push_back(static_cast<std::int64_t>(trajectory.contact_offset[k]));
    if (!trajectory.track_words.empty()) rows.tracks.add_reference(trajectory, k);
  };
  if (with_start) copy_state(0);
  const auto first = to_size(first_step), end = trajectory.steps.size();
  for (std::size_t k = first; k < end; ++k) {
    copy_state(k + 1);
    if (!trajectory.track_words.empty()) rows.tracks.add_step(trajectory, k);
    rows.u.insert(rows.u.end(), trajectory.u[k].begin(), trajectory.u[k].end());
    if (!trajectory.searches_alternatives) continue;
    rows.second_delta.insert(rows.second_delta.end(), trajectory.second_delta[k].begin(),
                             trajectory.second_delta[k].end());
    copy_second_poses(trajectory, k, rows.second_X_WB);
  }
  if (first >= end) return;
  const auto contact = [&](std::size_t k) {
    return trajectory.contacts.begin() + static_cast<std::ptrdiff_t>(trajectory.contact_offset[k]);
  };
  rows.contacts.insert(rows.contacts.end(), contact(first), contact(end));
  rows.steps.insert(rows.steps.end(), trajectory.steps.begin() + first_step, trajectory.steps.end());
  const auto first_support = static_cast<std::ptrdiff_t>(first * trajectory.support_bodies.size());
  rows.supports.insert(rows.supports.end(), trajectory.supports.begin() + first_support, trajectory.supports.end());
  if (!trajectory.horizons.empty())
    rows.horizons.insert(rows.horizons.end(), trajectory.horizons.begin() + first_step, trajectory.horizons.end());
}

struct RunFile::Impl {
  hdf5::Handle file;
  RunFormat format;
  Columns<double> states;  // q, u, X_WB and, of second order, v
  Columns<double> alternative_motions;
  Columns<std::int64_t> offset;
  Columns<double> contact_numbers, patch_numbers, step_numbers, support_numbers;
  Columns<std::int32_t> contact_indices, step_indices;
  Columns<std::uint8_t> contact_states, patch_kinds, step_flags, support_states;
  std::optional<HorizonColumns> horizons;
  std::optional<TrackColumns> tracks;
  Columns<double> t;

  /// Datasets of states and of alternative motions, and the offsets of contacts.
  void create_states(const Trajectory& start) {
    const hid_t id = file.get();
    const hsize_t nq = start.names_q.size(), nv = start.names_v.size(), bodies = start.names_bodies.size();
    states.emplace_back(id, "/q", std::vector<hsize_t>{nq});
    states.emplace_back(id, "/u", std::vector<hsize_t>{start.names_u.size()});
    states.emplace_back(id, "/X_WB", std::vector<hsize_t>{bodies, 7});
    if (!start.v.empty()) states.emplace_back(id, "/v", std::vector<hsize_t>{nv});
    if (start.searches_alternatives) {
      alternative_motions.emplace_back(id, "/steps/second_delta", std::vector<hsize_t>{nv});
      alternative_motions.emplace_back(id, "/steps/second_X_WB", std::vector<hsize_t>{bodies, 7});
    }
    offset.emplace_back(id, "/contacts/offset", std::vector<hsize_t>{});
  }

  /// Datasets of contacts, steps and supports.
  void create_records(const Trajectory& start) {
    const hid_t id = file.get();
    create_columns(id, kContactNumbers, contact_numbers);
    create_columns(id, kContactIndices, contact_indices);
    create_columns(id, kContactStates, contact_states);
    if (start.has_contact_kinds) {
      hdf5::write_attribute(id, "contact_kinds", kKindWords);
      create_columns(id, kPatchNumbers, patch_numbers);
      create_columns(id, kPatchKinds, patch_kinds);
    }
    create_columns(id, kStepNumbers, step_numbers);
    create_columns(id, kStepIndices, step_indices);
    create_columns(id, kStepFlags, step_flags);
    if (start.support_bodies.empty()) return;
    hdf5::make_group(id, "/supports");
    hdf5::write_attribute(id, "support_bodies",
                          std::vector<std::int32_t>(start.support_bodies.begin(), start.support_bodies.end()));
    create_columns(id, kSupportNumbers, support_numbers);
    create_columns(id, kSupportStates, support_states);
  }

  template <typename Visit>
  void each_column(Visit visit) {
    for (auto& c : states) visit(c);
    for (auto& c : alternative_motions) visit(c);
    for (auto& c : contact_numbers) visit(c);
    for (auto& c : contact_indices) visit(c);
    for (auto& c : contact_states) visit(c);
    for (auto& c : patch_numbers) visit(c);
    for (auto& c : patch_kinds) visit(c);
    for (auto& c : step_numbers) visit(c);
    for (auto& c : step_indices) visit(c);
    for (auto& c : step_flags) visit(c);
    for (auto& c : support_numbers) visit(c);
    for (auto& c : support_states) visit(c);
    for (auto& c : offset) visit(c);
    if (horizons) horizons->each(visit);
    if (tracks) tracks->each(visit);
    for (auto& c : t) visit(c);  // last
  }
};

RunFile::RunFile(const std::string& path, const RunHeader& header, const Trajectory& start, RunFormat format)
    : impl_(std::make_unique<Impl>()) {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_->format = format;
  impl_->file = create_file(path, format);
  const hid_t file = impl_->file.get();
  write_facts(file, header, start);
  for (const char* group : {"/contacts", "/steps"}) hdf5::make_group(file, group);
  impl_->create_states(start);
  impl_->create_records(start);
  if (!start.names_x.empty()) impl_->horizons.emplace(file, start);
  if (!start.track_words.empty()) impl_->tracks.emplace(file, start);
  impl_->t.emplace_back(file, "/t", std::vector<hsize_t>{});
  if (format == RunFormat::kSingleWriter) hdf5::check(H5Fstart_swmr_write(file), "start single-writer mode");
}

RunFile::~RunFile() {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_.reset();
}

void RunFile::append(const RunRows& rows) {
  const std::lock_guard lock(hdf5::library_mutex());
  impl_->states[0].append(rows.q);
  impl_->states[1].append(rows.u);
  impl_->states[2].append(rows.X_WB);
  if (impl_->states.size() > 3) impl_->states[3].append(rows.v);
  append_columns(rows.contacts, kContactNumbers, impl_->contact_numbers);
  append_columns(rows.contacts, kContactIndices, impl_->contact_indices);
  append_columns(rows.contacts, kContactStates, impl_->contact_states);
  if (!impl_->patch_kinds.empty()) {
    append_columns(rows.contacts, kPatchNumbers, impl_->patch_numbers);
    append_columns(rows.contacts, kPatchKinds, impl_->patch_kinds);
  }
  append_columns(rows.steps, kStepNumbers, impl_->step_numbers);
  append_columns(rows.steps, kStepIndices, impl_->step_indices);
  append_columns(rows.steps, kStepFlags, impl_->step_flags);
  if (!impl_->alternative_motions.empty()) {
    impl_->alternative_motions[0].append(rows.second_delta);
    impl_->alternative_motions[1].append(rows.second_X_WB);
  }
  if (!impl_->support_numbers.empty()) {
    append_columns(rows.supports, kSupportNumbers, impl_->support_numbers);
    append_columns(rows.supports, kSupportStates, impl_->support_states);
  }
  impl_->offset[0].append(rows.offset);
  if (impl_->horizons) impl_->horizons->append(rows.horizons);
  if (impl_->tracks) impl_->tracks->append(rows.tracks);
  impl_->t[0].append(rows.t);
}

void RunFile::flush() {
  const std::lock_guard lock(hdf5::library_mutex());
  if (impl_->format == RunFormat::kWhole) {
    hdf5::check(H5Fflush(impl_->file.get(), H5F_SCOPE_GLOBAL), "flush the run file");
  } else {
    impl_->each_column([](auto& column) { column.flush(); });
  }
}

}  // namespace deft::io
