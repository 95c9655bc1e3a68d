#include "deft/math/random.hpp"

#include <cmath>
#include <numbers>

namespace deft {
namespace {

using Words = std::array<std::uint32_t, 4>;

/// Two uniform numbers in (0, 1), the middles of 2⁵² intervals. `stream` keeps kinds of numbers apart.
std::array<double, 2> two_uniform(std::uint64_t seed, std::uint64_t item, std::uint32_t block, std::uint32_t stream) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto high = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const Words words = philox({block, stream, low(item), high(item)}, {low(seed), high(seed)});
  const auto unit = [](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(a) << 32 | b) >> 12;
    return (static_cast<double>(bits) + 0.5) * 0x1p-52;
  };
  return {unit(words[0], words[1]), unit(words[2], words[3])};
}

}  // namespace

Words philox(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

double random_uniform(std::uint64_t seed, std::uint64_t item, std::uint32_t index) {
  return two_uniform(seed, item, index / 2, 0)[index % 2];
}

double random_normal(std::uint64_t seed, std::uint64_t item, std::uint32_t index) {
  const auto [u, v] = two_uniform(seed, item, index / 2, 1);
  const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace deft
