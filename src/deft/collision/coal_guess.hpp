#pragma once
// The narrow phase's door to Coal: where curved cores penetrate, its expanding polytope gives a first normal. The
// result is only a guess (it can be wrong by degrees, or ±1.8e308): the caller polishes and certifies it.

#include <memory>
#include <optional>

#include "deft/collision/shape.hpp"

namespace coal {
class ShapeBase;
}

namespace deft::collision {

/// Coal's twin of a core (capsules and spheres without radius).
std::shared_ptr<const coal::ShapeBase> make_coal_shape(const Shape& shape);

class CoalGuess {
 public:
  CoalGuess();
  ~CoalGuess();
  CoalGuess(CoalGuess&&) noexcept;
  CoalGuess& operator=(CoalGuess&&) noexcept;

  /// A unit normal from B to A close to the direction of least penetration, or nothing if Coal's answer is not finite.
  /// Always started from the same guess: no history. Allocates in the first call only.
  std::optional<Vector3d> normal(const PosedShape& a, const PosedShape& b);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::collision
