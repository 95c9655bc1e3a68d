#pragma once
// A tracked run and one beside it, made up for tests of the page.

#include "deft/dynamics/trajectory.hpp"

namespace deft::viewer {

/// Adds a plan that is followed. The reference of body b is where it is, but body 2 should be off·k mm further along y
/// at frame k, off = 1/2; its robot (body 1) 2 cm further along x. Errors: 0.5 mm·k and 1 mrad·k. The controller holds
/// in steps 20 to 22 and makes a new plan in steps 30 and 31 (plan 1 from 32 on), and knows no time in step 5. No step
/// has a certificate: residuals and energies are NaN.
void add_tracks(dynamics::Trajectory& run);

/// The same motion at twice the period, up to 2 s, but body 2 lies 6 cm further along y; with errors of 60 mm and 0.2
/// rad if it is tracked.
dynamics::Trajectory beside_of(const dynamics::Trajectory& run, bool tracked);

}  // namespace deft::viewer
