#pragma once
// Free objects moved about in a configuration, and how large bodies are. Internal to the module.

#include <Eigen/Core>
#include <vector>

#include "deft/scene/scene.hpp"

namespace deft::authoring {

/// Index in Scene::objects() of the first that is not of the robot's file; their number if there is none.
int first_placed(const scene::Scene& scene);

/// Puts a free object somewhere. @pre the object's first body is free: seven coordinates.
void place(const scene::Scene& scene, int object, const RigidTransform& X_WB, Eigen::VectorXd& q);
/// Where it is. Likewise.
RigidTransform place_of(const scene::Scene& scene, int object, const Eigen::VectorXd& q);

/// The least gap [m] between the object and all else, or, with `ground_only`, what is fixed; `limit` if nothing is
/// nearer.
double gap_around(const scene::Scene& scene, scene::SceneState& state, int object, double limit, bool ground_only);
/// The least gap [m] of the robot's bodies against anything; `limit` likewise.
double gap_of_bodies(const scene::Scene& scene, scene::SceneState& state, const std::vector<int>& bodies, double limit);

/// Lets an object down from where it is in `q` until it nearly touches something (0.1 mm), never through it.
/// @returns whether it met anything; false too where it overlaps with something from the beginning.
bool let_down(const scene::Scene& scene, scene::SceneState& state, int object, bool ground_only, Eigen::VectorXd& q);

/// The box around a body's geometries with its axes along the world's, from points of their surfaces, for a body with
/// rotation R_WB; zero if it has none that end somewhere.
struct Extent {
  Eigen::Vector3d middle_B = Eigen::Vector3d::Zero();  // in the frame of the body [m] (extent_in_place: in the world)
  Eigen::Vector3d half = Eigen::Vector3d::Zero();      // along the world's axes [m]
};
/// That of one body.
Extent extent_of(const scene::Scene& scene, int body, const Eigen::Matrix3d& R_WB);
/// The box around all bodies of an object in its place in `q`: middle and half sizes in the world [m].
Extent extent_in_place(const scene::Scene& scene, scene::SceneState& state, int object, const Eigen::VectorXd& q);
/// The body of an object that is put somewhere.
int body_of(const scene::Scene& scene, int object);

}  // namespace deft::authoring
