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
  std::optional<double> all;              // the same number for every joint
  std::vector<double> list;               // file order
  std::map<std::string, double> by_name;  // by "joint" or "model/joint"
  SourceLocation where;                   // in the file, for messages
};

/// The placement of one model in a configuration: joints by name or in file order, and its free body's (or ball's)
/// pose.
struct ModelConfiguration {
  JointValues joints;                       // coordinate names ("joint_1", "x", "theta", "qw" … too)
  std::optional<Eigen::Vector3d> position;  // free body: p_WB [m]
  std::optional<Eigen::Matrix3d> rotation;  // free body or ball joint: R_WB
  std::optional<Eigen::VectorXd> velocity;  // [ω_W, v_W] of a free base, then joint rates [rad/s, m/s]; models of
                                            // second order
  /// p_WB [m] and R_WB of free bodies by link: default_free_body_pose.
  std::map<std::string, std::pair<std::optional<Eigen::Vector3d>, std::optional<Eigen::Matrix3d>>> free_bodies;
  SourceLocation where;  // in the file, for messages
};
/// A named configuration of some models; what it leaves out keeps its default.
struct ConfigurationSpec {
  std::string name;                                  // empty: the defaults, or a placement without a name
  std::map<std::string, ModelConfiguration> models;  // by name of the model
  SourceLocation where;                              // in the file, for messages
};

}  // namespace deft::scene
