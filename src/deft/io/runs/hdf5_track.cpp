#include "deft/io/runs/hdf5_track.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "deft/io/runs/hdf5_run.hpp"

namespace deft::io {
namespace {

using dynamics::TrackRecord;
using dynamics::Trajectory;

constexpr std::array kTrackNumbers{
    scalar<TrackRecord, double, &TrackRecord::knot>("/track/knot"),
    scalar<TrackRecord, double, &TrackRecord::position_error_m>("/track/position_error"),
    scalar<TrackRecord, double, &TrackRecord::rotation_error_rad>("/track/rotation_error"),
    scalar<TrackRecord, double, &TrackRecord::period_us>("/track/period_us"),
};
constexpr std::array kTrackIndices{
    scalar<TrackRecord, std::int32_t, &TrackRecord::status>("/track/status"),
    scalar<TrackRecord, std::int32_t, &TrackRecord::plan>("/track/plan"),
};

}  // namespace

void TrackRows::add_reference(const Trajectory& motion, std::size_t state) {
  reference_q.insert(reference_q.end(), motion.reference_q[state].begin(), motion.reference_q[state].end());
  for (const auto& pose : motion.reference_X_WB[state])
    reference_X_WB.insert(reference_X_WB.end(), pose.begin(), pose.end());
}

void TrackRows::add_step(const Trajectory& motion, std::size_t step) {
  records.push_back(motion.tracks[step]);
  measured_q.insert(measured_q.end(), motion.measured_q[step].begin(), motion.measured_q[step].end());
}

TrackColumns::TrackColumns(hid_t file, const Trajectory& start) {
  hdf5::make_group(file, "/track");
  hdf5::write_attribute(file, "track_words", start.track_words);
  rows_.emplace_back(file, "/track/reference_q", std::vector<hsize_t>{start.names_q.size()});
  rows_.emplace_back(file, "/track/reference_X_WB", std::vector<hsize_t>{start.names_bodies.size(), 7});
  rows_.emplace_back(file, "/track/measured_q", std::vector<hsize_t>{start.names_q.size()});
  create_columns(file, kTrackNumbers, numbers_);
  create_columns(file, kTrackIndices, indices_);
}

void TrackColumns::append(const TrackRows& rows) {
  rows_[0].append(rows.reference_q);
  rows_[1].append(rows.reference_X_WB);
  rows_[2].append(rows.measured_q);
  append_columns(rows.records, kTrackNumbers, numbers_);
  append_columns(rows.records, kTrackIndices, indices_);
}

std::size_t read_tracks(hid_t file, std::size_t states, Trajectory& motion) {
  motion.track_words = hdf5::read_texts(file, "track_words");
  if (motion.track_words.empty()) return states;
  const auto rows = [&](const char* path) {
    return hdf5::read_required<double>(file, path, "it has track_words and no dataset");
  };
  const std::vector<double> q = rows("/track/reference_q"), X = rows("/track/reference_X_WB"),
                            measured = rows("/track/measured_q");
  const std::size_t nq = motion.names_q.size(), bodies = motion.names_bodies.size();

  // Columns of a killed run may end at different rows: the shortest one counts.
  motion.tracks.resize(states - 1);
  read_columns(file, kTrackNumbers, motion.tracks);
  read_columns(file, kTrackIndices, motion.tracks);
  std::size_t whole = motion.tracks.size() + 1;
  if (nq > 0) whole = std::min({whole, q.size() / nq, measured.size() / nq + 1});
  if (bodies > 0) whole = std::min(whole, X.size() / (7 * bodies));
  if (whole == 0) throw std::runtime_error("it has no rows");

  motion.reference_q = unflatten(q, whole, nq);
  motion.measured_q = unflatten(measured, whole - 1, nq);
  motion.reference_X_WB.assign(whole, std::vector<std::array<double, 7>>(bodies));
  for (std::size_t i = 0; i < whole * bodies; ++i)
    std::copy_n(X.begin() + static_cast<std::ptrdiff_t>(7 * i), 7,
                motion.reference_X_WB[i / bodies][i % bodies].begin());
  cut_tracks(whole, motion);
  return whole;
}

void cut_tracks(std::size_t states, Trajectory& motion) {
  motion.tracks.resize(states - 1);
  motion.measured_q.resize(states - 1);
  motion.reference_q.resize(states);
  motion.reference_X_WB.resize(states);
}

}  // namespace deft::io
