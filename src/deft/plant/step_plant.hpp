#pragma once
// deft's own steps as plants.

#include <memory>

#include "deft/plant/plant.hpp"

namespace deft::plant {

/// A plant that takes inner steps of one of deft's models on a copy of the scene: exact contact (κ = ∞), the same
/// friction, limits, wrenches.
///
/// - quasidynamic: δ* = argmin ½δᵀQδ + bᵀδ with Q_u = γ M_u/h', γ = 1/h or what step.object_damping states, h the step
///   of the scene, h' the inner one. Objects obey D v = f with D = M/h whatever h' is; with h' = h it is the scene's
///   own step.
/// - convex-second-order, stewart-trinkle: M(v⁺ − v) = h'(τ − C v) + Jᵀf, τ the springs with damping D (PlantOptions),
///   gravity, wrenches and −γ M_u v⁺ on objects, all at the end of the step.
///
/// @pre kind is not kMujoco.  @throws InputError for what the model does not support, or a scene without step.h
/// (quasidynamic).
std::unique_ptr<Plant> make_step_plant(PlantKind kind, const scene::Scene& scene, const PlantOptions& options);

/// The scene whose exact steps of length h [s] that plant takes: model, friction, damping of joints and objects.
/// @pre kind is not kMujoco.
scene::Scene plant_scene(PlantKind kind, const scene::Scene& scene, const PlantOptions& options, double h);

}  // namespace deft::plant
