#include "deft/io/runs/hdf5_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "deft/core/index.hpp"
#include "deft/io/runs/hdf5_access.hpp"
#include "deft/io/runs/hdf5_horizon.hpp"
#include "deft/io/runs/hdf5_records.hpp"
#include "deft/io/runs/hdf5_track.hpp"

namespace deft::io {
namespace {

using dynamics::ContactRecord;
using dynamics::StepRecord;
using dynamics::SupportRecord;
using dynamics::Trajectory;

template <auto member>
constexpr auto contact_number = scalar<ContactRecord, double, member>;
template <auto member>
constexpr auto step_number = scalar<StepRecord, double, member>;

constexpr std::array kContactNumbers{
    vector<ContactRecord, &ContactRecord::point_W>("/contacts/point_W"),
    vector<ContactRecord, &ContactRecord::normal_W>("/contacts/normal_W"),
    vector<ContactRecord, &ContactRecord::force_W>("/contacts/force_W"),
    vector<ContactRecord, &ContactRecord::torque_W>("/contacts/torque_W"),
    contact_number<&ContactRecord::gap>("/contacts/gap"),
    contact_number<&ContactRecord::gap_start>("/contacts/gap_start"),
    contact_number<&ContactRecord::boundary_gap>("/contacts/boundary_gap"),
    contact_number<&ContactRecord::mu>("/contacts/mu"),
};
constexpr std::array kContactIndices{
    scalar<ContactRecord, std::int32_t, &ContactRecord::a>("/contacts/a"),
    scalar<ContactRecord, std::int32_t, &ContactRecord::b>("/contacts/b"),
};
constexpr std::array kContactStates{scalar<ContactRecord, std::uint8_t, &ContactRecord::state>("/contacts/state")};
// Of the model equivalent-contact-point.
constexpr std::array kPatchNumbers{
    vector<ContactRecord, &ContactRecord::tangent_W>("/contacts/tangent_W"),
    vector<ContactRecord, &ContactRecord::slip>("/contacts/slip"),
    vector<ContactRecord, &ContactRecord::ellipsoid>("/contacts/ellipsoid"),
};
constexpr std::array kPatchKinds{scalar<ContactRecord, std::uint8_t, &ContactRecord::kind>("/contacts/kind")};
const std::vector<std::string> kKindWords{"unknown", "point", "line", "surface"};  // by ContactKind

constexpr std::array kStepNumbers{
    step_number<&StepRecord::residual>("/steps/residual"),
    step_number<&StepRecord::residual_stationarity>("/steps/residual_stationarity"),
    step_number<&StepRecord::residual_primal>("/steps/residual_primal"),
    step_number<&StepRecord::residual_complementarity>("/steps/residual_complementarity"),
    step_number<&StepRecord::solve_us>("/steps/solve_us"),
    step_number<&StepRecord::step_us>("/steps/step_us"),
    step_number<&StepRecord::energy>("/steps/energy"),
    step_number<&StepRecord::gap_min>("/steps/gap_min"),
    step_number<&StepRecord::gap_min_linearised>("/steps/gap_min_linearised"),
    step_number<&StepRecord::balance>("/steps/balance"),
    step_number<&StepRecord::bound>("/steps/bound"),
};
constexpr std::array kStepIndices{
    scalar<StepRecord, std::int32_t, &StepRecord::status>("/steps/status"),
    scalar<StepRecord, std::int32_t, &StepRecord::iterations>("/steps/iterations"),
    scalar<StepRecord, std::int32_t, &StepRecord::uniqueness>("/steps/uniqueness"),
};
constexpr std::array kStepFlags{
    scalar<StepRecord, std::uint8_t, &StepRecord::motion_unique>("/steps/motion_unique"),
    scalar<StepRecord, std::uint8_t, &StepRecord::forces_unique>("/steps/forces_unique"),
    scalar<StepRecord, std::uint8_t, &StepRecord::forces_least_norm>("/steps/forces_least_norm"),
};

constexpr std::array kSupportNumbers{
    vector<SupportRecord, &SupportRecord::load>("/supports/load"),
    scalar<SupportRecord, double, &SupportRecord::factor>("/supports/factor"),
    vector<SupportRecord, &SupportRecord::twist>("/supports/twist"),
    vector<SupportRecord, &SupportRecord::form>("/supports/form"),
};
constexpr std::array kSupportStates{scalar<SupportRecord, std::uint8_t, &SupportRecord::state>("/supports/state")};

/// Poses of step k's second motion, NaN where none is known.
void copy_second_poses(const Trajectory& trajectory, std::size_t k, std::vector<double>& flat) {
  const std::size_t size = 7 * trajectory.names_bodies.size();
  if (k >= trajectory.second_X_WB.size() || trajectory.second_X_WB[k].empty()) {
    flat.insert(flat.end(), size, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (const auto& pose : trajectory.second_X_WB[k]) flat.insert(flat.end(), pose.begin(), pose.end());
}

/// Poses of `steps` steps; steps whose rows are NaN have none.
std::vector<std::vector<std::array<double, 7>>> second_poses(const std::vector<double>& flat, std::size_t steps,
                                                             std::size_t bodies) {
  std::vector<std::vector<std::array<double, 7>>> poses(steps);
  for (std::size_t k = 0; k < steps && bodies > 0; ++k) {
    const double* row = flat.data() + 7 * bodies * k;
    if (std::isnan(row[0])) continue;
    poses[k].resize(bodies);
    for (std::size_t b = 0; b < bodies; ++b) std::copy_n(row + 7 * b, 7, poses[k][b].begin());
  }
  return poses;
}

/// Times that follow each other: the rows of a killed run that were announced but not written hold NaN.
std::size_t times_set(const std::vector<double>& t) {
  std::size_t rows = t.empty() || !(t[0] == t[0]) ? 0 : 1;
  while (rows > 0 && rows < t.size() && t[rows] > t[rows - 1]) ++rows;
  return rows;
}

hdf5::Handle open_for_reading(const std::string& path) {
  // A file whose writer was killed in single-writer mode opens in SWMR only; any other opens plainly.
  const hid_t plain = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (plain >= 0) return {plain, H5Fclose, ""};
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT), H5Fclose, "open it as HDF5"};
}

}  // namespace

void RunRows::clear() {
  for (std::vector<double>* column : {&t, &q, &v, &u, &X_WB, &second_delta, &second_X_WB}) column->clear();
  offset.clear();
  contacts.clear();
  steps.clear();
  supports.clear();
  horizons.clear();
  tracks.clear();
}

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
    if (!trajectory.looks_for_second_motions) continue;
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
  std::vector<hdf5::Column<double>> states;  // q, u, X_WB and, of second order, v
  std::vector<hdf5::Column<double>> second_motions;
  std::vector<hdf5::Column<std::int64_t>> offset;
  Columns<double> contact_numbers, patch_numbers, step_numbers, support_numbers;
  Columns<std::int32_t> contact_indices, step_indices;
  Columns<std::uint8_t> contact_states, patch_kinds, step_flags, support_states;
  std::optional<HorizonColumns> horizons;
  std::optional<TrackColumns> tracks;
  std::vector<hdf5::Column<double>> t;

  template <typename Visit>
  void each_column(Visit visit) {
    for (auto& c : states) visit(c);
    for (auto& c : second_motions) visit(c);
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
  Impl& run = *impl_;
  run.format = format;
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make settings");
  // The format of release 1.8 holds attributes of any size and opens in every reader; single-writer mode needs the
  // latest.
  const H5F_libver_t version = format == RunFormat::kWhole ? H5F_LIBVER_V18 : H5F_LIBVER_LATEST;
  hdf5::check(H5Pset_libver_bounds(access.get(), version, version), "set the format version");
  hdf5::check(H5Pset_file_locking(access.get(), true, true), "set file locking");
  run.file = hdf5::Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose,
                          fmt::format("create '{}'", path));
  const hid_t file = run.file.get();

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

  for (const char* group : {"/contacts", "/steps"}) {
    const hdf5::Handle made(H5Gcreate2(file, group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                            fmt::format("create {}", group));
  }
  run.states.emplace_back(file, "/q", std::vector<hsize_t>{start.names_q.size()});
  run.states.emplace_back(file, "/u", std::vector<hsize_t>{start.names_u.size()});
  run.states.emplace_back(file, "/X_WB", std::vector<hsize_t>{start.names_bodies.size(), 7});
  if (!start.v.empty()) run.states.emplace_back(file, "/v", std::vector<hsize_t>{start.names_v.size()});
  if (start.looks_for_second_motions) {
    run.second_motions.emplace_back(file, "/steps/second_delta", std::vector<hsize_t>{start.names_v.size()});
    run.second_motions.emplace_back(file, "/steps/second_X_WB", std::vector<hsize_t>{start.names_bodies.size(), 7});
  }
  run.offset.emplace_back(file, "/contacts/offset", std::vector<hsize_t>{});
  create_columns(file, kContactNumbers, run.contact_numbers);
  create_columns(file, kContactIndices, run.contact_indices);
  create_columns(file, kContactStates, run.contact_states);
  if (start.has_contact_kinds) {
    hdf5::write_attribute(file, "contact_kinds", kKindWords);
    create_columns(file, kPatchNumbers, run.patch_numbers);
    create_columns(file, kPatchKinds, run.patch_kinds);
  }
  create_columns(file, kStepNumbers, run.step_numbers);
  create_columns(file, kStepIndices, run.step_indices);
  create_columns(file, kStepFlags, run.step_flags);
  if (!start.support_bodies.empty()) {
    const hdf5::Handle made(H5Gcreate2(file, "/supports", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                            "create /supports");
    hdf5::write_attribute(file, "support_bodies",
                          std::vector<std::int32_t>(start.support_bodies.begin(), start.support_bodies.end()));
    create_columns(file, kSupportNumbers, run.support_numbers);
    create_columns(file, kSupportStates, run.support_states);
  }
  if (!start.names_x.empty()) run.horizons.emplace(file, start);
  if (!start.track_words.empty()) run.tracks.emplace(file, start);
  run.t.emplace_back(file, "/t", std::vector<hsize_t>{});
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
  if (!impl_->second_motions.empty()) {
    impl_->second_motions[0].append(rows.second_delta);
    impl_->second_motions[1].append(rows.second_X_WB);
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

Run read_run_file(const std::string& path) {
  const std::lock_guard lock(hdf5::library_mutex());
  const hdf5::Handle handle = open_for_reading(path);
  const hid_t file = handle.get();
  Run run;
  const auto text = [&](const char* name) {
    const std::vector<std::string> texts = hdf5::read_texts(file, name);
    return texts.empty() ? std::string() : texts[0];
  };
  run.header = {text("name"), text("scene_yaml"), text("scene_json"), text("version")};
  Trajectory& motion = run.trajectory;
  motion.names_q = hdf5::read_texts(file, "names_q");
  motion.names_v = hdf5::read_texts(file, "names_v");
  motion.names_u = hdf5::read_texts(file, "names_u");
  motion.names_bodies = hdf5::read_texts(file, "names_bodies");
  motion.status_words = hdf5::read_texts(file, "status_words");
  const std::vector<std::int32_t> u_index_q = hdf5::read_numbers(file, "u_index_q");
  motion.u_index_q.assign(u_index_q.begin(), u_index_q.end());
  motion.has_contact_kinds = !hdf5::read_texts(file, "contact_kinds").empty();
  const std::vector<std::int32_t> support_bodies = hdf5::read_numbers(file, "support_bodies");
  motion.support_bodies.assign(support_bodies.begin(), support_bodies.end());

  // Columns may end at different rows when the writer was killed: the shortest one counts.
  const auto numbers = [&](const char* name) {
    hdf5::Values<double> values = hdf5::read_values<double>(file, name);
    if (!values.found) throw std::runtime_error(fmt::format("it has no dataset {}", name));
    return values;
  };
  const hdf5::Values<double> t = numbers("/t"), q = numbers("/q"), u = numbers("/u");
  const hdf5::Values<double> v = hdf5::read_values<double>(file, "/v");
  const hdf5::Values<double> X_WB = hdf5::read_values<double>(file, "/X_WB");
  const hdf5::Values<double> second_delta = hdf5::read_values<double>(file, "/steps/second_delta");
  const hdf5::Values<double> second_X_WB = hdf5::read_values<double>(file, "/steps/second_X_WB");
  const hdf5::Values<std::int64_t> offset = hdf5::read_values<std::int64_t>(file, "/contacts/offset");
  const std::size_t nq = motion.names_q.size(), nv = motion.names_v.size(), nu = motion.names_u.size(),
                    bodies = motion.names_bodies.size();
  std::size_t states = times_set(t.data);
  const auto limit = [&](std::size_t available) { states = std::min(states, available); };
  if (nq > 0) limit(q.data.size() / nq);
  if (v.found && nv > 0) limit(v.data.size() / nv);
  if (nu > 0) limit(u.data.size() / nu + 1);
  if (second_delta.found && nv > 0) limit(second_delta.data.size() / nv + 1);
  if (X_WB.found && bodies > 0) limit(X_WB.data.size() / (7 * bodies));
  if (second_X_WB.found && bodies > 0) limit(second_X_WB.data.size() / (7 * bodies) + 1);
  if (offset.found) limit(offset.data.size());
  if (states == 0) throw std::runtime_error("it has no rows");

  read_horizons(file, states - 1, motion);
  if (!motion.names_x.empty()) limit(motion.horizons.size() + 1);
  limit(read_tracks(file, states, motion));
  motion.steps.resize(states - 1);
  read_columns(file, kStepNumbers, motion.steps);
  read_columns(file, kStepIndices, motion.steps);
  read_columns(file, kStepFlags, motion.steps);
  states = motion.steps.size() + 1;
  const std::size_t supports = motion.support_bodies.size();
  if (supports > 0) {
    motion.supports.resize((states - 1) * supports);
    read_columns(file, kSupportNumbers, motion.supports);
    read_columns(file, kSupportStates, motion.supports);
    limit(motion.supports.size() / supports + 1);
  }
  motion.contacts.resize(offset.found ? to_size(std::max<std::int64_t>(offset.data[states - 1], 0)) : 0);
  read_columns(file, kContactNumbers, motion.contacts);
  read_columns(file, kContactIndices, motion.contacts);
  read_columns(file, kContactStates, motion.contacts);
  if (motion.has_contact_kinds) {
    read_columns(file, kPatchNumbers, motion.contacts);
    read_columns(file, kPatchKinds, motion.contacts);
  }
  while (states > 1 && offset.found && offset.data[states - 1] > static_cast<std::int64_t>(motion.contacts.size()))
    --states;

  motion.steps.resize(states - 1);
  motion.supports.resize((states - 1) * supports);
  if (!motion.names_x.empty()) motion.horizons.resize(states - 1);
  if (!motion.track_words.empty()) cut_tracks(states, motion);
  motion.t.assign(t.data.begin(), t.data.begin() + static_cast<std::ptrdiff_t>(states));
  motion.q = unflatten(q.data, states, nq);
  if (v.found) motion.v = unflatten(v.data, states, nv);
  motion.u = unflatten(u.data, states - 1, nu);
  motion.looks_for_second_motions = second_delta.found;
  if (second_delta.found) motion.second_delta = unflatten(second_delta.data, states - 1, nv);
  if (second_X_WB.found) motion.second_X_WB = second_poses(second_X_WB.data, states - 1, bodies);
  motion.X_WB.resize(states);
  for (std::size_t k = 0; X_WB.found && k < states; ++k) {
    motion.X_WB[k].resize(bodies);
    for (std::size_t i = 0; i < bodies; ++i)
      std::copy_n(X_WB.data.begin() + static_cast<std::ptrdiff_t>(7 * (k * bodies + i)), 7, motion.X_WB[k][i].begin());
  }
  motion.contact_offset.assign(states, 0);
  for (std::size_t k = 1; offset.found && k < states; ++k) {
    if (offset.data[k] < offset.data[k - 1])
      throw std::runtime_error(fmt::format("/contacts/offset falls at row {}", k));
    motion.contact_offset[k] = to_size(offset.data[k]);
  }
  motion.contacts.resize(motion.contact_offset[states - 1]);
  return run;
}

}  // namespace deft::io
