#include "deft/solvers/contact/program/ray_layout.hpp"

#include <cmath>
#include <numbers>

namespace deft::solvers::contact {

void ray_directions(int rays, std::vector<double>& cosines, std::vector<double>& sines) {
  cosines.resize(rays);
  sines.resize(rays);
  for (int k = 0; k < rays; ++k) {
    const double angle = 2 * std::numbers::pi * k / rays;
    cosines[k] = 4 * k == rays || 4 * k == 3 * rays ? 0.0 : 2 * k == rays ? -1.0 : std::cos(angle);
    sines[k] = 2 * k == rays || k == 0 ? 0.0 : 4 * k == 3 * rays ? -1.0 : std::sin(angle);
  }
}

}  // namespace deft::solvers::contact
