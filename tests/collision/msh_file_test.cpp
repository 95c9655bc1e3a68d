// MuJoCo's mesh files: counts, then floats, then indices.

#include "deft/collision/shapes/msh_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace deft::collision {
namespace msh_file_test {

class MshFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("msh_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A tetrahedron with one normal and one texture coordinate.
  std::string write(std::array<std::int32_t, 4> counts = {4, 1, 1, 4}, int last = 3, std::size_t bytes = 0) {
    std::string text;
    const auto add = [&](auto number) { text.append(reinterpret_cast<const char*>(&number), 4); };
    for (const std::int32_t count : counts) add(count);
    for (const float x : {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f}) add(x);
    for (int k = 0; k < 5; ++k) add(0.f);
    for (const std::int32_t v : {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, last}) add(v);
    if (bytes > 0) text.resize(bytes);
    const std::string path = (folder_ / "m.msh").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string complaint(const std::string& path) {
    try {
      load_msh(path);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(MshFile, IsReadAsItStands) {
  const TriangleMesh mesh = load_msh(write());
  EXPECT_EQ(mesh.vertices.size(), 12u);
  EXPECT_EQ(mesh.vertices[3], 1.0);
  EXPECT_EQ(mesh.triangles, (std::vector<int>{0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}));
  const TriangleMesh scaled = load_triangles(write(), {2, 3, 4});
  EXPECT_EQ(scaled.vertices[3], 2.0);
  EXPECT_EQ(scaled.vertices[11], 4.0);
}

TEST_F(MshFile, MistakesAreNamed) {
  EXPECT_EQ(complaint(write({4, 1, 1, 4}, 3, 10)), "the file ends early");
  EXPECT_NE(complaint(write({5, 1, 1, 4})).find("its counts of 5 vertices"), std::string::npos);
  EXPECT_NE(complaint(write({-1, 1, 1, 4})).find("is negative"), std::string::npos);
  EXPECT_EQ(complaint(write({4, 1, 1, 4}, 4)), "a face names the vertex 4; there are 4");
  EXPECT_NE(complaint(write({0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff})).find("need"), std::string::npos);
}

}  // namespace msh_file_test
}  // namespace deft::collision
