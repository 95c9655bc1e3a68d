// Goals in words.

#include "deft/authoring/goal_text.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "deft/core/diagnostics.hpp"

namespace deft::authoring {
namespace goal_text_test {

TEST(GoalText, TurnsAboutTheBodysOriginInTheWorld) {
  const RigidTransform X = make_transform(exp_so3({0.3, -0.2, 0.1}), {1, 2, 3});
  const RigidTransform goal = read_goal_text("turn z 90").of(X);
  EXPECT_LT((goal.translation() - X.translation()).norm(), 1e-15);
  EXPECT_LT((goal.linear() - exp_so3({0, 0, std::numbers::pi / 2}) * X.linear()).norm(), 1e-14);
}

TEST(GoalText, MovesAndLifts) {
  EXPECT_EQ(read_goal_text("move 0.1 0 -2e-2").translation_W, Eigen::Vector3d(0.1, 0, -0.02));
  EXPECT_EQ(read_goal_text("  lift  0.05 ").translation_W, Eigen::Vector3d(0, 0, 0.05));
  EXPECT_EQ(read_goal_text("lift 0.05").rotation_W, Eigen::Vector3d::Zero().eval());
}

TEST(GoalText, SaysWhatIsWrongAndWhatIsValid) {
  for (const auto& [text, why] : {std::pair{"", "it is empty"},
                                  {"push 1", "'push' is none of the goals"},
                                  {"turn z", "'turn' needs 2 more words"},
                                  {"turn w 90", "'w' is no axis"},
                                  {"turn xy 90", "'xy' is no axis"},
                                  {"turn z ninety", "'ninety' is no number"},
                                  {"move 1 2", "'move' needs 3 more words"},
                                  {"lift 1 2", "'lift' needs 1 more word"},
                                  {"lift inf", "'inf' is no number"},
                                  {"lift 0.1m", "'0.1m' is no number"}}) {
    try {
      read_goal_text(text);
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("turn x|y|z DEGREES"), std::string::npos);
    }
  }
}

}  // namespace goal_text_test
}  // namespace deft::authoring
