#pragma once
// Contacts of the model of the equivalent contact point for the made-up motions of synthetic_run.hpp, none of it
// mechanics.

#include "deft/dynamics/trajectory.hpp"

namespace deft::viewer {

/// What friction bears in the steps that slide, over what it can bear along t, o and about n: of norm 1.
inline constexpr double kPatchDirection[] = {-0.6, 0.48, -0.64};

/// Of a run of 60 steps: the first box tumbles from a corner (steps 1 to 19) to an edge (to 39) and a face, 0.1 m along
/// x; it slides in steps 10 to 29, with v_t = 0.2, v_o = −0.1 m/s, v_r = 1.5 rad/s, and is in the air in steps 45
/// to 49. At the edge the contact point goes from y = −0.04 m to 0.04 m of the box, at its face it goes a circle of
/// 0.03 m. The second box rests on a face. μ = 0.5, f_n = 4.9 N, ellipsoid (1, 0.5, 0.02 m).
void add_patches(dynamics::Trajectory& run);

}  // namespace deft::viewer
