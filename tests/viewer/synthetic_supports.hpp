#pragma once
// Supports, jams and other motions for the made-up pushes of synthetic_run.hpp, none of them mechanics.

#include <nlohmann/json.hpp>

#include "deft/dynamics/trajectory.hpp"

namespace deft::viewer {

/// Of the first box: FᵀAF = 1 with A = diag(1, 4, 400). Of the second: loads on a grid, those of A = diag(1, 1, 400).
nlohmann::json limit_surface_of(int box);

/// The first box slides in steps from `pushing` on, its load (0.6, 0.4, 0) in its axes, but 40 to 44, where it is
/// jammed, and has other motions in 50 and 51: 0.1 m along y and 0.2 rad from where it is. Uniqueness is unknown in
/// steps 30 to 34. Step 56 ends on a ray, step 57 is infeasible. The second box rests.
void add_supports(int pushing, dynamics::Trajectory& run);

}  // namespace deft::viewer
