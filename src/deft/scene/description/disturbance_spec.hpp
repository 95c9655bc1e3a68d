#pragma once
// What may go wrong when a plan is executed, and how much.

namespace deft::scene {

/// How much may go wrong. Everything 0: nothing does.
struct DisturbanceSpec {
  double offset_m = 0;                      // ≥ 0: objects start this far off, in a direction drawn across gravity
  double offset_rad = 0;                    // ≥ 0: bodies start turned so far, about gravity where it acts
  double friction = 0, mass = 0, size = 0;  // shares in [0, 1), drawn within ±: of all coefficients, of objects' masses
                                            // and inertias, of their shapes
  double stiffness = 0;                     // the same, of the robots' joints
  int lag_periods = 0;                      // ≥ 0: commands act so many control periods late
  double backlash_rad = 0, backlash_m = 0;  // ≥ 0, play between commands and the springs of hinges and of slides
  double noise_m = 0, noise_rad = 0;        // ≥ 0, standard deviations of measured poses of objects, per axis
  double delay_s = 0;                       // ≥ 0: measured poses of objects arrive so late
  double dropout = 0;                       // in [0, 1): share of periods without a measured pose
};

}  // namespace deft::scene
