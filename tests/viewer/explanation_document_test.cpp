// Why there is no plan, in the document of the page.

#include <gtest/gtest.h>

#include "deft/viewer/html_export.hpp"
#include "page_document.hpp"
#include "synthetic_run.hpp"

namespace deft::viewer {
namespace explanation_document_test {

TEST(ExplanationDocument, HoldsReasonsInTheirOrderAndThePosesOfFailedTries) {
  const SyntheticRun run = make_synthetic_run({.steps = 0, .twigs = 2, .planned = false});
  PageContent content{.title = "t", .scene_json = run.scene_json, .trajectory = &run.trajectory, .tree = run.tree};
  EXPECT_FALSE(nlohmann::json::parse(slot_text(make_page(content))).contains("explanation"));
  content.explanation = synthetic_explanation(run.trajectory);
  const nlohmann::json document = nlohmann::json::parse(slot_text(make_page(content)));
  EXPECT_EQ(document["explanation"]["status"], "TimeLimit");
  ASSERT_EQ(document["explanation"]["reasons"].size(), 2u);
  EXPECT_EQ(document["explanation"]["reasons"][0], nlohmann::json({{"reason", "drift"},
                                                                   {"count", 30},
                                                                   {"weight", 0.75},
                                                                   {"detail", "objects moved by more than 0.001 m"},
                                                                   {"setting", "plan.drift_m"}}));
  EXPECT_EQ(document["explanation"]["tries"], nlohmann::json({"drift", "drift"}));
  const std::vector<float> poses = block<float>(document, "failed_X_WB");
  const std::size_t bodies = run.trajectory.names_bodies.size();
  ASSERT_EQ(poses.size(), 2 * bodies * 7);
  EXPECT_NEAR(poses[7 * (bodies + 1) + 6], run.trajectory.X_WB.front()[1][6] + 0.2, 1e-6);
}

TEST(ExplanationDocument, RefusesPosesThatDoNotFitTheTries) {
  const SyntheticRun run = make_synthetic_run({.steps = 0});
  PageContent content{.title = "t", .scene_json = run.scene_json, .trajectory = &run.trajectory};
  content.explanation = synthetic_explanation(run.trajectory);
  content.explanation->tries.pop_back();
  EXPECT_THROW(make_page(content), std::invalid_argument);
}

}  // namespace explanation_document_test
}  // namespace deft::viewer
