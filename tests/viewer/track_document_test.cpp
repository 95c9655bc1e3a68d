// Runs that follow a plan, and a second run beside the first, as the page's document holds them.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deft/viewer/html_export.hpp"
#include "page_document.hpp"
#include "synthetic_run.hpp"
#include "synthetic_tracks.hpp"

namespace deft::viewer {
namespace track_document_test {

using dynamics::Trajectory;
using nlohmann::json;

json document_of(const SyntheticRun& run, const Trajectory* other = nullptr, std::size_t max_bytes = 25u << 20) {
  PageContent content{.title = "t", .scene_json = run.scene_json, .trajectory = &run.trajectory, .tree = {}};
  content.max_bytes = max_bytes;
  if (other != nullptr) content.beside = {.title = "there", .title_here = "here", .trajectory = other};
  return json::parse(slot_text(make_page(content)));
}

std::string refusal(const SyntheticRun& run, const Trajectory* other) {
  try {
    document_of(run, other);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(TrackDocument, HoldsReferenceAndRecordsOfTheKeptFrames) {
  EXPECT_FALSE(document_of(make_synthetic_run({})).contains("track"));
  const SyntheticRun run = make_synthetic_run({.tracked = true});
  const Trajectory& motion = run.trajectory;
  for (const std::size_t max_bytes : {std::size_t{25} << 20, std::size_t{0}}) {
    const json document = document_of(run, nullptr, max_bytes);
    EXPECT_EQ(document["track"]["words"], json(motion.track_words));
    EXPECT_EQ(document["track"]["bodies"], json({1, 2})) << "the other box and its reference stand still";
    const auto frame = block<std::uint32_t>(document, "frame");
    const auto X_WB = block<float>(document, "track_X_WB"), position = block<float>(document, "track_position_error"),
               rotation = block<float>(document, "track_rotation_error"), knot = block<float>(document, "track_knot"),
               period = block<float>(document, "track_period"), residual = block<float>(document, "step_residual");
    const auto status = block<std::uint8_t>(document, "track_status");
    const auto plan = block<std::uint32_t>(document, "track_plan");
    ASSERT_EQ(frame.size(), max_bytes == 0 ? 2u : 61u);
    ASSERT_EQ(X_WB.size(), frame.size() * 2 * 7);
    ASSERT_EQ(position.size(), frame.size() - 1);
    for (std::size_t k = 0; k < frame.size(); ++k) {
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 7; ++i)
          EXPECT_EQ(X_WB[7 * (2 * k + b) + i], static_cast<float>(motion.reference_X_WB[frame[k]][b + 1][i]));
      if (k == 0) continue;
      const dynamics::TrackRecord& record = motion.tracks[frame[k] - 1];
      EXPECT_EQ(position[k - 1], static_cast<float>(record.position_error_m));
      EXPECT_EQ(rotation[k - 1], static_cast<float>(record.rotation_error_rad));
      EXPECT_EQ(knot[k - 1], static_cast<float>(record.knot));
      EXPECT_EQ(status[k - 1], record.status);
      EXPECT_EQ(plan[k - 1], static_cast<std::uint32_t>(record.plan));
      EXPECT_EQ(std::isnan(period[k - 1]), frame[k] == 6);
      EXPECT_TRUE(std::isnan(residual[k - 1])) << "no certificate";
    }
  }
}

TEST(TrackDocument, HoldsASecondRunAtItsOwnTimes) {
  const SyntheticRun run = make_synthetic_run({.tracked = true});
  for (const bool tracked : {false, true}) {
    const Trajectory other = beside_of(run.trajectory, tracked);
    const json document = document_of(run, &other);
    EXPECT_EQ(document["beside"]["title"], "there");
    EXPECT_EQ(document["beside"]["here"], "here");
    EXPECT_EQ(document["beside"]["tracked"], tracked);
    EXPECT_EQ(document["beside"]["bodies"], json({1, 2}));
    EXPECT_EQ(document["blocks"].contains("beside_position_error"), tracked);
    const auto t = block<float>(document, "beside_t"), X_WB = block<float>(document, "beside_X_WB");
    ASSERT_EQ(t.size(), other.t.size());
    for (std::size_t k = 0; k < t.size(); ++k) {
      EXPECT_EQ(t[k], static_cast<float>(other.t[k]));
      for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(X_WB[14 * k + 7 + i], static_cast<float>(other.X_WB[k][2][i]));
    }
    // Where frames of the first are left out, as large a part of the second is, first and last stay.
    const json small = document_of(run, &other, 0);
    const auto few = block<float>(small, "beside_t");
    ASSERT_EQ(few.size(), 2u);
    EXPECT_EQ(few[1], static_cast<float>(other.t.back()));
  }
}

TEST(TrackDocument, NamesTheArrayThatDisagrees) {
  SyntheticRun run = make_synthetic_run({.steps = 4, .tracked = true});
  run.trajectory.tracks.pop_back();
  EXPECT_NE(refusal(run, nullptr).find("tracks has 3 entries, expected 4"), std::string::npos);
  run = make_synthetic_run({.steps = 4, .tracked = true});
  run.trajectory.tracks[2].status = 3;
  EXPECT_NE(refusal(run, nullptr).find("tracks[2].status is 3, but there are 3 track words"), std::string::npos);
  run = make_synthetic_run({.steps = 4, .tracked = true});
  run.trajectory.reference_X_WB[1].pop_back();
  EXPECT_NE(refusal(run, nullptr).find("reference_X_WB[1] has 3 entries, expected 4"), std::string::npos);
  run = make_synthetic_run({.steps = 4});
  Trajectory other = beside_of(run.trajectory, false);
  other.names_bodies[2] = "else";
  EXPECT_NE(refusal(run, &other).find("other bodies"), std::string::npos);
  other = beside_of(run.trajectory, false);
  other.X_WB.pop_back();
  EXPECT_NE(refusal(run, &other).find("beside: X_WB"), std::string::npos);
}

}  // namespace track_document_test
}  // namespace deft::viewer
