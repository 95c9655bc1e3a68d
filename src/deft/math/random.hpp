#pragma once
// Random numbers by counter: a function of (seed, item, index), so that item i draws the same numbers whichever thread
// computes it and when.

#include <array>
#include <cstdint>

namespace deft {

/// Philox-4x32-10: four words of 32 bits for a counter and a key; passes BigCrush. Source: Salmon, Moraes, Dror and
/// Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A uniform number in (0, 1), 52 bits. @param seed  of all numbers of a run. @param item  what draws: a sample, a
/// command. @param index  the place in the item's sequence.
double random_uniform(std::uint64_t seed, std::uint64_t item, std::uint32_t index);

/// A standard normal number (Box and Muller, from two uniform ones). Independent of random_uniform.
double random_normal(std::uint64_t seed, std::uint64_t item, std::uint32_t index);

}  // namespace deft
