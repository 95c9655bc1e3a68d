#include "deft/viewer/html_export.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "deft/viewer/base64.hpp"
#include "deft/viewer/embedded_page.hpp"
#include "page_document.hpp"
#include "synthetic_run.hpp"

namespace deft::viewer {
namespace html_export_test {

using nlohmann::json;

std::string page_of(const SyntheticRun& run, std::size_t max_bytes = 25u << 20) {
  return make_page(
      {.title = "test", .scene_json = run.scene_json, .trajectory = &run.trajectory, .max_bytes = max_bytes});
}

std::string error_of(const SyntheticRun& run) {
  try {
    page_of(run);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Base64, AgreesWithTheExamplesOfTheStandard) {
  const std::pair<const char*, const char*> examples[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : examples) {
    EXPECT_EQ(to_base64({reinterpret_cast<const unsigned char*>(plain), std::strlen(plain)}), coded);
  }
  const unsigned char high[] = {0xff, 0xee, 0xfb};
  EXPECT_EQ(to_base64(high), "/+77");
}

TEST(MakePage, HoldsEveryFrameStepAndContact) {
  const SyntheticRun run = make_synthetic_run({.steps = 30});
  const json document = json::parse(slot_text(page_of(run)));
  const auto& trajectory = run.trajectory;
  EXPECT_EQ(document["frames"]["kept"], 31);
  EXPECT_EQ(document["frames"]["total"], 31);
  EXPECT_EQ(document["names"]["bodies"], trajectory.names_bodies);

  const auto t = block<float>(document, "t");
  ASSERT_EQ(t.size(), 31u);
  EXPECT_FLOAT_EQ(t[30], static_cast<float>(trajectory.t[30]));

  const auto X_WB = block<float>(document, "X_WB");
  const std::size_t num_bodies = trajectory.names_bodies.size();
  ASSERT_EQ(X_WB.size(), 31 * num_bodies * 7);
  for (int i = 0; i < 7; ++i) {
    EXPECT_FLOAT_EQ(X_WB[(17 * num_bodies + 2) * 7 + i], static_cast<float>(trajectory.X_WB[17][2][i]));
  }
  const auto offset = block<std::uint32_t>(document, "contact_offset");
  ASSERT_EQ(offset.size(), 31u);
  EXPECT_EQ(offset.back(), trajectory.contacts.size());
  const auto force = block<float>(document, "contact_force_W");
  const auto bodies = block<std::uint16_t>(document, "contact_bodies");
  ASSERT_EQ(force.size(), 3 * trajectory.contacts.size());
  for (std::size_t c = 0; c < trajectory.contacts.size(); ++c) {
    EXPECT_FLOAT_EQ(force[3 * c + 2], static_cast<float>(trajectory.contacts[c].force_W[2]));
    EXPECT_EQ(bodies[2 * c], trajectory.contacts[c].a);
    EXPECT_EQ(bodies[2 * c + 1], trajectory.contacts[c].b);
  }
  EXPECT_EQ(block<std::uint32_t>(document, "step_iterations")[7],
            static_cast<unsigned>(trajectory.steps[7].iterations));
}

TEST(MakePage, CannotBeBrokenByTheNamesOfBodies) {
  const std::string hostile = "</script><script>alert(1)</script><!-- <SCRIPT \xff \"'&\\";
  const SyntheticRun named = make_synthetic_run({.steps = 2, .box_name = "</script><!--"});
  SyntheticRun run = make_synthetic_run({.steps = 2});
  run.trajectory.names_bodies[2] = hostile;
  for (const SyntheticRun& each : {named, run}) {
    const std::string page = page_of(each);
    const std::string text = slot_text(page);
    EXPECT_EQ(text.find('<'), std::string::npos);
    // Nothing that opens or ends an element was added to the page.
    const std::string_view empty = embedded_page();
    EXPECT_EQ(std::count(page.begin(), page.end(), '<'), std::count(empty.begin(), empty.end(), '<'));
    EXPECT_EQ(json::parse(text)["names"]["bodies"].size(), 4u);
  }
  EXPECT_EQ(json::parse(slot_text(page_of(named)))["names"]["bodies"][2], "</script><!--");
}

TEST(MakePage, LeavesFramesOutEvenlyAboveTheLimit) {
  const SyntheticRun run = make_synthetic_run({.steps = 1000});
  const std::size_t all = page_of(run).size();
  const std::size_t limit = embedded_page().size() + (all - embedded_page().size()) / 4;
  const std::string page = page_of(run, limit);
  EXPECT_LE(page.size(), limit);
  EXPECT_GE(page.size(), embedded_page().size() + (limit - embedded_page().size()) * 8 / 10) << "throws away too much";

  const json document = json::parse(slot_text(page));
  const auto frame = block<std::uint32_t>(document, "frame");
  EXPECT_EQ(document["frames"]["total"], 1001);
  EXPECT_EQ(document["frames"]["kept"], frame.size());
  ASSERT_GE(frame.size(), 3u);
  EXPECT_EQ(frame.front(), 0u);
  EXPECT_EQ(frame.back(), 1000u);
  unsigned least = 1000, most = 0;
  for (std::size_t i = 1; i < frame.size(); ++i) {
    least = std::min(least, frame[i] - frame[i - 1]);
    most = std::max(most, frame[i] - frame[i - 1]);
  }
  EXPECT_LE(most - least, 1u);

  // What is kept belongs together: the contacts of a kept frame are those of its own step.
  const auto offset = block<std::uint32_t>(document, "contact_offset");
  const auto gap = block<float>(document, "contact_gap");
  const auto status = block<std::uint8_t>(document, "step_status");
  ASSERT_EQ(offset.size(), frame.size());
  ASSERT_EQ(status.size(), frame.size() - 1);
  for (std::size_t i = 1; i < frame.size(); ++i) {
    const std::size_t step = frame[i] - 1, from = run.trajectory.contact_offset[step];
    ASSERT_EQ(offset[i] - offset[i - 1], run.trajectory.contact_offset[step + 1] - from);
    for (std::size_t c = offset[i - 1]; c < offset[i]; ++c) {
      EXPECT_FLOAT_EQ(gap[c], static_cast<float>(run.trajectory.contacts[from + c - offset[i - 1]].gap));
    }
  }
}

TEST(MakePage, KeepsFirstAndLastFrameHoweverSmallTheLimit) {
  const json document = json::parse(slot_text(page_of(make_synthetic_run({.steps = 50}), 1)));
  EXPECT_EQ(block<std::uint32_t>(document, "frame"), (std::vector<std::uint32_t>{0, 50}));
}

TEST(MakePage, NeedsUnderFourMegabytesForTwoThousandStepsOfTwentyContacts) {
  SyntheticRun run = make_synthetic_run({.steps = 2000, .boxes = 5});  // 7 bodies, about 21 contacts
  const std::size_t data = page_of(run).size() - embedded_page().size();
  EXPECT_LT(data, 4u << 20);
}

TEST(MakePage, TakesARunWithoutStepsOrWithoutAnything) {
  const json start = json::parse(slot_text(page_of(make_synthetic_run({.steps = 0}))));
  EXPECT_EQ(start["frames"]["kept"], 1);
  EXPECT_EQ(block<float>(start, "step_residual").size(), 0u);

  const dynamics::Trajectory nothing;
  const std::string page = make_page({.title = "", .scene_json = "{}", .trajectory = &nothing});
  EXPECT_EQ(json::parse(slot_text(page))["frames"]["kept"], 0);
}

TEST(MakePage, StoresTorquesOnlyIfThereAreAny) {
  SyntheticRun run = make_synthetic_run({.steps = 5});
  EXPECT_FALSE(json::parse(slot_text(page_of(run)))["blocks"].contains("contact_torque_W"));
  run.trajectory.contacts[3].torque_W = {0, 0, 0.25};
  const auto torque = block<float>(json::parse(slot_text(page_of(run))), "contact_torque_W");
  ASSERT_EQ(torque.size(), 3 * run.trajectory.contacts.size());
  EXPECT_FLOAT_EQ(torque[11], 0.25f);
}

TEST(MakePage, HoldsKindsSlipsAndEllipsoidsOfTheKeptFramesIfTheModelTellsThem) {
  EXPECT_FALSE(json::parse(slot_text(page_of(make_synthetic_run({}))))["blocks"].contains("contact_kind"));
  const SyntheticRun run = make_synthetic_run({.patches = true});
  for (const std::size_t max_bytes : {std::size_t{25} << 20, std::size_t{0}}) {
    const json document = json::parse(slot_text(page_of(run, max_bytes)));
    const auto frame = block<std::uint32_t>(document, "frame"),
               offset = block<std::uint32_t>(document, "contact_offset");
    const auto kind = block<std::uint8_t>(document, "contact_kind");
    const auto tangent = block<float>(document, "contact_tangent_W"), slip = block<float>(document, "contact_slip"),
               ellipsoid = block<float>(document, "contact_ellipsoid");
    ASSERT_EQ(frame.size(), max_bytes == 0 ? 2u : 61u);
    ASSERT_EQ(kind.size(), offset.back());
    ASSERT_EQ(slip.size(), 3 * kind.size());
    for (std::size_t i = 1; i < frame.size(); ++i) {
      for (std::size_t c = offset[i - 1]; c < offset[i]; ++c) {
        const auto& contact = run.trajectory.contacts[run.trajectory.contact_offset[frame[i] - 1] + c - offset[i - 1]];
        EXPECT_EQ(kind[c], static_cast<std::uint8_t>(contact.kind));
        for (std::size_t x = 0; x < 3; ++x) {
          EXPECT_EQ(tangent[3 * c + x], static_cast<float>(contact.tangent_W[x]));
          EXPECT_EQ(slip[3 * c + x], static_cast<float>(contact.slip[x]));
          EXPECT_EQ(ellipsoid[3 * c + x], static_cast<float>(contact.ellipsoid[x]));
        }
      }
    }
  }
}

TEST(MakePage, HoldsSupportsAndOtherMotionsOfTheKeptFrames) {
  const SyntheticRun plain = make_synthetic_run({.steps = 5});
  const json without = json::parse(slot_text(page_of(plain)));
  EXPECT_FALSE(without.contains("supports"));
  for (const char* name : {"support_load", "second_frame", "step_uniqueness"})
    EXPECT_FALSE(without["blocks"].contains(name));

  const SyntheticRun run = make_synthetic_run({.supports = true});
  const std::size_t all = page_of(run).size(), page = embedded_page().size();
  for (const std::size_t limit : {all, page + (all - page) * 2 / 3}) {
    const json document = json::parse(slot_text(page_of(run, limit)));
    EXPECT_EQ(document["supports"]["bodies"], (std::vector<int>{2, 3}));
    const auto frame = block<std::uint32_t>(document, "frame");
    ASSERT_EQ(frame.size() < 61, limit < all);
    const auto load = block<float>(document, "support_load"), factor = block<float>(document, "support_factor"),
               twist = block<float>(document, "support_twist"), form = block<float>(document, "support_form");
    const auto state = block<std::uint8_t>(document, "support_state"),
               uniqueness = block<std::uint8_t>(document, "step_uniqueness");
    const std::size_t rows = 2 * (frame.size() - 1);
    ASSERT_EQ(load.size(), 3 * rows);
    ASSERT_EQ(factor.size(), rows);
    ASSERT_EQ(twist.size(), 3 * rows);
    ASSERT_EQ(form.size(), 6 * rows);
    ASSERT_EQ(state.size(), rows);
    std::vector<std::uint32_t> known;
    for (std::size_t i = 1; i < frame.size(); ++i) {
      const std::size_t step = frame[i] - 1;
      for (std::size_t s = 0; s < 2; ++s) {
        const dynamics::SupportRecord& record = run.trajectory.supports[2 * step + s];
        const std::size_t row = 2 * (i - 1) + s;
        for (std::size_t c = 0; c < 3; ++c) EXPECT_FLOAT_EQ(load[3 * row + c], static_cast<float>(record.load[c]));
        EXPECT_FLOAT_EQ(twist[3 * row + 1], static_cast<float>(record.twist[1]));
        EXPECT_FLOAT_EQ(form[6 * row + 3], static_cast<float>(record.form[3]));
        EXPECT_FLOAT_EQ(factor[row], static_cast<float>(record.factor));
        EXPECT_EQ(state[row], static_cast<int>(record.state));
      }
      EXPECT_EQ(uniqueness[i - 1], run.trajectory.steps[step].uniqueness);
      if (!run.trajectory.second_X_WB[step].empty()) known.push_back(static_cast<std::uint32_t>(i));
    }
    EXPECT_EQ(block<std::uint32_t>(document, "second_frame"), known);
    const auto X_WB = block<float>(document, "second_X_WB");
    ASSERT_EQ(X_WB.size(), known.size() * 4 * 7);
    const auto distance = block<float>(document, "second_distance");
    ASSERT_EQ(distance.size(), known.size() * 4 * 2);
    for (std::size_t m = 0; m < known.size(); ++m) {
      for (std::size_t b = 0; b < 4; ++b) {
        EXPECT_NEAR(distance[2 * (4 * m + b)], b == 2 ? 0.1 : 0, 1e-7);
        EXPECT_NEAR(distance[2 * (4 * m + b) + 1], b == 2 ? 0.2 : 0, 1e-6);
      }
      EXPECT_FLOAT_EQ(X_WB[(4 * m + 2) * 7 + 5], static_cast<float>(run.trajectory.X_WB[frame[known[m]]][2][5] + 0.1));
    }
  }
}

TEST(MakePage, NamesTheArrayThatDisagrees) {
  using Spoil = void (*)(SyntheticRun&);
  const std::pair<Spoil, const char*> cases[] = {
      {[](SyntheticRun& r) { r.trajectory.t.pop_back(); }, "t has 4 entries, expected 5"},
      {[](SyntheticRun& r) { r.trajectory.q.pop_back(); }, "q has 4 entries, expected 5"},
      {[](SyntheticRun& r) { r.trajectory.q[2].pop_back(); }, "q[2] has 14 entries, expected 15"},
      {[](SyntheticRun& r) { r.trajectory.u.pop_back(); }, "u has 3 entries, expected 4"},
      {[](SyntheticRun& r) { r.trajectory.X_WB[1].pop_back(); }, "X_WB[1] has 3 entries, expected 4"},
      {[](SyntheticRun& r) { r.trajectory.u_index_q = {99}; }, "u_index_q holds 99"},
      {[](SyntheticRun& r) { r.trajectory.u_index_q = {0, 1}; }, "u_index_q has 2 entries, expected 1"},
      {[](SyntheticRun& r) { r.trajectory.steps[1].status = 7; }, "steps[1].status is 7"},
      {[](SyntheticRun& r) { r.trajectory.contacts[0].b = 9; }, "contacts[0] names body 9, but there are 4 bodies"},
      {[](SyntheticRun& r) { r.trajectory.contacts.pop_back(); }, "contacts has"},
      {[](SyntheticRun& r) { r.trajectory.contact_offset.pop_back(); }, "contact_offset has 4 entries, expected 5"},
      {[](SyntheticRun& r) { std::swap(r.trajectory.contact_offset[1], r.trajectory.contact_offset[3]); },
       "contact_offset decreases"},
      {[](SyntheticRun& r) { r.trajectory.contact_offset[0] = 1; }, "contact_offset must start at 0"},
      {[](SyntheticRun& r) { r.trajectory.support_bodies = {4}; }, "support_bodies holds 4"},
      {[](SyntheticRun& r) { r.trajectory.support_bodies = {2}; }, "supports has 0 entries, expected 4"},
      {[](SyntheticRun& r) { r.trajectory.second_X_WB.resize(3); }, "second_X_WB has 3 entries, expected 4"},
      {[](SyntheticRun& r) {
         r.trajectory.second_X_WB.resize(4);
         r.trajectory.second_X_WB[2].resize(1);
       },
       "second_X_WB[2] has 1 entries, expected 4"},
      {[](SyntheticRun& r) { r.scene_json = "{\"bodies\": [1]}"; }, "scene_json: bodies has 1 entries, expected 4"},
      {[](SyntheticRun& r) { r.scene_json = "{\"bodies\": 3}"; }, "bodies is not a list"},
      {[](SyntheticRun& r) { r.scene_json = "{broken"; }, "scene_json is not a JSON object"},
  };
  for (const auto& [spoil, message] : cases) {
    SyntheticRun run = make_synthetic_run({.steps = 4});
    ASSERT_EQ(error_of(run), "");
    spoil(run);
    EXPECT_NE(error_of(run).find(message), std::string::npos) << message << " not in: " << error_of(run);
  }
  EXPECT_THROW(make_page({.title = "", .scene_json = "{}", .trajectory = nullptr}), std::invalid_argument);
}

}  // namespace html_export_test
}  // namespace deft::viewer
