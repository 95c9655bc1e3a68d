#pragma once
// What a scene file says by the names of models and joints: numbers per joint, placements.

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/core/infinity.hpp"

namespace deft::scene {

/// A number per joint: all equal, a list in file order, or by joint name; the scene checks lengths and names.
struct JointValues {
  std::optional<double> all;
  std::vector<double> list;  // file order
  std::map<std::string, double> by_name;
  SourceLocation where;
};

/// The placement of one model in a configuration: joints by name or in file order, and its free body's (or ball's)
/// pose.
struct ModelConfiguration {
  JointValues joints;                       // coordinate names ("joint_1", "x", "theta", "qw" … too)
  std::optional<Eigen::Vector3d> position;  // free body: p_WB
  std::optional<Eigen::Matrix3d> rotation;  // free body: R_WB
  std::optional<Eigen::VectorXd> velocity;  // second-order models
  std::map<std::string, std::pair<std::optional<Eigen::Vector3d>, std::optional<Eigen::Matrix3d>>>
      free_bodies;  // by link: default_free_body_pose
  SourceLocation where;
};
struct ConfigurationSpec {
  std::string name;
  std::map<std::string, ModelConfiguration> models;
  SourceLocation where;
};

}  // namespace deft::scene
