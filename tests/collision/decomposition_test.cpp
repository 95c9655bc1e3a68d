// Convex parts of concave solids: an L of two squares, whose parts, volumes and distances are known.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "deft/collision/decomposition/convex_parts.hpp"
#include "deft/collision/decomposition/decomposition_error.hpp"
#include "deft/collision/decomposition/part_files.hpp"
#include "deft/collision/decomposition/split_meshes.hpp"
#include "deft/core/diagnostics.hpp"

namespace deft::collision {
namespace decomposition_test {

namespace fs = std::filesystem;

/// A polygon in xy, counter-clockwise, with the triangles of its inside, extruded from z = 0 to 1.
TriangleMesh extruded(const std::vector<std::array<double, 2>>& polygon,
                      const std::vector<std::array<int, 3>>& inside) {
  const int n = static_cast<int>(polygon.size());
  TriangleMesh mesh;
  for (const double z : {0.0, 1.0})
    for (const auto& [x, y] : polygon) mesh.vertices.insert(mesh.vertices.end(), {x, y, z});
  for (const auto& [a, b, c] : inside) mesh.triangles.insert(mesh.triangles.end(), {a, c, b, n + a, n + b, n + c});
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    mesh.triangles.insert(mesh.triangles.end(), {i, j, n + j, i, n + j, n + i});
  }
  return mesh;
}

/// 2 by 2 without the square from (1, 1) to (2, 2): volume 3, of the hull 3.5.
TriangleMesh letter_l() {
  return extruded({{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}, {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}});
}

TriangleMesh square() { return extruded({{0, 0}, {2, 0}, {2, 1}, {0, 1}}, {{0, 1, 2}, {0, 2, 3}}); }

/// What would be there without decomposition: the L with its notch filled by the corner's triangle.
TriangleMesh hull_of_l() {
  return extruded({{0, 0}, {2, 0}, {2, 1}, {1, 2}, {0, 2}}, {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}});
}

TEST(ConvexParts, OfAnLAreTwoBlocks) {
  const std::vector<TriangleMesh> parts = convex_parts(letter_l(), {});
  ASSERT_EQ(parts.size(), 2u);
  const DecompositionError error = decomposition_error(letter_l(), parts);
  EXPECT_NEAR(error.mesh_volume, 3, 1e-12);
  EXPECT_NEAR(error.hull_volume, 3.5, 1e-12);
  EXPECT_NEAR(error.parts_volume, 3, 1e-3);
  EXPECT_LT(error.hausdorff, 1e-3);
}

TEST(ConvexParts, AreTheSameEveryTime) {
  const std::vector<TriangleMesh> once = convex_parts(letter_l(), {}), again = convex_parts(letter_l(), {});
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(once[i].vertices, again[i].vertices);
    EXPECT_EQ(once[i].triangles, again[i].triangles);
  }
}

TEST(ConvexParts, OneAtMostIsTheHull) {
  const std::vector<TriangleMesh> parts = convex_parts(letter_l(), {.parts = 1});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_NEAR(decomposition_error(letter_l(), parts).parts_volume, 3.5, 1e-3);
}

TEST(ConvexParts, RefuseWhatIsFlat) {
  TriangleMesh flat = square();
  for (std::size_t i = 2; i < flat.vertices.size(); i += 3) flat.vertices[i] = 0;
  EXPECT_THROW(convex_parts(flat, {}), std::runtime_error);
}

TEST(DecompositionError, OfTheHullIsTheDepthOfTheNotch) {
  // The middle of the hull's slanted side is as far from the L as from the corner (1, 1): √½; from its sides ½.
  const DecompositionError error = decomposition_error(letter_l(), {hull_of_l()});
  EXPECT_LE(error.hausdorff, 0.5 + 1e-12);
  EXPECT_GT(error.hausdorff, 0.49);
  EXPECT_NEAR(error.parts_volume, 3.5, 1e-12);
}

TEST(DecompositionError, OfMissingPartsIsHowFarTheMeshReaches) {
  // The lower block alone: the L's end at y = 2 is 1 from it.
  EXPECT_NEAR(decomposition_error(letter_l(), {square()}).hausdorff, 1, 1e-12);
}

class PartFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("parts_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    setenv("DEFT_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    write_obj(letter_l(), folder_ / "l.obj");
  }
  void TearDown() override {
    unsetenv("DEFT_CACHE_DIR");
    fs::remove_all(folder_);
  }
  multibody::MeshSpec letter(multibody::DecompositionSpec how = {}) const {
    return {.path = (folder_ / "l.obj").string(), .decompose = how};
  }

  fs::path folder_;
};

TEST_F(PartFiles, AreMadeOnceAndFoundAgain) {
  const std::vector<std::string> files = part_files(letter());
  ASSERT_EQ(files.size(), 2u);
  setenv("DEFT_COACD_PYTHON", "/nowhere", 1);  // nobody to ask
  EXPECT_EQ(part_files(letter()), files);
  EXPECT_THROW(part_files(letter({.concavity = 0.2})), InputError);  // other settings, other parts
  unsetenv("DEFT_COACD_PYTHON");
  // What a cleaner left of them is made again.
  fs::remove(files[1]);
  EXPECT_EQ(part_files(letter()), files);
  EXPECT_TRUE(fs::is_regular_file(files[1]));
  for (const std::string& file : files) fs::remove(file);
  EXPECT_EQ(part_files(letter()), files);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "cache" / "convex"))
    EXPECT_EQ(entry.path().filename().string().size(), 16u) << "a draft was left: " << entry.path();
}

TEST_F(PartFiles, SayWhereTheyCannotBeKept) {
  setenv("DEFT_CACHE_DIR", (folder_ / "l.obj").c_str(), 1);  // a file
  try {
    part_files(letter());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("set DEFT_CACHE_DIR to a folder that can be written"), std::string::npos);
  }
}

TEST_F(PartFiles, TakeThePlaceOfTheMesh) {
  multibody::ModelSpec model;
  multibody::LinkSpec& link = model.links.emplace_back();
  link.collisions.push_back({.name = "ball", .shape = multibody::SphereSpec{1}});
  link.collisions.push_back({.name = "l", .shape = letter(), .mu = 0.3});
  Diagnostics diagnostics;
  split_meshes(model, diagnostics);
  EXPECT_TRUE(diagnostics.all().empty());
  ASSERT_EQ(link.collisions.size(), 3u);
  EXPECT_EQ(link.collisions[0].name, "ball");
  EXPECT_EQ(link.collisions[1].name, "l_0");
  EXPECT_EQ(link.collisions[2].name, "l_1");
  EXPECT_EQ(link.collisions[2].mu, 0.3);
  ASSERT_EQ(link.visuals.size(), 2u);  // what is drawn is what the file shows
  EXPECT_EQ(std::get<multibody::MeshSpec>(link.visuals[1].shape).path, letter().path);
}

TEST_F(PartFiles, NameTheGeometryThatFails) {
  multibody::ModelSpec model;
  model.links.emplace_back().collisions.push_back(
      {.name = "gone",
       .shape = multibody::MeshSpec{.path = "gone.obj", .decompose = multibody::DecompositionSpec{}},
       .where = {"scene.deft.yaml", 7, 3}});
  Diagnostics diagnostics;
  split_meshes(model, diagnostics);
  ASSERT_EQ(diagnostics.error_count(), 1);
  EXPECT_EQ(diagnostics.all()[0].where.line, 7);
  EXPECT_NE(diagnostics.all()[0].message.find("gone.obj"), std::string::npos);
}

}  // namespace decomposition_test
}  // namespace deft::collision
