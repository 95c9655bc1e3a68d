// Colours of mesh files, and that what is drawn stands where it collides.

#include "deft/collision/shapes/painted_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "deft/core/diagnostics.hpp"
#include "deft/viewer/visual_json.hpp"
#include "support/scene_builder.hpp"

namespace deft::viewer {
using collision::PaintedMesh;
using collision::read_painted_mesh;
namespace painted_mesh_test {

constexpr const char* kTwoMaterials = R"(newmtl paint
Kd 0.8 0.1 0.2
newmtl glass
Kd 0 0 1
d 0.25
)";
constexpr const char* kTwoFaces = R"(mtllib two.mtl
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
usemtl paint
f 1 3 2
f 1 2 4
usemtl glass
f 2 3 4
)";
// A triangle below a node that is moved by 2 along x; 36 bytes of positions (0 0 0, 1 0 0, 0 1 0), then three indices.
constexpr const char* kGltf = R"({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
  "nodes": [{"children": [1]}, {"mesh": 0, "translation": [2, 0, 0]}],
  "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
  "materials": [{"name": "half", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0, 1, 1]}}],
  "accessors": [
    {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
    {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}],
  "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
  "buffers": [{"byteLength": 42, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA"}]})";
constexpr const char* kPly = R"(ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
element face 1
property list uchar int vertex_indices
end_header
0 0 0 255 0 0
1 0 0 0 255 0
0 1 0 0 0 51
3 0 1 2
)";

class PaintedMeshFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("painted_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

using Point = std::array<double, 3>;

void add_points(const collision::TriangleMesh& mesh, std::set<Point>& points) {
  for (std::size_t k = 0; k < mesh.vertices.size(); k += 3)
    points.insert({mesh.vertices[k], mesh.vertices[k + 1], mesh.vertices[k + 2]});
}

TEST_F(PaintedMeshFile, HasOnePartForEachMaterial) {
  write("two.mtl", kTwoMaterials);
  const std::vector<PaintedMesh> parts = read_painted_mesh({.path = write("two.obj", kTwoFaces), .scale = {2, 1, 1}});
  ASSERT_EQ(parts.size(), 2u);
  ASSERT_TRUE(parts[0].rgba && parts[1].rgba);
  const std::array<double, 4> paint{0.8, 0.1, 0.2, 1}, glass{0, 0, 1, 0.25};
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR((*parts[0].rgba)[k], paint[k], 1e-6);
    EXPECT_NEAR((*parts[1].rgba)[k], glass[k], 1e-6);
  }
  EXPECT_EQ(parts[0].mesh.triangles.size(), 6u);
  EXPECT_EQ(parts[1].mesh.triangles.size(), 3u);
  std::set<Point> points;
  add_points(parts[1].mesh, points);
  EXPECT_EQ(points, (std::set<Point>{{2, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
}

TEST_F(PaintedMeshFile, TakesBaseColoursOfGltfFromLinearLight) {
  const std::vector<PaintedMesh> parts = read_painted_mesh({.path = write("one.gltf", kGltf)});
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_TRUE(parts[0].rgba);
  EXPECT_NEAR((*parts[0].rgba)[0], 0.7353569830524495, 1e-6);  // of 0.5, by the standard IEC 61966-2-1
  EXPECT_EQ((*parts[0].rgba)[1], 0);
  EXPECT_NEAR((*parts[0].rgba)[2], 1, 1e-6);
  std::set<Point> points;
  add_points(parts[0].mesh, points);
  EXPECT_EQ(points, (std::set<Point>{{2, 0, 0}, {3, 0, 0}, {2, 1, 0}}));
}

TEST_F(PaintedMeshFile, TakesColoursOfVertices) {
  const std::vector<PaintedMesh> parts = read_painted_mesh({.path = write("one.ply", kPly)});
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0].colours.size(), 9u);
  const std::array<double, 9> stated{1, 0, 0, 0, 1, 0, 0, 0, 0.2};
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(parts[0].colours[k], stated[k], 1e-6);
}

TEST_F(PaintedMeshFile, StandsWhereItCollides) {
  const std::filesystem::path data = DEFT_SOURCE_DIR "/tests/collision/data";
  const std::vector<std::string> files{(data / "box.obj").string(), (data / "box.dae").string(),
                                       (data / "box.stl").string(), write("one.gltf", kGltf)};
  for (const std::string& file : files) {
    const multibody::MeshSpec spec{.path = file, .scale = {1, 2, 3}};
    std::set<Point> drawn, colliding;
    for (const PaintedMesh& part : read_painted_mesh(spec)) add_points(part.mesh, drawn);
    add_points(collision::read_mesh(spec), colliding);
    EXPECT_EQ(drawn, colliding) << file;
    EXPECT_GE(drawn.size(), 3u) << file;
  }
}

TEST_F(PaintedMeshFile, BrokenOnesAreRefusedByName) {
  const std::vector<std::string> files{write("a.obj", "v 0 0 0\n"), write("b.glb", "glTF"), write("c.dae", "<COLLADA>"),
                                       (folder_ / "missing.ply").string()};
  for (const std::string& file : files) {
    try {
      read_painted_mesh({.path = file});
      ADD_FAILURE() << file << " was read";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
    }
  }
}

TEST_F(PaintedMeshFile, TheModelsOwnColourGoesBeforeTheFiles) {
  using test::fixed_body;
  write("two.mtl", kTwoMaterials);
  scene::SceneSpec spec = test::ball_and_finger();
  spec.world.models.push_back(fixed_body("wedge", multibody::PrismSpec{{{0, 0}, {1, 0}, {0, 1}}, 0.2}, 1));
  multibody::GeometrySpec visual;
  visual.shape = multibody::MeshSpec{.path = write("two.obj", kTwoFaces)};
  multibody::LinkSpec& link = spec.world.models.back().links.front();
  link.visuals = {visual};
  EXPECT_NE(visual_json(test::build(spec)).find(R"("rgba":[0,0,1,0.25],)"), std::string::npos);
  link.visuals.front().rgba = {0.5, 0.5, 0.5, 1};
  const std::string json = visual_json(test::build(spec));
  EXPECT_EQ(json.find(R"("rgba":[0,0,1,0.25],)"), std::string::npos);
  const std::size_t first = json.find(R"("rgba":[0.5,0.5,0.5,1],)");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(json.find(R"("rgba":[0.5,0.5,0.5,1],)", first + 1), std::string::npos);
}

}  // namespace painted_mesh_test
}  // namespace deft::viewer
