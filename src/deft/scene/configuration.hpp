#pragma once
// Values per joint and configurations by name → vectors in the order of q and v.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "deft/core/diagnostics.hpp"
#include "deft/multibody/model.hpp"
#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

/// The joints of a model: its coordinates and velocities without those of its free bodies, which come before them.
struct JointRange {
  int first_q = 0, nq = 0;  // first_q … first_q + nq − 1 of q
  int first_v = 0, nv = 0;  // likewise of velocities
};
/// Those of one model.
JointRange joint_range(const multibody::ModelInfo& info);

/// The joints of model `index` that can be commanded: its velocities that follow no other and are of no free body, as
/// offsets from JointRange::first_v.
std::vector<int> commanded_joints(const multibody::Model& model, int index);

/// One value per commanded joint of model `index` (one-axis joints only); what is not given keeps its entry of `base`.
/// @param what  names the field in errors: unknown joints, those that follow others, wrong list lengths.
Eigen::VectorXd resolve_joint_values(const JointValues& values, const multibody::Model& model, int index,
                                     Eigen::VectorXd base, const std::string& what, Diagnostics& diagnostics);

/// q_base with the entries that `configuration` states. Coordinates that follow others and are not stated follow them;
/// a warning where what is stated does not. Quaternions come out with unit norm.
Eigen::VectorXd make_configuration(const ConfigurationSpec& configuration, const multibody::Model& model,
                                   Eigen::VectorXd q_base, Diagnostics& diagnostics);

/// The velocity that `configuration` states, size nv: [ω_W, v_W] of free bodies, joint rates; 0 where it states none.
Eigen::VectorXd make_velocity(const ConfigurationSpec& configuration, const multibody::Model& model,
                              Diagnostics& diagnostics);

/// The configuration called `name`, or nullptr and an error that lists the valid names.
const ConfigurationSpec* find_configuration(const WorldSpec& spec, const std::string& name, Diagnostics& diagnostics);

}  // namespace deft::scene
