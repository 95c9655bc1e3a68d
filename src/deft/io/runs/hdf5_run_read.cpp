// Reading run.h5, of a killed process too.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "deft/core/index.hpp"
#include "deft/io/runs/hdf5_access.hpp"
#include "deft/io/runs/hdf5_horizon.hpp"
#include "deft/io/runs/hdf5_run.hpp"
#include "deft/io/runs/hdf5_run_columns.hpp"
#include "deft/io/runs/hdf5_track.hpp"

namespace deft::io {
namespace {

using namespace run_columns;
using dynamics::Trajectory;

// In single-writer mode HDF5 takes a wrong checksum for a write that is under way and reads again, a hundred times with
// ever longer pauses unless told otherwise: half a minute for a damaged file.
constexpr unsigned kReadAttempts = 20;

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
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make settings");
  hdf5::check(H5Pset_metadata_read_attempts(access.get(), kReadAttempts), "set how often a read is tried");
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.get()), H5Fclose, "open it as HDF5"};
}

/// What does not change while the run goes on.
void read_facts(hid_t file, Run& run) {
  // Not those of /track, which other programs may add without twins.
  constexpr const char* kTexts[] = {"name",    "scene_yaml", "scene_json",   "version",      "names_q",
                                    "names_v", "names_u",    "names_bodies", "status_words", "contact_kinds"};
  hdf5::require_fixed_texts(file, kTexts);
  run.header = {hdf5::read_text(file, "name"), hdf5::read_text(file, "scene_yaml"), hdf5::read_text(file, "scene_json"),
                hdf5::read_text(file, "version")};
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
}

/// The datasets of states as they are in the file, flat.
struct StateColumns {
  explicit StateColumns(hid_t file)
      : t(required(file, "/t")),
        q(required(file, "/q")),
        u(required(file, "/u")),
        v(hdf5::read_values<double>(file, "/v")),
        X_WB(hdf5::read_values<double>(file, "/X_WB")),
        second_delta(hdf5::read_values<double>(file, "/steps/second_delta")),
        second_X_WB(hdf5::read_values<double>(file, "/steps/second_X_WB")),
        offset(hdf5::read_values<std::int64_t>(file, "/contacts/offset")) {}
  static std::vector<double> required(hid_t file, const char* path) {
    return hdf5::read_required<double>(file, path, "it has no dataset");
  }

  std::vector<double> t, q, u;
  hdf5::Values<double> v, X_WB, second_delta, second_X_WB;
  hdf5::Values<std::int64_t> offset;
};

/// Columns may end at different rows when the writer was killed: the states of which all columns have their rows.
std::size_t whole_states(const StateColumns& rows, const Trajectory& motion) {
  const std::size_t nq = motion.names_q.size(), nv = motion.names_v.size(), nu = motion.names_u.size(),
                    bodies = motion.names_bodies.size();
  std::size_t states = times_set(rows.t);
  const auto limit = [&](std::size_t available) { states = std::min(states, available); };
  if (nq > 0) limit(rows.q.size() / nq);
  if (rows.v.found && nv > 0) limit(rows.v.data.size() / nv);
  if (nu > 0) limit(rows.u.size() / nu + 1);
  if (rows.second_delta.found && nv > 0) limit(rows.second_delta.data.size() / nv + 1);
  if (rows.X_WB.found && bodies > 0) limit(rows.X_WB.data.size() / (7 * bodies));
  if (rows.second_X_WB.found && bodies > 0) limit(rows.second_X_WB.data.size() / (7 * bodies) + 1);
  if (rows.offset.found) limit(rows.offset.data.size());
  if (states == 0) throw std::runtime_error("it has no rows");
  return states;
}

/// Reads plans of a controller, tracks, steps, supports and contacts of at most `states` states.
/// @returns of how many states everything is there.
std::size_t read_records(hid_t file, const hdf5::Values<std::int64_t>& offset, std::size_t states, Trajectory& motion) {
  const auto limit = [&](std::size_t available) { states = std::min(states, available); };
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
  // No more than there are rows of, whatever the offsets say.
  const std::size_t rows = hdf5::row_count(file, kContactNumbers.front().path);
  motion.contacts.resize(offset.found ? std::min(rows, to_size(std::max<std::int64_t>(offset.data[states - 1], 0)))
                                      : 0);
  read_columns(file, kContactNumbers, motion.contacts);
  read_columns(file, kContactIndices, motion.contacts);
  read_columns(file, kContactStates, motion.contacts);
  if (motion.has_contact_kinds) {
    read_columns(file, kPatchNumbers, motion.contacts);
    read_columns(file, kPatchKinds, motion.contacts);
  }
  while (states > 1 && offset.found && offset.data[states - 1] > static_cast<std::int64_t>(motion.contacts.size()))
    --states;
  return states;
}

/// Leaves the records of the first `states` states; contacts are cut with their offsets.
void cut_records(std::size_t states, Trajectory& motion) {
  motion.steps.resize(states - 1);
  motion.supports.resize((states - 1) * motion.support_bodies.size());
  if (!motion.names_x.empty()) motion.horizons.resize(states - 1);
  if (!motion.track_words.empty()) cut_tracks(states, motion);
}

/// The first `states` states and the steps between them.
void take_states(const StateColumns& rows, std::size_t states, Trajectory& motion) {
  const std::size_t nv = motion.names_v.size(), bodies = motion.names_bodies.size();
  motion.t.assign(rows.t.begin(), rows.t.begin() + static_cast<std::ptrdiff_t>(states));
  motion.q = unflatten(rows.q, states, motion.names_q.size());
  if (rows.v.found) motion.v = unflatten(rows.v.data, states, nv);
  motion.u = unflatten(rows.u, states - 1, motion.names_u.size());
  motion.searches_alternatives = rows.second_delta.found;
  if (rows.second_delta.found) motion.second_delta = unflatten(rows.second_delta.data, states - 1, nv);
  if (rows.second_X_WB.found) motion.second_X_WB = second_poses(rows.second_X_WB.data, states - 1, bodies);
  motion.X_WB.resize(states);
  for (std::size_t k = 0; rows.X_WB.found && k < states; ++k) {
    motion.X_WB[k].resize(bodies);
    for (std::size_t i = 0; i < bodies; ++i)
      std::copy_n(rows.X_WB.data.begin() + static_cast<std::ptrdiff_t>(7 * (k * bodies + i)), 7,
                  motion.X_WB[k][i].begin());
  }
}

/// Where the contacts of each of the first `states` states begin.
void take_offsets(const hdf5::Values<std::int64_t>& offset, std::size_t states, Trajectory& motion) {
  motion.contact_offset.assign(states, 0);
  for (std::size_t k = 1; offset.found && k < states; ++k) {
    if (offset.data[k] < std::max<std::int64_t>(offset.data[k - 1], 0))
      throw std::runtime_error(fmt::format("/contacts/offset falls, or is below 0, at row {}", k));
    motion.contact_offset[k] = to_size(offset.data[k]);
  }
  motion.contacts.resize(motion.contact_offset[states - 1]);
}

}  // namespace

Run read_run_file(const std::string& path) {
  const std::lock_guard lock(hdf5::library_mutex());
  const hdf5::Handle handle = open_for_reading(path);
  const hid_t file = handle.get();
  Run run;
  read_facts(file, run);
  Trajectory& motion = run.trajectory;
  const StateColumns rows(file);
  const std::size_t states = read_records(file, rows.offset, whole_states(rows, motion), motion);
  cut_records(states, motion);
  take_states(rows, states, motion);
  take_offsets(rows.offset, states, motion);
  return run;
}

}  // namespace deft::io
