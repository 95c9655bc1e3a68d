#pragma once
// The parts of `robustness`: each prints its table and says whether everything was as it must be.

#include <cstdint>

namespace deft::bench {

/// `count` problems in force space per family of ForceSpaceProblems (−1: all) and law, sizes of 1–700 contacts spread
/// evenly in the logarithm, each with a limit of `time_limit_s`. Every associated law must be solved, no answer may be
/// wrong; unsolved Coulomb laws are counted.
bool check_force_space(int count, int family, std::uint64_t seed, double time_limit_s);

/// Solves `count` random problems by the interior point and by the active set and compares the motions in the norm of
/// the energy, ‖δ − δ'‖_Q/√E0: at most 1e-9, where they differ by more after the interior point is polished. 1 … 3000
/// contacts (few of the large ones), mass ratios to 1e6, μ 0 … 10, redundant contacts, bodies squeezed between walls
/// (which must be Infeasible).
bool cross_check(int count, std::uint64_t seed);

/// `count` random linear complementarity problems of frictional contact, n = 4 … 120: every one must be solved to
/// 1e-10, scaled. And up to a thousand small ones of five kinds without, with one and with several solutions: every
/// status must be that of all modes.
bool check_complementarity(int count, std::uint64_t seed);

/// Complementarity pairs of the control problems, at most: 512 convex programs for the oracle.
constexpr int kControlPairs = 9;

/// `count` random control problems of at most `kControlPairs` complementarity pairs, one or two threads: the optimum
/// must be that of all modes, no bound above it, and those without a trajectory must be proved infeasible.
bool check_control(int count, std::uint64_t seed);

}  // namespace deft::bench
