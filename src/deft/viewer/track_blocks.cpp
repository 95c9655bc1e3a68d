#include "deft/viewer/track_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "deft/core/index.hpp"
#include "deft/viewer/blocks.hpp"

namespace deft::viewer {
namespace {

using dynamics::TrackRecord;
using dynamics::Trajectory;
using Poses = std::vector<std::vector<std::array<double, 7>>>;

constexpr double kSame = 1e-9;  // [m] and of quaternions: rounding of what does not move

/// Bodies that are not always where they are in `run` at the start, in either motion.
std::vector<int> moving_bodies(const Trajectory& run, const Poses& other) {
  std::vector<int> moving;
  for (std::size_t b = 1; b < run.names_bodies.size(); ++b) {
    const auto moves = [&](const auto& poses) {
      for (std::size_t i = 0; i < 7; ++i)
        if (!(std::abs(poses[b][i] - run.X_WB[0][b][i]) <= kSame)) return true;
      return false;
    };
    if (std::any_of(run.X_WB.begin(), run.X_WB.end(), moves) || std::any_of(other.begin(), other.end(), moves))
      moving.push_back(static_cast<int>(b));
  }
  return moving;
}

json poses_block(const Poses& poses, std::span<const std::size_t> frames, const std::vector<int>& bodies) {
  Reals X_WB;
  for (const std::size_t k : frames)
    for (const int b : bodies) X_WB.add_all(poses[k][b]);
  return X_WB.block({frames.size(), bodies.size(), 7});
}

json column(const Trajectory& run, std::span<const std::size_t> frames, double TrackRecord::* field) {
  Reals values;
  for (const std::size_t k : frames)
    if (k > 0) values.add(run.tracks[k - 1].*field);
  return values.block({values.values.size()});
}

void add_errors(json& blocks, const std::string& name, const Trajectory& run, std::span<const std::size_t> frames) {
  blocks[name + "_position_error"] = column(run, frames, &TrackRecord::position_error_m);
  blocks[name + "_rotation_error"] = column(run, frames, &TrackRecord::rotation_error_rad);
}

}  // namespace

void add_tracks(json& document, const Trajectory& run, std::span<const std::size_t> frames) {
  if (run.track_words.empty() || run.t.empty()) return;
  const std::vector<int> bodies = moving_bodies(run, run.reference_X_WB);
  Bytes status;
  Indices plan;
  for (const std::size_t k : frames) {
    if (k == 0) continue;
    status.add(run.tracks[k - 1].status);
    plan.add(run.tracks[k - 1].plan);
  }
  document["track"] = {{"words", run.track_words}, {"bodies", bodies}};
  json& blocks = document["blocks"];
  blocks["track_X_WB"] = poses_block(run.reference_X_WB, frames, bodies);
  add_errors(blocks, "track", run, frames);
  blocks["track_knot"] = column(run, frames, &TrackRecord::knot);
  blocks["track_period"] = column(run, frames, &TrackRecord::period_us);
  blocks["track_status"] = status.block({status.values.size()});
  blocks["track_plan"] = plan.block({plan.values.size()});
}

void add_beside(json& document, const Trajectory& run, const Beside& beside, std::size_t kept) {
  const Trajectory& other = *beside.trajectory;
  const std::size_t total = other.t.size();
  const double share = static_cast<double>(kept) / static_cast<double>(std::max<std::size_t>(run.t.size(), 1));
  const auto count = static_cast<std::size_t>(std::ceil(share * static_cast<double>(total)));
  const std::vector<std::size_t> frames =
      even_frames(total, std::clamp<std::size_t>(count, std::min<std::size_t>(total, 2), total));
  const std::vector<int> bodies = moving_bodies(run, other.X_WB);
  Reals t;
  for (const std::size_t k : frames) t.add(other.t[k]);
  const bool tracked = !other.track_words.empty();
  document["beside"] = {{"title", beside.title}, {"here", beside.title_here}, {"bodies", bodies}, {"tracked", tracked}};
  json& blocks = document["blocks"];
  blocks["beside_t"] = t.block({frames.size()});
  blocks["beside_X_WB"] = poses_block(other.X_WB, frames, bodies);
  if (tracked) add_errors(blocks, "beside", other, frames);
}

}  // namespace deft::viewer
