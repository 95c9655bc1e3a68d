// Friction of turning that model files state (MJCF's condim 4).

#include <gtest/gtest.h>

#include "support/scene_builder.hpp"

namespace deft::scene {
namespace torsion_test {

SceneSpec two_bodies() {
  SceneSpec spec = test::scene_spec({test::free_body("ball", multibody::SphereSpec{0.1}, 1, 0.01, 0.5),
                                     test::fixed_body("pad", multibody::BoxSpec{{1, 1, 0.1}}, 0.5)});
  spec.world.models[0].links[0].collisions[0].torsion = 0.02;
  spec.world.models[1].links[0].collisions[0].torsion = 0.03;
  return spec;
}

TEST(Torsion, OfAPairIsTheLarger) {
  const PairFriction friction = test::build(two_bodies()).friction(0, 1);
  EXPECT_TRUE(friction.patch);
  EXPECT_EQ(friction.ellipsoid, (std::array{1.0, 1.0, 0.03}));
  EXPECT_EQ(friction.mu, 0.5);
}

TEST(Torsion, WhatTheSceneStatesComesFirst) {
  SceneSpec spec = two_bodies();
  spec.friction.ellipsoid = std::array{1.0, 0.5, 0.1};
  EXPECT_EQ(test::build(spec).friction(0, 1).ellipsoid, (std::array{1.0, 0.5, 0.1}));
  spec.friction.ellipsoid.reset();
  spec.friction.pairs = {{.between = {"ball", "pad"}, .mu = 0.2, .ellipsoid = std::array{1.0, 1.0, 0.2}}};
  EXPECT_EQ(test::build(spec).friction(0, 1).ellipsoid, (std::array{1.0, 1.0, 0.2}));
  spec.friction.pairs = {{.between = {"ball", "pad"}, .frictionless = true}};
  EXPECT_FALSE(test::build(spec).friction(0, 1).patch);
}

TEST(Torsion, IsLeftOutWithAWarningByModelsWithoutIt) {
  SceneSpec spec = two_bodies();
  spec.step.model = ModelKind::kStewartTrinkle;
  Diagnostics diagnostics;
  const Scene scene = Scene::build(std::move(spec), diagnostics);
  EXPECT_FALSE(scene.friction(0, 1).patch);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_NE(diagnostics.all()[0].message.find("friction of turning (condim 4); step.model: stewart-trinkle has none"),
            std::string::npos)
      << diagnostics.all()[0].message;
}

}  // namespace torsion_test
}  // namespace deft::scene
