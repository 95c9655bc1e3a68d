#pragma once
// Problem files of kind `ecp`. Internal to io; writing and results are in problem_file.hpp.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "deft/dynamics/patch/patch_problem.hpp"
#include "deft/io/text/json_field.hpp"

namespace deft::io {

inline constexpr const char* kCoordinates = "x, y, z";  // why a list has three numbers, for messages

/// The step of a file whose head is checked; an inertia that is symmetric to 1e-6 is averaged with a note. What only
/// building the shapes can tell (a hull without volume, a polygon that is not convex) is left to the solver, with the
/// shape's place. @throws InputError naming the field, the value and the valid choices.
dynamics::PatchProblem read_patch_problem(const JsonField& root, std::vector<std::string>& notes);

/// `{"box": {"size": [..]}}` and its like (README.md), or a list of such, each with an optional `pose` [qw qx qy qz x y
/// z].
std::vector<dynamics::PatchShape> read_patch_shapes(const JsonField& field);
/// The same as JSON; a single shape without a pose stands alone.
nlohmann::ordered_json patch_shapes_json(const std::vector<dynamics::PatchShape>& shapes);

/// [qw qx qy qz x y z], the quaternion of length 1 to 1e-6 and then made so.
dynamics::PatchState read_patch_pose(const JsonField& field);

}  // namespace deft::io
