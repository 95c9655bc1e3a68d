// Shapes of scene files.

#include "deft/io/scene/scene_file_shapes.hpp"

#include <gtest/gtest.h>

namespace deft::io {
namespace scene_file_shapes_test {

using namespace multibody;
using Eigen::Vector2d;

TEST(SceneFileShapes, ClockwisePrismsAreTurnedAround) {
  Diagnostics diagnostics;
  const auto node = parse_yaml("{prism: {vertices: [[0, 0], [0, 1], [1, 1], [1, 0]], height: 1}}", "", diagnostics);
  const auto shape = read_shape(*node, YamlReader(diagnostics));
  ASSERT_TRUE(shape.has_value());
  const auto& v = std::get<PrismSpec>(*shape).vertices;
  EXPECT_GT((v[1] - v[0]).x() * (v[2] - v[1]).y() - (v[1] - v[0]).y() * (v[2] - v[1]).x(), 0);
}

}  // namespace scene_file_shapes_test
}  // namespace deft::io
